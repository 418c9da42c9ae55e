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
import type { Generation } from './catalog.js';
import type { Collection } from './collection.js';
import { ArgumentError, translate } from './errors.js';
import { keyOf } from './key-parts.js';
import { checkFunction, checkNumber } from './options.js';
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
  /** Keys are places in a queue: those from before a clear and those since then are not the same, and come first. */
  readonly places?: boolean;
  readonly filter?: (key: K) => boolean;
  readonly make: (key: K, value: Uint8Array) => T;
}

/** Each iteration of the result is a cursor of its own. */
export function enumerate<K, T>(source: Collection, tx: Transaction, plan: Plan<K, T>): AsyncIterable<T> {
  tx.assertActive();
  tx.assertReadable();
  checkPlan(plan);
  if (!plan.newest) void tx.snapshot; // fixed now, not when the first row is asked for
  const { rows } = source.generation;
  const own = ownKeys(tx, rows, boundsOf(rows, plan), plan.reverse === true);
  return { [Symbol.asyncIterator]: () => walk(source, tx, plan, own) };
}

async function* walk<K, T>(
  source: Collection,
  tx: Transaction,
  plan: Plan<K, T>,
  own: readonly Buffer[],
): AsyncGenerator<T, void, undefined> {
  const wait = new Wait(plan, tx);
  const generation = await tx.call(() => {
    if (!plan.newest) return then(source.touch(tx, wait), () => source.snapshotGeneration(tx));
    source.expectUnlocked(tx, plan.check === true);
    return source.generation;
  });
  const rows = mapKey(source.generation.rows);
  const apart = plan.places === true && generation?.id !== source.generation.id;
  const merge = own.length === 0 ? undefined : new Merge(own, plan.reverse === true, apart);
  for await (const page of pages(generation, tx, plan, wait)) {
    for (const [suffix, stored] of merge?.next(page) ?? page.rows) {
      tx.assertActive();
      const key = keyOf<K>(decodeKey(suffix));
      if (plan.filter !== undefined && !plan.filter(key)) continue;
      const written =
        apart && stored !== undefined ? undefined : tx.changes.writes?.get(rows + mapKey(suffix));
      const value = liveValue(written === undefined ? stored : written.value, tx);
      if (value !== undefined) yield plan.make(key, value);
    }
  }
  tx.assertActive();
}

function checkPlan<K, T>({ pageSize, check, newest, filter }: Plan<K, T>): void {
  if (filter !== undefined) checkFunction('filter', filter);
  if (pageSize !== undefined) checkNumber('pageSize', pageSize, 1, Number.MAX_SAFE_INTEGER);
  if (check && !newest)
    throw new ArgumentError('a snapshot never changes: check goes with newest, which reads the newest state');
}

type SuffixRow = readonly [suffix: Uint8Array, stored: Uint8Array | undefined];

interface SuffixPage {
  readonly rows: readonly SuffixRow[];
  readonly more: boolean;
}

/** Stored rows and own keys as one ordered sequence, each key once, a page at a time. */
class Merge {
  readonly #own: readonly Buffer[];
  readonly #sign: number;
  /** Own keys come behind all that are stored, whatever their order. */
  readonly #apart: boolean;
  #next = 0;

  constructor(own: readonly Buffer[], reverse: boolean, apart: boolean) {
    this.#own = own;
    this.#sign = reverse ? -1 : 1;
    this.#apart = apart;
  }

  next({ rows, more }: SuffixPage): SuffixRow[] {
    const merged: SuffixRow[] = [];
    for (const row of rows) {
      let order = this.#order(row[0]);
      while (order < 0) {
        merged.push([this.#own[this.#next++] as Buffer, undefined]);
        order = this.#order(row[0]);
      }
      if (order === 0) this.#next++;
      merged.push(row);
    }
    if (!more) {
      for (const key of this.#own.slice(this.#next)) merged.push([key, undefined]);
      this.#next = this.#own.length;
    }
    return merged;
  }

  /** Negative: the next own key comes before this one; positive: behind it, or there is none. */
  #order(suffix: Uint8Array): number {
    const key = this.#own[this.#next];
    return key === undefined || this.#apart ? 1 : this.#sign * compareBytes(key, suffix);
  }
}

/** The last one says that there are no more, and is there even if it is empty. */
async function* pages<K, T>(
  generation: Generation | undefined,
  tx: Transaction,
  plan: Plan<K, T>,
  wait: Wait,
): AsyncGenerator<SuffixPage> {
  if (generation === undefined) return yield { rows: [], more: false };
  let { from, to } = boundsOf(generation.rows, plan);
  for (let more = true; more; ) {
    wait.assertNotCanceled();
    const page = await tx.call(() => readPage(tx, from, to, plan));
    const last = page.rows[page.rows.length - 1];
    more = page.more && last !== undefined;
    yield {
      rows: page.rows.map((row) => [row.key.subarray(generation.rows.length), row.value] as const),
      more,
    };
    if (last === undefined) return;
    if (plan.reverse) to = buffer(last.key);
    else from = Buffer.concat([last.key, Buffer.of(0)]);
  }
}

/** Keys alone still bring the row's first bytes: they tell whether it has expired. */
function readPage<K>(tx: Transaction, from: Buffer, to: Buffer, plan: RangeOptions<K>): Awaitable<Page> {
  if (compareBytes(from, to) >= 0) return { rows: [], more: false, seen: 0 };
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
  if (tx.changes.writes === undefined) return [];
  const [low, high] = [mapKey(from), mapKey(to)];
  const names = [...tx.changes.writes.keys()].filter((name) => name >= low && name < high).sort();
  if (reverse) names.reverse();
  return names.map((name) => fromMapKey(name.slice(rows.length)));
}

/** The keys of a range, in the engine's terms. */
export function boundsOf<K>(rows: Buffer, options: RangeOptions<K>): Bounds {
  try {
    return bounds(rows, options);
  } catch (error) {
    throw translate(error);
  }
}

function bounds<K>(rows: Buffer, options: RangeOptions<K>): Bounds {
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
  if (prefix !== undefined && !Array.isArray(prefix))
    throw new ArgumentError(`prefix is a text or a list of parts, not ${String(prefix)}`);
  return startsWith === undefined
    ? prefixRange(prefix ?? [], rows)
    : textPrefixRange(prefix ?? [], startsWith, rows);
}

function list(key: unknown): readonly KeyPart[] {
  return Array.isArray(key) ? key : [key as KeyPart];
}
