// What every collection is: a name in the catalogue, a generation of rows, and the lock on the whole.
//
// Each call of a transaction takes the lock of the collection shared, once; clearing and removing take it
// exclusive. A read without a lock takes neither and sees the newest state.

import { type Awaitable, then } from '../base/awaitable.js';
import { maxKeyBytes, type NamedKey, type Version } from '../engine/engine.js';
import { encodeName, type KeyPart } from '../engine/keys.js';
import {
  type CatalogRecord,
  type CollectionKind,
  catalogKey,
  decodeRecord,
  encodeRecord,
  type Generation,
  garbageKey,
  generation,
} from './catalog.js';
import { ArgumentError, ArgumentNullError, ObjectClosedError } from './errors.js';
import type { Kernel } from './kernel.js';
import { collectionLock } from './lock-names.js';
import { runTransaction } from './run.js';
import { Transaction } from './transaction.js';
import type { Wait, WaitOptions } from './waits.js';

/** A key: one part, or a tuple of two or more. Order and equality are those of its bytes. */
export type CollectionKey = KeyPart;

export abstract class Collection {
  readonly name: string;
  abstract readonly kind: CollectionKind;

  /** @internal */ readonly kernel: Kernel;
  /** @internal */ record: CatalogRecord;
  /** @internal The keys of its rows, as of the newest ordered commit. */ generation: Generation;
  /** @internal Of the catalogue's record; 0: the transaction at hand creates it. */ version: Version;
  /** @internal The commit that made the record so if it may not be durable yet, else 0. */ seen: Version = 0;
  /** @internal */ removed = false;
  /** @internal In the lock table. */ readonly lockName: string;
  /** @internal Of its record. */ readonly catalog: NamedKey;

  /** @internal */
  constructor(kernel: Kernel, name: string, record: CatalogRecord, version: Version) {
    this.kernel = kernel;
    this.name = name;
    this.record = record;
    this.version = version;
    this.generation = generation(record.generation);
    this.lockName = collectionLock(name);
    this.catalog = catalogKey(name);
  }

  /** @internal The newest record: after a clear, or when commits were lost. */
  use(record: CatalogRecord, version: Version, seen: Version): void {
    this.version = version;
    this.seen = seen;
    if (record.generation !== this.record.generation) this.generation = generation(record.generation);
    this.record = record;
  }

  /** @internal A commit that is ordered now has changed its record. */
  changed(record: CatalogRecord, version: Version): void {
    this.use(record, version, version);
    this.kernel.catalogVersion = version;
  }

  /** @internal Commits were lost, or turned up: what is kept beside the store is read again. */
  forget(): void {}

  /** Empties it, by itself and at once: not part of any transaction. Waits for all that have touched it. */
  async clear(options?: WaitOptions): Promise<void> {
    this.assertOpen();
    this.kernel.assertPrimary();
    await runTransaction(this.kernel, (tx) => this.#clear(tx, options), { snapshot: 'first read' });
  }

  async #clear(tx: Transaction, options: WaitOptions | undefined): Promise<void> {
    await tx.call(() => tx.lock(this.lockName, 'exclusive', this.wait(tx, options)));
    this.assertOpen();
    const record = { ...this.record, generation: tx.stamp() };
    this.#expectRecord(tx, true);
    tx.write(this.catalog.name, this.catalog.key, encodeRecord(record), true);
    discard(tx, this.generation.id);
    tx.onEnd({ ordered: (version) => this.changed(record, version) });
    this.recordClear(tx);
  }

  /** Collections with listeners tell of it. */
  protected recordClear(_tx: Transaction): void {}

  /** Runs one call of a transaction, behind its earlier ones. */
  protected call<T>(tx: Transaction, operation: () => Awaitable<T>): Promise<T> {
    try {
      this.assertUsable(tx);
    } catch (error) {
      return Promise.reject(error);
    }
    return tx.call(operation);
  }

  protected assertUsable(tx: Transaction): void {
    if (!(tx instanceof Transaction))
      throw new ArgumentNullError(`${this.name}: the first argument is a transaction`);
    if (tx.kernel !== this.kernel) {
      throw new ArgumentError(`${this.name}: the transaction belongs to another state manager`);
    }
    this.assertOpen();
    if (tx.removing?.has(this))
      throw new ObjectClosedError(`the collection ${this.name} is being removed in this transaction`);
  }

  protected assertOpen(): void {
    this.kernel.assertOpen();
    if (this.removed) throw new ObjectClosedError(`the collection ${this.name} was removed: open it anew`);
  }

  protected wait(tx: Transaction, options: WaitOptions | undefined): Wait {
    return tx.wait(options);
  }

  /** The engine's key of a row, or of what these parts stand for in it. */
  protected rowKey(parts: readonly KeyPart[]): NamedKey {
    const row = encodeName(parts, this.generation.rows);
    if (row.name.length > maxKeyBytes) {
      throw new ArgumentError(
        `${this.name}: a key of ${row.name.length} bytes is over the limit of ${maxKeyBytes}: use a shorter one`,
      );
    }
    return row;
  }

  /** @internal The lock on the whole, shared, once for a transaction. */
  touch(tx: Transaction, wait: Wait): Promise<void> | undefined {
    if (tx.touched.includes(this)) return undefined;
    const granted = tx.lock(this.lockName, 'shared', wait);
    if (granted !== undefined) return this.#touchAfter(granted, tx);
    this.#touched(tx);
    return undefined;
  }

  async #touchAfter(granted: Promise<void>, tx: Transaction): Promise<void> {
    await granted;
    this.#touched(tx);
  }

  #touched(tx: Transaction): void {
    this.assertOpen();
    tx.touched.push(this);
    this.#expectRecord(tx, true);
  }

  /** @internal Before a read without a lock; `checked`: that the collection is not cleared or removed meanwhile. */
  expectUnlocked(tx: Transaction, checked: boolean): void {
    this.assertOpen();
    if (checked) this.#expectRecord(tx, false);
    else tx.see(this.seen);
  }

  #expectRecord(tx: Transaction, locked: boolean): void {
    tx.see(this.seen);
    if (this.version === 0) return;
    tx.expect(this.catalog, this.version, locked);
  }

  /** @internal The generation that the snapshot of the transaction shows; nothing if it was not there yet. */
  snapshotGeneration(tx: Transaction): Awaitable<Generation | undefined> {
    return then(tx.snapshot.get(this.catalog.key), ({ value, version }) => {
      if (value === undefined) return undefined;
      return version === this.version
        ? this.generation
        : generation(decodeRecord(this.name, value).generation);
    });
  }
}

/** The rows of this generation are nobody's any more: the sweeper takes them. */
export function discard(tx: Transaction, generationId: number): void {
  const { key, name } = garbageKey(generationId);
  tx.write(name, key, Buffer.of(0), true);
}
