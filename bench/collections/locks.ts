// What a lock costs that need not be waited for.

import { LockOwner } from '#src/collections/lock-entries.js';
import { LockTable } from '#src/collections/locks.js';

/** Nanoseconds for one to be granted and given back: transactions of ten locks each, on keys nobody else wants. */
export function lockNanoseconds(count: number): number {
  const table = new LockTable();
  const keys = Array.from({ length: 1000 }, (_, index) => `key ${index}`);
  const wait = { timeoutMs: 0 };
  const run = (from: number, to: number): void => {
    for (let number = from; number < to; number += 10) {
      const owner = new LockOwner(BigInt(number), number);
      for (let key = number; key < number + 10; key++)
        table.acquire(owner, keys[key % 1000] as string, key % 2 === 0 ? 'shared' : 'exclusive', wait);
      table.release(owner);
    }
  };
  run(0, count);
  const began = performance.now();
  run(count, 2 * count);
  return ((performance.now() - began) * 1e6) / count;
}
