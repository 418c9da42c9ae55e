// Wires everything together: the store, a listener for each service, and the admin endpoints.

import { hasCode } from '../base/files.js';
import type { StateManager } from '../collections/index.js';
import { createAuthorize } from '../http/auth/authorize.js';
import type { AuthorizeContext } from '../http/auth/types.js';
import type { ServiceName } from '../http/call.js';
import { Endpoint, type Responder } from '../http/endpoint.js';
import { Listener, type ListenOptions } from '../http/listen.js';
import { requestIds } from '../http/request-ids.js';
import type { Ports } from '../http/source-head.js';
import type { AccountStore } from '../services/common/account-store.js';
import { hasPublishedKey } from '../services/common/accounts.js';
import { StorageError } from '../services/common/errors.js';
import { type Admin, openAdmin } from './admin/admin.js';
import { UsageError } from './command-line.js';
import { hostAndPort, type ServerConfig, type ServiceAddress, serviceNames } from './config.js';
import { Faults } from './faults.js';
import { LateEndpoint } from './late-endpoint.js';
import { Metrics } from './metrics.js';
import { type OpenStore, openStore } from './open-store.js';
import { type ServedService, translateError } from './services.js';
import { SmbListener } from './smb-listener.js';

export interface ServerEvents {
  /** Told of every request, once it is over. */
  readonly finished?: ListenOptions['finished'];
  /** A bug, or something that broke in the background. */
  readonly failed?: (error: unknown, requestId?: string, operation?: string) => void;
}

export type Urls = Readonly<Partial<Record<ServiceName | 'smb' | 'admin', string>>>;

export interface RunningServer {
  readonly state: StateManager;
  readonly accounts: AccountStore;
  /** What the handlers of each service work on, for who manages a server from inside its process. */
  readonly services: ReadonlyMap<ServiceName, unknown>;
  readonly store: OpenStore;
  readonly faults: Faults;
  /** Where each service listens: `http://127.0.0.1:10000`. */
  readonly urls: Urls;
  /** What the admin port must be told before it changes anything. */
  readonly token: string;
  /** What its operator should know, each a sentence: what was not started, who can reach it. */
  readonly notes: readonly string[];
  /** One round of what gives space back, which else runs by itself. */
  sweep(): Promise<void>;
  /** Takes nothing new, finishes what it took, and closes the store. */
  stop(): Promise<void>;
}

export async function serve(config: ServerConfig, events: ServerEvents = {}): Promise<RunningServer> {
  const metrics = new Metrics();
  const served = serviceNames.filter((name) => config.services[name] !== undefined);
  const later = config.later ?? [];
  const store = await openStore(
    config,
    { failed: events.failed, wrote: (group) => metrics.wrote(group) },
    served.filter((name) => !later.includes(name)),
  );
  const closing: (() => Promise<void>)[] = [() => store.close()];
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  const faults = new Faults();
  const urls: { -readonly [Name in keyof Urls]: string } = {};
  const ports: { [Name in ServiceName]?: number } = {};
  const notes: string[] = [];
  const told = { ...events, finished: metrics.alongside(events.finished) };
  try {
    checkExposure(config, store.accounts, notes);
    for (const name of served) {
      const address = config.services[name] as ServiceAddress;
      const options = { ...address, tls: config.tls, finished: told.finished };
      const endpoint = await endpointOf({ config, events: told, store, faults, ports }, name);
      const listener = await unlessTaken(name, address, notes, () => Listener.open(endpoint, options));
      if (listener === undefined) continue;
      closing.push(() => listener.stop());
      ports[name] = listener.address.port;
      store.sources.add(endpoint);
      urls[name] = urlOf(address.host, listener.address.port, config.tls !== undefined);
    }
    store.sources.ready();
    const smb = await startSmb(config, events, store, notes);
    if (smb !== undefined) {
      closing.push(() => smb.close());
      urls.smb = smb.url;
    }
    const admin = await startAdmin(config, { store, metrics, faults, urls }, notes);
    closing.push(() => admin.close());
    if (admin.url !== undefined) urls.admin = admin.url;
    for (const name of later) store.service(name).catch((error) => events.failed?.(error));
    const { state, accounts, sweep } = store;
    const services = new Map([...store.services].map(([name, { service }]) => [name, service]));
    return { state, accounts, services, store, faults, urls, token: admin.token, notes, sweep, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The published key protects nothing: beyond this machine it is served only to who said so. */
function checkExposure({ beyondLoopback }: ServerConfig, accounts: AccountStore, notes: string[]): void {
  const published = accounts.list().find(hasPublishedKey);
  if (beyondLoopback === undefined || published === undefined) return;
  const services = beyondLoopback.services.join(', ');
  const what = `others than this machine reach ${services} with the key of ${published.name}, which everybody knows`;
  if (!beyondLoopback.told) {
    throw new UsageError(
      `${what}: give accounts of your own (AZURITE_ACCOUNTS, or accounts in lazuli.json), rotate its key (lazuli account rotate ${published.name}), or name the host on the command line`,
    );
  }
  notes.push(`warning: ${what}`);
}

/** A service whose port is taken is left out where nobody asked for that port, and else it is an error. */
async function unlessTaken<T>(
  name: string,
  address: ServiceAddress,
  notes: string[],
  open: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await open();
  } catch (error) {
    const where = hostAndPort(address.host, address.port);
    if (hasCode(error, 'EADDRINUSE')) {
      if (!address.mayBeSkipped) {
        throw new UsageError(
          `${where} is in use, so the ${name} service cannot listen there: stop what uses it, or give another --${name}Port (0 picks a free one)`,
        );
      }
      const label = name === 'smb' ? 'SMB' : name;
      notes.push(`${label} is not served: ${where} is in use; --${name}Port gives it another port`);
      return undefined;
    }
    if (hasCode(error, 'EADDRNOTAVAIL', 'EACCES', 'ENOTFOUND', 'EAI_AGAIN')) {
      throw new UsageError(`the ${name} service cannot listen at ${where}: ${(error as Error).message}`);
    }
    throw error;
  }
}

/** What an endpoint is made of. */
interface EndpointParts {
  readonly config: ServerConfig;
  readonly events: ServerEvents;
  readonly store: OpenStore;
  readonly faults: Faults;
  /** Filled as services begin to listen. */
  readonly ports: Ports;
}

/** What answers for a service; one that is opened later answers as soon as it is. */
async function endpointOf(parts: EndpointParts, name: ServiceName): Promise<Responder> {
  const make = async () => newEndpoint(parts, await parts.store.service(name));
  if (!parts.config.later?.includes(name)) return make();
  const none = { name, service: undefined, operations: [], policies: nothing, clear: async () => {} };
  return new LateEndpoint(newEndpoint(parts, none), make);
}

const nothing = async () => undefined;

function newEndpoint(parts: EndpointParts, served: ServedService): Endpoint<never> {
  const { config, events, faults, ports } = parts;
  const { accounts } = parts.store;
  return new Endpoint<never>({
    name: served.name,
    service: served.service as never,
    operations: config.testing ? faults.around(served.name, served.operations) : served.operations,
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
    ports,
  });
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

function urlOf(host: string, port: number, secure: boolean): string {
  return `${secure ? 'https' : 'http'}://${hostAndPort(host, port)}`;
}

async function startSmb(
  { smb: address, smbAclMode, services }: ServerConfig,
  events: ServerEvents,
  store: OpenStore,
  notes: string[],
): Promise<{ readonly url: string; close(): Promise<void> } | undefined> {
  if (address === undefined || services.file === undefined) return undefined;
  const server = new SmbListener(store, smbAclMode, (error) => events.failed?.(error));
  const { host } = address;
  const port = await unlessTaken('smb', address, notes, () => server.listen(address.port, host));
  return port === undefined
    ? undefined
    : { url: `smb://${hostAndPort(host, port)}`, close: () => server.close() };
}

async function startAdmin(
  config: ServerConfig,
  parts: { store: OpenStore; metrics: Metrics; faults: Faults; urls: Urls },
  notes: string[],
): Promise<Admin> {
  const admin = await openAdmin({ ...parts, testing: config.testing ?? false });
  const { admin: address } = config;
  if (address !== undefined) await unlessTaken('admin', address, notes, () => admin.listen(address));
  return admin;
}
