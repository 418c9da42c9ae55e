// What the library can refuse. The hierarchy is that of the original, under plain names: code that catches
// a base class keeps working when a finer one is thrown.

import * as engine from '../engine/errors.js';
import { InvalidKeyError } from '../engine/keys.js';

class CollectionsError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** The caller's mistake: a wrong name, type, key or value, or a key that exists already. Do not retry. */
export class ArgumentError extends CollectionsError {}
export class ArgumentNullError extends ArgumentError {}
export class ArgumentOutOfRangeError extends ArgumentError {}
/** A name of a form that is not allowed. */
export class FormatError extends ArgumentError {}

/** Something was not to be had in time. End the transaction, wait a little, run it again. */
export class TimeoutError extends CollectionsError {}

/** The caller's own `AbortSignal` ended a wait. */
export class OperationCanceledError extends CollectionsError {
  override get name(): string {
    return 'AbortError';
  }
}

/** The call does not fit the state that the transaction or the collection is in. */
export class InvalidOperationError extends CollectionsError {}
/** The transaction has ended already: committed, aborted or disposed. */
export class TransactionClosedError extends InvalidOperationError {}
/** The system ended the transaction, or its commit failed. Nothing more can be done with it. */
export class TransactionFaultedError extends InvalidOperationError {}
/** The commit may or may not be there after the next start: make what follows safe to repeat. */
export class OutcomeUnknownError extends TransactionFaultedError {}
/** A counter would pass the limit given with the amount. */
export class LimitError extends InvalidOperationError {}

/** What is stored is not what was written, or was written by a newer version. */
export class InvalidDataError extends CollectionsError {}

/** Problems of the store rather than of the call. */
export class StoreError extends CollectionsError {}
export class NotPrimaryError extends StoreError {}
/** The collection was removed, or the state manager closed. */
export class ObjectClosedError extends StoreError {}
export class OperationTooLargeError extends StoreError {}
export class BackupInProgressError extends StoreError {}
export class MissingFullBackupError extends StoreError {}
/** Passes by itself: the same work may succeed when it is run again. */
export class TransientError extends StoreError {}
export class NotReadableError extends TransientError {}
export class QueueFullError extends TransientError {}
/** What a read without a lock saw has changed. Nothing was written; run the transaction again. */
export class ConflictError extends TransientError {
  /** What has changed, as errors of locks name it; nothing where it was lost with a failed disk. */
  readonly key: string | undefined;
  constructor(message: string, options?: ErrorOptions & { readonly key?: string }) {
    super(message, options);
    this.key = options?.key;
  }
}
/** The disk is full or failing: writes are refused for now, reads go on. */
export class ReadOnlyError extends TransientError {}

/** Which key was wanted, how, by whom, and who is in the way. */
export interface LockWait {
  readonly key: string;
  readonly mode: string;
  readonly transactionId: bigint;
  readonly waitedMs: number;
  readonly holders: readonly {
    readonly transactionId: bigint;
    readonly mode: string;
    readonly heldMs: number;
  }[];
}

function describe(wait: LockWait): string {
  const holders = wait.holders.map(
    (holder) =>
      `transaction ${holder.transactionId} holds it ${holder.mode} for ${holder.heldMs.toFixed(0)} ms`,
  );
  const inTheWay = holders.length > 0 ? holders.join(', ') : 'others wait for it before';
  return `transaction ${wait.transactionId} wants ${wait.key} ${wait.mode}; ${inTheWay}`;
}

/** A lock was not to be had in time. The transaction keeps what it holds and may go on. */
export class LockTimeoutError extends TimeoutError {
  readonly wait: LockWait;
  constructor(
    wait: LockWait,
    message = `not granted within ${wait.waitedMs.toFixed(0)} ms: ${describe(wait)}`,
  ) {
    super(message);
    this.wait = wait;
  }
}

/** Transactions wait for each other in a circle; the youngest of them gets this. Abort it and run it again. */
export class DeadlockError extends LockTimeoutError {
  /** Each waits for the next, the last for the first. */
  readonly cycle: readonly LockWait[];
  constructor(wait: LockWait, cycle: readonly LockWait[]) {
    super(wait, `deadlock: ${cycle.map(describe).join('; ')}`);
    this.cycle = cycle;
  }
}

/** Whether the same work may succeed when it is run again in a new transaction. */
export function mayRetry(error: unknown): boolean {
  if (error instanceof OutcomeUnknownError) return false; // it may be there already
  if (error instanceof TransactionFaultedError) return mayRetry(error.cause);
  return error instanceof TimeoutError || error instanceof TransientError;
}

/** An error of the engine in the words of this library; any other error as it is. */
export function translate(error: unknown): unknown {
  for (const [from, to] of translations) {
    if (error instanceof from) return new to(error.message, { cause: error });
  }
  return error;
}

const translations = [
  [engine.ConflictError, ConflictError],
  [engine.LimitError, LimitError],
  [engine.LostError, OutcomeUnknownError],
  [engine.ReadOnlyError, ReadOnlyError],
  [engine.DamageError, InvalidDataError],
  [engine.FormatError, InvalidDataError],
  [engine.TooLargeError, OperationTooLargeError],
  [engine.ClosedError, ObjectClosedError],
  [engine.UnavailableError, NotReadableError],
  [engine.FolderInUseError, InvalidOperationError],
  [engine.BackupInProgressError, BackupInProgressError],
  [engine.MissingFullBackupError, MissingFullBackupError],
  [engine.BrokenChainError, ArgumentError],
  [engine.OlderBackupError, ArgumentError],
  [InvalidKeyError, ArgumentError],
] as const;
