// The work of a transaction while it is active: what it locks, what it has read, what it means to write. How it ends is
// in transaction.ts. Used by the collections; a program has their calls.

import type { Awaitable } from '../base/awaitable.js';
import type { Stamp } from '../base/stamps.js';
import type { CheckedPage, Key, NamedKey, Snapshot, Version, Versioned } from '../engine/engine.js';
import { ChangeSet } from './change-set.js';
import { ArgumentError, OperationTooLargeError, type TransactionFaultedError, translate } from './errors.js';
import type { Kernel } from './kernel.js';
import { type LockMode, LockOwner } from './lock-entries.js';
import { assertReadable, assertWritable, demotedError, isDemoted } from './roles.js';
import type { TransactionOptions, TransactionStatus } from './transaction-options.js';
import { limitOf, Wait, type WaitOptions } from './waits.js';

/** What is the same for all runs of one piece of work. */
export interface Run {
  /** Of the first run: who is older gets through. */
  readonly age: number | undefined;
  readonly until: number;
}

export abstract class TransactionWork {
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

  #seen: Version = 0;
  #now: number | undefined;
  #snapshot: Snapshot | undefined;
  #wait: Wait | undefined;

  protected constructor(kernel: Kernel, options: TransactionOptions, run: Run | undefined) {
    kernel.assertOpen();
    this.kernel = kernel;
    const id = kernel.drawId();
    this.id = BigInt(id);
    this.owner = new LockOwner(this.id, run?.age ?? id);
    this.primary = kernel.role === 'primary';
    this.term = kernel.term;
    this.timeoutMs = limitOf('timeoutMs', options.timeoutMs, kernel.settings.timeoutMs);
    this.until = run?.until ?? this.began + limitOf('withinMs', options.withinMs, Number.POSITIVE_INFINITY);
  }

  abstract get status(): TransactionStatus;

  /** @internal */
  abstract assertActive(): void;

  /** @internal The system ends it. */
  abstract fault(reason: string, cause?: unknown): TransactionFaultedError;

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
  read(row: NamedKey, locked: boolean, checked: boolean): Awaitable<Versioned> {
    const known = locked ? this.changes.known(row.name) : undefined;
    if (known !== undefined) return known;
    const found = this.kernel.engine.find(row);
    return found instanceof Promise
      ? this.#readAfter(found, row, locked, checked)
      : this.#note(found, row, locked, checked);
  }

  async #readAfter(found: Promise<Versioned>, row: NamedKey, locked: boolean, checked: boolean) {
    return this.#note(await found, row, locked, checked);
  }

  #note(found: Versioned, row: NamedKey, locked: boolean, checked: boolean): Versioned {
    this.see(found.seen);
    if (checked) this.changes.expect(row, found.version, locked, found);
    return found;
  }

  /** @internal What must still be so at the commit. */
  expect(row: NamedKey, version: Version, locked: boolean): void {
    this.changes.expect(row, version, locked);
  }

  /** @internal */
  expectPage(page: CheckedPage): void {
    if (this.status !== 'active') page[Symbol.dispose]();
    this.assertActive();
    this.changes.expectPage(page);
    this.see(page.seen);
  }

  /** The result of this transaction depends on that commit: nobody is told of it before that is on disk. */
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
    const snapshot = this.#snapshot ?? this.takeSnapshot('begin');
    this.see(snapshot.seen);
    return snapshot;
  }

  protected takeSnapshot(when: 'begin' | undefined): Snapshot {
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

  /** The newest commit that it has seen. */
  protected get seen(): Version {
    return this.#seen;
  }

  /** Nothing of it is used any more. A call that waits for a lock fails with `reason`. */
  protected letGo(reason: Error | undefined): void {
    this.#snapshot?.[Symbol.dispose]();
    this.#snapshot = undefined;
    this.changes.close();
    this.kernel.locks.release(this.owner, reason);
  }
}
