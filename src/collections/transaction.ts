// A transaction: what it holds, what it has read, what it means to write.
//
//   active ──commit()──> committing ──> committed
//     │                      └────────> faulted      the store refused it, or the outcome is unknown
//     ├──abort(), dispose──> aborted
//     └──system, too large─> faulted
//
// Writes stay here until the commit, so an abort costs nothing. At the commit they go to the engine in one
// step with what must still be true. Locks are released once the commit is ordered, or, where listeners are
// to be called first, once it is durable; the promise resolves once it is durable. However a transaction ends,
// that waits for what it has seen: nobody is told what a crash then takes back. One that has seen what was
// lost, because a write to disk failed, is ended by the system.
//
// Calls that overlap are queued in the order they were made.

import type { Awaitable } from '../base/awaitable.js';
import { mapKey } from '../base/bytes.js';
import type { Stamp } from '../base/stamps.js';
import type { CheckedPage, Committed, Key, KeyRead, Snapshot, Version, Versioned } from '../engine/engine.js';
import { LimitError, LostError } from '../engine/errors.js';
import { Calls } from './calls.js';
import { ChangeSet } from './change-set.js';
import {
  ArgumentError,
  ConflictError,
  ObjectClosedError,
  OperationTooLargeError,
  TimeoutError,
  TransactionClosedError,
  TransactionFaultedError,
  translate,
} from './errors.js';
import type { Kernel } from './kernel.js';
import { type LockMode, LockOwner } from './lock-entries.js';
import { seenLost, within } from './outcomes.js';
import { assertReadable, assertWritable, demotedError, isDemoted } from './roles.js';
import type {
  CommitOptions,
  TransactionHook,
  TransactionOptions,
  TransactionStatus,
} from './transaction-options.js';
import { limitOf, longestTimer, Wait, type WaitOptions } from './waits.js';

/** What is the same for all runs of one piece of work. */
export interface Run {
  /** Of the first run: who is older gets through. */
  readonly age: number | undefined;
  readonly until: number;
}

/** One change of a collection that somebody listens to. */
export type RecordedEvent = (transaction: Transaction) => void;

export class Transaction implements AsyncDisposable {
  readonly id: bigint;
  /** Whether it began on the primary: only then it can lock and write. */
  readonly primary: boolean;
  /** @internal Of the primary's role when it began. */ readonly term: number;
  readonly timeoutMs: number;

  /** @internal */ readonly kernel: Kernel;
  /** @internal */ readonly owner: LockOwner;
  /** @internal Collections whose lock it holds. */ readonly touched: object[] = [];
  /** @internal Collections that it removes. */ removing: Set<object> | undefined;
  /** @internal */ readonly began = performance.now();
  /** @internal When its waits end. */ readonly until: number;
  /** @internal */ readonly changes = new ChangeSet();
  /** @internal Among the live ones. */ place = 0;

  readonly #frees: boolean;
  readonly #calls = new Calls(this);
  #hooks: TransactionHook[] | undefined;
  #events: RecordedEvent[] | undefined;
  #snapshot: Snapshot | undefined;
  #status: TransactionStatus = 'active';
  #reason = '';
  #fault: unknown;
  #seen: Version = 0;
  #now: number | undefined;
  #version: Version | undefined;
  #isOrdered = false;
  /** Whether something that it wrote or has seen was lost, and it was told so. */
  #isLost = false;
  /** Whether `commit()` was called, and may be queued behind other calls. */
  #asked = false;
  #wait: Wait | undefined;
  #ageTimer: NodeJS.Timeout | undefined;

  /** @internal Use `state.begin()`. */
  constructor(kernel: Kernel, options: TransactionOptions, run?: Run) {
    kernel.assertOpen();
    this.kernel = kernel;
    const id = kernel.drawId();
    this.id = BigInt(id);
    this.owner = new LockOwner(this.id, run?.age ?? id);
    this.primary = kernel.role === 'primary';
    this.term = kernel.term;
    this.#frees = options.frees === true;
    this.timeoutMs = limitOf('timeoutMs', options.timeoutMs, kernel.settings.timeoutMs);
    this.until = run?.until ?? this.began + limitOf('withinMs', options.withinMs, Number.POSITIVE_INFINITY);
    if (options.snapshot !== 'first read') this.#takeSnapshot(options.snapshot);
    kernel.live.add(this);
    const { maxTransactionAgeMs } = kernel.settings;
    if (Number.isFinite(maxTransactionAgeMs)) this.#endAfter(maxTransactionAgeMs);
  }

  get status(): TransactionStatus {
    return this.#status;
  }

  /** The place of its commit in the history; -1 until then, and for one that wrote nothing. */
  get commitSequenceNumber(): bigint {
    return this.#version === undefined ? -1n : BigInt(this.#version);
  }

  /** The place in the history that its enumerations and counts show. */
  get visibilitySequenceNumber(): bigint {
    return BigInt(this.snapshot.seen);
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
    this.changes.after(work);
  }

  /** Is told how the transaction ends. Must not throw or wait. */
  onEnd(hook: TransactionHook): void {
    (this.#hooks ??= []).push(hook);
  }

  /** Resolves once all it wrote, and all it has seen, is on disk. */
  async commit(options?: CommitOptions): Promise<void> {
    const limitMs = limitOf('timeoutMs', options?.timeoutMs, Number.POSITIVE_INFINITY);
    try {
      await within(this.finish(), limitMs);
    } catch (error) {
      if (!(error instanceof TransactionFaultedError)) await this.settled(); // a refusal tells of what it has seen
      throw error;
    }
  }

  /** @internal As `commit`, but a refusal does not wait: for who runs it again. */
  finish(): Promise<void> {
    this.#asked = true;
    return this.call(() => this.#commit());
  }

  /** Forgets all it wrote and gives back its locks. */
  abort(): Promise<void> {
    return this.call(() => {
      this.#abort('it was aborted');
      return this.settled();
    });
  }

  /** Aborts it if it is still active; waits for a commit under way. A second time it does nothing. */
  async dispose(): Promise<void> {
    await this.endNow();
    const isTold = this.#status === 'aborted' || (this.#status === 'faulted' && !this.#isLost);
    if (isTold) await this.settled();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** @internal As `dispose`, but does not wait for what it has seen. A call that waits for a lock ends now. */
  async endNow(): Promise<void> {
    if (this.#status === 'active' && !this.#asked) this.#abort('it was disposed');
    await this.#calls.idle();
    if (this.#status === 'active') this.#abort('it was disposed');
  }

  #abort(reason: string): void {
    this.#reason = reason;
    this.#end('aborted', this.#closedError());
  }

  /** @internal Runs one call, after those that were made before it. */
  call<T>(operation: () => Awaitable<T>): Promise<T> {
    return this.#calls.run(operation);
  }

  /** @internal What a call that has thrown this fails with. */
  refusal(error: unknown): unknown {
    if (!(error instanceof LostError)) return translate(error);
    this.#isLost = true;
    return this.fault('a write to disk failed, and its snapshot went with it', seenLost(error));
  }

  /** @internal */
  assertActive(): void {
    if (this.#status === 'active') return;
    if (this.#fault instanceof ObjectClosedError) throw this.#fault;
    throw this.#status === 'faulted' ? this.#faultedError() : this.#closedError();
  }

  #faultedError(): TransactionFaultedError {
    const message = `transaction ${this.id} has failed: ${this.#reason}. Begin a new one.`;
    return new TransactionFaultedError(message, { cause: this.#fault });
  }

  #closedError(): TransactionClosedError {
    const how = this.#status === 'committing' ? 'is being committed' : `has ended: ${this.#reason}`;
    return new TransactionClosedError(`transaction ${this.id} ${how}. Begin a new one.`);
  }

  /** @internal */
  assertWritable(): void {
    assertWritable(this);
  }

  /** @internal */
  assertReadable(): void {
    assertReadable(this);
  }

  /** @internal This replica is not the primary any more: the locks are gone, and a call that waits for one fails. */
  demote(): void {
    if (this.primary) this.kernel.locks.release(this.owner, demotedError(this));
  }

  /** @internal How long the call at hand may wait. Mostly nothing is said of it, and one object serves them all. */
  wait(options: WaitOptions | undefined): Wait {
    if (options?.timeoutMs !== undefined || options?.signal !== undefined) return new Wait(options, this);
    this.#wait ??= new Wait(undefined, this);
    this.#wait.restart();
    return this.#wait;
  }

  /** @internal Nothing where the lock is granted at once. */
  lock(key: string, mode: LockMode, wait: Wait): Promise<void> | undefined {
    this.assertActive(); // an ended one would keep it for ever
    this.#now = undefined;
    const granted = this.kernel.locks.acquire(this.owner, key, mode, wait);
    return granted === undefined ? undefined : this.#lockAfter(granted);
  }

  async #lockAfter(granted: Promise<void>): Promise<void> {
    await granted;
    this.#now = undefined;
    this.assertActive();
    if (isDemoted(this)) throw demotedError(this);
  }

  /** @internal The newest value, own writes not looked at. `checked`: it must still be so at the commit. */
  read(key: Key, name: string, locked: boolean, checked: boolean): Awaitable<Versioned> {
    const known = locked ? this.changes.known(name) : undefined;
    if (known !== undefined) return known;
    const found = this.kernel.engine.get(key, name);
    return found instanceof Promise
      ? this.#readAfter(found, key, name, locked, checked)
      : this.#note(found, key, name, locked, checked);
  }

  async #readAfter(found: Promise<Versioned>, key: Key, name: string, locked: boolean, checked: boolean) {
    return this.#note(await found, key, name, locked, checked);
  }

  #note(found: Versioned, key: Key, name: string, locked: boolean, checked: boolean): Versioned {
    this.see(found.seen);
    if (checked) this.changes.expect(name, { key, version: found.version, locked, found });
    return found;
  }

  /** @internal What must still be so at the commit. */
  expect(name: string, read: KeyRead): void {
    this.changes.expect(name, read);
  }

  /** @internal */
  expectPage(page: CheckedPage): void {
    if (this.#status !== 'active') page[Symbol.dispose]();
    this.assertActive();
    this.changes.expectPage(page);
    this.see(page.seen);
  }

  /** @internal The result of this transaction depends on that commit. */
  see(version: Version): void {
    if (version > this.#seen) this.#seen = version;
  }

  /** @internal */
  write(name: string, key: Key, value: Uint8Array | undefined, frees?: boolean): void {
    this.changes.write(name, key, value, frees);
    const { maxTransactionBytes } = this.kernel.settings;
    if (this.changes.bytes <= maxTransactionBytes) return;
    const cause = new OperationTooLargeError(
      `one transaction writes at most ${maxTransactionBytes} bytes: split the work over several`,
    );
    throw this.fault(cause.message, cause);
  }

  /** @internal */
  record(event: RecordedEvent): void {
    (this.#events ??= []).push(event);
  }

  /** Whether it is fixed which moment its enumerations show. */
  get hasSnapshot(): boolean {
    return this.#snapshot !== undefined;
  }

  /** Whether it has written anything so far. */
  get hasWrites(): boolean {
    return !this.changes.isEmpty;
  }

  /** @internal The moment that its enumerations and counts show. */
  get snapshot(): Snapshot {
    const snapshot = this.#snapshot ?? this.#takeSnapshot('begin');
    this.see(snapshot.seen);
    return snapshot;
  }

  #takeSnapshot(when: 'begin' | undefined): Snapshot {
    if (when !== undefined && when !== 'begin')
      throw new ArgumentError(`snapshot is 'begin' or 'first read', not ${String(when)}`);
    this.assertActive();
    try {
      this.#snapshot = this.kernel.engine.snapshot();
    } catch (error) {
      throw translate(error);
    }
    return this.#snapshot;
  }

  #endAfter(ageMs: number): void {
    const end = () => {
      const reason = `it was older than ${ageMs} ms`;
      this.fault(reason, new TimeoutError(reason));
    };
    this.#ageTimer = setTimeout(end, Math.min(ageMs, longestTimer)).unref();
  }

  /** @internal The system ends it. Its locks are free at once; a call that waits fails with the result. */
  fault(reason: string, cause?: unknown): TransactionFaultedError {
    if (this.#status !== 'active') return this.#faultedError();
    this.#fault = cause;
    this.#reason = reason;
    const error = this.#faultedError();
    this.#end('faulted', cause instanceof ObjectClosedError ? cause : error);
    return error;
  }

  /** @internal Commits were lost: if it has seen one of them, what it would decide is not so. */
  faultIfLost(): void {
    const lost = this.kernel.engine.settled(this.#seen);
    if (lost === undefined) return;
    lost.catch(() => {});
    this.#isLost = true;
    this.fault('it had seen what was lost when a write to disk failed', seenLost());
  }

  /** @internal Resolves once nothing that it has seen can be lost any more. */
  settled(): Promise<void> | undefined {
    return this.kernel.engine.settled(this.#seen)?.catch((error) => {
      throw this.#version === undefined ? seenLost(error) : translate(error);
    });
  }

  #commit(): Awaitable<void> {
    const changed = !this.changes.isEmpty;
    if (changed) this.assertWritable();
    this.#status = 'committing';
    if (!changed && !this.changes.mustBeChecked) return this.#commitRead();
    try {
      const committed = this.kernel.engine.commit(this.changes.take(this.#frees));
      if (!(committed instanceof Promise)) return this.#ordered(committed, changed);
      return committed.then(
        (late) => this.#ordered(late, changed),
        (error) => this.#refused(error),
      );
    } catch (error) {
      return this.#refused(error);
    }
  }

  /** Nothing to write and nothing to check: it only waits for what it has seen. */
  #commitRead(): Awaitable<void> {
    this.#tell('ordered', this.#seen);
    this.#end('committed');
    const settled = this.settled();
    if (settled === undefined) return this.#tell('durable');
    return settled.then(
      () => this.#tell('durable'),
      (error) => this.#lost(error),
    );
  }

  #ordered({ version, durable }: Committed, changed: boolean): Promise<void> {
    const { kernel } = this;
    const listened = this.#events !== undefined || (changed && kernel.notifier.listensToTransactions);
    const notified = listened ? kernel.notifier.expect(version, this) : undefined;
    if (changed) {
      this.#version = version;
      kernel.newest = version;
    }
    this.#isOrdered = true;
    this.#tell('ordered', version);
    if (this.#events === undefined) this.#end('committed');
    const lost = (error: unknown) => {
      kernel.notifier.forget(version);
      return this.#lost(error);
    };
    return durable.then(() => {
      const settled = this.settled();
      return settled === undefined
        ? this.#durable(notified)
        : settled.then(() => this.#durable(notified), lost);
    }, lost);
  }

  #durable(notified: Promise<void> | undefined): Promise<void> | undefined {
    this.#tell('durable');
    return notified;
  }

  #lost(error: unknown): never {
    this.#reason = 'its outcome is unknown';
    this.#isLost = true;
    this.#fault = translate(error);
    this.#tell('lost');
    if (this.#status === 'committing') this.#end('faulted');
    this.#status = 'faulted';
    throw this.#fault;
  }

  /** Nothing was written. A refusal depends on what others have committed, on disk or not. */
  #refused(error: unknown): never {
    this.see(this.kernel.newest);
    this.#reason = 'its commit was refused';
    this.#fault = translate(error);
    if (this.#fault instanceof ConflictError) this.kernel.conflicts++;
    this.#end('faulted');
    throw (error instanceof LimitError && this.changes.refusal(mapKey(error.key))) || error;
  }

  /** @internal Calls the listeners, then gives back the locks. */
  notify(): void {
    for (const event of this.#events ?? []) event(this);
    if (this.#status === 'committing') this.#end('committed');
    this.kernel.notifier.tellTransaction(this);
  }

  #tell(what: 'durable' | 'lost' | 'aborted'): void;
  #tell(what: 'ordered', version: Version): void;
  #tell(what: keyof TransactionHook, version: Version = 0): void {
    if (this.#hooks !== undefined) for (const hook of this.#hooks) hook[what]?.(version);
  }

  #end(status: 'committed' | 'aborted' | 'faulted', reason?: Error): void {
    this.#status = status;
    if (status === 'committed') this.#reason = 'it was committed';
    clearTimeout(this.#ageTimer);
    this.kernel.live.delete(this);
    this.#snapshot?.[Symbol.dispose]();
    this.#snapshot = undefined;
    this.changes.close();
    if (status !== 'committed' && !this.#isOrdered) this.#tell('aborted');
    this.kernel.locks.release(this.owner, reason);
  }
}
