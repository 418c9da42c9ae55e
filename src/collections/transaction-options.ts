// What can be said of a transaction when it begins and commits, and what is told of its end.

import type { Version } from '../engine/engine.js';

export interface TransactionOptions {
  /** Which moment enumerations and counts show: the beginning, or the first of them. */
  readonly snapshot?: 'begin' | 'first read';
  /** How long each call waits for its locks unless it says otherwise. */
  readonly timeoutMs?: number;
  /** How long all its calls together may wait, counted from the beginning. */
  readonly withinMs?: number;
  /** What it writes gives space back, like notes of what is to be removed: let through when the disk is nearly full. */
  readonly frees?: boolean;
}

export interface CommitOptions {
  /** How long to wait for the disk; then its outcome is unknown. */
  readonly timeoutMs?: number;
}

export type TransactionStatus = 'active' | 'committing' | 'committed' | 'aborted' | 'faulted';

/** Told how a transaction ends, at once and in this order: ordered, then durable or lost; or aborted, also if it had ended before. */
export interface TransactionHook {
  ordered?(version: Version): void;
  durable?(): void;
  lost?(): void;
  aborted?(): void;
}
