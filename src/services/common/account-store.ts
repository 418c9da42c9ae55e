// Accounts and the service properties of each, as they are kept. There are few of them and every request
// asks for one, so all are in memory too; memory changes once a change is durable. After a failure of the disk all are
// read again: a change whose outcome was unknown may have turned up, a key that was replaced for instance.
//
//   ['account', name]             the account, its keys and settings, and the secret of its delegation keys
//   ['service', name, service]    what Set Service Properties has stored for it

import { randomBytes } from 'node:crypto';
import type { Dictionary, StateManager, Transaction } from '../../collections/index.js';
import { type Account, AccountError, type AccountSettings, defaultSettings, keyBytes } from './accounts.js';
import {
  changeServiceSettings,
  defaultServiceSettings,
  type ServiceSettings,
  type SettingsService,
} from './service-settings.js';
import type { Store } from './store.js';

type Rows = Dictionary<readonly string[], unknown>;

interface StoredAccount extends Account {
  readonly format: 1;
  /** 32 random bytes that user delegation keys are made of. */
  readonly secret: Uint8Array;
}

interface KnownAccount {
  readonly account: Account;
  readonly keys: readonly Buffer[];
  readonly secret: Buffer;
  readonly services: Map<SettingsService, ServiceSettings>;
}

type Known = Map<string, KnownAccount>;

export class AccountStore {
  readonly #store: Store;
  readonly #rows: Rows;
  #known: Known = new Map();
  /** Moved whenever what is known was changed, or may be wrong. */
  #changes = 0;

  private constructor(store: Store, rows: Rows) {
    this.#store = store;
    this.#rows = rows;
  }

  static async open(store: Store): Promise<AccountStore> {
    const accounts = new AccountStore(store, await openRows(store.state));
    store.state.engine.resets(() => {
      accounts.#changes++;
      accounts.#load().catch(() => {}); // it was closed, or is opened again and then told again
    });
    await accounts.#load();
    return accounts;
  }

  get(name: string): Account | undefined {
    return this.#known.get(name)?.account;
  }

  list(): Account[] {
    return [...this.#known.values()].map(({ account }) => account).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** As signing needs them. */
  keys(name: string): readonly Buffer[] | undefined {
    return this.#known.get(name)?.keys;
  }

  /** What the account's user delegation keys are made of. */
  secret(name: string): Buffer | undefined {
    return this.#known.get(name)?.secret;
  }

  serviceSettings(name: string, service: SettingsService): ServiceSettings {
    return this.#known.get(name)?.services.get(service) ?? defaultServiceSettings;
  }

  /** A new one; one of that name is an `AccountError`. */
  async create(account: Account): Promise<void> {
    await this.#change(account.name, (stored) => {
      if (stored !== undefined) throw new AccountError(`there is an account ${account.name} already`);
      return { ...account, format: 1, secret: randomBytes(32) };
    });
  }

  /** As the operator has it in the environment or in a file: made if it is missing, its keys replaced if they differ. */
  async ensure(account: Account): Promise<void> {
    const known = this.get(account.name);
    if (known !== undefined && known.keys.join() === account.keys.join()) return;
    await this.#change(account.name, (stored) => ({
      format: 1,
      secret: stored?.secret ?? randomBytes(32),
      ...account,
      settings: stored?.settings ?? account.settings,
    }));
  }

  /** The other key stays, whatever it is by then. */
  async changeKey(name: string, which: 1 | 2, key: string): Promise<void> {
    await this.#change(name, (stored) => {
      const old = exists(stored, name);
      const [first, second] = old.keys;
      return { ...old, keys: which === 2 ? [first, key] : second === undefined ? [key] : [key, second] };
    });
  }

  async changeSettings(
    name: string,
    change: (settings: AccountSettings) => AccountSettings,
  ): Promise<AccountSettings> {
    const account = await this.#change(name, (stored) => {
      const old = exists(stored, name);
      return { ...old, settings: change({ ...defaultSettings, ...old.settings }) };
    });
    return account.settings;
  }

  /** The account alone: what it holds is removed by the services. */
  async remove(name: string): Promise<void> {
    await this.#store.run(async (tx) => {
      exists(await this.#stored(tx, name), name);
      await this.#rows.remove(tx, ['account', name]);
      for (const service of ['blob', 'queue', 'table', 'file'])
        await this.#rows.remove(tx, ['service', name, service]);
      this.#onceDurable(tx, () => this.#known.delete(name));
    });
  }

  async changeServiceSettings(
    name: string,
    service: SettingsService,
    change: Partial<ServiceSettings>,
  ): Promise<void> {
    await this.#store.run(async (tx) => {
      const stored = await this.#rows.get(tx, ['service', name, service], { lock: 'update' });
      const settings = changeServiceSettings(
        service,
        (stored as ServiceSettings) ?? defaultServiceSettings,
        change,
      );
      await this.#rows.set(tx, ['service', name, service], settings);
      this.#onceDurable(tx, () => this.#known.get(name)?.services.set(service, settings));
    });
  }

  #change(
    name: string,
    change: (stored: StoredAccount | undefined) => StoredAccount,
  ): Promise<StoredAccount> {
    return this.#store.run(async (tx) => {
      const account = change(await this.#stored(tx, name));
      await this.#rows.set(tx, ['account', name], account);
      this.#onceDurable(tx, () => remember(this.#known, account));
      return account;
    });
  }

  async #stored(tx: Transaction, name: string): Promise<StoredAccount | undefined> {
    return (await this.#rows.get(tx, ['account', name], { lock: 'update' })) as StoredAccount | undefined;
  }

  #onceDurable(tx: Transaction, change: () => void): void {
    const durable = () => {
      this.#changes++;
      change();
    };
    tx.onEnd({ durable });
  }

  /** Reads all of it, again if something has changed meanwhile. */
  async #load(): Promise<void> {
    const before = this.#changes;
    const known = await this.#store.run(async (tx) => {
      const found: Known = new Map();
      for await (const [[kind, name = '', service], value] of this.#rows.entries(tx)) {
        if (kind === 'account') remember(found, value as StoredAccount);
        else found.get(name)?.services.set(service as SettingsService, value as ServiceSettings);
      }
      return found;
    });
    if (before !== this.#changes) return this.#load();
    this.#known = known;
  }
}

function remember(known: Known, { format, secret, ...stored }: StoredAccount): void {
  // An account that was stored before there was a setting has its default.
  const account = { ...stored, settings: { ...defaultSettings, ...stored.settings } };
  const services = known.get(account.name)?.services ?? new Map();
  known.set(account.name, { account, keys: keyBytes(account), secret: Buffer.from(secret), services });
}

function openRows(state: StateManager): Promise<Rows> {
  return state.dictionary('$system/accounts', { system: true });
}

function exists(stored: StoredAccount | undefined, name: string): StoredAccount {
  if (stored === undefined) throw new AccountError(`there is no account ${name}`);
  return stored;
}
