// What the role of this replica allows a transaction. It counts which role that was when the transaction began: one of
// a secondary never writes, and one of the primary ends with that role, as its locks do.

import {
  InvalidOperationError,
  NotPrimaryError,
  NotReadableError,
  TransactionFaultedError,
} from './errors.js';
import type { Transaction } from './transaction.js';

type Begun = Pick<Transaction, 'id' | 'kernel' | 'primary' | 'term'>;

/** Whether the role of the primary, under which it took its locks, was lost since. */
export function isDemoted({ kernel, primary, term }: Begun): boolean {
  return primary && term !== kernel.term;
}

export function demotedError({ id }: Begun): TransactionFaultedError {
  return new TransactionFaultedError(
    `the locks of transaction ${id} went with the role of the primary. Begin a new one.`,
    { cause: new NotPrimaryError('not the primary any more') },
  );
}

export function assertWritable(tx: Begun): void {
  const { kernel, primary } = tx;
  kernel.assertPrimary();
  if (!primary)
    throw new InvalidOperationError(
      'this transaction began on a secondary and cannot write. Begin a new one.',
    );
  if (isDemoted(tx)) throw demotedError(tx);
}

export function assertReadable(tx: Begun): void {
  const { kernel, primary } = tx;
  kernel.assertReadable();
  if (primary && (kernel.role !== 'primary' || isDemoted(tx))) {
    throw new NotReadableError(
      'this transaction began on the primary, which this replica ceased to be. Begin a new one.',
    );
  }
}
