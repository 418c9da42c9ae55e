// The SMB server: listens, keeps connections and sessions, and holds what all of them share.

import { createServer, type Server, type Socket } from 'node:net';
import type { Schedule } from '../services/file/caches.js';
import type { ChangeListener } from '../services/file/changes.js';
import type { Volumes } from '../services/file/file-system.js';
import type { Opens } from '../services/file/opens.js';
import type { AccountPolicy } from './account-policy.js';
import type { Accounts } from './auth/authentication.js';
import { FailedLogons } from './auth/failed-logons.js';
import { Connection } from './connection.js';
import type { CipherName, Dialect } from './crypto/keys.js';
import { Durables } from './durables.js';
import { type SmbLimits, smbLimits } from './limits.js';
import type { Session } from './session.js';
import type { Status } from './status.js';
import { Watches } from './watches.js';

export interface SmbSettings {
  readonly dialects: readonly Dialect[];
  /** In the order of preference. */
  readonly ciphers: readonly CipherName[];
  readonly encryptionRequired: boolean;
  readonly signingRequired: boolean;
  /** The most bytes in one read or write; 8 MiB at most. */
  readonly maxTransferBytes: number;
  /** Whether permissions are enforced, or whoever has a key of the account may do everything. */
  readonly aclMode: AclMode;
}

export type AclMode = 'superuser' | 'enforce';

export const smbSettings: SmbSettings = {
  dialects: [0x0202, 0x0210, 0x0300, 0x0302, 0x0311],
  ciphers: ['AES-128-GCM', 'AES-256-GCM', 'AES-128-CCM', 'AES-256-CCM'],
  encryptionRequired: false,
  signingRequired: true,
  maxTransferBytes: 8 * 1024 * 1024,
  aclMode: 'superuser',
};

/** What the server is given. Time and randomness come from outside. */
export interface SmbOptions {
  readonly settings?: Partial<SmbSettings>;
  readonly limits?: Partial<SmbLimits>;
  readonly volumes: Volumes;
  readonly opens: Opens;
  /** Who is told of changes over REST: this server wants to know, too. */
  readonly listeners: Set<ChangeListener>;
  readonly accounts: Accounts;
  /** What an account has set. */
  policyOf(account: string): AccountPolicy;
  readonly serverName: string;
  /** Milliseconds since 1970. */
  now(): number;
  random(size: number): Buffer;
  readonly schedule: Schedule;
  /** A bug, or a store that fails: not what a client did. */
  report(error: unknown): void;
}

/** What connections and handlers see of the server. */
export interface ServerContext extends Omit<Required<SmbOptions>, 'settings' | 'limits'> {
  readonly settings: SmbSettings;
  readonly limits: SmbLimits;
  readonly guid: Buffer;
  /** Of all connections. */
  readonly sessions: Map<bigint, { session: Session; connection: Connection }>;
  readonly failedLogons: FailedLogons;
  readonly watches: Watches;
  readonly durables: Durables;
  countFailure(status: Status): void;
  /** Work that `close` waits for. */
  track(work: Promise<void>): void;
  forget(connection: Connection): void;
  /** The oldest connection of a client: it is told about leases there, whichever it opened files on. */
  connectionOf(clientGuid: Buffer): Connection | undefined;
}

export class SmbServer {
  readonly #server: Server;
  readonly #context: ServerContext;
  readonly #connections = new Set<Connection>();
  readonly #work = new Set<Promise<void>>();
  readonly #failures = new Map<Status, number>();

  constructor(options: SmbOptions) {
    this.#context = {
      ...options,
      settings: { ...smbSettings, ...options.settings },
      limits: { ...smbLimits, ...options.limits },
      guid: options.random(16),
      sessions: new Map(),
      failedLogons: new FailedLogons(),
      watches: new Watches(),
      durables: new Durables(),
      countFailure: (status) => void this.#failures.set(status, (this.#failures.get(status) ?? 0) + 1),
      track: (work) => this.#track(work),
      forget: (connection) => void this.#connections.delete(connection),
      connectionOf: (clientGuid) =>
        [...this.#connections].find(({ negotiated }) => negotiated?.clientGuid.equals(clientGuid)),
    };
    this.#server = createServer((socket) => this.take(socket));
    options.listeners.add(this.#tell);
  }

  /** Listens; gives back the port, which for 0 is a free one. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        resolve(typeof address === 'object' && address ? address.port : port);
      });
    });
  }

  /** Serves a connection that was accepted, here or by somebody else. */
  take(socket: Socket): void {
    const { limits } = this.#context;
    const sameAddress = [...this.#connections].filter(
      ({ address }) => address === socket.remoteAddress,
    ).length;
    if (this.#connections.size >= limits.connections || sameAddress >= limits.connectionsPerAddress) {
      socket.destroy();
      return;
    }
    this.#connections.add(new Connection(this.#context, socket));
  }

  /** Tells clients of changes that were not made over SMB. */
  readonly #tell: ChangeListener = ([account, share], changes) => {
    const { volumes, watches } = this.#context;
    if (watches.count === 0) return;
    const told = volumes.open(account, share).then((volume) => volume && watches.post(volume, changes));
    this.#track(told);
  };

  #track(work: Promise<void>): void {
    const kept = work.catch((error) => this.#context.report(error)).finally(() => this.#work.delete(kept));
    this.#work.add(kept);
  }

  /** Numbers for metrics and tests. */
  get counters(): Readonly<{
    connections: number;
    sessions: number;
    trees: number;
    opens: number;
    watches: number;
    /** Handles without a connection, which wait for their clients. */
    durables: number;
    failures: ReadonlyMap<Status, number>;
  }> {
    const sessions = [...this.#context.sessions.values()].map(({ session }) => session);
    return {
      connections: this.#connections.size,
      sessions: sessions.length,
      trees: sessions.reduce((sum, { trees }) => sum + trees.size, 0),
      opens: sessions.reduce((sum, { opens }) => sum + opens.size, 0),
      watches: this.#context.watches.count,
      durables: this.#context.durables.count,
      failures: this.#failures,
    };
  }

  /** Ends all connections and waits until everything they had open is closed. */
  async close(): Promise<void> {
    this.#context.listeners.delete(this.#tell);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of [...this.#connections]) connection.close();
    this.#context.durables.endAll(this.#context);
    while (this.#work.size > 0) await Promise.all(this.#work);
    await closed;
  }
}
