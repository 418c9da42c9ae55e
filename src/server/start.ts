// Starting a server inside a program: for tests, and for who wants the store in the same process.

import type { StateManager } from '../collections/index.js';
import type { ServiceName } from '../http/call.js';
import { type Account, developmentAccount } from '../services/common/accounts.js';
import { defaultExtentLimitBytes, loopback, type ServerConfig } from './config.js';
import { serve } from './serve.js';

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

export interface StartedServer {
  /** For the first account, as the SDKs take it. */
  readonly connectionString: string;
  readonly urls: Readonly<Partial<Record<ServiceName, string>>>;
  /** The collections that the services stand on: one transaction can span both. */
  readonly state: StateManager;
  stop(): Promise<void>;
}

const allServices: readonly ServiceName[] = ['blob', 'queue', 'table', 'file'];

export async function start(options: StartOptions = {}): Promise<StartedServer> {
  const host = options.host ?? loopback;
  const accounts = options.accounts ?? [developmentAccount];
  const names = options.services ?? allServices;
  const server = await serve({
    data:
      options.location === undefined
        ? { memory: true, extentLimitBytes: defaultExtentLimitBytes }
        : { location: options.location },
    services: Object.fromEntries(names.map((name) => [name, { host, port: options.ports?.[name] ?? 0 }])),
    accounts,
    pathStyleOnly: false,
    ...options.config,
  });
  const { urls, state } = server;
  return {
    connectionString: connectionString(accounts[0] ?? developmentAccount, urls),
    urls,
    state,
    stop: server.stop,
  };
}

/** What an SDK needs to find the services of an account. */
export function connectionString(
  account: Account,
  urls: Readonly<Partial<Record<ServiceName, string>>>,
): string {
  const endpoints = allServices.flatMap((name) => {
    const url = urls[name];
    return url === undefined
      ? []
      : [`${name[0]?.toUpperCase()}${name.slice(1)}Endpoint=${url}/${account.name};`];
  });
  const protocol = Object.values(urls)[0]?.split(':')[0] ?? 'http';
  return `DefaultEndpointsProtocol=${protocol};AccountName=${account.name};AccountKey=${account.keys[0]};${endpoints.join('')}`;
}
