// Ends of a transaction that nobody can be sure of.

import { mapKey } from '../base/bytes.js';
import type { ConflictError as EngineConflict } from '../engine/errors.js';
import { ConflictError, OutcomeUnknownError } from './errors.js';
import { longestTimer } from './waits.js';

export function seenLost(cause?: unknown): ConflictError {
  return new ConflictError(
    'a write to disk failed, and what this transaction had seen went with it. Nothing was written: run it again.',
    { cause },
  );
}

/** `describe`: the engine's key in words. */
export function conflict(cause: EngineConflict, describe: (key: string) => string): ConflictError {
  if (cause.key === undefined) return new ConflictError(cause.message, { cause });
  const key = describe(mapKey(cause.key));
  const message = `${key} has changed since it was read. Nothing was written: run the transaction again.`;
  return new ConflictError(message, { cause, key });
}

/** The commit goes on; whoever waits is told that its outcome is not known. */
export async function within(commit: Promise<void>, limitMs: number): Promise<void> {
  if (limitMs > longestTimer) return commit;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new OutcomeUnknownError(
      `the commit took longer than ${limitMs} ms, and its outcome is not known yet. Read again before you repeat it.`,
    );
    timer = setTimeout(() => reject(error), limitMs);
  });
  try {
    await Promise.race([commit, late]);
  } finally {
    clearTimeout(timer);
  }
}
