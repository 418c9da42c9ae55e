// The Reliable Dictionary: keys to values, each key with a lock of its own.
//
//   get, has          shared, or update on request, or none     the lock on an absent key is held too
//   getOrAdd          update, exclusive only if it adds
//   every write       exclusive, also where it finds nothing to do
//   count, entries    none: the snapshot of the transaction with its own writes
//
// A value is stored as the codec's bytes and decoded anew for every read: nothing is shared with the caller.

import { type Awaitable, then } from '../base/awaitable.js';
import { equalBytes, mapKey } from '../base/bytes.js';
import { decodeCounter } from '../engine/counter.js';
import { maxKeyBytes, maxValueBytes, type Version } from '../engine/engine.js';
import { encodeKey } from '../engine/keys.js';
import type { CatalogRecord } from './catalog.js';
import { type Codec, deepFreeze } from './codec.js';
import { Collection, type CollectionKey } from './collection.js';
import { enumerate, type RangeOptions } from './enumerate.js';
import { ArgumentError, ArgumentNullError, NotReadableError } from './errors.js';
import { countExpired, indexExpiry, unindexExpiry } from './expiry.js';
import type { Kernel } from './kernel.js';
import { partsOf } from './key-parts.js';
import type { LockMode } from './locks.js';
import { type DictionaryListener, recordChange, recordClear } from './notifications.js';
import { encodeRow, liveValue } from './rows.js';
import type { Transaction } from './transaction.js';
import type { Wait, WaitOptions } from './waits.js';
import { type Watched, type WatchRange, watch } from './watch.js';

export interface ReadOptions extends WaitOptions {
  /** `none`: the newest value without waiting for anybody. Shared unless given. */
  readonly lock?: 'shared' | 'update' | 'none';
  /** Without a lock: that it is still so when the transaction commits, else a `ConflictError`. */
  readonly check?: boolean;
}

export interface WriteOptions extends WaitOptions {
  /** The row is gone so many milliseconds from now. */
  readonly ttlMs?: number;
}

export interface EntriesOptions<K> extends RangeOptions<K> {
  /** Looked at before the value is read. */
  readonly filter?: (key: K) => boolean;
}

/** A row as one call sees it, its lock held. */
interface Row {
  readonly key: Buffer;
  readonly name: string;
  /** As it is stored or about to be, expired or not. */
  readonly stored: Uint8Array | undefined;
  /** The codec's bytes, if it has not expired. */
  readonly value: Uint8Array | undefined;
}

export class Dictionary<K extends CollectionKey, V> extends Collection {
  readonly kind = 'dictionary';
  /** @internal */ readonly codec: Codec<V>;
  /** @internal */ readonly listeners = new Set<DictionaryListener<K, V>>();

  /** @internal Use `state.dictionary()`. */
  constructor(kernel: Kernel, name: string, record: CatalogRecord, version: Version, codec: Codec<V>) {
    super(kernel, name, record, version);
    this.codec = codec;
  }

  /** The value, or `undefined`. */
  get(tx: Transaction, key: K, options?: ReadOptions): Promise<V | undefined> {
    return this.call(tx, () =>
      then(this.#read(tx, key, options), (bytes) => (bytes === undefined ? undefined : this.decode(bytes))),
    );
  }

  /** The value with the commit that wrote it (0: this transaction), for `tryUpdate` with `ifVersion`. */
  getVersioned(
    tx: Transaction,
    key: K,
    options?: ReadOptions,
  ): Promise<{ value: V; version: Version } | undefined> {
    return this.call(tx, () =>
      then(this.#read(tx, key, options), (bytes) => {
        if (bytes === undefined) return undefined;
        const { key: row, name } = this.#rowKey(key);
        if (tx.writes?.has(name)) return { value: this.decode(bytes), version: 0 };
        return then(this.kernel.engine.get(row), ({ version }) => ({ value: this.decode(bytes), version }));
      }),
    );
  }

  has(tx: Transaction, key: K, options?: ReadOptions): Promise<boolean> {
    return this.call(tx, () => then(this.#read(tx, key, options), (bytes) => bytes !== undefined));
  }

  /** Several at once, in the order of the keys. */
  async getMany(tx: Transaction, keys: readonly K[], options?: ReadOptions): Promise<(V | undefined)[]> {
    return Promise.all(keys.map((key) => this.get(tx, key, options)));
  }

  /** A key that exists already is an `ArgumentError`. */
  async add(tx: Transaction, key: K, value: V, options?: WriteOptions): Promise<void> {
    if (!(await this.tryAdd(tx, key, value, options))) {
      throw new ArgumentError(`${this.name}: the key ${show(key)} exists already`);
    }
  }

  /** Whether it was added. */
  tryAdd(tx: Transaction, key: K, value: V, options?: WriteOptions): Promise<boolean> {
    return this.#change(tx, key, options, () => {
      const bytes = this.#encode(tx, value);
      return (row) => {
        if (row.value !== undefined) return false;
        this.#put(tx, key, row, bytes, options, value);
        return true;
      };
    });
  }

  /** Adds or replaces. */
  set(tx: Transaction, key: K, value: V, options?: WriteOptions): Promise<void> {
    if (this.#blind)
      return this.#writeBlind(tx, key, () => encodeRow(this.#encode(tx, value), undefined), options);
    return this.#change(tx, key, options, () => {
      const bytes = this.#encode(tx, value);
      return (row) => this.#put(tx, key, row, bytes, options, value);
    });
  }

  /** The new value. The functions run once, under the lock, and must not use the dictionary. */
  addOrUpdate(
    tx: Transaction,
    key: K,
    add: V | ((key: K) => V),
    update: (key: K, old: V) => V,
    options?: WriteOptions,
  ): Promise<V> {
    return this.#change(tx, key, options, () => {
      if (typeof update !== 'function')
        throw new ArgumentNullError('addOrUpdate needs a function for the update');
      return (row) => {
        const value = row.value === undefined ? produce(add, key) : update(key, this.decode(row.value));
        const bytes = this.#encode(tx, value);
        this.#put(tx, key, row, bytes, options, value);
        return this.decode(bytes);
      };
    });
  }

  /** The value there is, or the one that was added. */
  getOrAdd(tx: Transaction, key: K, add: V | ((key: K) => V), options?: WriteOptions): Promise<V> {
    return this.call(tx, () => {
      tx.assertWritable();
      const wait = this.wait(tx, options);
      return then(this.#lockRow(tx, key, 'update', wait), (row) => {
        if (row.value !== undefined) return this.decode(row.value);
        return then(tx.lock(row.name, 'exclusive', wait), () => {
          const value = produce(add, key);
          const bytes = this.#encode(tx, value);
          this.#put(tx, key, row, bytes, options, value);
          return this.decode(bytes);
        });
      });
    });
  }

  /** Replaces the value if it is still `comparison`, by its bytes, or of the version given. Whether it did. */
  tryUpdate(
    tx: Transaction,
    key: K,
    value: V,
    comparison: V | { readonly ifVersion: Version },
    options?: WriteOptions,
  ): Promise<boolean> {
    return this.#change(tx, key, options, () => {
      const bytes = this.#encode(tx, value);
      return (row) =>
        then(this.#matches(row, comparison), (same) => {
          if (same) this.#put(tx, key, row, bytes, options, value);
          return same;
        });
    });
  }

  /** Removes it without telling what it was: cheaper, where nobody needs to know. */
  delete(tx: Transaction, key: K, options?: WaitOptions): Promise<void> {
    if (this.#blind) return this.#writeBlind(tx, key, () => undefined, options);
    return this.remove(tx, key, options).then(() => {});
  }

  /** The value that was removed, or `undefined`. */
  remove(tx: Transaction, key: K, options?: WaitOptions): Promise<V | undefined> {
    return this.#change(tx, key, options, () => (row) => {
      if (row.stored === undefined) return undefined;
      const old = row.value === undefined ? undefined : this.decode(row.value);
      if (old !== undefined && this.listeners.size > 0)
        recordChange(tx, this, { action: 'remove', key, previous: old });
      this.#drop(tx, row);
      return old;
    });
  }

  /** How many keys the transaction's snapshot has, with its own changes. Costs the same for any number. */
  count(tx: Transaction): Promise<number> {
    return this.call(tx, () => {
      if (!this.record.counted) throw new ArgumentError(`${this.name} was opened with { count: false }`);
      tx.assertReadable();
      return then(this.touch(tx, this.wait(tx, undefined)), () => this.#count(tx));
    });
  }

  /** What there is now, committed and on disk or about to be. Takes no transaction and no lock. */
  async currentCount(): Promise<number> {
    this.assertOpen();
    this.kernel.assertReadable();
    const { value, seen } = await this.kernel.engine.get(this.generation.count.key);
    await this.kernel.engine.settled(seen);
    return decodeCounter(value);
  }

  /** Rows in the order of their keys: the transaction's snapshot with its own writes. Takes no row lock. */
  entries(tx: Transaction, options: EntriesOptions<K> = {}): AsyncIterable<[key: K, value: V]> {
    this.assertUsable(tx);
    return enumerate(this, tx, { ...options, make: (key: K, value) => [key, this.decode(value)] as [K, V] });
  }

  keys(tx: Transaction, options: EntriesOptions<K> = {}): AsyncIterable<K> {
    this.assertUsable(tx);
    return enumerate(this, tx, { ...options, make: (key: K) => key });
  }

  /** Is called for each committed change, in order, while the locks are held. The result ends it. */
  onChange(listener: DictionaryListener<K, V>): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** What changes from now on, in order and once it is on disk: one key, a range or all. Ends by its signal or on close. */
  watch(
    range: WatchRange<K> & { readonly key?: K } = {},
  ): AsyncIterableIterator<Watched<K, V>> & AsyncDisposable {
    this.assertOpen();
    const { key, ...rest } = range;
    const one = key === undefined ? {} : { prefix: partsOf(key) };
    return watch<K, V>(this, { ...rest, ...one }, (value) => this.decode(value));
  }

  protected override recordClear(tx: Transaction): void {
    if (this.listeners.size > 0) recordClear(tx, this);
  }

  /** @internal */
  decode(bytes: Uint8Array): V {
    const value = this.codec.decode(bytes);
    return this.kernel.options.freeze ? deepFreeze(value) : value;
  }

  /** Whether a write need not know what was there before. */
  get #blind(): boolean {
    return !this.record.counted && this.listeners.size === 0;
  }

  #writeBlind(
    tx: Transaction,
    key: K,
    encode: () => Uint8Array | undefined,
    options: WriteOptions | undefined,
  ): Promise<void> {
    return this.call(tx, () => {
      tx.assertWritable();
      if (options?.ttlMs !== undefined) {
        throw new ArgumentError(`${this.name} was opened with { count: false }: its rows do not expire`);
      }
      const wait = this.wait(tx, options);
      const bytes = encode();
      encodeKey(partsOf(key)); // a key that cannot be is refused before any lock
      return then(this.touch(tx, wait), () => {
        const row = this.#rowKey(key);
        return then(tx.lock(row.name, 'exclusive', wait), () => tx.write(row.name, row.key, bytes));
      });
    });
  }

  #count(tx: Transaction): Awaitable<number> {
    const own = tx.adds?.get(this.generation.count.name)?.amount ?? 0;
    return then(this.snapshotGeneration(tx), (generation) => {
      if (generation === undefined) return own;
      return then(tx.snapshot.get(generation.count.key), ({ value }) =>
        then(countExpired(tx, generation), (expired) => decodeCounter(value) + own - expired),
      );
    });
  }

  #rowKey(key: K): { key: Buffer; name: string } {
    const bytes = encodeKey(partsOf(key), this.generation.rows);
    if (bytes.length > maxKeyBytes) {
      throw new ArgumentError(
        `${this.name}: a key of ${bytes.length} bytes is over the limit of ${maxKeyBytes}`,
      );
    }
    return { key: bytes, name: mapKey(bytes) };
  }

  /** The codec's bytes of a read. */
  #read(tx: Transaction, key: K, options: ReadOptions | undefined): Awaitable<Uint8Array | undefined> {
    const lock = options?.lock ?? 'shared';
    if (lock !== 'shared' && lock !== 'update' && lock !== 'none') {
      throw new ArgumentError(`lock is shared, update or none, not ${String(lock)}`);
    }
    tx.assertReadable();
    if (!tx.primary) return this.#readSnapshot(tx, key, lock, this.wait(tx, options));
    if (lock !== 'none') {
      return then(this.#lockRow(tx, key, lock, this.wait(tx, options)), (row) => row.value);
    }
    this.expectUnlocked(tx, options?.check === true);
    const row = this.#rowKey(key);
    const own = tx.writes?.get(row.name);
    if (own !== undefined) return liveValue(own.value, () => tx.now);
    return then(tx.read(row.key, row.name, false, options?.check === true), ({ value }) =>
      liveValue(value, () => tx.now),
    );
  }

  #readSnapshot(tx: Transaction, key: K, lock: string, wait: Wait): Awaitable<Uint8Array | undefined> {
    if (lock === 'update')
      throw new NotReadableError('a secondary takes no update locks: read on the primary');
    const parts = partsOf(key);
    return then(this.touch(tx, wait), () =>
      then(this.snapshotGeneration(tx), (generation) => {
        if (generation === undefined) return undefined;
        const row = tx.snapshot.get(encodeKey(parts, generation.rows));
        return then(row, ({ value }) => liveValue(value, () => tx.now));
      }),
    );
  }

  #lockRow(tx: Transaction, key: K, mode: LockMode, wait: Wait): Awaitable<Row> {
    const parts = partsOf(key);
    encodeKey(parts); // a key that cannot be is refused before any lock
    return then(this.touch(tx, wait), () => {
      const row = this.#rowKey(key);
      return then(tx.lock(row.name, mode, wait), () => {
        const own = tx.writes?.get(row.name);
        if (own !== undefined) return this.#row(tx, row, own.value);
        return then(tx.read(row.key, row.name, true, true), ({ value }) => this.#row(tx, row, value));
      });
    });
  }

  #row(tx: Transaction, { key, name }: { key: Buffer; name: string }, stored: Uint8Array | undefined): Row {
    return { key, name, stored, value: liveValue(stored, () => tx.now) };
  }

  /** One call that writes: `prepare` runs before any lock is taken, what it returns under the row's. */
  #change<R>(
    tx: Transaction,
    key: K,
    options: WaitOptions | undefined,
    prepare: () => (row: Row) => Awaitable<R>,
  ): Promise<R> {
    return this.call(tx, () => {
      tx.assertWritable();
      const wait = this.wait(tx, options);
      const decide = prepare();
      return then(this.#lockRow(tx, key, 'exclusive', wait), decide);
    });
  }

  #encode(tx: Transaction, value: V): Uint8Array {
    if (value === undefined)
      throw new ArgumentError(`${this.name}: undefined cannot be stored: use null, or remove the key`);
    const bytes = this.codec.encode(value);
    if (bytes.length >= maxValueBytes) {
      throw this.tooLarge(
        tx,
        `a value of ${bytes.length} bytes is over the limit of ${maxValueBytes}: split it`,
      );
    }
    return bytes;
  }

  #put(
    tx: Transaction,
    key: K,
    row: Row,
    bytes: Uint8Array,
    options: WriteOptions | undefined,
    value: V,
  ): void {
    if (this.listeners.size > 0) {
      const previous = row.value === undefined ? undefined : this.decode(row.value);
      recordChange(tx, this, { action: row.value === undefined ? 'add' : 'update', key, value, previous });
    }
    const expires = options?.ttlMs === undefined ? undefined : tx.now + checkTtl(options.ttlMs);
    if (expires !== undefined && !this.record.counted) {
      throw new ArgumentError(`${this.name} was opened with { count: false }: its rows do not expire`);
    }
    if (row.stored === undefined) {
      if (this.record.counted) tx.add(this.generation.count.name, this.generation.count.key, 1);
    } else {
      unindexExpiry(tx, this.generation, row.key, row.stored);
    }
    if (expires !== undefined) indexExpiry(tx, this.generation, row.key, expires);
    tx.write(row.name, row.key, encodeRow(bytes, expires));
  }

  #drop(tx: Transaction, row: Row): void {
    if (this.record.counted) tx.add(this.generation.count.name, this.generation.count.key, -1);
    if (row.stored !== undefined) unindexExpiry(tx, this.generation, row.key, row.stored);
    tx.write(row.name, row.key, undefined);
  }

  #matches(row: Row, comparison: V | { readonly ifVersion: Version }): Awaitable<boolean> {
    if (row.value === undefined) return false;
    if (isVersion(comparison)) {
      return then(this.kernel.engine.get(row.key), ({ version }) => version === comparison.ifVersion);
    }
    if (comparison === undefined) return false;
    return equalBytes(row.value, this.codec.encode(comparison));
  }
}

/** A key in the words of an error. */
export function show(key: unknown): string {
  return JSON.stringify(key, (_, part) => (typeof part === 'bigint' ? `${part}n` : part)) ?? String(key);
}

function produce<K, V>(value: V | ((key: K) => V), key: K): V {
  return typeof value === 'function' ? (value as (key: K) => V)(key) : value;
}

function isVersion(comparison: unknown): comparison is { readonly ifVersion: Version } {
  return typeof comparison === 'object' && comparison !== null && 'ifVersion' in comparison;
}

function checkTtl(ttlMs: number): number {
  if (typeof ttlMs !== 'number' || !(ttlMs > 0))
    throw new ArgumentError(`ttlMs must be above 0, but is ${ttlMs}`);
  return ttlMs;
}
