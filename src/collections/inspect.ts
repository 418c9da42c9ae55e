// What is going on: for a page, a test or somebody who wonders what everybody waits for.

import type { LockWait } from './errors.js';
import type { Kernel, Role } from './kernel.js';
import type { HeldLock, LockedKey } from './locks.js';
import type { TransactionStatus } from './transaction-options.js';

export interface InspectedTransaction {
  readonly id: bigint;
  readonly status: TransactionStatus;
  readonly ageMs: number;
  /** How much it means to write. */
  readonly writtenBytes: number;
  readonly locks: readonly HeldLock[];
  /** The lock it waits for now, and who holds it. */
  readonly waitsFor: LockWait | undefined;
}

export interface Inspection {
  readonly role: Role;
  /** From the oldest to the youngest. */
  readonly transactions: readonly InspectedTransaction[];
  /** Every key that is locked or waited for. */
  readonly locks: readonly LockedKey[];
  /** Who waits for whom: who holds what it wants, or is served before it. */
  readonly waitFor: readonly { readonly waiter: bigint; readonly blocker: bigint; readonly key: string }[];
  /** Waits for a lock begun since the start. */
  readonly waits: number;
  /** Commits refused since the start because a read no longer held. */
  readonly conflicts: number;
}

export function inspect({ live, locks, role, conflicts }: Kernel): Inspection {
  const now = performance.now();
  const byAge = [...live].sort((a, b) => (a.id < b.id ? -1 : 1));
  const transactions = byAge.map((tx) => ({
    id: tx.id,
    status: tx.status,
    ageMs: now - tx.began,
    writtenBytes: tx.changes.bytes,
    locks: locks.heldBy(tx.owner),
    waitsFor: locks.waitOf(tx.owner),
  }));
  const waitFor = byAge.flatMap(({ owner, id: waiter }) => {
    const key = locks.waitOf(owner)?.key;
    return key === undefined ? [] : locks.blockersOf(owner).map((blocker) => ({ waiter, blocker, key }));
  });
  return { role, transactions, locks: locks.list(), waitFor, waits: locks.waits, conflicts };
}
