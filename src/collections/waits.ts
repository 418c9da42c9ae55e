// How long a call may wait: one time limit for all the locks it needs, and the caller's own signal.

import { ArgumentError, OperationCanceledError } from './errors.js';
import type { LockOptions } from './locks.js';
import type { Transaction } from './transaction.js';

export interface WaitOptions {
  /** One limit for the whole call, in milliseconds; 0: try once; Infinity or -1: for ever. */
  readonly timeoutMs?: number | undefined;
  /** Ends the wait at once. */
  readonly signal?: AbortSignal | undefined;
}

/** Node's timers end there; anything longer is for ever. */
export const longestTimer = 2 ** 31 - 1;

/** The limit of one call, counted from its first wait: a call that need not wait reads no clock. */
export class Wait implements LockOptions {
  readonly signal: AbortSignal | undefined;
  readonly #limitMs: number;
  /** When all waits of the transaction end. */
  readonly #until: number;
  #since: number | undefined;

  constructor(
    options: WaitOptions | undefined,
    { timeoutMs, until }: Pick<Transaction, 'timeoutMs' | 'until'>,
  ) {
    this.#limitMs = limitOf('timeoutMs', options?.timeoutMs, timeoutMs);
    this.#until = until;
    this.signal = options?.signal;
    checkSignal(this.signal);
    this.assertNotCanceled();
  }

  /** For another call. */
  restart(): void {
    this.#since = undefined;
  }

  /** What is left of it. */
  get timeoutMs(): number {
    const now = performance.now();
    this.#since ??= now;
    return Math.max(0, Math.min(this.#limitMs - (now - this.#since), this.#until - now));
  }

  assertNotCanceled(): void {
    if (this.signal?.aborted) {
      throw new OperationCanceledError('the call was canceled', { cause: this.signal.reason });
    }
  }
}

export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new ArgumentError('signal must be an AbortSignal');
}

/** A time limit as it was given, or the one that holds otherwise. */
export function limitOf(name: string, givenMs: number | undefined, defaultMs: number): number {
  if (givenMs === undefined) return defaultMs;
  if (givenMs === -1) return Number.POSITIVE_INFINITY;
  if (typeof givenMs !== 'number' || !(givenMs >= 0)) {
    throw new ArgumentError(`${name} must be 0 or more, or Infinity, but is ${String(givenMs)}`);
  }
  return givenMs;
}
