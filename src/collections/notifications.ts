// Who is told of changes, and in which order.
//
// For one transaction: the changes of its dictionaries and of the catalogue in the order of the calls, then
// its locks are released, then the transaction itself, then `commit()` resolves. Across transactions: the
// order of the history. Listeners run at once, while the locks are held; one that throws harms nobody: its
// error goes to the `error` listeners of the state manager.

import type { Collection, CollectionKey } from './collection.js';
import type { Dictionary } from './dictionary.js';
import type { Kernel } from './kernel.js';
import type { Transaction } from './transaction.js';

export type DictionaryChange<K, V> = Readonly<
  | { action: 'add'; key: K; value: V; transaction: Transaction }
  | { action: 'update'; key: K; value: V; previous: V; transaction: Transaction }
  | { action: 'remove'; key: K; previous: V; transaction: Transaction }
  | { action: 'clear'; commitSequenceNumber: bigint }
>;

export type StateChange = Readonly<
  | { action: 'add' | 'remove'; collection: Collection; transaction: Transaction }
  | { action: 'rebuild'; collections: readonly Collection[] }
>;

export type DictionaryListener<K, V> = (change: DictionaryChange<K, V>) => void;
export type StateListener = (change: StateChange) => void;
export type TransactionListener = (change: { action: 'commit'; transaction: Transaction }) => void;
export type ErrorListener = (error: unknown) => void;

type Recorded<K, V> = {
  readonly action: 'add' | 'update' | 'remove';
  readonly key: K;
  readonly value?: V;
  readonly previous?: V | undefined;
};

/** Remembers a change of a dictionary until its transaction is durable. */
export function recordChange<K extends CollectionKey, V>(
  tx: Transaction,
  dictionary: Dictionary<K, V>,
  { action, key, value, previous }: Recorded<K, V>,
): void {
  const stored = value === undefined ? undefined : dictionary.decode(dictionary.codec.encode(value));
  tx.record({
    notify: (transaction) => {
      const change =
        action === 'add'
          ? { action, key, value: stored, transaction }
          : action === 'update'
            ? { action, key, value: stored, previous, transaction }
            : { action, key, previous, transaction };
      tellAll(tx.kernel, dictionary.listeners, change as DictionaryChange<K, V>);
    },
  });
}

export function recordClear<K extends CollectionKey, V>(tx: Transaction, dictionary: Dictionary<K, V>): void {
  tx.record({
    notify: ({ commitSequenceNumber }) =>
      tellAll(tx.kernel, dictionary.listeners, { action: 'clear', commitSequenceNumber }),
  });
}

/** Calls each listener; what one throws is reported and stops nobody. */
export function tellAll<T>(kernel: Kernel, listeners: Iterable<(change: T) => void>, change: T): void {
  for (const listener of [...listeners]) {
    try {
      listener(change);
    } catch (error) {
      kernel.reportError(error);
    }
  }
}
