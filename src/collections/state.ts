// The state manager: the named collections of one store, and the transactions over them.

import type { Engine, Version } from '../engine/engine.js';
import { UnavailableError } from '../engine/errors.js';
import {
  type BackupInfo,
  type BackupOptions,
  type RestoreOptions,
  restoreBackup,
  takeBackup,
} from './backups.js';
import { type CatalogRecord, type CollectionKind, checkName } from './catalog.js';
import { type Codec, checkCodec, defaultCodec } from './codec.js';
import type { Collection, CollectionKey } from './collection.js';
import { ConcurrentQueue } from './concurrent-queue.js';
import { Counters } from './counters.js';
import { Dictionary } from './dictionary.js';
import { ArgumentError, ConflictError, ObjectClosedError, translate } from './errors.js';
import { type Inspection, inspect } from './inspect.js';
import { Kernel, type Role } from './kernel.js';
import type { StateChange, StateListener } from './notifications.js';
import type { ErrorListener, TransactionListener } from './notifier.js';
import { checkFunction, checkNumber, type Settings, settingsOf } from './options.js';
import { Queue } from './queue.js';
import { rebuild } from './rebuild.js';
import { Registry } from './registry.js';
import { type RunOptions, runTransaction } from './run.js';
import {
  type CollectionOptions,
  type ConcurrentQueueOptions,
  checkPlace,
  type DictionaryOptions,
  engineOf,
  type StateOptions,
} from './state-options.js';
import { Sweeper } from './sweep.js';
import { Transaction } from './transaction.js';
import type { TransactionOptions } from './transaction-options.js';
import { adoptCodec, codecFor, ValueCollection } from './values.js';
import type { WaitOptions } from './waits.js';

export class StateManager implements AsyncDisposable {
  readonly #kernel: Kernel;
  readonly #registry: Registry;
  readonly #sweeper: Sweeper;
  readonly #ownsEngine: boolean;
  readonly #codecs: readonly Codec[];
  readonly #stateListeners = new Set<StateListener>();
  readonly #stopResets: () => void;
  #resetting: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  private constructor(engine: Engine, ownsEngine: boolean, options: StateOptions, settings: Settings) {
    this.#kernel = new Kernel(engine, settings, (key) => this.#registry.describe(key));
    this.#registry = new Registry(
      this.#kernel,
      (name, record, version) => this.#make(name, record, version),
      (tx, change) => this.#recordChange(tx, change),
    );
    this.#ownsEngine = ownsEngine;
    this.#codecs = [...(options.codecs ?? []), defaultCodec];
    this.#sweeper = new Sweeper(this.#kernel, this.#registry);
    this.#stopResets = engine.resets(() => this.#reset());
    if (options.onStateChange !== undefined) this.onStateChange(options.onStateChange);
    if (options.onTransaction !== undefined) this.onTransaction(options.onTransaction);
    if (options.onError !== undefined) this.onError(options.onError);
  }

  static async open(options: StateOptions): Promise<StateManager> {
    checkPlace(options);
    for (const codec of options.codecs ?? []) checkCodec(codec);
    const settings = settingsOf(options);
    let state: StateManager | undefined;
    try {
      const engine = await engineOf(options);
      state = new StateManager(engine, !('engine' in options && options.engine), options, settings);
      await state.#start();
      return state;
    } catch (error) {
      await state?.close();
      throw translate(error);
    }
  }

  /**
   * Makes a state in a folder of backups, one full one and those that stand on it, for `open`. Whenever it is cut
   * off, there is the old state, the new one, or one that `open` refuses until it is restored again.
   */
  static restore(options: RestoreOptions): Promise<Omit<BackupInfo, 'folder'>> {
    return restoreBackup(options);
  }

  /** A consistent copy of one instant while work goes on. */
  backup(options: BackupOptions): Promise<BackupInfo> {
    return takeBackup(this.#kernel, options);
  }

  /** The dictionary of this name, created if there is none. */
  dictionary<K extends CollectionKey, V>(
    name: string,
    options: DictionaryOptions<V> = {},
  ): Promise<Dictionary<K, V>> {
    return this.#find('dictionary', name, options, options.count !== false) as Promise<Dictionary<K, V>>;
  }

  /** The strict queue of this name, created if there is none. */
  queue<V>(name: string, options: CollectionOptions<V> = {}): Promise<Queue<V>> {
    return this.#find('queue', name, options) as Promise<Queue<V>>;
  }

  /** The concurrent queue of this name, created if there is none. */
  async concurrentQueue<V>(
    name: string,
    options: ConcurrentQueueOptions<V> = {},
  ): Promise<ConcurrentQueue<V>> {
    const { maxSize } = options;
    if (maxSize !== undefined) checkNumber('maxSize', maxSize, 1, Number.MAX_SAFE_INTEGER);
    const queue = (await this.#find('concurrent queue', name, options)) as ConcurrentQueue<V>;
    if (maxSize !== undefined) queue.limitTo(maxSize);
    return queue;
  }

  /** The counters of this name, created if there are none. */
  counters<K extends CollectionKey>(
    name: string,
    options: Omit<CollectionOptions<number>, 'codec'> = {},
  ): Promise<Counters<K>> {
    return this.#find('counters', name, options, false) as Promise<Counters<K>>;
  }

  /** The collection of this name, if there is one. Sees only what is committed. */
  async get(name: string): Promise<Collection | undefined> {
    this.#kernel.assertReadable();
    checkName(name, true);
    return this.#translated(this.#registry.get(name));
  }

  /** All collections that are committed, by name. */
  async list(): Promise<Collection[]> {
    this.#kernel.assertReadable();
    return this.#translated(this.#registry.list());
  }

  /** Removes a collection with all that is in it, when the transaction commits. */
  async remove(name: string, options: WaitOptions & { readonly tx?: Transaction } = {}): Promise<void> {
    checkName(name, true);
    this.#kernel.assertPrimary();
    if (options.tx !== undefined) return this.#registry.remove(this.#own(options.tx), name, options);
    await this.transaction((tx) => this.#registry.remove(tx, name, options), { snapshot: 'first read' });
  }

  begin(options: TransactionOptions = {}): Transaction {
    return new Transaction(this.#kernel, options);
  }

  /** Commits when `work` is done, aborts when it throws. It may be run again: nothing in it may touch the outside. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options: RunOptions = {}): Promise<T> {
    return runTransaction(this.#kernel, work, options);
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
    if (role !== 'primary' && role !== 'secondary' && role !== 'none')
      throw new ArgumentError(`a role is primary, secondary or none, not ${String(role)}`);
    const { term } = this.#kernel;
    this.#kernel.role = role;
    if (term === this.#kernel.term) return;
    for (const tx of this.#kernel.live) tx.demote();
    this.#registry.forget();
  }

  /** Collections that are added and removed, and rebuilds: see `open` for the first of them. */
  onStateChange(listener: StateListener): () => void {
    checkFunction('listener', listener);
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  /** Each committed transaction that wrote something, in order. */
  onTransaction(listener: TransactionListener): () => void {
    return this.#kernel.notifier.onTransaction(listener);
  }

  /** What listeners threw, and what failed in the background. */
  onError(listener: ErrorListener): () => void {
    return this.#kernel.notifier.onError(listener);
  }

  /** Every wait ends; what is committed is on disk. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal One round of what is done in the background: space is given back. */
  sweep(): Promise<void> {
    return this.#sweeper.runAnew();
  }

  /** @internal For the layers above: the engine below. */
  get engine(): Engine {
    return this.#kernel.engine;
  }

  async #start(): Promise<void> {
    await this.#registry.load();
    if (this.#stateListeners.size > 0) await this.#rebuild();
    this.#sweeper.start();
  }

  async #close(): Promise<void> {
    const kernel = this.#kernel;
    kernel.closed = true;
    this.#stopResets();
    for (const end of [...kernel.onClose]) end();
    kernel.notifier.release();
    await this.#sweeper.stop();
    const cause = new ObjectClosedError('the state manager is closed: open it again');
    this.#registry.giveUp(cause);
    for (const tx of [...kernel.live]) tx.fault('the state manager was closed', cause);
    for (const tx of [...kernel.live]) await tx.endNow();
    await kernel.engine.settled(kernel.newest)?.catch(() => {});
    kernel.notifier.close();
    if (this.#ownsEngine) await kernel.engine.close();
  }

  /** Commits were lost, or the store was opened again and some of them may have turned up. */
  #reset(): void {
    const kernel = this.#kernel;
    kernel.resets++;
    kernel.newest = 0;
    kernel.catalogVersion = 0;
    for (const tx of [...kernel.live]) tx.faultIfLost();
    this.#registry.doubt();
    const again = kernel.engine.health().state !== 'failed';
    this.#resetting = this.#resetting
      .then(() => kernel.notifier.hold(() => this.#reload(again)))
      .catch((error) => {
        // While the store cannot be read, or something was lost, there will be another reset.
        const passes = error instanceof UnavailableError || error instanceof ConflictError;
        if (!kernel.closed && !passes) kernel.notifier.report(error);
      });
  }

  async #reload(again: boolean): Promise<void> {
    if (this.#kernel.closed) return;
    const complete = await this.#registry.load();
    if (again && complete) await this.#rebuild();
  }

  /** Does not wait for another load, which would wait for this. */
  async #rebuild(): Promise<void> {
    await rebuild(this.#kernel, this.#stateListeners, await this.#registry.listLoaded());
  }

  #make(name: string, record: CatalogRecord, version: Version): Collection {
    const kernel = this.#kernel;
    if (record.kind === 'counters') return new Counters(kernel, name, record, version);
    const codec = codecFor(name, record, this.#codecs);
    switch (record.kind) {
      case 'dictionary':
        return new Dictionary<CollectionKey, unknown>(kernel, name, record, version, codec);
      case 'queue':
        return new Queue(kernel, name, record, version, codec);
      case 'concurrent queue':
        return new ConcurrentQueue(kernel, name, record, version, codec);
    }
  }

  async #find<V>(
    kind: CollectionKind,
    name: string,
    options: CollectionOptions<V>,
    counted = true,
  ): Promise<Collection> {
    checkName(name, options.system);
    if (options.codec !== undefined) checkCodec(options.codec);
    this.#kernel.assertReadable();
    const { name: codec, version: codecVersion } = options.codec ?? defaultCodec;
    const wanted = {
      name,
      record: { format: 1, kind, codec, codecVersion, counted },
      adopt: (found: Collection) => {
        if (found.kind !== kind) throw new ArgumentError(`${name} is a ${found.kind}, not a ${kind}`);
        return found instanceof ValueCollection ? adoptCodec(found, options.codec) : undefined;
      },
    } as const;
    if (options.tx !== undefined) return this.#registry.find(this.#own(options.tx), wanted, options);
    return this.transaction((tx) => this.#registry.find(tx, wanted, options), { snapshot: 'first read' });
  }

  #own(tx: Transaction): Transaction {
    if (!(tx instanceof Transaction)) throw new ArgumentError('tx must be a transaction: use begin()');
    if (tx.kernel !== this.#kernel)
      throw new ArgumentError('the transaction belongs to another state manager: begin one here');
    return tx;
  }

  #recordChange(tx: Transaction, change: StateChange): void {
    if (this.#stateListeners.size === 0) return;
    tx.record(() => this.#kernel.notifier.tellAll(this.#stateListeners, change));
  }

  #translated<T>(promise: Promise<T>): Promise<T> {
    return promise.catch((error) => {
      throw translate(error);
    });
  }
}
