// Locks: which transaction may touch what, and who waits.
//
//                   held by another:   shared    update    exclusive
//   asks shared                        granted   waits     waits
//   asks update                        granted   waits     waits
//   asks exclusive                     waits     waits     waits
//
// Update is the lock of a read that means to write. It joins readers already there and lets no new
// one in, so two transactions that read a key and then write it queue up instead of deadlocking.
//
//   1. A transaction keeps every lock until it ends.
//   2. What it holds already covers the same and anything weaker; a stronger mode is a conversion.
//   3. Waiters are served in order of arrival, conversions before all others; nobody overtakes.
//   4. On a whole collection writers come before readers: a clear waits for those who are in, not for those who
//      came after another clear.
//   5. Of the keys that nobody holds or awaits no more entries are kept than of the others, or a thousand: memory
//      follows contention, not data. (To take each out at once would make everything grow old, see base/bag.ts.)
//
// A wait ends by its timeout, by its signal, or at once where it would close a circle: then the youngest
// transaction in the circle fails. Names, collections, rows and open files are all locked in this one
// table, so every circle can be seen. A lock that need not be waited for is granted without a promise.
// Locks order the work of one node; between nodes the engine's conflict check decides. A crash loses
// locks and nothing else, as an uncommitted transaction has written nothing.

import { assert } from '../base/assert.js';
import { blockers, findCircle, isAwaited } from './deadlocks.js';
import { DeadlockError, LockTimeoutError, type LockWait, OperationCanceledError } from './errors.js';
import {
  admits,
  compatible,
  convert,
  type Entry,
  enqueue,
  findHold,
  grant,
  type Hold,
  heldEntry,
  holderOf,
  isFree,
  type LockMode,
  type LockOwner,
  nobody,
  strength,
  type Waiter,
} from './lock-entries.js';
import { longestTimer } from './waits.js';

export interface LockOptions {
  /** 0: granted at once or refused; Infinity: for ever. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HeldLock {
  readonly key: string;
  readonly mode: LockMode;
  readonly heldMs: number;
}

/** A key of the table, for who looks on. */
export interface LockedKey {
  readonly key: string;
  readonly holders: LockWait['holders'];
  /** In the order in which they are served. */
  readonly waiters: readonly {
    readonly transactionId: bigint;
    readonly mode: LockMode;
    readonly waitedMs: number;
  }[];
}

const maxFree = 1000;

export class LockTable {
  #entries = new Map<string, Entry>();
  /** How many of them nobody holds or awaits. */
  #free = 0;
  readonly #describe: (key: string) => string;
  readonly #detectDeadlocks: boolean;
  /** Whether this is the lock on a whole collection. */
  readonly #isWhole: (key: string) => boolean;
  /** Waits begun since the table was made: a figure for the operator. */
  waits = 0;

  constructor(
    describe: (key: string) => string = (key) => key,
    options: { detectDeadlocks?: boolean; isWhole?: (key: string) => boolean } = {},
  ) {
    this.#describe = describe;
    this.#detectDeadlocks = options.detectDeadlocks ?? true;
    this.#isWhole = options.isWhole ?? (() => false);
  }

  /** Nothing where it is granted at once, else a promise of the grant. */
  acquire(owner: LockOwner, key: string, mode: LockMode, options: LockOptions): Promise<void> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      this.#entries.set(key, heldEntry(key, owner, mode));
      return undefined;
    }
    if (isFree(entry)) {
      this.#free--;
      grant(entry, owner, mode);
      return undefined;
    }
    const own = findHold(entry, owner);
    if (own !== undefined) {
      if (strength[own.mode] >= strength[mode]) return undefined;
      if (admits(entry, owner, mode)) {
        convert(own, mode);
        return undefined;
      }
    } else if (entry.waiters.length === 0 && admits(entry, owner, mode)) {
      grant(entry, owner, mode);
      return undefined;
    }
    return this.#wait(entry, owner, mode, own, options);
  }

  /** Gives back one lock before the end: only where nothing was read or written under it. */
  drop(owner: LockOwner, key: string): void {
    const index = owner.holds.findIndex(({ entry }) => entry.key === key);
    const [hold] = index === -1 ? [] : owner.holds.splice(index, 1);
    if (hold !== undefined) this.#release(hold);
  }

  /** Gives back all that the owner holds; a wait it still has fails with `reason`. */
  release(owner: LockOwner, reason?: Error): void {
    if (owner.waiting !== undefined) {
      this.#leave(
        owner.waiting,
        reason ?? new OperationCanceledError('the transaction ended during the wait'),
      );
    }
    const held = owner.holds;
    owner.holds = [];
    for (const hold of held) this.#release(hold);
  }

  #release(hold: Hold): void {
    const { entry, index } = hold;
    const last = entry.holds.pop() as Hold;
    if (last !== hold) {
      entry.holds[index] = last;
      last.index = index;
    }
    if (entry.strong === hold) entry.strong = undefined;
    if (entry.waiters.length > 0) this.#serve(entry);
    else if (entry.holds.length === 0) this.#setFree();
  }

  #setFree(): void {
    if (++this.#free <= Math.max(maxFree, this.#entries.size / 2)) return;
    const before = this.#entries;
    this.#entries = new Map();
    this.#free = 0;
    for (const entry of before.values()) if (!isFree(entry)) this.#entries.set(entry.key, entry);
  }

  /** Keys that are held or waited for now. */
  get size(): number {
    return this.#entries.size - this.#free;
  }

  /** All that is held or waited for now, with who holds and who waits, in order. */
  list(): LockedKey[] {
    const now = performance.now();
    const used = [...this.#entries.values()].filter((entry) => !isFree(entry));
    return used.map(({ key, holds, waiters }) => ({
      key: this.#describe(key),
      holders: holds.map((hold) => holderOf(hold, now)),
      waiters: waiters.map(({ owner, mode, since }) => ({
        transactionId: owner.id,
        mode,
        waitedMs: now - since,
      })),
    }));
  }

  heldBy(owner: LockOwner): HeldLock[] {
    const now = performance.now();
    return owner.holds.map(({ entry, mode, since }) => ({
      key: this.#describe(entry.key),
      mode,
      heldMs: now - since,
    }));
  }

  /** What the owner waits for, and for whom; nothing if it does not wait. */
  waitOf(owner: LockOwner): LockWait | undefined {
    const waiter = owner.waiting;
    if (waiter === undefined) return undefined;
    const now = performance.now();
    return {
      key: this.#describe(waiter.entry.key),
      mode: waiter.mode,
      transactionId: owner.id,
      waitedMs: now - waiter.since,
      holders: waiter.entry.holds
        .filter((hold) => hold.owner !== owner && !compatible(waiter.mode, hold.mode))
        .map((hold) => holderOf(hold, now)),
    };
  }

  /** Whom the owner waits for, those before it in the queue included. */
  blockersOf(owner: LockOwner): bigint[] {
    return owner.waiting === undefined ? [] : blockers(owner.waiting).map(({ id }) => id);
  }

  #wait(
    entry: Entry,
    owner: LockOwner,
    mode: LockMode,
    conversion: Hold | undefined,
    { timeoutMs, signal }: LockOptions,
  ): Promise<void> {
    assert(owner.waiting === undefined, 'a transaction waits for one lock at a time');
    if (signal?.aborted) return Promise.reject(canceled(signal));
    const since = performance.now();
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const onAbort = () => this.#leave(waiter, canceled(signal as AbortSignal));
      const waiter: Waiter = {
        owner,
        entry,
        mode,
        since,
        conversion,
        settle: (error) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      owner.waiting = waiter;
      if (timeoutMs === 0) {
        const error = new LockTimeoutError(this.waitOf(owner) as LockWait);
        owner.waiting = undefined;
        waiter.settle(error);
        return;
      }
      this.waits++;
      if (entry.waiters === nobody) entry.waiters = [];
      enqueue(entry.waiters, waiter, mode === 'exclusive' && this.#isWhole(entry.key));
      if (this.#detectDeadlocks) this.#breakCircles(waiter);
      if (owner.waiting !== waiter) return; // it was the youngest of a circle, or granted as another fell
      if (timeoutMs <= longestTimer) {
        timer = setTimeout(
          () => this.#leave(waiter, new LockTimeoutError(this.waitOf(owner) as LockWait)),
          timeoutMs,
        );
      }
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** The waiter goes without its lock; those behind it may be next. */
  #leave(waiter: Waiter, error: Error): void {
    if (waiter.owner.waiting !== waiter) return;
    waiter.owner.waiting = undefined;
    waiter.entry.waiters.splice(waiter.entry.waiters.indexOf(waiter), 1);
    waiter.settle(error);
    this.#serve(waiter.entry);
  }

  /** Grants from the head of the queue up to the first that must go on waiting. */
  #serve(entry: Entry): void {
    while (entry.waiters.length > 0) {
      const waiter = entry.waiters[0] as Waiter;
      if (!admits(entry, waiter.owner, waiter.mode)) return;
      entry.waiters.shift();
      waiter.owner.waiting = undefined;
      if (waiter.conversion !== undefined) convert(waiter.conversion, waiter.mode);
      else grant(entry, waiter.owner, waiter.mode);
      waiter.settle();
    }
    if (entry.holds.length === 0) this.#setFree();
  }

  #breakCircles(waiter: Waiter): void {
    for (;;) {
      if (waiter.owner.waiting !== waiter || !isAwaited(waiter)) return;
      const circle = findCircle(waiter);
      if (circle === undefined) return;
      const youngest = circle.reduce((a, b) => (b.owner.age > a.owner.age ? b : a));
      const waits = circle.map((member) => this.waitOf(member.owner) as LockWait);
      this.#leave(youngest, new DeadlockError(this.waitOf(youngest.owner) as LockWait, waits));
    }
  }
}

function canceled(signal: AbortSignal): OperationCanceledError {
  return new OperationCanceledError('the wait for a lock was canceled', { cause: signal.reason });
}
