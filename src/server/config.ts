// What a server is told: where its data is, where it listens, which accounts it has. The command line, the
// environment, lazuli.json and `start()` all end here.

import type { SystemClock } from '../base/clock.js';
import type { BearerSettings } from '../http/auth/bearer.js';
import type { ServiceName } from '../http/call.js';
import type { TlsOptions } from '../http/listen.js';
import type { Account } from '../services/common/accounts.js';

export interface ServiceAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly keepAliveMs?: number | undefined;
}

export interface ServerConfig {
  readonly data: { readonly location: string } | { readonly memory: true; readonly extentLimitBytes: number };
  /** Those that are served. */
  readonly services: Readonly<Partial<Record<ServiceName, ServiceAddress>>>;
  /** Made if they are missing. */
  readonly accounts: readonly Account[];
  readonly tls?: TlsOptions | undefined;
  readonly bearer?: BearerSettings | undefined;
  /** Accounts only in the path, never in the host name. */
  readonly pathStyleOnly: boolean;
  readonly clock?: SystemClock | undefined;
}

/** Where each service listens unless told otherwise. */
export const defaultPorts: Readonly<Record<ServiceName, number>> = {
  blob: 10000,
  queue: 10001,
  table: 10002,
  file: 10003,
};

export const loopback = '127.0.0.1';
/** What is kept of blobs and files in memory, if nothing else is said. */
export const defaultExtentLimitBytes = 1024 * 1024 * 1024;
