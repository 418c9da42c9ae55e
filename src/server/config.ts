// What a server is told: where its data is, where it listens, which accounts it has. The command line, the
// environment, lazuli.json and `start()` all end here.

import type { SystemClock } from '../base/clock.js';
import type { Files } from '../base/files.js';
import type { BearerSettings } from '../http/auth/bearer-settings.js';
import type { ServiceName } from '../http/call.js';
import type { TlsOptions } from '../http/listen.js';
import type { Account } from '../services/common/accounts.js';
import type { AclMode } from '../smb/server.js';

export interface ServiceAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly keepAliveMs?: number | undefined;
  /** Nobody asked for this port: if it is taken, the server starts without. */
  readonly mayBeSkipped?: boolean | undefined;
}

export interface ServerConfig {
  readonly data: { readonly location: string } | { readonly memory: true; readonly extentLimitBytes: number };
  /** Those that are served. */
  readonly services: Readonly<Partial<Record<ServiceName, ServiceAddress>>>;
  /** Of those, the ones that are loaded after the start; a request that comes earlier waits for it. */
  readonly later?: readonly ServiceName[] | undefined;
  /** Health, metrics and the calls of the command line. */
  readonly admin?: ServiceAddress | undefined;
  readonly smb?: ServiceAddress | undefined;
  /** Whether SMB enforces the permissions of files; it does not unless told. */
  readonly smbAclMode?: AclMode | undefined;
  /** Services that others than this machine reach, and whether somebody said so on the command line. */
  readonly beyondLoopback?: { readonly services: readonly string[]; readonly told: boolean } | undefined;
  /** Made if they are missing. None: a new store gets the development account. */
  readonly accounts: readonly Account[];
  readonly tls?: TlsOptions | undefined;
  readonly bearer?: BearerSettings | undefined;
  /** Accounts only in the path, never in the host name. */
  readonly pathStyleOnly: boolean;
  /** Where copies may be fetched from, beside this server's own accounts. */
  readonly copySources?: 'public' | 'any' | undefined;
  /** Whether the clock can be moved and faults be made. */
  readonly testing?: boolean | undefined;
  readonly clock?: SystemClock | undefined;
  /** The disk, for tests that cut its power. */
  readonly files?: Files | undefined;
}

export const serviceNames: readonly ServiceName[] = ['blob', 'queue', 'table', 'file'];

/** Where each listens unless told otherwise. */
export const defaultPorts: Readonly<Record<ServiceName | 'smb' | 'admin', number>> = {
  blob: 10000,
  queue: 10001,
  table: 10002,
  file: 10003,
  smb: 10445,
  admin: 10005,
};

/** Azurite has none of these: two servers side by side need not both have them. */
export const skippable: readonly string[] = ['file', 'smb', 'admin'];

export const loopback = '127.0.0.1';
export const defaultLocation = './lazuli-data';
/** What is kept of blobs and files in memory, if nothing else is said. */
export const defaultExtentLimitBytes = 1024 * 1024 * 1024;

export function isLoopbackHost(host: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|localhost|::1|\[::1\])$/i.test(host);
}

/** `host:port` for a URL. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
