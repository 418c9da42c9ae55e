// One key of the lock table: who holds it, who waits for it, and whom it admits.

import type { LockWait } from './errors.js';

export type LockMode = 'shared' | 'update' | 'exclusive';

/** Who holds locks: a transaction. */
export class LockOwner {
  readonly id: bigint;
  /** The smaller, the older: the youngest in a circle fails, and a retry keeps its age. */
  readonly age: number;
  holds: Hold[] = [];
  waiting: Waiter | undefined;

  constructor(id: bigint, age: number) {
    this.id = id;
    this.age = age;
  }
}

export interface Hold {
  readonly owner: LockOwner;
  readonly entry: Entry;
  mode: LockMode;
  readonly since: number;
  /** Its place in the entry's list. */
  index: number;
}

export interface Entry {
  readonly key: string;
  /** In no order. */
  holds: Hold[];
  /** The one that is not shared: there can be one at most. */
  strong: Hold | undefined;
  /** Made when the first one waits. */
  waiters: Waiter[];
}

export interface Waiter {
  readonly owner: LockOwner;
  readonly entry: Entry;
  readonly mode: LockMode;
  readonly since: number;
  /** Of a lock held already in a weaker mode. */
  readonly conversion: Hold | undefined;
  readonly settle: (error?: Error) => void;
}

export const strength = { shared: 0, update: 1, exclusive: 2 } as const;

export function compatible(asked: LockMode, held: LockMode): boolean {
  return asked !== 'exclusive' && held === 'shared';
}

/** The waiters of an entry that never had one: shared, and never added to. */
export const nobody: Waiter[] = [];

/** Through the shorter list: many may share a lock, and one may hold many. */
export function findHold(entry: Entry, owner: LockOwner): Hold | undefined {
  if (entry.holds.length <= owner.holds.length) {
    for (const hold of entry.holds) if (hold.owner === owner) return hold;
  } else {
    for (const hold of owner.holds) if (hold.entry === entry) return hold;
  }
  return undefined;
}

export function admits({ holds, strong }: Entry, owner: LockOwner, mode: LockMode): boolean {
  if (mode !== 'exclusive') return strong === undefined || strong.owner === owner;
  return holds.length === 0 || (holds.length === 1 && holds[0]?.owner === owner);
}

/** Whether nobody holds it or waits for it. */
export function isFree({ holds, waiters }: Entry): boolean {
  return holds.length === 0 && waiters.length === 0;
}

/** A key that nobody holds: the common case, made with room for one. */
export function heldEntry(key: string, owner: LockOwner, mode: LockMode): Entry {
  const entry: Entry = { key, holds: [], strong: undefined, waiters: nobody };
  const hold = { owner, entry, mode, since: performance.now(), index: 0 };
  entry.holds = [hold];
  if (mode !== 'shared') entry.strong = hold;
  owner.holds.push(hold);
  return entry;
}

export function grant(entry: Entry, owner: LockOwner, mode: LockMode): void {
  const hold = { owner, entry, mode, since: performance.now(), index: entry.holds.length };
  entry.holds.push(hold);
  if (mode !== 'shared') entry.strong = hold;
  owner.holds.push(hold);
}

export function convert(hold: Hold, mode: LockMode): void {
  hold.mode = mode;
  hold.entry.strong = hold;
}

/** Behind those that came before. A conversion goes before all that are none, a writer that may before all readers. */
export function enqueue(waiters: Waiter[], waiter: Waiter, beforeReaders: boolean): void {
  const mayPass = (other: Waiter) =>
    other.conversion === undefined &&
    (waiter.conversion !== undefined || (beforeReaders && other.mode !== 'exclusive'));
  const place = waiters.findIndex(mayPass);
  if (place === -1) waiters.push(waiter);
  else waiters.splice(place, 0, waiter);
}

export function holderOf({ owner, mode, since }: Hold, now: number): LockWait['holders'][number] {
  return { transactionId: owner.id, mode, heldMs: now - since };
}
