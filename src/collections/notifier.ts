// When listeners are called: once a commit is durable, in the order of the history.
//
// A transaction that somebody wants to hear of waits here. The engine tells of each commit when it is durable,
// in order; then its listeners are called, its locks are released, and its `commit()` resolves. While a rebuild
// is under way, after the store was opened again, what is durable is kept back until that is done.

import type { Engine, Version } from '../engine/engine.js';
import { TimeoutError } from './errors.js';
import { checkFunction } from './options.js';
import type { Transaction } from './transaction.js';

export type TransactionListener = (change: {
  readonly action: 'commit';
  readonly transaction: Transaction;
}) => void;
export type ErrorListener = (error: unknown) => void;

interface Expected {
  readonly transaction: Transaction;
  readonly done: () => void;
}

export class Notifier {
  readonly #engine: Engine;
  readonly #slowMs: number;
  readonly #expected = new Map<Version, Expected>();
  readonly #transactionListeners = new Set<TransactionListener>();
  readonly #errorListeners = new Set<ErrorListener>();
  #stop: (() => void) | undefined;
  #held: Expected[] | undefined;

  constructor(engine: Engine, slowMs: number) {
    this.#engine = engine;
    this.#slowMs = slowMs;
  }

  /** Ends when the listeners of this commit have been called. */
  expect(version: Version, transaction: Transaction): Promise<void> {
    this.#stop ??= this.#engine.changes((commit) => this.#durable(commit.version));
    return new Promise((done) => this.#expected.set(version, { transaction, done }));
  }

  /** The commit was lost: nobody is told. */
  forget(version: Version): void {
    this.#expected.delete(version);
  }

  /** Nobody is told of anything while `work` runs; then of all that became durable meanwhile. */
  async hold(work: () => Promise<void>): Promise<void> {
    this.#held ??= [];
    try {
      await work();
    } finally {
      this.release();
    }
  }

  /** What is kept back is told now: no rebuild is waited for any longer. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const expected of held) tell(expected);
  }

  /** Calls each listener; what one throws is reported and stops nobody. */
  tellAll<T>(listeners: Iterable<(change: T) => void>, change: T): void {
    for (const listener of [...listeners]) {
      const began = performance.now();
      try {
        listener(change);
      } catch (error) {
        this.report(error);
      }
      const tookMs = performance.now() - began;
      if (tookMs > this.#slowMs) {
        this.report(new TimeoutError(`a listener took ${tookMs.toFixed(0)} ms: commits wait for it`));
      }
    }
  }

  /** Whether each transaction that writes is told of, not only those that change what somebody listens to. */
  get listensToTransactions(): boolean {
    return this.#transactionListeners.size > 0;
  }

  onTransaction(listener: TransactionListener): () => void {
    checkFunction('listener', listener);
    this.#transactionListeners.add(listener);
    return () => this.#transactionListeners.delete(listener);
  }

  tellTransaction(transaction: Transaction): void {
    if (this.#transactionListeners.size > 0)
      this.tellAll(this.#transactionListeners, { action: 'commit', transaction });
  }

  onError(listener: ErrorListener): () => void {
    checkFunction('listener', listener);
    this.#errorListeners.add(listener);
    return () => this.#errorListeners.delete(listener);
  }

  /** What a listener threw, or what failed in the background. Where nobody listens it is a warning of the process. */
  report(error: unknown): void {
    if (this.#errorListeners.size === 0) warn(error);
    for (const listener of [...this.#errorListeners]) {
      try {
        listener(error);
      } catch (thrown) {
        warn(thrown);
      }
    }
  }

  close(): void {
    this.#stop?.();
  }

  #durable(version: Version): void {
    const expected = this.#expected.get(version);
    if (expected === undefined) return;
    this.#expected.delete(version);
    if (this.#held === undefined) tell(expected);
    else this.#held.push(expected);
  }
}

function tell({ transaction, done }: Expected): void {
  transaction.notify();
  done();
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : new Error(String(error)));
}
