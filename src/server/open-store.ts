// The store of a server, open: the engine, the collections, the accounts, the bytes and the services on them,
// with nobody listening yet. Commands that find no server running work on this.

import { type Files, realFiles } from '../base/files.js';
import { ObjectClosedError, StateManager } from '../collections/index.js';
import type { Engine } from '../engine/engine.js';
import type { GroupInfo } from '../engine/groups.js';
import { openEngine } from '../engine/level.js';
import { type Extents, openExtents } from '../extents/extents.js';
import type { ServiceName } from '../http/call.js';
import { AccountStore } from '../services/common/account-store.js';
import { type Account, developmentAccount } from '../services/common/accounts.js';
import { openContentStore } from '../services/common/content-store.js';
import { Garbage } from '../services/common/garbage.js';
import { createStore } from '../services/common/store.js';
import { type ServerConfig, serviceNames } from './config.js';
import { type DataFolder, dataFolder } from './data-folder.js';
import { type Ground, openService, type ServedService, translateError } from './services.js';
import { Sources } from './sources.js';

export interface OpenStore extends Ground {
  readonly engine: Engine;
  readonly state: StateManager;
  readonly extents: Extents;
  readonly files: Files;
  readonly sources: Sources;
  /** Nothing in memory. */
  readonly folder: DataFolder | undefined;
  /** Those that are open. */
  readonly services: ReadonlyMap<ServiceName, ServedService>;
  /** Opens the service, unless it is. */
  service(name: ServiceName): Promise<ServedService>;
  /** Makes those that were asked for where they are missing, and the development account where there is none. */
  ensureAccounts(): Promise<void>;
  /** One round of what gives space back, which else runs by itself. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreEvents {
  /** Something that broke in the background. */
  readonly failed?: ((error: unknown) => void) | undefined;
  /** Told of each group of commits that reached the disk. */
  readonly wrote?: ((group: GroupInfo) => void) | undefined;
}

export async function openStore(
  {
    data,
    clock,
    accounts: wanted,
    copySources = 'public',
    files = realFiles,
  }: Pick<ServerConfig, 'data' | 'clock' | 'accounts' | 'copySources' | 'files'>,
  { failed: told = () => {}, wrote }: StoreEvents = {},
  opened: readonly ServiceName[] = serviceNames,
): Promise<OpenStore> {
  const folder = 'memory' in data ? undefined : dataFolder(data.location);
  // A sweep that meets a full disk, or waits in vain, is no bug: its next round goes on where it stopped.
  const failed = (error: unknown): void => {
    if (translateError(error) === undefined) told(error);
  };
  const closing: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const one of closing.splice(0).reverse()) await one();
  };
  try {
    const engine = await openEngine(folder === undefined ? { memory: true } : { location: folder.store }, {
      files,
      ...(clock && { clock }),
      ...(wrote && { wrote }),
    });
    closing.push(() => engine.close());
    const state = await StateManager.open({ engine, freeze: false });
    closing.push(() => state.close());
    const store = createStore(state);
    const accounts = await AccountStore.open(store);
    await ensureAccounts(accounts, wanted);
    const garbage = await Garbage.open(store, failed);
    closing.push(() => garbage.close());
    const place =
      'memory' in data
        ? { memory: true as const, limitBytes: data.extentLimitBytes }
        : { location: dataFolder(data.location).extents };
    const extents = await openExtents(place, { clock: engine.clock, files });
    closing.push(() => extents.close());
    const content = await openContentStore(store, extents, failed);
    content.reclaim.start();
    closing.push(() => content.reclaim.stop());
    const sources = new Sources(copySources);
    const ground = { store, accounts, garbage, content, fetchSource: sources.fetch, report: failed };
    const services = new Services(ground);
    closing.push(() => services.close());
    for (const name of opened) await services.open(name);
    const sweep = async () => {
      await garbage.sweep();
      await content.reclaim.makeRoom();
    };
    return {
      ...ground,
      sources,
      engine,
      state,
      extents,
      files,
      folder,
      services: services.opened,
      service: (name) => services.open(name),
      ensureAccounts: () => ensureAccounts(accounts, wanted),
      sweep,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function ensureAccounts(accounts: AccountStore, wanted: readonly Account[]): Promise<void> {
  for (const account of wanted) await accounts.ensure(account);
  if (accounts.list().length === 0) await accounts.ensure(developmentAccount);
}

/** The services of a store, each opened once. */
class Services {
  readonly opened = new Map<ServiceName, ServedService>();
  readonly #opening = new Map<ServiceName, Promise<ServedService>>();
  readonly #ground: Ground;
  #closed = false;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  open(name: ServiceName): Promise<ServedService> {
    const known = this.#opening.get(name);
    if (known !== undefined) return known;
    const opening = this.#open(name);
    opening.catch(() => {}); // told to whoever asked
    this.#opening.set(name, opening);
    return opening;
  }

  async #open(name: ServiceName): Promise<ServedService> {
    if (this.#closed) throw new ObjectClosedError('the store is closed');
    const served = await openService[name](this.#ground);
    this.opened.set(name, served);
    return served;
  }

  /** Also those that are still being opened. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const opening of this.#opening.values()) {
      const served = await opening.catch(() => undefined);
      await served?.close?.();
    }
  }
}
