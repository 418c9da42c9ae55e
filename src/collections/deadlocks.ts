// Circles of transactions that wait for each other.

import { compatible, type LockOwner, type Waiter } from './lock-entries.js';

/** Whom this waiter waits for: who holds the key in its way, and who is served just before it. */
export function blockers(waiter: Waiter): LockOwner[] {
  const found: LockOwner[] = [];
  for (const hold of waiter.entry.holds) {
    if (hold.owner !== waiter.owner && !compatible(waiter.mode, hold.mode)) found.push(hold.owner);
  }
  const before = waiter.entry.waiters[waiter.entry.waiters.indexOf(waiter) - 1];
  if (before !== undefined) found.push(before.owner);
  return found;
}

/** Whether anybody waits for this owner: mostly not, and then it can be in no circle. */
export function isAwaited(waiter: Waiter): boolean {
  const { waiters } = waiter.entry;
  if (waiters[waiters.length - 1] !== waiter) return true;
  return waiter.owner.holds.some(({ entry }) => entry.waiters.length > (entry === waiter.entry ? 1 : 0));
}

/** The waiters of a circle that `start` is part of, each waiting for the next. Iterative: a chain may be long. */
export function findCircle(start: Waiter): Waiter[] | undefined {
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
