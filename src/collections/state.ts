// The state manager: the named collections of one store, and the transactions over them.
//
// Names are locked like rows: who uses a collection in a transaction holds its name shared, who creates or
// removes one holds it exclusive, both to the end of the transaction. What others see of the catalogue
// changes when the commit is ordered; what they are told waits until it is durable.

import type { Engine, Version } from '../engine/engine.js';
import { decodeKey, prefixRange } from '../engine/keys.js';
import { openEngine } from '../engine/level.js';
import {
  type CatalogRecord,
  type CollectionKind,
  catalogKey,
  checkName,
  decodeRecord,
  encodeRecord,
  space,
} from './catalog.js';
import { type Codec, defaultCodec } from './codec.js';
import { type Collection, type CollectionKey, discard } from './collection.js';
import { ConcurrentQueue } from './concurrent-queue.js';
import { Counters } from './counters.js';
import { Dictionary, show } from './dictionary.js';
import {
  ArgumentError,
  InvalidDataError,
  InvalidOperationError,
  mayRetry,
  NotPrimaryError,
  ObjectClosedError,
  TransactionFaultedError,
  translate,
} from './errors.js';
import { type Inspection, inspect } from './inspect.js';
import { defaultKernelOptions, Kernel, type KernelOptions, type Role } from './kernel.js';
import {
  type ErrorListener,
  type StateListener,
  type TransactionListener,
  tellAll,
} from './notifications.js';
import { Queue } from './queue.js';
import { Sweeper } from './sweep.js';
import { Transaction, type TransactionOptions } from './transaction.js';
import { Wait, type WaitOptions } from './waits.js';

export type StateLocation =
  | { readonly location: string }
  | { readonly memory: true }
  | { readonly engine: Engine };

export type StateOptions = StateLocation & Partial<KernelOptions>;

export interface CollectionOptions<V> extends WaitOptions {
  /** Creates it as part of this transaction. */
  readonly tx?: Transaction;
  /** How its values become bytes: MessagePack unless given. */
  readonly codec?: Codec<V>;
  /** Allows a name under `$system/`, which `list()` does not show: for who builds a service on the library. */
  readonly system?: boolean;
}

export interface DictionaryOptions<V> extends CollectionOptions<V> {
  /** `false` where nobody asks for the count and no row expires: writes then need not know what was there. */
  readonly count?: boolean;
}

export interface RunOptions extends TransactionOptions {
  /** How often it is run again after an error that may pass: a lost race, a time-out, a deadlock. 0 unless given. */
  readonly retries?: number;
  /** No run begins later than this after the first, and no lock is waited for longer. */
  readonly withinMs?: number;
}

type Make<C> = (record: CatalogRecord, version: Version) => C;

export class StateManager implements AsyncDisposable {
  readonly #kernel: Kernel;
  readonly #sweeper: Sweeper;
  readonly #ownsEngine: boolean;
  /** Those that exist, by name; a record without a collection has not been asked for in this process. */
  readonly #catalog = new Map<string, { record: CatalogRecord; version: Version; collection?: Collection }>();
  /** What open transactions have created or removed. */
  readonly #pending = new WeakMap<Transaction, Map<string, Collection | 'removed'>>();
  readonly #stateListeners = new Set<StateListener>();
  readonly #transactionListeners = new Set<TransactionListener>();
  readonly #errorListeners = new Set<ErrorListener>();

  private constructor(engine: Engine, ownsEngine: boolean, options: Partial<KernelOptions>) {
    this.#kernel = new Kernel(engine, { ...defaultKernelOptions, ...options }, (key) => this.#describe(key));
    this.#kernel.reportError = (error) => tellErrors(this.#errorListeners, error);
    this.#kernel.catalogLost = () => void this.#load().catch(this.#kernel.reportError);
    this.#ownsEngine = ownsEngine;
    this.#sweeper = new Sweeper(this.#kernel);
  }

  static async open(options: StateOptions): Promise<StateManager> {
    try {
      const engine = 'engine' in options ? options.engine : await openEngine(options);
      const state = new StateManager(engine, !('engine' in options), options);
      await state.#load();
      state.#sweeper.start();
      return state;
    } catch (error) {
      throw translate(error);
    }
  }

  /** The dictionary of this name, created if there is none. */
  dictionary<K extends CollectionKey, V>(
    name: string,
    options: DictionaryOptions<V> = {},
  ): Promise<Dictionary<K, V>> {
    const codec = options.codec ?? (defaultCodec as Codec<V>);
    const make: Make<Dictionary<K, V>> = (record, version) =>
      new Dictionary(this.#kernel, name, record, version, codec);
    return this.#getOrAdd('dictionary', name, codec, options, make, options.count !== false);
  }

  /** The strict queue of this name, created if there is none. */
  queue<V>(name: string, options: CollectionOptions<V> = {}): Promise<Queue<V>> {
    const codec = options.codec ?? (defaultCodec as Codec<V>);
    const make: Make<Queue<V>> = (record, version) => new Queue(this.#kernel, name, record, version, codec);
    return this.#getOrAdd('queue', name, codec, options, make);
  }

  /** The concurrent queue of this name, created if there is none. `maxSize`: a further item is a `QueueFullError`. */
  concurrentQueue<V>(
    name: string,
    options: CollectionOptions<V> & { readonly maxSize?: number } = {},
  ): Promise<ConcurrentQueue<V>> {
    const codec = options.codec ?? (defaultCodec as Codec<V>);
    const make: Make<ConcurrentQueue<V>> = (record, version) =>
      new ConcurrentQueue(this.#kernel, name, record, version, codec, options.maxSize);
    return this.#getOrAdd('concurrent queue', name, codec, options, make);
  }

  /** The counters of this name, created if there are none. */
  counters<K extends CollectionKey>(
    name: string,
    options: CollectionOptions<number> = {},
  ): Promise<Counters<K>> {
    const make: Make<Counters<K>> = (record, version) => new Counters(this.#kernel, name, record, version);
    return this.#getOrAdd('counters', name, defaultCodec as Codec<number>, options, make, false);
  }

  /** The collection of this name, if there is one. Sees only what is committed. */
  async get(name: string): Promise<Collection | undefined> {
    this.#kernel.assertReadable();
    checkName(name);
    const known = this.#catalog.get(name);
    if (known === undefined) return undefined;
    await this.#kernel.engine.settled(known.version);
    return this.#collection(name, known);
  }

  /** All collections that are committed, by name. */
  async list(): Promise<Collection[]> {
    this.#kernel.assertReadable();
    const names = [...this.#catalog.keys()].filter((name) => !name.startsWith('$system/')).sort();
    return names.map((name) =>
      this.#collection(name, this.#catalog.get(name) as { record: CatalogRecord; version: Version }),
    );
  }

  /** Removes a collection with all that is in it, when the transaction commits. */
  async remove(name: string, options: WaitOptions & { readonly tx?: Transaction } = {}): Promise<void> {
    checkName(name);
    this.#kernel.assertPrimary();
    if (options.tx !== undefined) return this.#remove(options.tx, name, options);
    await using tx = this.begin({ snapshot: 'first read' });
    await this.#remove(tx, name, options);
    await tx.commit();
  }

  begin(options: TransactionOptions = {}): Transaction {
    return new Transaction(this.#kernel, options);
  }

  /** Commits when `work` is done, aborts when it throws. It may be run again: nothing in it may touch the outside. */
  async transaction<T>(work: (tx: Transaction) => Promise<T>, options: RunOptions = {}): Promise<T> {
    const { retries = 0, withinMs = Number.POSITIVE_INFINITY } = options;
    const until = performance.now() + withinMs;
    let age: number | undefined;
    for (let attempt = 0; ; attempt++) {
      const timeoutMs = Math.min(
        options.timeoutMs ?? this.#kernel.options.timeoutMs,
        Math.max(0, until - performance.now()),
      );
      const tx = new Transaction(this.#kernel, { ...options, timeoutMs }, age);
      age ??= tx.owner.age; // a retry keeps its age, so somebody always gets through
      try {
        const result = await work(tx);
        if (tx.status === 'active') await tx.commit();
        return result;
      } catch (error) {
        await tx.dispose();
        await tx.settled(); // a refusal, too, may tell of what is not on disk yet
        if (attempt >= retries || performance.now() >= until || !mayRetry(error)) throw error;
      }
      await backOff(attempt);
    }
  }

  /** Live transactions, what they hold and what they wait for. */
  inspect(): Inspection {
    return inspect(this.#kernel);
  }

  get role(): Role {
    return this.#kernel.role;
  }

  /** A switch until there are nodes. Losing the primary role takes the locks of all open transactions. */
  set role(role: Role) {
    const lost = this.#kernel.role === 'primary' && role !== 'primary';
    this.#kernel.role = role;
    if (!lost) return;
    const reason = new TransactionFaultedError('this replica is not the primary any more', {
      cause: new NotPrimaryError('not the primary any more'),
    });
    for (const tx of this.#kernel.live) this.#kernel.locks.release(tx.owner, reason);
  }

  /** Collections that are added and removed; a rebuild with all there are once after opening. */
  onStateChange(listener: StateListener): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  /** Each committed transaction that wrote something, in order. */
  onTransaction(listener: TransactionListener): () => void {
    this.#transactionListeners.add(listener);
    this.#kernel.notifyTransaction = (transaction) =>
      tellAll(this.#kernel, this.#transactionListeners, { action: 'commit', transaction });
    return () => {
      this.#transactionListeners.delete(listener);
      if (this.#transactionListeners.size === 0) this.#kernel.notifyTransaction = undefined;
    };
  }

  /** What listeners threw, and what failed in the background. */
  onError(listener: ErrorListener): () => void {
    this.#errorListeners.add(listener);
    return () => this.#errorListeners.delete(listener);
  }

  /** Every wait ends; what is committed is on disk. */
  async close(): Promise<void> {
    if (this.#kernel.closed) return;
    this.#kernel.closed = true;
    for (const end of [...this.#kernel.onClose]) end();
    await this.#sweeper.stop();
    this.#kernel.locks.failWaiters(() => new ObjectClosedError('the state manager is closed'));
    for (const tx of [...this.#kernel.live]) await tx.dispose();
    if (this.#ownsEngine) await this.#kernel.engine.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal For the layers above: the engine below. */
  get engine(): Engine {
    return this.#kernel.engine;
  }

  /** The catalogue from the store: at the start, and after a change of it was lost. */
  async #load(): Promise<void> {
    const found = new Set<string>();
    let { from, to } = prefixRange([space.catalog]);
    for (;;) {
      const page = await this.#kernel.engine.range(from, to);
      for (const row of page.rows) {
        const name = decodeKey(row.key)[1] as string;
        found.add(name);
        this.#enter(name, decodeRecord(name, row.value), row.version);
      }
      const last = page.rows[page.rows.length - 1];
      if (!page.more || last === undefined) break;
      from = Buffer.concat([last.key, Buffer.of(0)]);
    }
    for (const [name, { collection }] of this.#catalog) {
      if (found.has(name)) continue;
      if (collection !== undefined) collection.removed = true;
      this.#catalog.delete(name);
    }
  }

  #enter(name: string, record: CatalogRecord, version: Version): void {
    const known = this.#catalog.get(name);
    if (known?.collection !== undefined) known.collection.use(record, version);
    this.#catalog.set(name, { ...known, record, version });
  }

  #collection(
    name: string,
    known: { record: CatalogRecord; version: Version; collection?: Collection },
  ): Collection {
    known.collection ??= this.#makeDefault(name, known.record, known.version);
    return known.collection;
  }

  /** For who asks by name alone: with the codec that comes with the library. */
  #makeDefault(name: string, record: CatalogRecord, version: Version): Collection {
    checkCodec(name, record, defaultCodec);
    const kernel = this.#kernel;
    switch (record.kind) {
      case 'dictionary':
        return new Dictionary<CollectionKey, unknown>(kernel, name, record, version, defaultCodec);
      case 'queue':
        return new Queue(kernel, name, record, version, defaultCodec);
      case 'concurrent queue':
        return new ConcurrentQueue(kernel, name, record, version, defaultCodec, undefined);
      case 'counters':
        return new Counters(kernel, name, record, version);
    }
  }

  async #getOrAdd<C extends Collection, V>(
    kind: CollectionKind,
    name: string,
    codec: Codec<V>,
    options: CollectionOptions<V>,
    make: Make<C>,
    counted = true,
  ): Promise<C> {
    checkName(name, options.system);
    this.#kernel.assertReadable();
    const record = (generation: number): CatalogRecord => ({
      format: 1,
      kind,
      generation,
      codec: codec.name,
      codecVersion: codec.version,
      counted,
    });
    if (options.tx !== undefined) return this.#find(options.tx, record, name, codec, options, make);
    await using tx = this.begin({ snapshot: 'first read' });
    const collection = await this.#find(tx, record, name, codec, options, make);
    await tx.commit();
    return collection;
  }

  async #find<C extends Collection, V>(
    tx: Transaction,
    record: (generation: number) => CatalogRecord,
    name: string,
    codec: Codec<V>,
    options: CollectionOptions<V>,
    make: Make<C>,
  ): Promise<C> {
    const wait = new Wait(options, tx.timeoutMs);
    const lock = `name ${name}`;
    return tx.call(async () => {
      const pending = this.#pending.get(tx)?.get(name);
      if (pending === 'removed')
        throw new InvalidOperationError(`${name} is being removed in this transaction`);
      if (pending !== undefined) return sameKind(pending, record(0).kind) as C;
      if (this.#catalog.has(name)) await tx.lock(lock, 'shared', wait);
      if (!this.#catalog.has(name)) {
        tx.assertWritable();
        await tx.lock(lock, 'exclusive', wait);
      }
      const known = this.#catalog.get(name);
      if (known === undefined) return this.#create(tx, name, record(tx.stamp()), make);
      tx.see(known.version);
      if (known.collection === undefined) {
        checkCodec(name, known.record, codec);
        if (known.record.kind === record(0).kind) known.collection = make(known.record, known.version);
      }
      return sameKind(this.#collection(name, known), record(0).kind) as C;
    });
  }

  #create<C extends Collection>(tx: Transaction, name: string, record: CatalogRecord, make: Make<C>): C {
    const collection = make(record, 0);
    const { key, name: keyName } = catalogKey(name);
    tx.expect({ key, version: 0, locked: true }, keyName);
    tx.write(keyName, key, encodeRecord(record));
    this.#remember(tx, name, collection);
    tx.onEnd({
      ordered: (version) => {
        collection.version = version;
        this.#catalog.set(name, { record, version, collection });
      },
      lost: () => this.#kernel.catalogLost(),
      aborted: () => {
        collection.removed = true;
      },
    });
    this.#recordState(tx, 'add', collection);
    return collection;
  }

  #remember(tx: Transaction, name: string, what: Collection | 'removed'): void {
    let pending = this.#pending.get(tx);
    if (pending === undefined) this.#pending.set(tx, (pending = new Map()));
    pending.set(name, what);
  }

  async #remove(tx: Transaction, name: string, options: WaitOptions): Promise<void> {
    const wait = new Wait(options, tx.timeoutMs);
    await tx.call(async () => {
      tx.assertWritable();
      const absent = () => new ArgumentError(`there is no collection ${name}`);
      const pending = this.#pending.get(tx)?.get(name);
      if (pending === 'removed' || (pending === undefined && !this.#catalog.has(name))) throw absent();
      await tx.lock(`name ${name}`, 'exclusive', wait);
      const known = this.#catalog.get(name);
      const collection = pending ?? (known === undefined ? undefined : this.#collection(name, known));
      if (collection === undefined) throw absent();
      await tx.lock(collection.lockName, 'exclusive', wait);
      const { key, name: keyName } = catalogKey(name);
      tx.expect({ key, version: collection.version, locked: true }, keyName);
      tx.write(keyName, key, undefined);
      discard(tx, collection.generation.id);
      this.#remember(tx, name, 'removed');
      this.#recordState(tx, 'remove', collection);
      tx.onEnd({
        ordered: () => {
          collection.removed = true;
          this.#catalog.delete(name);
        },
        lost: () => this.#kernel.catalogLost(),
      });
    });
  }

  #recordState(tx: Transaction, action: 'add' | 'remove', collection: Collection): void {
    if (this.#stateListeners.size === 0) return;
    tx.record({
      notify: (transaction) =>
        tellAll(this.#kernel, this.#stateListeners, { action, collection, transaction }),
    });
  }

  /** A key of the lock table in the words of an error. */
  #describe(key: string): string {
    if (/^(name|collection) /.test(key)) return key;
    try {
      const [, generation, ...parts] = decodeKey(Buffer.from(key, 'latin1'));
      for (const [name, { record }] of this.#catalog) {
        if (record.generation === generation) return `${name}[${parts.map(show).join(', ')}]`;
      }
    } catch {}
    return show(key);
  }
}

function tellErrors(listeners: Iterable<ErrorListener>, error: unknown): void {
  for (const listener of [...listeners]) listener(error);
}

function sameKind(collection: Collection, kind: CollectionKind): Collection {
  if (collection.kind !== kind)
    throw new ArgumentError(`${collection.name} is a ${collection.kind}, not a ${kind}`);
  return collection;
}

function checkCodec(name: string, record: CatalogRecord, codec: Pick<Codec, 'name' | 'version'>): void {
  if (record.codec !== codec.name) {
    throw new InvalidDataError(
      `${name} was written with the codec ${record.codec}: open it with that one, not ${codec.name}`,
    );
  }
  if (record.codecVersion > codec.version) {
    throw new InvalidDataError(
      `${name} was written with version ${record.codecVersion} of the codec ${codec.name}, and this is version ${codec.version}: use a newer one`,
    );
  }
}

/** A little, growing, and not the same for all. */
function backOff(attempt: number): Promise<void> {
  const ms = Math.random() * Math.min(100, 2 ** attempt);
  return new Promise((resolve) => setTimeout(resolve, ms));
}
