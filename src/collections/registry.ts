// The named collections of one store: what the catalogue says of them, and the objects that stand for them.
//
// Names are locked like rows: who uses a collection in a transaction holds its name shared, who creates or
// removes one holds it exclusive, both to the end of the transaction. What others see of the catalogue
// changes when the commit is ordered; what they are told waits until it is durable. When commits were lost, or
// turned up again, all of it is read anew.

import { fromMapKey } from '../base/bytes.js';
import type { Row, Version } from '../engine/engine.js';
import { decodeKey, prefixRange } from '../engine/keys.js';
import { type CatalogRecord, catalogKey, decodeRecord, encodeRecord, space } from './catalog.js';
import { type Collection, discard } from './collection.js';
import { ArgumentError, InvalidOperationError, translate } from './errors.js';
import type { Kernel } from './kernel.js';
import { show } from './key-parts.js';
import { collectionLock, isPlainName, nameLock } from './lock-names.js';
import type { StateChange } from './notifications.js';
import { seenLost } from './outcomes.js';
import type { Transaction } from './transaction.js';
import { Wait, type WaitOptions } from './waits.js';

/** Makes the object for a record that was found. */
export type MakeCollection = (name: string, record: CatalogRecord, version: Version) => Collection;

/** What a collection is to be if it must be created, and what it must be if it is there. */
export interface Wanted {
  readonly name: string;
  readonly record: Omit<CatalogRecord, 'generation'>;
  /** Checks and sets up one that is there. A new record where what is stored of it must change. */
  adopt(collection: Collection): CatalogRecord | undefined;
}

export class Registry {
  readonly #kernel: Kernel;
  readonly #make: MakeCollection;
  readonly #changed: (tx: Transaction, change: StateChange) => void;
  readonly #collections = new Map<string, Collection>();
  /** What open transactions have created or removed. */
  readonly #pending = new WeakMap<Transaction, Map<string, Collection | 'removed'>>();
  /** Those of `#collections` by their generation, as of this version of the catalogue. */
  #byGeneration = { version: -1, collections: new Map<number, Collection>() };
  /** While what is known may not be so any more: ends with the next load, or with what that failed with. */
  #loading: Promise<void> | undefined;
  #loaded: ((failure?: Error) => void) | undefined;
  /** How often what was known became doubtful. */
  #doubts = 0;

  constructor(kernel: Kernel, make: MakeCollection, changed: (tx: Transaction, change: StateChange) => void) {
    this.#kernel = kernel;
    this.#make = make;
    this.#changed = changed;
  }

  /**
   * The catalogue from the store: at the start, and when commits were lost or turned up. Whether that is all; if not,
   * what was lost meanwhile brings about another load.
   */
  async load(): Promise<boolean> {
    const doubts = this.#doubts;
    try {
      await this.#load();
    } catch (error) {
      this.giveUp(translate(error) as Error);
      throw error;
    }
    if (doubts !== this.#doubts) return false;
    this.#loading = undefined;
    this.#loaded?.();
    this.#loaded = undefined;
    return true;
  }

  /** What collections keep beside the store is read again. */
  forget(): void {
    for (const collection of this.#collections.values()) collection.forget();
  }

  /** Commits were lost, or turned up: whoever asks waits for the next load. */
  doubt(): void {
    this.forget();
    this.#doubts++;
    if (this.#loaded !== undefined) return;
    this.#loading = new Promise((resolve, reject) => {
      this.#loaded = (failure) => (failure === undefined ? resolve() : reject(failure));
    });
    this.#loading.catch(() => {}); // whoever asks is told
  }

  /** There will be no load for now: who waits for one is told why. */
  giveUp(reason: Error): void {
    this.#loaded?.(reason);
    this.#loaded = undefined;
  }

  /** Those that are committed and on disk, by name. */
  async list(): Promise<Collection[]> {
    await this.#loading;
    return this.listLoaded();
  }

  /** Likewise, of what is known now. */
  async listLoaded(): Promise<Collection[]> {
    const names = [...this.#collections.keys()].filter((name) => !name.startsWith('$system/')).sort();
    const found = names.map((name) => this.#collections.get(name) as Collection);
    await this.#settled();
    return found;
  }

  async get(name: string): Promise<Collection | undefined> {
    await this.#loading;
    const found = this.#collections.get(name);
    await this.#settled();
    return found;
  }

  /** The one of this name, created as part of the transaction if there is none. */
  async find(tx: Transaction, wanted: Wanted, options: WaitOptions): Promise<Collection> {
    const wait = new Wait(options, tx);
    const { name } = wanted;
    await this.#loading;
    return tx.call(async () => {
      const pending = this.#pending.get(tx)?.get(name);
      if (pending === 'removed')
        throw new InvalidOperationError(`${name} is being removed in this transaction`);
      const found = pending ?? (await this.#lockName(tx, name, wait));
      if (found === undefined) return this.#create(tx, wanted, wait);
      tx.see(found.seen);
      const record = wanted.adopt(found);
      if (record !== undefined && tx.primary) await this.#rewrite(tx, found, record, wait);
      return found;
    });
  }

  async remove(tx: Transaction, name: string, options: WaitOptions): Promise<void> {
    const wait = new Wait(options, tx);
    await this.#loading;
    await tx.call(async () => {
      tx.assertWritable();
      const absent = () => {
        tx.see(this.#kernel.catalogVersion);
        return new ArgumentError(`there is no collection ${name}`);
      };
      const pending = this.#pending.get(tx)?.get(name);
      if (pending === 'removed' || (pending === undefined && !this.#collections.has(name))) throw absent();
      await tx.lock(nameLock(name), 'exclusive', wait);
      const collection = pending ?? this.#collections.get(name);
      if (collection === undefined) throw absent();
      await tx.lock(collection.lockName, 'exclusive', wait);
      this.#remove(tx, collection);
    });
  }

  /** Which collection has its rows under this generation. */
  ofGeneration(generation: number): Collection | undefined {
    const { catalogVersion: version } = this.#kernel;
    if (this.#byGeneration.version !== version) {
      const collections = [...this.#collections.values()].map(
        (found) => [found.generation.id, found] as const,
      );
      this.#byGeneration = { version, collections: new Map(collections) };
    }
    return this.#byGeneration.collections.get(generation);
  }

  /** A key of the engine or of the lock table in the words of an error. */
  describe(key: string): string {
    if (isPlainName(key)) return key;
    try {
      const [kind, generation, ...parts] = decodeKey(fromMapKey(key));
      if (kind === space.catalog) return collectionLock(generation as string);
      const collection = this.ofGeneration(generation as number);
      if (collection !== undefined) return `${collection.name}[${parts.map(show).join(', ')}]`;
    } catch {}
    return show(key);
  }

  /** What was just looked up is told once it cannot be lost any more: later changes are not in it. */
  async #settled(): Promise<void> {
    await this.#kernel.engine.settled(this.#kernel.catalogVersion)?.catch((error) => {
      throw seenLost(error);
    });
  }

  async #load(): Promise<void> {
    for (;;) {
      const { catalogVersion } = this.#kernel;
      const { rows, seen } = await this.#readAll();
      if (catalogVersion !== this.#kernel.catalogVersion) continue; // it changed meanwhile
      const found = rows.map(({ key, value, version }) => {
        const name = decodeKey(key)[1] as string;
        return { name, record: decodeRecord(name, value), version };
      });
      this.#use(found, seen);
      this.#byGeneration.version = -1;
      return;
    }
  }

  async #readAll(): Promise<{ rows: Row[]; seen: Version }> {
    const all: Row[] = [];
    let seen = 0;
    let { from, to } = prefixRange([space.catalog]);
    for (;;) {
      const page = await this.#kernel.engine.range(from, to);
      all.push(...page.rows);
      seen = Math.max(seen, page.seen);
      const last = page.rows[page.rows.length - 1];
      if (!page.more || last === undefined) return { rows: all, seen };
      from = Buffer.concat([last.key, Buffer.of(0)]);
    }
  }

  #use(found: readonly { name: string; record: CatalogRecord; version: Version }[], seen: Version): void {
    const names = new Set(found.map(({ name }) => name));
    for (const [name, collection] of this.#collections) {
      if (names.has(name)) continue;
      collection.removed = true;
      this.#collections.delete(name);
    }
    for (const { name, record, version } of found) {
      const known = this.#collections.get(name) ?? this.#make(name, record, version);
      known.use(record, version, seen);
      this.#collections.set(name, known);
    }
  }

  /** The collection with its name locked shared; nothing if there is none, and then the lock is exclusive. */
  async #lockName(tx: Transaction, name: string, wait: Wait): Promise<Collection | undefined> {
    const lock = nameLock(name);
    if (this.#collections.has(name)) {
      await tx.lock(lock, 'shared', wait);
      const found = this.#collections.get(name);
      if (found !== undefined) return found;
      // Removed while it waited. Two that kept the shared lock would wait for each other.
      this.#kernel.locks.drop(tx.owner, lock);
    }
    tx.assertWritable();
    await tx.lock(lock, 'exclusive', wait);
    return this.#collections.get(name);
  }

  async #create(tx: Transaction, { name, record, adopt }: Wanted, wait: Wait): Promise<Collection> {
    const complete = { ...record, generation: tx.stamp() };
    const collection = this.#make(name, complete, 0);
    adopt(collection);
    // Nobody else uses it before it is committed.
    await tx.lock(collection.lockName, 'exclusive', wait);
    const row = catalogKey(name);
    tx.expect(row, 0, true);
    tx.write(row.name, row.key, encodeRecord(complete));
    this.#remember(tx, name, collection);
    tx.onEnd({
      ordered: (version) => {
        collection.changed(complete, version);
        this.#collections.set(name, collection);
      },
      aborted: () => {
        collection.removed = true;
      },
    });
    this.#changed(tx, { action: 'add', collection, transaction: tx });
    return collection;
  }

  async #rewrite(tx: Transaction, found: Collection, record: CatalogRecord, wait: Wait): Promise<void> {
    await tx.lock(nameLock(found.name), 'exclusive', wait);
    await tx.lock(found.lockName, 'exclusive', wait);
    const row = found.catalog;
    tx.expect(row, found.version, true);
    tx.write(row.name, row.key, encodeRecord(record));
    tx.onEnd({ ordered: (version) => found.changed(record, version) });
  }

  #remember(tx: Transaction, name: string, what: Collection | 'removed'): void {
    let pending = this.#pending.get(tx);
    if (pending === undefined) this.#pending.set(tx, (pending = new Map()));
    pending.set(name, what);
  }

  #remove(tx: Transaction, collection: Collection): void {
    const { name, version, catalog } = collection;
    tx.expect(catalog, version, true);
    tx.write(catalog.name, catalog.key, undefined);
    discard(tx, collection.generation.id);
    (tx.removing ??= new Set()).add(collection);
    this.#remember(tx, name, 'removed');
    this.#changed(tx, { action: 'remove', collection, transaction: tx });
    tx.onEnd({
      ordered: (removed) => {
        collection.removed = true;
        this.#collections.delete(name);
        this.#kernel.catalogVersion = removed;
      },
    });
  }
}
