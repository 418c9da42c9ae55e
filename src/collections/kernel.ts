// What the transactions and the collections of one state manager share.

import type { Engine } from '../engine/engine.js';
import { NotPrimaryError, NotReadableError, ObjectClosedError } from './errors.js';
import { LockTable } from './locks.js';
import type { Transaction } from './transaction.js';

/** Which calls are allowed, and with which isolation. A single process is primary; the others are for nodes. */
export type Role = 'primary' | 'secondary' | 'none';

export interface KernelOptions {
  /** How long a call waits for its locks unless it says otherwise. */
  readonly timeoutMs: number;
  /** A transaction older than this is ended by the system. */
  readonly maxTransactionAgeMs: number;
  /** Whether values handed out are frozen, so that changing one by mistake throws. */
  readonly freeze: boolean;
  readonly detectDeadlocks: boolean;
}

export const defaultKernelOptions: KernelOptions = {
  timeoutMs: 4_000,
  maxTransactionAgeMs: Number.POSITIVE_INFINITY,
  freeze: process.env['NODE_ENV'] !== 'production',
  detectDeadlocks: true,
};

export class Kernel {
  readonly engine: Engine;
  readonly options: KernelOptions;
  readonly locks: LockTable;
  /** Transactions that have not ended. */
  readonly live = new Set<Transaction>();
  /** Commits whose listeners have not been called yet, in the order of the history. */
  readonly unnotified: Transaction[] = [];
  role: Role = 'primary';
  closed = false;
  /** Called when the state manager closes. */
  readonly onClose = new Set<() => void>();
  /** Called for each transaction that wrote, in the order of the history, where somebody listens. */
  notifyTransaction: ((transaction: Transaction) => void) | undefined;
  /** What a listener of the user's threw, or what failed in the background. */
  reportError: (error: unknown) => void = () => {};
  /** A change of the catalogue was lost: what is kept of it in memory is read again. */
  catalogLost: () => void = () => {};
  #lastId = 0;

  constructor(engine: Engine, options: KernelOptions, describeKey: (key: string) => string) {
    this.engine = engine;
    this.options = options;
    this.locks = new LockTable(describeKey, { detectDeadlocks: options.detectDeadlocks });
  }

  /** Rising, and unique in this process. */
  drawId(): bigint {
    this.#lastId = Math.max(this.#lastId + 1, Math.floor(this.engine.clock.now() * 1000));
    return BigInt(this.#lastId);
  }

  assertOpen(): void {
    if (this.closed) throw new ObjectClosedError('the state manager is closed');
  }

  assertReadable(): void {
    this.assertOpen();
    if (this.role === 'none')
      throw new NotReadableError('this replica cannot be read for now: try again, or elsewhere');
  }

  assertPrimary(): void {
    this.assertOpen();
    if (this.role !== 'primary')
      throw new NotPrimaryError('only the primary can write: find it and write there');
  }
}
