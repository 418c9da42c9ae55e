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
//   4. A key nobody holds or awaits has no entry: memory follows contention, not data.
//
// A wait ends by its timeout, by its signal, or at once where it would close a circle: then the youngest
// transaction in the circle fails. Names, collections, rows and open files are all locked in this one
// table, so every circle can be seen. A lock that need not be waited for is granted without a promise.
// Locks order the work of one node; between nodes the engine's conflict check decides. A crash loses
// locks and nothing else, as an uncommitted transaction has written nothing.

import { assert } from '../base/assert.js';
import { DeadlockError, LockTimeoutError, type LockWait, OperationCanceledError } from './errors.js';

export type LockMode = 'shared' | 'update' | 'exclusive';

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

/** Who holds locks: a transaction. */
export class LockOwner {
  readonly id: bigint;
  /** The smaller, the older: the youngest in a circle fails, and a retry keeps its age. */
  readonly age: number;
  readonly holds: Hold[] = [];
  waiting: Waiter | undefined;

  constructor(id: bigint, age: number) {
    this.id = id;
    this.age = age;
  }
}

interface Hold {
  readonly owner: LockOwner;
  readonly entry: Entry;
  mode: LockMode;
  readonly since: number;
}

interface Entry {
  readonly key: string;
  readonly holds: Hold[];
  readonly waiters: Waiter[];
}

interface Waiter {
  readonly owner: LockOwner;
  readonly entry: Entry;
  readonly mode: LockMode;
  readonly since: number;
  /** Of a lock held already in a weaker mode. */
  readonly conversion: Hold | undefined;
  readonly settle: (error?: Error) => void;
}

const strength = { shared: 0, update: 1, exclusive: 2 } as const;

function compatible(asked: LockMode, held: LockMode): boolean {
  return asked !== 'exclusive' && held === 'shared';
}

export class LockTable {
  readonly #entries = new Map<string, Entry>();
  readonly #describe: (key: string) => string;
  readonly #detectDeadlocks: boolean;
  /** Waits begun since the table was made: a figure for the operator. */
  waits = 0;

  constructor(describe: (key: string) => string = (key) => key, options: { detectDeadlocks?: boolean } = {}) {
    this.#describe = describe;
    this.#detectDeadlocks = options.detectDeadlocks ?? true;
  }

  /** Nothing where it is granted at once, else a promise of the grant. */
  acquire(owner: LockOwner, key: string, mode: LockMode, options: LockOptions): Promise<void> | undefined {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { key, holds: [], waiters: [] };
      this.#entries.set(key, entry);
      grant(entry, owner, mode);
      return undefined;
    }
    const own = findHold(entry, owner);
    if (own !== undefined) {
      if (strength[own.mode] >= strength[mode]) return undefined;
      if (admits(entry, owner, mode)) {
        own.mode = mode;
        return undefined;
      }
    } else if (entry.waiters.length === 0 && admits(entry, owner, mode)) {
      grant(entry, owner, mode);
      return undefined;
    }
    return this.#wait(entry, owner, mode, own, options);
  }

  /** Whether this owner holds the key at least so strongly. */
  holds(owner: LockOwner, key: string, mode: LockMode): boolean {
    const entry = this.#entries.get(key);
    const hold = entry && findHold(entry, owner);
    return hold !== undefined && strength[hold.mode] >= strength[mode];
  }

  /** Gives back all that the owner holds; a wait it still has fails with `reason`. */
  release(owner: LockOwner, reason?: Error): void {
    if (owner.waiting !== undefined) {
      this.#leave(
        owner.waiting,
        reason ?? new OperationCanceledError('the transaction ended during the wait'),
      );
    }
    for (const hold of owner.holds) {
      const { entry } = hold;
      removeFrom(entry.holds, hold);
      this.#serve(entry);
    }
    owner.holds.length = 0;
  }

  /** Every wait on a key that `touches` fails with `reason`: its collection is gone. */
  failWaiters(reason: () => Error, touches: (key: string) => boolean = () => true): void {
    for (const entry of [...this.#entries.values()]) {
      if (!touches(entry.key)) continue;
      for (const waiter of [...entry.waiters]) this.#leave(waiter, reason());
    }
  }

  /** Entries that exist now: held or waited for. */
  get size(): number {
    return this.#entries.size;
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
        .map((hold) => ({ transactionId: hold.owner.id, mode: hold.mode, heldMs: now - hold.since })),
    };
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
      enqueue(entry.waiters, waiter);
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
    removeFrom(waiter.entry.waiters, waiter);
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
      if (waiter.conversion !== undefined) waiter.conversion.mode = waiter.mode;
      else grant(entry, waiter.owner, waiter.mode);
      waiter.settle();
    }
    if (entry.holds.length === 0) this.#entries.delete(entry.key);
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

/** Node's timers end there; anything longer is for ever. */
const longestTimer = 2 ** 31 - 1;

function canceled(signal: AbortSignal): OperationCanceledError {
  return new OperationCanceledError('the wait for a lock was canceled', { cause: signal.reason });
}

function findHold(entry: Entry, owner: LockOwner): Hold | undefined {
  for (const hold of entry.holds) if (hold.owner === owner) return hold;
  return undefined;
}

function admits(entry: Entry, owner: LockOwner, mode: LockMode): boolean {
  for (const hold of entry.holds) if (hold.owner !== owner && !compatible(mode, hold.mode)) return false;
  return true;
}

function grant(entry: Entry, owner: LockOwner, mode: LockMode): void {
  const hold = { owner, entry, mode, since: performance.now() };
  entry.holds.push(hold);
  owner.holds.push(hold);
}

/** Behind those that came before; a conversion behind earlier conversions and before all others. */
function enqueue(waiters: Waiter[], waiter: Waiter): void {
  const place = waiter.conversion ? waiters.findIndex((other) => other.conversion === undefined) : -1;
  if (place === -1) waiters.push(waiter);
  else waiters.splice(place, 0, waiter);
}

function removeFrom<T>(list: T[], item: T): void {
  const last = list.length - 1;
  const index = list[last] === item ? last : list.indexOf(item);
  if (index !== -1) list.splice(index, 1);
}

/** Whom this waiter waits for: who holds the key in its way, and who is served just before it. */
function blockers(waiter: Waiter): LockOwner[] {
  const found: LockOwner[] = [];
  for (const hold of waiter.entry.holds) {
    if (hold.owner !== waiter.owner && !compatible(waiter.mode, hold.mode)) found.push(hold.owner);
  }
  const before = waiter.entry.waiters[waiter.entry.waiters.indexOf(waiter) - 1];
  if (before !== undefined) found.push(before.owner);
  return found;
}

/** Whether anybody waits for this owner: mostly not, and then it can be in no circle. */
function isAwaited(waiter: Waiter): boolean {
  const { waiters } = waiter.entry;
  if (waiters[waiters.length - 1] !== waiter) return true;
  return waiter.owner.holds.some(({ entry }) => entry.waiters.length > (entry === waiter.entry ? 1 : 0));
}

/** The waiters of a circle that `start` is part of, each waiting for the next. Iterative: a chain may be long. */
function findCircle(start: Waiter): Waiter[] | undefined {
  const visited = new Set<LockOwner>([start.owner]);
  const path: { waiter: Waiter; next: LockOwner[] }[] = [{ waiter: start, next: blockers(start) }];
  while (path.length > 0) {
    const top = path[path.length - 1] as (typeof path)[number];
    const owner = top.next.pop();
    if (owner === undefined) {
      path.pop();
    } else if (owner === start.owner) {
      return path.map((step) => step.waiter);
    } else if (owner.waiting !== undefined && !visited.has(owner)) {
      visited.add(owner);
      path.push({ waiter: owner.waiting, next: blockers(owner.waiting) });
    }
  }
  return undefined;
}
