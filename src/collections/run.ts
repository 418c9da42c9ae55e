// Running work in a transaction, again where that may help.

import { setTimeout as delay } from 'node:timers/promises';
import { ArgumentError, mayRetry, OperationCanceledError, OutcomeUnknownError } from './errors.js';
import type { Kernel } from './kernel.js';
import { checkFunction } from './options.js';
import { Transaction } from './transaction.js';
import type { TransactionOptions } from './transaction-options.js';
import { limitOf } from './waits.js';

export interface RunOptions extends TransactionOptions {
  /**
   * How often it is run again after an error that may pass: a lost race, a time-out, a deadlock. 0 unless given.
   * Not after a commit whose outcome is unknown.
   */
  readonly retries?: number;
  /** No run begins later than this after the first, and no lock is waited for longer. */
  readonly withinMs?: number;
  /** Ends it between two runs. */
  readonly signal?: AbortSignal;
}

export async function runTransaction<T>(
  kernel: Kernel,
  work: (tx: Transaction) => Promise<T>,
  options: RunOptions,
): Promise<T> {
  const { retries = 0, signal } = options;
  checkFunction('work', work);
  if (typeof retries !== 'number' || !(retries >= 0))
    throw new ArgumentError(`retries must be 0 or more, but is ${String(retries)}`);
  const until = performance.now() + limitOf('withinMs', options.withinMs, Number.POSITIVE_INFINITY);
  let age: number | undefined;
  for (let attempt = 0; ; attempt++) {
    if (signal?.aborted) throw new OperationCanceledError('it was canceled', { cause: signal.reason });
    let tx: Transaction | undefined;
    try {
      tx = new Transaction(kernel, options, { age, until });
      age ??= tx.owner.age; // a retry keeps its age, so somebody always gets through
      const result = await work(tx);
      await (tx.status === 'active' ? tx.finish() : checkEnded(tx));
      return result;
    } catch (error) {
      // Its commit may go on. If it is still active, the commit was that of another transaction.
      if (error instanceof OutcomeUnknownError && tx?.status !== 'active') throw error;
      await tx?.endNow();
      const last = attempt >= retries || performance.now() >= until;
      const failure = last || !mayRetry(error) ? await toTell(tx, error) : error;
      if (last || !mayRetry(failure)) throw failure;
    }
    await backOff(attempt, tx?.id ?? 0n);
  }
}

/** The work may have ended its transaction by itself; one that the system has ended is not a success. */
async function checkEnded(tx: Transaction): Promise<void> {
  await tx.dispose();
  if (tx.status === 'faulted') tx.assertActive();
}

/** A refusal, too, may tell of what is not on disk yet: it waits, and was never true if that is lost. */
async function toTell(tx: Transaction | undefined, error: unknown): Promise<unknown> {
  try {
    await tx?.settled();
    return error;
  } catch (lost) {
    return lost;
  }
}

/** A little, growing, and not the same for all. */
function backOff(attempt: number, id: bigint): Promise<void> {
  const part = Number(id % 97n) / 97;
  return delay(part * Math.min(100, 2 ** attempt));
}
