// Starting a server inside a program: for tests, and for who wants the store in the same process.

import type { StateManager, Transaction } from '../collections/index.js';
import type { ServiceName } from '../http/call.js';
import { type Account, developmentAccount } from '../services/common/accounts.js';
import { defaultExtentLimitBytes, loopback, type ServerConfig, serviceNames } from './config.js';
import { connectionString } from './connection-string.js';
import type { Fault } from './faults.js';
import { type Joined, join, joinable } from './join.js';
import { serve } from './serve.js';

export type { Fault } from './faults.js';
export type { Joined } from './join.js';

export interface StartOptions {
  /** A folder for the data; in memory unless given. */
  readonly location?: string;
  readonly host?: string;
  /** Ports; each service takes a free one unless it is named here. */
  readonly ports?: Readonly<Partial<Record<ServiceName, number>>>;
  /** Those that are started: all unless given. */
  readonly services?: readonly ServiceName[];
  readonly accounts?: readonly Account[];
  readonly config?: Partial<ServerConfig>;
}

export interface StartedServer extends AsyncDisposable {
  /** For the first account, as the SDKs take it. */
  readonly connectionString: string;
  readonly urls: Readonly<Partial<Record<ServiceName, string>>>;
  /** The collections that the services stand on: one transaction can span both. */
  readonly state: StateManager;
  /** The services' operations inside a transaction of `state`, for the first account unless one is named. */
  join(tx: Transaction, account?: string): Joined;
  /** Moves the clock that leases, visibility and expiry are judged by. */
  moveClock(ms: number): void;
  /** Makes chosen operations answer late, with an error, or not at all. The result ends it. */
  addFault(fault: Fault): () => void;
  stop(): Promise<void>;
}

export async function start(options: StartOptions = {}): Promise<StartedServer> {
  const host = options.host ?? loopback;
  const accounts = options.accounts ?? [developmentAccount];
  const names = options.services ?? serviceNames;
  const server = await serve({
    data:
      options.location === undefined
        ? { memory: true, extentLimitBytes: defaultExtentLimitBytes }
        : { location: options.location },
    services: Object.fromEntries(names.map((name) => [name, { host, port: options.ports?.[name] ?? 0 }])),
    accounts,
    pathStyleOnly: false,
    testing: true,
    ...options.config,
  });
  const { urls, state, store, faults } = server;
  for (const name of joinable) await store.service(name);
  const first = accounts[0] ?? developmentAccount;
  return {
    connectionString: connectionString(first, urls),
    urls,
    state,
    join: (tx, account = first.name) => join(store, tx, account),
    moveClock: (ms) => store.engine.clock.shift(ms),
    addFault: (fault) => {
      const id = faults.add(fault);
      return () => faults.clear(id);
    },
    stop: server.stop,
    [Symbol.asyncDispose]: server.stop,
  };
}
