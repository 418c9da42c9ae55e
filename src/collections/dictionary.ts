// The Reliable Dictionary: keys to values, each key with a lock of its own.
//
//   get, has          shared, or update on request, or none     the lock on an absent key is held too
//   getOrAdd          update, exclusive only if it adds
//   every write       exclusive, also where it finds nothing to do
//   count, entries    none: the snapshot of the transaction with its own writes

import { then } from '../base/awaitable.js';
import { equalBytes } from '../base/bytes.js';
import type { Version } from '../engine/engine.js';
import type { CollectionKey } from './collection.js';
import { DictionaryRows, type Found, type ReadOptions, type WriteOptions } from './dictionary-rows.js';
import { enumerate, type RangeOptions } from './enumerate.js';
import { ArgumentError, ArgumentNullError } from './errors.js';
import { partsOf, show } from './key-parts.js';
import { type DictionaryListener, type Rebuild, recordClear } from './notifications.js';
import { checkFunction } from './options.js';
import { encodeRow } from './rows.js';
import { runTransaction } from './run.js';
import type { Transaction } from './transaction.js';
import type { WaitOptions } from './waits.js';
import { type Watched, type WatchRange, watch } from './watch.js';

export type { ReadOptions, WriteOptions } from './dictionary-rows.js';

export interface EntriesOptions<K> extends RangeOptions<K> {
  /** Looked at before the value is read. */
  readonly filter?: (key: K) => boolean;
}

export class Dictionary<K extends CollectionKey, V> extends DictionaryRows<K, V> {
  readonly kind = 'dictionary';
  /** @internal */ rebuild: Rebuild<K, V> | undefined;

  /** The value, or `undefined`. */
  get(tx: Transaction, key: K, options?: ReadOptions): Promise<V | undefined> {
    return this.call(tx, () => then(this.read(tx, key, options), (found) => this.#valueOf(found)));
  }

  /** The value with the commit that wrote it (0: this transaction), for `tryUpdateVersion`. */
  getVersioned(
    tx: Transaction,
    key: K,
    options?: ReadOptions,
  ): Promise<{ value: V; version: Version } | undefined> {
    return this.call(tx, () =>
      then(this.read(tx, key, options), (found) =>
        found.exists ? { value: this.#valueOf(found) as V, version: found.version } : undefined,
      ),
    );
  }

  has(tx: Transaction, key: K, options?: ReadOptions): Promise<boolean> {
    return this.call(tx, () => then(this.read(tx, key, options), ({ exists }) => exists));
  }

  /** Several at once, in the order of the keys. */
  getMany(tx: Transaction, keys: readonly K[], options?: ReadOptions): Promise<(V | undefined)[]> {
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
    return this.change(tx, key, options, () => {
      const bytes = this.encode(tx, value);
      return (row) => {
        if (row.exists) return false;
        this.put(tx, row, bytes, options);
        return true;
      };
    });
  }

  /** Adds or replaces. */
  set(tx: Transaction, key: K, value: V, options?: WriteOptions): Promise<void> {
    if (this.isBlind)
      return this.writeBlind(tx, key, () => encodeRow(this.encode(tx, value), undefined), options);
    return this.change(tx, key, options, () => {
      const bytes = this.encode(tx, value);
      return (row) => this.put(tx, row, bytes, options);
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
    return this.change(tx, key, options, () => {
      if (typeof update !== 'function')
        throw new ArgumentNullError('addOrUpdate needs a function for the update');
      return (row) => {
        const old = this.#valueOf(row);
        const value = row.exists ? update(key, old as V) : produce(add, key);
        const bytes = this.encode(tx, value);
        this.put(tx, row, bytes, options);
        return this.decode(bytes);
      };
    });
  }

  /** The value there is, or the one that was added. */
  getOrAdd(tx: Transaction, key: K, add: V | ((key: K) => V), options?: WriteOptions): Promise<V> {
    return this.call(tx, () => {
      tx.assertWritable();
      this.checkWrite(options);
      const wait = this.wait(tx, options);
      return then(this.lockRow(tx, key, 'update', wait), (row) => {
        if (row.exists) return this.#valueOf(row) as V;
        return then(tx.lock(row.name, 'exclusive', wait), () => {
          const bytes = this.encode(tx, produce(add, key));
          this.put(tx, row, bytes, options);
          return this.decode(bytes);
        });
      });
    });
  }

  /** Replaces the value if it is still `comparison`, by its bytes. Whether it did. */
  tryUpdate(tx: Transaction, key: K, value: V, comparison: V, options?: WriteOptions): Promise<boolean> {
    return this.change(tx, key, options, () => {
      const bytes = this.encode(tx, value);
      const expected = comparison === undefined ? undefined : this.codec.encode(comparison);
      return (row) => {
        if (row.value === undefined || expected === undefined || !equalBytes(row.value, expected))
          return false;
        this.put(tx, row, bytes, options);
        return true;
      };
    });
  }

  /** Replaces the value if it is still of this version, see `getVersioned`. Whether it did. */
  tryUpdateVersion(
    tx: Transaction,
    key: K,
    value: V,
    version: Version,
    options?: WriteOptions,
  ): Promise<boolean> {
    return this.change(tx, key, options, () => {
      const bytes = this.encode(tx, value);
      return (row) => {
        if (!row.exists || row.version !== version) return false;
        this.put(tx, row, bytes, options);
        return true;
      };
    });
  }

  /** Removes it if it is still of this version. Whether it did. */
  tryRemoveVersion(tx: Transaction, key: K, version: Version, options?: WaitOptions): Promise<boolean> {
    return this.change(tx, key, options, () => (row) => {
      if (!row.exists || row.version !== version) return false;
      this.drop(tx, row);
      return true;
    });
  }

  /** Removes it without telling what it was: cheaper, where nobody needs to know. */
  delete(tx: Transaction, key: K, options?: WaitOptions): Promise<void> {
    if (this.isBlind) return this.writeBlind(tx, key, () => undefined, options);
    return this.change(tx, key, options, () => (row) => this.drop(tx, row));
  }

  /** The value that was removed, or `undefined`. */
  remove(tx: Transaction, key: K, options?: WaitOptions): Promise<V | undefined> {
    return this.change(tx, key, options, () => (row) => {
      const old = this.#valueOf(row);
      this.drop(tx, row);
      return old;
    });
  }

  /** How many keys the transaction's snapshot has, with its own changes. Costs the same for any number. */
  count(tx: Transaction, options?: WaitOptions): Promise<number> {
    return this.call(tx, () => {
      this.assertCounted();
      tx.assertReadable();
      return then(this.touch(tx, this.wait(tx, options)), () => this.countSnapshot(tx));
    });
  }

  /** What there is now, committed and on disk. Waits for nobody's locks. */
  async currentCount(): Promise<number> {
    this.assertOpen();
    this.assertCounted();
    this.kernel.assertReadable();
    return runTransaction(this.kernel, (tx) => tx.call(() => this.countSnapshot(tx)), {});
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
    checkFunction('listener', listener);
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Is called with all there is when the state was opened, or opened again after the disk had failed: what is
   * derived from this dictionary is then built anew. Set it while the state manager tells of its rebuild. There
   * is one; the result takes it away.
   */
  onRebuild(rebuild: Rebuild<K, V>): () => void {
    checkFunction('rebuild', rebuild);
    this.rebuild = rebuild;
    return () => {
      if (this.rebuild === rebuild) this.rebuild = undefined;
    };
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

  #valueOf({ stored, start }: Found): V | undefined {
    return stored === undefined || start === 0 ? undefined : this.decode(stored, start);
  }
}

function produce<K, V>(value: V | ((key: K) => V), key: K): V {
  return typeof value === 'function' ? (value as (key: K) => V)(key) : value;
}
