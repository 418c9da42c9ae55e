// Walking over rows in the order of their keys.
//
// The rows are those of the transaction's snapshot, or of the newest state on request, read in pages; own
// writes are merged in. Which own keys there are is fixed when the enumeration is made; their values are
// looked up when they are reached, so a later own update is seen and a later own removal skips the key.

import { type Awaitable, then } from '../base/awaitable.js';
import { buffer, compareBytes, fromMapKey, mapKey } from '../base/bytes.js';
import type { Page } from '../engine/engine.js';
import {
  decodeKey,
  encodeKey,
  type KeyPart,
  prefixRange,
  textPrefixRange,
  type Utf16,
} from '../engine/keys.js';
import type { Collection } from './collection.js';
import { ArgumentError } from './errors.js';
import { keyOf } from './key-parts.js';
import { liveValue } from './rows.js';
import type { Transaction } from './transaction.js';
import { Wait, type WaitOptions } from './waits.js';

export interface RangeOptions<K> extends WaitOptions {
  /** From this key on, or from the first key that begins with these parts. */
  readonly from?: K | readonly KeyPart[];
  /** Up to but not including this key, or the first that begins with these parts. */
  readonly to?: K | readonly KeyPart[];
  /** Behind this key. */
  readonly after?: K;
  /** Keys that begin with these parts; for keys that are strings, with this text. */
  readonly prefix?: string | readonly KeyPart[];
  /** Behind `prefix`, keys whose next part begins with this text. */
  readonly startsWith?: string | Utf16;
  readonly reverse?: boolean;
  /** How many are read at a time: 256 unless given. For who needs only the first few. */
  readonly pageSize?: number;
  /** The newest state instead of the snapshot: for who decides by a range. */
  readonly newest?: boolean;
  /** With `newest`: that it is still so when the transaction commits, else a `ConflictError`. */
  readonly check?: boolean;
}

interface Bounds {
  readonly from: Buffer;
  readonly to: Buffer;
}

interface Plan<K, T> extends RangeOptions<K> {
  readonly filter?: (key: K) => boolean;
  readonly make: (key: K, value: Uint8Array) => T;
}

/** Each iteration of the result is a cursor of its own. */
export function enumerate<K, T>(source: Collection, tx: Transaction, plan: Plan<K, T>): AsyncIterable<T> {
  tx.assertActive();
  tx.assertReadable();
  if (!plan.newest) void tx.snapshot; // fixed now, not when the first row is asked for
  const own = ownKeys(
    tx,
    source.generation.rows,
    boundsOf(source.generation.rows, plan),
    plan.reverse === true,
  );
  return { [Symbol.asyncIterator]: () => walk(source, tx, plan, own) };
}

async function* walk<K, T>(
  source: Collection,
  tx: Transaction,
  plan: Plan<K, T>,
  own: readonly Buffer[],
): AsyncGenerator<T, void, undefined> {
  const wait = new Wait(plan, tx.timeoutMs);
  await tx.call(() =>
    plan.newest ? source.expectUnlocked(tx, plan.check === true) : source.touch(tx, wait),
  );
  const { rows } = source.generation;
  for await (const [suffix, stored] of merge(source, tx, plan, own)) {
    tx.assertActive();
    const key = keyOf<K>(decodeKey(suffix));
    if (plan.filter !== undefined && !plan.filter(key)) continue;
    const written = tx.writes?.get(mapKey(rows) + mapKey(suffix));
    const value = liveValue(written === undefined ? stored : written.value, () => tx.now);
    if (value !== undefined) yield plan.make(key, value);
  }
}

type SuffixRow = readonly [suffix: Uint8Array, stored: Uint8Array | undefined];

/** Stored rows and own keys as one ordered sequence, each key once. */
async function* merge<K, T>(
  source: Collection,
  tx: Transaction,
  plan: Plan<K, T>,
  own: readonly Buffer[],
): AsyncGenerator<SuffixRow> {
  const sign = plan.reverse ? -1 : 1;
  let next = 0;
  for await (const page of pages(source, tx, plan)) {
    for (const row of page) {
      let key = own[next];
      while (key !== undefined && sign * compareBytes(key, row[0]) < 0) {
        yield [key, undefined];
        key = own[++next];
      }
      if (key !== undefined && compareBytes(key, row[0]) === 0) next++;
      yield row;
    }
  }
  for (const key of own.slice(next)) yield [key, undefined];
}

async function* pages<K, T>(
  source: Collection,
  tx: Transaction,
  plan: Plan<K, T>,
): AsyncGenerator<readonly SuffixRow[]> {
  const generation = plan.newest ? source.generation : await tx.call(() => source.snapshotGeneration(tx));
  if (generation === undefined) return;
  let { from, to } = boundsOf(generation.rows, plan);
  while (compareBytes(from, to) < 0) {
    const page = await tx.call(() => readPage(tx, from, to, plan));
    yield page.rows.map((row) => [row.key.subarray(generation.rows.length), row.value] as const);
    const last = page.rows[page.rows.length - 1];
    if (!page.more || last === undefined) return;
    if (plan.reverse) to = buffer(last.key);
    else from = Buffer.concat([last.key, Buffer.of(0)]);
  }
}

/** Keys alone still bring the row's first bytes: they tell whether it has expired. */
function readPage<K>(tx: Transaction, from: Buffer, to: Buffer, plan: RangeOptions<K>): Awaitable<Page> {
  const range = { reverse: plan.reverse ?? false, limit: plan.pageSize ?? 256 };
  if (!plan.newest) return tx.snapshot.range(from, to, range);
  const { engine } = tx.kernel;
  if (plan.check) {
    return then(engine.checkedRange(from, to, range), (page) => {
      tx.expectPage(page);
      return page;
    });
  }
  return then(engine.range(from, to, range), (page) => {
    tx.see(page.seen);
    return page;
  });
}

/** The keys this transaction has written in the range, in order, without what all keys begin with. */
function ownKeys(tx: Transaction, rows: Buffer, { from, to }: Bounds, reverse: boolean): Buffer[] {
  if (tx.writes === undefined) return [];
  const [low, high] = [mapKey(from), mapKey(to)];
  const names = [...tx.writes.keys()].filter((name) => name >= low && name < high).sort();
  if (reverse) names.reverse();
  return names.map((name) => fromMapKey(name.slice(rows.length)));
}

/** The keys of a range, in the engine's terms. */
export function boundsOf<K>(rows: Buffer, options: RangeOptions<K>): Bounds {
  let { from, to } = prefixBounds(rows, options);
  const raise = (key: Buffer) => {
    if (compareBytes(key, from) > 0) from = key;
  };
  if (options.from !== undefined) raise(encodeKey(list(options.from), rows));
  if (options.after !== undefined) raise(Buffer.concat([encodeKey(list(options.after), rows), Buffer.of(0)]));
  if (options.to !== undefined) {
    const key = encodeKey(list(options.to), rows);
    if (compareBytes(key, to) < 0) to = key;
  }
  return { from, to };
}

function prefixBounds<K>(rows: Buffer, { prefix, startsWith }: RangeOptions<K>): Bounds {
  if (typeof prefix === 'string') {
    if (startsWith !== undefined)
      throw new ArgumentError('a text prefix and startsWith say the same: give one');
    return textPrefixRange([], prefix, rows);
  }
  return startsWith === undefined
    ? prefixRange(prefix ?? [], rows)
    : textPrefixRange(prefix ?? [], startsWith, rows);
}

function list(key: unknown): readonly KeyPart[] {
  return Array.isArray(key) ? key : [key as KeyPart];
}
