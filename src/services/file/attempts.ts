// An operation that may have to wait for a client to give up what it caches: its transaction ends, it
// waits, and begins again from the start, because by then everything may be different.

import type { Identity } from './acl-rules.js';
import type { Flushed, Volume, VolumeTransaction } from './file-system.js';
import type { Opens } from './opens.js';

/** What the operations on open files work with. */
export interface FileContext {
  readonly volume: Volume;
  readonly opens: Opens;
  /** Whose rights the descriptors of files are asked for. Nobody: they are not asked, and everything is allowed. */
  readonly judged?: Identity | undefined;
  /** Waits for a change on a file, or rejects if the wait is cancelled. */
  wait(changed: Promise<void>): Promise<void>;
}

export type Attempt<T> = Readonly<{ wait: Promise<void> } | { done: T }>;

export function done<T>(value: T): Attempt<T> {
  return { done: value };
}

/** `flushedOf`: the file whose flush waits until the change is on disk, where the operation itself need not. */
export async function attempts<T>(
  { volume, wait }: FileContext,
  attempt: (tx: VolumeTransaction) => Promise<Attempt<T>>,
  flushedOf?: (value: T) => Flushed,
): Promise<T> {
  const flushed = (outcome: Attempt<T>) => ('done' in outcome ? flushedOf?.(outcome.done) : undefined);
  for (;;) {
    // In an object: a promise that is returned from a transaction would be awaited inside it.
    const outcome = await (flushedOf ? volume.ordered(attempt, flushed) : volume.transaction(attempt));
    if ('done' in outcome) return outcome.done;
    await wait(outcome.wait);
  }
}
