// A transaction from its beginning to its end. What it does in between is in transaction-work.ts.
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
import type { Committed, Version } from '../engine/engine.js';
import { ConflictError as EngineConflict, LimitError, LostError } from '../engine/errors.js';
import { Calls } from './calls.js';
import {
  ConflictError,
  ObjectClosedError,
  TimeoutError,
  TransactionClosedError,
  TransactionFaultedError,
  translate,
} from './errors.js';
import type { Kernel } from './kernel.js';
import { conflict, seenLost, within } from './outcomes.js';
import type {
  CommitOptions,
  TransactionHook,
  TransactionOptions,
  TransactionStatus,
} from './transaction-options.js';
import { type Run, TransactionWork } from './transaction-work.js';
import { limitOf, longestTimer } from './waits.js';

/** One change of a collection that somebody listens to. */
export type RecordedEvent = (transaction: Transaction) => void;

export class Transaction extends TransactionWork implements AsyncDisposable {
  /** @internal Among the live ones. */ place = 0;

  readonly #frees: boolean;
  readonly #calls = new Calls(this);
  #hooks: TransactionHook[] | undefined;
  #events: RecordedEvent[] | undefined;
  #status: TransactionStatus = 'active';
  #reason = '';
  #fault: unknown;
  #version: Version | undefined;
  #isOrdered = false;
  /** Whether something that it wrote or has seen was lost, and whether a call has said so. */
  #loss: 'none' | 'untold' | 'told' = 'none';
  /** Whether `commit()` was called, and may be queued behind other calls. */
  #asked = false;
  #ageTimer: NodeJS.Timeout | undefined;
  readonly #resets: number;

  /** @internal Use `state.begin()`. */
  constructor(kernel: Kernel, options: TransactionOptions, run?: Run) {
    super(kernel, options, run);
    this.#frees = options.frees === true;
    this.#resets = kernel.resets;
    if (options.snapshot !== 'first read') this.takeSnapshot(options.snapshot);
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

  /** Is told how the transaction ends; of one that has ended it is told now that it comes too late. Must not throw or wait. */
  onEnd(hook: TransactionHook): void {
    if (this.#status === 'active' || this.#status === 'committing') (this.#hooks ??= []).push(hook);
    else hook.aborted?.();
  }

  /** Resolves once all it wrote, and all it has seen, is on disk. */
  async commit(options?: CommitOptions): Promise<void> {
    const limitMs = limitOf('timeoutMs', options?.timeoutMs, Number.POSITIVE_INFINITY);
    try {
      await within(this.finish(), limitMs);
    } catch (error) {
      if (!(error instanceof TransactionFaultedError)) await this.#told(); // a refusal tells of what it has seen
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
      return this.#told();
    });
  }

  /** Aborts it if it is still active; waits for a commit under way. A second time it does nothing. */
  async dispose(): Promise<void> {
    await this.endNow();
    const mustTell = this.#status === 'aborted' || (this.#status === 'faulted' && this.#loss !== 'told');
    if (mustTell) await this.#told();
  }

  /** As `settled`, for who says so: once is enough. */
  #told(): Promise<void> | undefined {
    return this.settled()?.catch((error) => {
      this.#loss = 'told';
      throw error;
    });
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
    if (this.#loss === 'untold') this.#loss = 'told';
    if (!(error instanceof LostError)) return translate(error);
    this.#loss = 'told';
    return this.fault('a write to disk failed, and its snapshot went with it', seenLost(error));
  }

  /** @internal */
  assertActive(): void {
    if (this.#status === 'active') return;
    if (this.#loss === 'untold') this.#loss = 'told';
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
  record(event: RecordedEvent): void {
    (this.#events ??= []).push(event);
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
    const lost = this.kernel.engine.settled(this.seen);
    if (lost === undefined) return;
    lost.catch(() => {});
    this.#loss = 'untold';
    this.fault('it had seen what was lost when a write to disk failed', seenLost());
  }

  /** @internal Resolves once nothing that it has seen can be lost any more. */
  settled(): Promise<void> | undefined {
    return this.kernel.engine.settled(this.seen)?.catch((error) => {
      throw this.#lossOf(error);
    });
  }

  /** Who has written nothing knows how that ended. */
  #lossOf(error: unknown): unknown {
    return error instanceof LostError && this.#version === undefined ? seenLost(error) : translate(error);
  }

  #commit(): Awaitable<void> {
    const changed = !this.changes.isEmpty;
    if (changed) this.assertWritable();
    this.#status = 'committing';
    if (!changed && !this.changes.mustBeChecked && this.#resets === this.kernel.resets)
      return this.#commitRead();
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
    this.#tell('ordered', this.seen);
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
      if (notified !== undefined) kernel.notifier.forget(version); // else it is another's
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
    this.#loss = 'told';
    this.#reason = this.#version === undefined ? 'what it had seen was lost' : 'its outcome is unknown';
    this.#fault = this.#lossOf(error);
    this.#tell('lost');
    if (this.#status === 'committing') this.#end('faulted');
    this.#status = 'faulted';
    throw this.#fault;
  }

  /** Nothing was written. A refusal depends on what others have committed, on disk or not. */
  #refused(error: unknown): never {
    this.see(this.kernel.newest);
    this.#reason = 'its commit was refused';
    this.#fault = this.#refusalOf(error);
    if (this.#fault instanceof ConflictError) this.kernel.conflicts++;
    this.#end('faulted');
    throw this.#fault;
  }

  #refusalOf(error: unknown): unknown {
    if (error instanceof EngineConflict) return conflict(error, this.kernel.describe);
    const limited = error instanceof LimitError ? this.changes.refusal(mapKey(error.key)) : undefined;
    return limited ?? translate(error);
  }

  /** @internal Calls the listeners, then gives back the locks. */
  notify(): void {
    const { notifier } = this.kernel;
    for (const event of this.#events ?? []) {
      try {
        event(this);
      } catch (error) {
        notifier.report(error); // a value that its codec cannot read: no reason to keep the locks
      }
    }
    if (this.#status === 'committing') this.#end('committed');
    notifier.tellTransaction(this);
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
    if (status !== 'committed' && !this.#isOrdered) this.#tell('aborted');
    this.letGo(reason);
  }
}
