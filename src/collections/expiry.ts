// Rows that expire. Whether a row has expired is computed from its stored time when it is looked at; the
// index from times to rows serves to sweep them and to keep counts exact.

import { type Awaitable, then } from '../base/awaitable.js';
import { mapKey } from '../base/bytes.js';
import { decodeCounter } from '../engine/counter.js';
import { encodeKey } from '../engine/keys.js';
import type { Generation } from './catalog.js';
import { ArgumentError } from './errors.js';
import { expiryOf } from './rows.js';
import type { Transaction } from './transaction.js';

const present = Buffer.of(0);

/** Infinity: it does not expire. */
export function checkTtl(ttlMs: number): void {
  if (typeof ttlMs !== 'number' || !(ttlMs > 0))
    throw new ArgumentError(`ttlMs must be above 0, but is ${String(ttlMs)}`);
}

function indexKey(generation: Generation, expires: number, row: Uint8Array): Buffer {
  return encodeKey([expires, row], generation.expiry);
}

export function indexExpiry(tx: Transaction, generation: Generation, row: Uint8Array, expires: number): void {
  const key = indexKey(generation, expires, row);
  tx.write(mapKey(key), key, present);
  tx.changes.add(generation.expiring.name, generation.expiring.key, 1);
}

/** The row as it was stored is replaced or removed. */
export function unindexExpiry(
  tx: Transaction,
  generation: Generation,
  row: Uint8Array,
  stored: Uint8Array,
): void {
  const expires = expiryOf(stored);
  if (expires === undefined) return;
  const key = indexKey(generation, expires, row);
  tx.write(mapKey(key), key, undefined);
  tx.changes.add(generation.expiring.name, generation.expiring.key, -1);
}

/** Index keys of rows that had expired by `now`: from, to. */
export function expiredRange(generation: Generation, now: number): [from: Buffer, to: Buffer] {
  return [generation.expiry, encodeKey([now, Buffer.alloc(0)], generation.expiry)];
}

/** How many rows that the transaction sees have expired and are not swept yet: a short range, mostly none. */
export function countExpired(tx: Transaction, generation: Generation): Awaitable<number> {
  const own = tx.changes.adds?.has(generation.expiring.name) ?? false;
  return then(tx.snapshot.get(generation.expiring.key), ({ value }) => {
    if (!own && decodeCounter(value) === 0) return 0;
    const [from, to] = expiredRange(generation, tx.now);
    return then(countRange(tx, from, to), (count) => count + (own ? countOwn(tx, from, to) : 0));
  });
}

/** Rows that this transaction has written and that have expired since. */
function countOwn({ changes }: Transaction, from: Buffer, to: Buffer): number {
  const [low, high] = [mapKey(from), mapKey(to)];
  let count = 0;
  for (const [name, { value }] of changes.writes ?? []) {
    if (value !== undefined && name >= low && name < high) count++;
  }
  return count;
}

async function countRange(tx: Transaction, from: Buffer, to: Buffer): Promise<number> {
  let count = 0;
  let start = from;
  for (;;) {
    const page = await tx.snapshot.range(start, to, { keysOnly: true });
    // A row that this transaction has replaced or removed is counted by its own changes.
    count += page.rows.filter((row) => !tx.changes.writes?.has(mapKey(row.key))).length;
    const last = page.rows[page.rows.length - 1];
    if (!page.more || last === undefined) return count;
    start = Buffer.concat([last.key, Buffer.of(0)]);
  }
}
