// A transaction: what it holds, what it has read, what it means to write.
//
//   active ──commit()──> committing ──> committed
//     │                      └────────> faulted      the store refused it, or the outcome is unknown
//     ├──abort(), dispose──> aborted
//     └──system, too large─> faulted
//
// Writes stay here until the commit, so an abort costs nothing. At the commit they go to the engine in one
// step with what must still be true. Locks are released once the commit is ordered, or, where listeners are
// to be called first, once it is durable; the promise resolves once it is durable. A transaction that has
// only read waits for what it has seen: nobody is told what a crash then takes back.
//
// Calls that overlap are queued in the order they were made.

import { type Awaitable, then } from '../base/awaitable.js';
import { mapKey } from '../base/bytes.js';
import type { Stamp } from '../base/stamps.js';
import type {
  Add,
  CheckedPage,
  Key,
  KeyRead,
  Snapshot,
  Version,
  Versioned,
  Write,
} from '../engine/engine.js';
import { LimitError } from '../engine/errors.js';
import {
  InvalidOperationError,
  NotPrimaryError,
  NotReadableError,
  OperationTooLargeError,
  TimeoutError,
  TransactionClosedError,
  TransactionFaultedError,
  translate,
} from './errors.js';
import type { Kernel } from './kernel.js';
import { type LockMode, LockOwner } from './locks.js';
import type { Wait } from './waits.js';

export interface TransactionOptions {
  /** Which moment enumerations and counts show: the beginning, or the first of them. */
  readonly snapshot?: 'begin' | 'first read';
  /** How long each call waits for its locks unless it says otherwise. */
  readonly timeoutMs?: number;
}

export type TransactionStatus = 'active' | 'committing' | 'committed' | 'aborted' | 'faulted';

/** Told how a transaction ends, at once and in this order: ordered, then durable or lost; or aborted. */
export interface TransactionHook {
  ordered?(version: Version): void;
  durable?(): void;
  lost?(): void;
  aborted?(): void;
}

/** One change of a collection that somebody listens to. */
export interface RecordedEvent {
  notify(transaction: Transaction): void;
}

const maxTransactionBytes = 64 * 1024 * 1024;

export class Transaction implements AsyncDisposable {
  readonly id: bigint;
  /** Whether it began on the primary: only then it can lock and write. */
  readonly primary: boolean;
  readonly timeoutMs: number;

  /** @internal */ readonly kernel: Kernel;
  /** @internal */ readonly owner: LockOwner;
  /** @internal Collections whose table lock it holds. */ readonly touched: object[] = [];
  /** @internal */ readonly began = performance.now();
  /** @internal By the key as a string. */ writes: Map<string, Write> | undefined;
  /** @internal */ adds: Map<string, Add> | undefined;

  #reads: Map<string, KeyRead> | undefined;
  #pages: CheckedPage[] | undefined;
  #after: Promise<unknown> | undefined;
  #hooks: TransactionHook[] | undefined;
  #refusals: Map<string, Error> | undefined;
  #events: RecordedEvent[] | undefined;
  #snapshot: Snapshot | undefined;
  #status: TransactionStatus = 'active';
  #reason = '';
  #fault: unknown;
  #seen: Version = 0;
  #bytes = 0;
  #now: number | undefined;
  #version: Version | undefined;
  #tail: Promise<unknown> | undefined;
  #ageTimer: NodeJS.Timeout | undefined;

  /** @internal Use `state.begin()`. */
  constructor(kernel: Kernel, options: TransactionOptions, age?: number) {
    kernel.assertOpen();
    this.kernel = kernel;
    this.id = kernel.drawId();
    this.owner = new LockOwner(this.id, age ?? Number(this.id));
    this.primary = kernel.role === 'primary';
    this.timeoutMs = options.timeoutMs ?? kernel.options.timeoutMs;
    if (options.snapshot !== 'first read') this.#snapshot = kernel.engine.snapshot();
    kernel.live.add(this);
    const { maxTransactionAgeMs } = kernel.options;
    if (Number.isFinite(maxTransactionAgeMs)) {
      this.#ageTimer = setTimeout(
        () => this.fault(`it was older than ${maxTransactionAgeMs} ms`),
        maxTransactionAgeMs,
      ).unref();
    }
  }

  get status(): TransactionStatus {
    return this.#status;
  }

  /** The place of its commit in the history; -1 until then, and for one that wrote nothing. */
  get commitSequenceNumber(): bigint {
    return this.#version === undefined ? -1n : BigInt(this.#version);
  }

  /** The time of the decision: when its last lock was granted. Milliseconds since 1970. */
  get now(): number {
    this.#now ??= this.kernel.engine.clock.now();
    return this.#now;
  }

  /** A rising number, above the clock, every stamp drawn before and `seen`: for ETags and ids. */
  stamp(seen: Stamp = 0): Stamp {
    return this.kernel.engine.stamps.draw(seen);
  }

  /** The commit is not durable before this is: bytes in a file of the caller's, for instance. */
  after(work: Promise<unknown>): void {
    work.catch(() => {}); // the commit reports it
    this.#after = this.#after === undefined ? work : Promise.all([this.#after, work]);
  }

  /** Is told how the transaction ends. Must not throw or wait. */
  onEnd(hook: TransactionHook): void {
    (this.#hooks ??= []).push(hook);
  }

  /** Resolves once all it wrote is on disk. */
  commit(): Promise<void> {
    return this.call(() => this.#commit());
  }

  /** Forgets all it wrote and gives back its locks. */
  abort(): Promise<void> {
    return this.call(() => this.#abort('it was aborted'));
  }

  /** Aborts it if it is still active; waits for a commit under way; never throws. */
  async dispose(): Promise<void> {
    while (this.#tail !== undefined) await this.#tail;
    if (this.#status === 'active') this.#abort('it was disposed');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** @internal Runs one call, after those that were made before it. */
  call<T>(operation: () => Awaitable<T>): Promise<T> {
    let result: Awaitable<T>;
    if (this.#tail !== undefined) {
      result = this.#tail.then(() => this.#enter(operation));
    } else {
      try {
        result = this.#enter(operation);
      } catch (error) {
        return Promise.reject(translate(error));
      }
      if (!(result instanceof Promise)) return Promise.resolve(result);
    }
    const translated = result.catch((error) => {
      throw translate(error);
    });
    const done = () => {
      if (this.#tail === tail) this.#tail = undefined;
    };
    const tail: Promise<unknown> = translated.then(done, done);
    this.#tail = tail;
    return translated;
  }

  #enter<T>(operation: () => Awaitable<T>): Awaitable<T> {
    this.assertActive();
    return operation();
  }

  /** @internal */
  assertActive(): void {
    if (this.#status === 'active') return;
    if (this.#status === 'faulted') {
      throw new TransactionFaultedError(
        `transaction ${this.id} has failed: ${this.#reason}. Begin a new one.`,
        {
          cause: this.#fault,
        },
      );
    }
    const how = this.#status === 'committing' ? 'is being committed' : `has ended: ${this.#reason}`;
    throw new TransactionClosedError(`transaction ${this.id} ${how}. Begin a new one.`);
  }

  /** @internal */
  assertWritable(): void {
    this.kernel.assertOpen();
    if (!this.primary) {
      if (this.kernel.role !== 'primary')
        throw new NotPrimaryError('only the primary can write: find it and write there');
      throw new InvalidOperationError(
        'this transaction began on a secondary and cannot write. Begin a new one.',
      );
    }
    this.kernel.assertPrimary();
  }

  /** @internal */
  assertReadable(): void {
    this.kernel.assertReadable();
    if (this.primary && this.kernel.role !== 'primary') {
      throw new NotReadableError(
        'this transaction began on the primary, which this replica is no more. Begin a new one.',
      );
    }
  }

  /** @internal Nothing where the lock is granted at once. */
  lock(key: string, mode: LockMode, wait: Wait): Promise<void> | undefined {
    this.#now = undefined;
    const granted = this.kernel.locks.acquire(this.owner, key, mode, wait);
    return granted?.then(() => {
      this.#now = undefined;
      this.assertActive();
    });
  }

  /** @internal The newest value, own writes not looked at. `checked`: it must still be so at the commit. */
  read(key: Key, name: string, locked: boolean, checked: boolean): Awaitable<Versioned> {
    return then(this.kernel.engine.get(key), (found) => {
      this.see(found.seen);
      if (checked) this.expect({ key, version: found.version, locked }, name);
      return found;
    });
  }

  /** @internal What must still be so at the commit. The first that was seen counts. */
  expect(read: KeyRead, name: string): void {
    this.#reads ??= new Map();
    const known = this.#reads.get(name);
    if (known === undefined || (!known.locked && read.locked && known.version === read.version)) {
      this.#reads.set(name, read);
    }
  }

  /** @internal */
  expectPage(page: CheckedPage): void {
    (this.#pages ??= []).push(page);
    this.see(page.seen);
  }

  /** @internal The result of this transaction depends on that commit. */
  see(version: Version): void {
    if (version > this.#seen) this.#seen = version;
  }

  /** @internal */
  write(name: string, key: Key, value: Uint8Array | undefined): void {
    this.writes ??= new Map();
    const old = this.writes.get(name);
    this.#grow(
      old === undefined ? key.length + (value?.length ?? 0) : (value?.length ?? 0) - (old.value?.length ?? 0),
    );
    this.writes.set(name, { key, value });
  }

  /** @internal `refusal`: what the commit fails with if the counter would pass `max`. */
  add(name: string, key: Key, amount: number, max?: number, refusal?: Error): void {
    if (refusal !== undefined) (this.#refusals ??= new Map()).set(name, refusal);
    this.adds ??= new Map();
    const sum = (this.adds.get(name)?.amount ?? 0) + amount;
    this.adds.set(name, max === undefined ? { key, amount: sum } : { key, amount: sum, max });
  }

  /** @internal */
  record(event: RecordedEvent): void {
    (this.#events ??= []).push(event);
  }

  /** @internal The moment that its enumerations and counts show. */
  get snapshot(): Snapshot {
    this.#snapshot ??= this.kernel.engine.snapshot();
    this.see(this.#snapshot.seen);
    return this.#snapshot;
  }

  /** @internal The system ends it. Its locks are free at once; a call that waits fails. */
  fault(reason: string, cause?: unknown): TransactionFaultedError {
    this.#fault = cause;
    this.#reason = reason;
    const error = new TransactionFaultedError(
      `transaction ${this.id} has failed: ${reason}. Begin a new one.`,
      { cause },
    );
    if (this.#status === 'active') this.#end('faulted', error);
    return error;
  }

  /** @internal Resolves once nothing that it has seen can be lost any more. */
  settled(): Promise<void> | undefined {
    return this.kernel.engine.settled(this.#seen)?.catch((error) => {
      throw translate(error);
    });
  }

  #grow(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= maxTransactionBytes) return;
    const cause = new OperationTooLargeError(
      `one transaction writes at most ${maxTransactionBytes} bytes: split the work over several`,
    );
    throw this.fault(cause.message, cause);
  }

  async #commit(): Promise<void> {
    if (!this.primary || this.kernel.role !== 'primary') {
      if (this.writes !== undefined) this.kernel.assertPrimary();
    }
    this.#status = 'committing';
    const changes = this.writes !== undefined || this.adds !== undefined;
    if (!changes && !this.#mustCheck()) {
      for (const hook of this.#hooks ?? []) hook.ordered?.(this.#seen);
      this.#end('committed');
      await this.settled();
      for (const hook of this.#hooks ?? []) hook.durable?.();
      return;
    }
    const { version, durable } = await this.#order();
    if (changes) this.#version = version;
    const listened = this.#events !== undefined || (changes && this.kernel.notifyTransaction !== undefined);
    if (listened) this.kernel.unnotified.push(this);
    for (const hook of this.#hooks ?? []) hook.ordered?.(version);
    if (this.#events === undefined) this.#end('committed');
    await this.#harden(durable, listened);
  }

  #mustCheck(): boolean {
    if (this.#pages !== undefined) return true;
    if (this.#reads === undefined) return false;
    for (const read of this.#reads.values()) if (!read.locked) return true;
    return false;
  }

  async #order(): Promise<{ version: Version; durable: Promise<void> }> {
    try {
      const committed = this.kernel.engine.commit({
        reads: this.#reads === undefined ? [] : [...this.#reads.values()],
        pages: this.#pages ?? [],
        writes: this.writes === undefined ? [] : [...this.writes.values()],
        adds: this.adds === undefined ? [] : [...this.adds.values()],
        after: this.#after,
      });
      this.#pages = undefined; // the commit closes them
      return committed instanceof Promise ? await committed : committed;
    } catch (error) {
      this.#reason = 'its commit was refused';
      this.#fault = error;
      this.#end('faulted');
      throw (error instanceof LimitError && this.#refusals?.get(mapKey(error.key))) || error;
    }
  }

  async #harden(durable: Promise<void>, listened: boolean): Promise<void> {
    try {
      await durable;
      const pending = this.settled();
      if (pending !== undefined) await pending;
    } catch (error) {
      const { unnotified } = this.kernel;
      if (listened && unnotified.includes(this)) unnotified.splice(unnotified.indexOf(this), 1);
      for (const hook of this.#hooks ?? []) hook.lost?.();
      if (this.#status === 'committing') this.#end('faulted');
      throw error;
    }
    for (const hook of this.#hooks ?? []) hook.durable?.();
    if (listened) this.#notifyUpToHere();
  }

  /** Those ordered before are durable too, and are told of first. */
  #notifyUpToHere(): void {
    const { unnotified } = this.kernel;
    while (unnotified.includes(this)) unnotified.shift()?.notify();
  }

  /** @internal Calls the listeners, then gives back the locks. */
  notify(): void {
    for (const event of this.#events ?? []) event.notify(this);
    if (this.#status === 'committing') this.#end('committed');
    this.kernel.notifyTransaction?.(this);
  }

  #abort(reason: string): void {
    this.#reason = reason;
    this.#end('aborted');
  }

  #end(status: 'committed' | 'aborted' | 'faulted', reason?: Error): void {
    this.#status = status;
    if (status === 'committed') this.#reason = 'it was committed';
    clearTimeout(this.#ageTimer);
    this.kernel.live.delete(this);
    this.#snapshot?.[Symbol.dispose]();
    this.#snapshot = undefined;
    for (const page of this.#pages ?? []) page[Symbol.dispose]();
    this.#pages = undefined;
    if (status !== 'committed' && this.#version === undefined) {
      for (const hook of this.#hooks ?? []) hook.aborted?.();
    }
    this.kernel.locks.release(this.owner, reason);
  }
}

/** Ends with a `TimeoutError` if the commit is not durable in time; its outcome is then unknown. */
export async function commitWithin(transaction: Transaction, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new TimeoutError(`the commit took longer than ${timeoutMs} ms: its outcome is unknown`)),
      timeoutMs,
    );
  });
  try {
    await Promise.race([transaction.commit(), late]);
  } finally {
    clearTimeout(timer);
  }
}
