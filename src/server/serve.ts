// Wires everything together: the store, the accounts, the services and their listeners.

import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { StateManager } from '../collections/index.js';
import { openEngine } from '../engine/level.js';
import { openExtents } from '../extents/extents.js';
import { createAuthorize } from '../http/auth/authorize.js';
import type { AuthorizeContext } from '../http/auth/types.js';
import type { ServiceName } from '../http/call.js';
import { Endpoint } from '../http/endpoint.js';
import { Listener, type ListenOptions } from '../http/listen.js';
import { requestIds } from '../http/request-ids.js';
import { AccountStore } from '../services/common/account-store.js';
import { type ContentStore, openContentStore } from '../services/common/content-store.js';
import { StorageError } from '../services/common/errors.js';
import { Garbage } from '../services/common/garbage.js';
import { createStore, type Store } from '../services/common/store.js';
import type { ServerConfig, ServiceAddress } from './config.js';
import { type Ground, openService, type ServedService, translateError } from './services.js';

export interface ServerEvents {
  /** Told of every request, once it is over. */
  readonly finished?: ListenOptions['finished'];
  /** A bug, or something that broke in the background. */
  readonly failed?: (error: unknown, requestId?: string, operation?: string) => void;
}

export interface RunningServer {
  readonly state: StateManager;
  readonly accounts: AccountStore;
  /** What the handlers of each service work on, for who manages a server from inside its process. */
  readonly services: ReadonlyMap<ServiceName, unknown>;
  /** Where each service listens: `http://127.0.0.1:10000`. */
  readonly urls: Readonly<Partial<Record<ServiceName, string>>>;
  /** One round of what gives space back, which else runs by itself. */
  sweep(): Promise<void>;
  /** Takes nothing new, finishes what it took, and closes the store. */
  stop(): Promise<void>;
}

export async function serve(config: ServerConfig, events: ServerEvents = {}): Promise<RunningServer> {
  const { data } = config;
  const clock = config.clock === undefined ? {} : { clock: config.clock };
  const engine = await openEngine(
    'memory' in data ? { memory: true } : { location: join(data.location, 'store') },
    clock,
  );
  const state = await StateManager.open({ engine, freeze: false });
  const closing: (() => Promise<void>)[] = [() => engine.close(), () => state.close()];
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    const store = createStore(state);
    const accounts = await AccountStore.open(store);
    for (const account of config.accounts) await accounts.ensure(account);
    const urls: Partial<Record<ServiceName, string>> = {};
    const services = new Map<ServiceName, unknown>();
    const garbage = await Garbage.open(store, (error) => events.failed?.(error));
    closing.push(() => garbage.close());
    const content = await openContents(config, events, engine.clock, store, closing);
    for (const served of await openServices(config, { store, accounts, garbage, content }, closing)) {
      const address = config.services[served.name] as ServiceAddress;
      const listener = await listen(config, events, served, accounts, address);
      closing.push(() => listener.stop());
      services.set(served.name, served.service);
      urls[served.name] = urlOf(listener, address.host, config.tls !== undefined);
    }
    const sweep = async () => {
      await garbage.sweep();
      await content.reclaim.makeRoom();
    };
    return { state, accounts, services, urls, sweep, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openContents(
  { data }: ServerConfig,
  events: ServerEvents,
  clock: Clock,
  store: Store,
  closing: (() => Promise<void>)[],
): Promise<ContentStore> {
  const place =
    'memory' in data
      ? { memory: true as const, limitBytes: data.extentLimitBytes }
      : { location: join(data.location, 'extents') };
  const extents = await openExtents(place, { clock });
  closing.push(() => extents.close());
  const content = await openContentStore(store, extents, (error) => events.failed?.(error));
  content.reclaim.start();
  closing.push(() => content.reclaim.stop());
  return content;
}

async function openServices(
  config: ServerConfig,
  ground: Ground,
  closing: (() => Promise<void>)[],
): Promise<ServedService[]> {
  const opened: ServedService[] = [];
  for (const name of Object.keys(config.services) as ServiceName[]) {
    const served = await openService[name]?.(ground);
    if (served === undefined) continue;
    opened.push(served);
    closing.push(async () => served.close?.());
  }
  return opened;
}

function listen(
  config: ServerConfig,
  events: ServerEvents,
  served: ServedService,
  accounts: AccountStore,
  address: ServiceAddress,
): Promise<Listener> {
  const endpoint = new Endpoint<never>({
    name: served.name,
    service: served.service as never,
    operations: served.operations,
    account: (name) => {
      const account = accounts.get(name);
      if (account === undefined) return undefined;
      const { cors, defaultServiceVersion } = accounts.serviceSettings(name, served.name);
      return { secondary: account.settings.secondary, cors, defaultVersion: defaultServiceVersion };
    },
    authorize: createAuthorize({ bearer: config.bearer }),
    authorizeContext: authorizeContext(served, accounts),
    translate: translateError,
    failed: (error, id, operation) => events.failed?.(error, id, operation),
    newId: requestIds(),
    now: Date.now,
    pathStyleOnly: config.pathStyleOnly,
  });
  const { tls } = config;
  return Listener.open(endpoint, { ...address, tls, finished: events.finished });
}

function authorizeContext(served: ServedService, accounts: AccountStore): AuthorizeContext {
  return {
    now: Date.now,
    keys: (name) => accounts.keys(name),
    delegationSecret: (name) => accounts.secret(name),
    policies: (_, account, container) => served.policies(account, container),
    publicAccess: (account, container) => {
      if (!accounts.get(account)?.settings.publicAccess) throw new StorageError('PublicAccessNotPermitted');
      return served.publicAccess?.(account, container);
    },
  };
}

function urlOf(listener: Listener, host: string, secure: boolean): string {
  const shown = host.includes(':') ? `[${host}]` : host;
  return `${secure ? 'https' : 'http'}://${shown}:${listener.address.port}`;
}
