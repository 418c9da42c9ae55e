// What is going on: for a page, a test or somebody who wonders what everybody waits for.

import type { LockWait } from './errors.js';
import type { Kernel } from './kernel.js';
import type { HeldLock } from './locks.js';
import type { TransactionStatus } from './transaction.js';

export interface InspectedTransaction {
  readonly id: bigint;
  readonly status: TransactionStatus;
  readonly ageMs: number;
  readonly locks: readonly HeldLock[];
  readonly waitsFor: LockWait | undefined;
}

export interface Inspection {
  readonly transactions: readonly InspectedTransaction[];
  /** Who waits for whom. */
  readonly waitFor: readonly { readonly waiter: bigint; readonly holder: bigint; readonly key: string }[];
  /** Keys that are locked or waited for. */
  readonly lockedKeys: number;
  /** Waits begun since the start. */
  readonly waits: number;
}

export function inspect({ live, locks }: Kernel): Inspection {
  const now = performance.now();
  const transactions = [...live].map((tx) => ({
    id: tx.id,
    status: tx.status,
    ageMs: now - tx.began,
    locks: locks.heldBy(tx.owner),
    waitsFor: locks.waitOf(tx.owner),
  }));
  const waitFor = transactions.flatMap(({ waitsFor }) =>
    (waitsFor?.holders ?? []).map((holder) => ({
      waiter: (waitsFor as LockWait).transactionId,
      holder: holder.transactionId,
      key: (waitsFor as LockWait).key,
    })),
  );
  return { transactions, waitFor, lockedKeys: locks.size, waits: locks.waits };
}
