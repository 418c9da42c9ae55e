// How long a call may wait: one time limit for all the locks it needs, and the caller's own signal.

import { ArgumentError, OperationCanceledError } from './errors.js';
import type { LockOptions } from './locks.js';

export interface WaitOptions {
  /** One limit for the whole call, in milliseconds; 0: try once; Infinity or -1: for ever. */
  readonly timeoutMs?: number | undefined;
  /** Ends the wait at once. */
  readonly signal?: AbortSignal | undefined;
}

/** The limit of one call, counted from its first wait: a call that need not wait reads no clock. */
export class Wait implements LockOptions {
  readonly signal: AbortSignal | undefined;
  readonly #limitMs: number;
  #since: number | undefined;

  constructor(options: WaitOptions | undefined, defaultMs: number) {
    this.#limitMs = limitOf(options?.timeoutMs, defaultMs);
    this.signal = options?.signal;
    if (this.signal?.aborted) {
      throw new OperationCanceledError('the call was canceled', { cause: this.signal.reason });
    }
  }

  /** What is left of it. */
  get timeoutMs(): number {
    const now = performance.now();
    this.#since ??= now;
    return Math.max(0, this.#limitMs - (now - this.#since));
  }
}

function limitOf(timeoutMs: number | undefined, defaultMs: number): number {
  if (timeoutMs === undefined) return defaultMs;
  if (timeoutMs === -1) return Number.POSITIVE_INFINITY;
  if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0)) {
    throw new ArgumentError(`timeoutMs must be 0 or more, or Infinity, but is ${timeoutMs}`);
  }
  return timeoutMs;
}
