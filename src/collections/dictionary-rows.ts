// One row of a dictionary: locked, read, written. What was there before is known to every write but a blind
// one, because the count, the listeners and rows that expire need it.

import { type Awaitable, then } from '../base/awaitable.js';
import { decodeCounter } from '../engine/counter.js';
import type { NamedKey, Version, Versioned } from '../engine/engine.js';
import { encodeKey } from '../engine/keys.js';
import type { CollectionKey } from './collection.js';
import { ArgumentError, NotReadableError } from './errors.js';
import { checkTtl, countExpired, indexExpiry, unindexExpiry } from './expiry.js';
import { partsOf } from './key-parts.js';
import type { LockMode } from './lock-entries.js';
import { type DictionaryListener, recordChange } from './notifications.js';
import { encodeRow, expiredValue, valueStart } from './rows.js';
import type { Transaction } from './transaction.js';
import { ValueCollection } from './values.js';
import type { Wait, WaitOptions } from './waits.js';

export interface ReadOptions extends WaitOptions {
  /**
   * Shared unless given. `none`: the newest value without waiting for anybody; `snapshot`: likewise, but of the
   * moment that enumerations show.
   */
  readonly lock?: 'shared' | 'update' | 'none' | 'snapshot';
  /** Without a lock: that it is still so when the transaction commits, else a `ConflictError`. */
  readonly check?: boolean;
}

export interface WriteOptions extends WaitOptions {
  /** The row is gone so many milliseconds from now. */
  readonly ttlMs?: number;
}

/** What a call finds under a key. */
export class Found {
  /** As it is stored or about to be, expired or not. */
  readonly stored: Uint8Array | undefined;
  /** Where the codec's bytes begin in it; 0: there is no row, or it has expired. */
  readonly start: number;
  /** The commit that wrote it; 0: this transaction, or nothing is there. */
  readonly version: Version;

  constructor(stored: Uint8Array | undefined, version: Version, time: { readonly now: number }) {
    this.stored = stored;
    this.start = valueStart(stored, time);
    this.version = version;
  }

  get exists(): boolean {
    return this.start > 0;
  }

  /** The codec's bytes. */
  get value(): Uint8Array | undefined {
    return this.exists ? this.stored?.subarray(this.start) : undefined;
  }
}

/** A row whose lock is held. */
export class LockedRow extends Found implements NamedKey {
  readonly #row: NamedKey;

  constructor(
    row: NamedKey,
    stored: Uint8Array | undefined,
    version: Version,
    time: { readonly now: number },
  ) {
    super(stored, version, time);
    this.#row = row;
  }

  get key(): Uint8Array {
    return this.#row.key;
  }

  get name(): string {
    return this.#row.name;
  }
}

export abstract class DictionaryRows<K extends CollectionKey, V> extends ValueCollection<V> {
  /** @internal */ readonly listeners = new Set<DictionaryListener<K, V>>();
  /** @internal The newest commit that the last rebuild has told of. */ rebuiltTo: Version = 0;

  /** Whether a write need not know what was there before. */
  protected get isBlind(): boolean {
    return !this.record.counted && this.listeners.size === 0;
  }

  protected read(tx: Transaction, key: K, options: ReadOptions | undefined): Awaitable<Found> {
    const lock = options?.lock ?? 'shared';
    if (lock !== 'shared' && lock !== 'update' && lock !== 'none' && lock !== 'snapshot') {
      throw new ArgumentError(`lock is shared, update, none or snapshot, not ${String(lock)}`);
    }
    tx.assertReadable();
    const wait = this.wait(tx, options);
    if (!tx.primary || lock === 'snapshot') return this.#readSnapshot(tx, key, lock, wait);
    if (lock !== 'none') return this.lockRow(tx, key, lock, wait);
    const check = options?.check === true;
    this.expectUnlocked(tx, check);
    const row = this.rowKey(partsOf(key));
    const own = tx.changes.writes?.get(row.name);
    if (own !== undefined) return new Found(own.value, 0, tx);
    return then(tx.read(row, false, check), ({ value, version }) => new Found(value, version, tx));
  }

  #readSnapshot(tx: Transaction, key: K, lock: string, wait: Wait): Awaitable<Found> {
    if (lock === 'update')
      throw new NotReadableError('a secondary takes no update locks: read on the primary');
    const parts = partsOf(key);
    const own = tx.changes.writes?.get(this.rowKey(parts).name);
    if (own !== undefined) return new Found(own.value, 0, tx);
    return then(this.touch(tx, wait), () =>
      then(this.snapshotGeneration(tx), (generation) => {
        if (generation === undefined) return new Found(undefined, 0, tx);
        const found = tx.snapshot.get(encodeKey(parts, generation.rows));
        return then(found, ({ value, version }) => new Found(value, version, tx));
      }),
    );
  }

  /** Mostly nothing has to be waited for, and then this costs no promise and no closure. */
  protected lockRow(tx: Transaction, key: K, mode: LockMode, wait: Wait): Awaitable<LockedRow> {
    const row = this.rowKey(partsOf(key)); // a key that cannot be is refused before any lock
    const touched = this.touch(tx, wait);
    if (touched !== undefined) return this.#lockRowAfter(touched, tx, key, mode, wait);
    const granted = tx.lock(row.name, mode, wait);
    return granted === undefined ? this.#lockedRow(tx, row) : this.#lockedRowAfter(granted, tx, row);
  }

  async #lockRowAfter(touched: Promise<void>, tx: Transaction, key: K, mode: LockMode, wait: Wait) {
    await touched;
    return this.lockRow(tx, key, mode, wait); // its key is another one if the dictionary was cleared meanwhile
  }

  async #lockedRowAfter(granted: Promise<void>, tx: Transaction, row: NamedKey) {
    await granted;
    return this.#lockedRow(tx, row);
  }

  #lockedRow(tx: Transaction, row: NamedKey): Awaitable<LockedRow> {
    const own = tx.changes.writes?.get(row.name);
    if (own !== undefined) return new LockedRow(row, own.value, 0, tx);
    const found = tx.read(row, true, true);
    return found instanceof Promise
      ? this.#readAfter(found, tx, row)
      : new LockedRow(row, found.value, found.version, tx);
  }

  async #readAfter(found: Promise<Versioned>, tx: Transaction, row: NamedKey) {
    const { value, version } = await found;
    return new LockedRow(row, value, version, tx);
  }

  /** One call that writes: `prepare` runs before any lock is taken, what it returns under the row's. */
  protected change<R>(
    tx: Transaction,
    key: K,
    options: WriteOptions | undefined,
    prepare: () => (row: LockedRow) => Awaitable<R>,
  ): Promise<R> {
    return this.call(tx, () => {
      tx.assertWritable();
      this.checkWrite(options);
      const wait = this.wait(tx, options);
      const decide = prepare();
      return then(this.lockRow(tx, key, 'exclusive', wait), decide);
    });
  }

  protected checkWrite(options: WriteOptions | undefined): void {
    if (options?.ttlMs === undefined) return;
    checkTtl(options.ttlMs);
    if (!this.record.counted)
      throw new ArgumentError(`${this.name} was created with { count: false }: its rows do not expire`);
  }

  protected put(tx: Transaction, row: LockedRow, bytes: Uint8Array, options: WriteOptions | undefined): void {
    if (row.stored === undefined) this.#count(tx, 1);
    else unindexExpiry(tx, this.generation, row.key, row.stored);
    const expires =
      options?.ttlMs === undefined || options.ttlMs === Number.POSITIVE_INFINITY
        ? undefined
        : tx.now + options.ttlMs;
    if (expires !== undefined) indexExpiry(tx, this.generation, row.key, expires);
    tx.write(row.name, row.key, encodeRow(bytes, expires));
    if (this.listeners.size === 0) return;
    if (!row.exists) this.#recordRemoval(tx, row);
    recordChange(tx, this, row, bytes);
  }

  protected drop(tx: Transaction, row: LockedRow): void {
    if (row.stored === undefined) return;
    this.#count(tx, -1);
    unindexExpiry(tx, this.generation, row.key, row.stored);
    tx.write(row.name, row.key, undefined);
    if (this.listeners.size > 0) this.#recordRemoval(tx, row);
  }

  /** Also of a row that has expired and was not swept yet: now nobody would tell of it later. */
  #recordRemoval(tx: Transaction, { key, stored, value }: LockedRow): void {
    if (stored !== undefined)
      recordChange(tx, this, { key, value: value ?? expiredValue(stored) }, undefined);
  }

  /** Writes or removes without looking. */
  protected writeBlind(
    tx: Transaction,
    key: K,
    encode: () => Uint8Array | undefined,
    options: WriteOptions | undefined,
  ): Promise<void> {
    return this.call(tx, () => {
      tx.assertWritable();
      this.checkWrite(options);
      const wait = this.wait(tx, options);
      const bytes = encode();
      const parts = partsOf(key);
      this.rowKey(parts); // a key that cannot be is refused before any lock
      return then(this.touch(tx, wait), () => {
        const row = this.rowKey(parts);
        return then(tx.lock(row.name, 'exclusive', wait), () => tx.write(row.name, row.key, bytes));
      });
    });
  }

  #count(tx: Transaction, amount: number): void {
    const { key, name } = this.generation.count;
    if (this.record.counted) tx.changes.add(name, key, amount);
  }

  protected assertCounted(): void {
    if (!this.record.counted)
      throw new ArgumentError(`${this.name} was created with { count: false }: nobody knows how many`);
  }

  /** As the snapshot shows it, with own changes, less what has expired. */
  protected countSnapshot(tx: Transaction): Awaitable<number> {
    const own = tx.changes.adds?.get(this.generation.count.name)?.amount ?? 0;
    return then(this.snapshotGeneration(tx), (generation) => {
      if (generation === undefined) return own;
      return then(tx.snapshot.get(generation.count.key), ({ value }) =>
        then(countExpired(tx, generation), (expired) => decodeCounter(value) + own - expired),
      );
    });
  }
}
