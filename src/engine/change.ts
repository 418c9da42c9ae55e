// What a change must keep to before it is judged: its limits and its size.

import { assert } from '../base/assert.js';
import type { Change, Key } from './engine.js';
import { maxChangeBytes, maxKeyBytes, maxValueBytes } from './engine.js';
import { TooLargeError } from './errors.js';
import { reservedPrefix } from './page-reader.js';

/** What a commit costs beside its keys and values: also what bounds how many can wait for the disk. */
const commitBytes = 64;
const entryBytes = 64;
const counterBytes = 8;

/** Its size, or a refusal. */
export function measureChange(change: Change): number {
  let bytes = commitBytes;
  for (const { key, value } of change.writes ?? []) {
    checkKey(key);
    if (value !== undefined && value.length > maxValueBytes) {
      throw new TooLargeError(
        `A value of ${value.length} bytes is too large: the limit is ${maxValueBytes}. Split it, or store it as a blob.`,
      );
    }
    bytes += entryBytes + key.length + (value?.length ?? 0);
  }
  for (const { key } of change.adds ?? []) {
    checkKey(key);
    bytes += entryBytes + key.length + counterBytes;
  }
  if (bytes > maxChangeBytes) {
    throw new TooLargeError(
      `A change of ${bytes} bytes is too large: the limit is ${maxChangeBytes}. Use several transactions.`,
    );
  }
  return bytes;
}

function checkKey(key: Key): void {
  if (key.length > maxKeyBytes) {
    throw new TooLargeError(`A key of ${key.length} bytes is too large: the limit is ${maxKeyBytes}.`);
  }
  assert(key.length > 0 && key[0] !== reservedPrefix, 'a key is not empty and does not begin with 0xff');
}

/** A change that only reads draws no version and waits for no disk. */
export function onlyReads({ writes, adds, after }: Change): boolean {
  return !writes?.length && !adds?.length && after === undefined;
}

/** A change that gives space back, or at least brings no new data. */
export function onlyFrees({ frees, writes }: Change): boolean {
  return frees === true || !writes?.some(({ value }) => value !== undefined);
}
