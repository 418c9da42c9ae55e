// What listeners are told.
//
// For one transaction: the changes of its dictionaries and of the catalogue in the order of the calls, then
// its locks are released, then the transaction itself, then `commit()` resolves. Across transactions: the
// order of the history. Listeners run at once, while the locks are held; one that throws harms nobody: its
// error goes to the `error` listeners of the state manager.

import { decodeKey } from '../engine/keys.js';
import type { Collection, CollectionKey } from './collection.js';
import type { Dictionary } from './dictionary.js';
import type { DictionaryRows, LockedRow } from './dictionary-rows.js';
import { keyOf } from './key-parts.js';
import type { Transaction } from './transaction.js';

export type DictionaryChange<K, V> = Readonly<
  | { action: 'add'; key: K; value: V; transaction: Transaction }
  | { action: 'update'; key: K; value: V; previous: V; transaction: Transaction }
  /** Also of a row that has expired, when it is swept, or replaced before. */
  | { action: 'remove'; key: K; previous: V; transaction: Transaction }
  | { action: 'clear'; commitSequenceNumber: bigint }
>;

export type StateChange = Readonly<
  | { action: 'add' | 'remove'; collection: Collection; transaction: Transaction }
  /** All there are: the state was opened, or opened again after the disk had failed. */
  | { action: 'rebuild'; collections: readonly Collection[] }
>;

export type DictionaryListener<K, V> = (change: DictionaryChange<K, V>) => void;
export type StateListener = (change: StateChange) => void;
/** The enumeration is valid until the result settles. */
export type Rebuild<K, V> = (entries: AsyncIterable<[key: K, value: V]>) => Promise<void> | void;

/** Remembers a change of a dictionary until its transaction is durable. `bytes`: of the new value, if any. */
export function recordChange<K extends CollectionKey, V>(
  tx: Transaction,
  dictionary: DictionaryRows<K, V>,
  { key: rowKey, value: before }: Pick<LockedRow, 'key' | 'value'>,
  bytes: Uint8Array | undefined,
): void {
  const prefixBytes = dictionary.generation.rows.length;
  tx.record((transaction) => {
    if (isRebuilt(dictionary, transaction)) return;
    const key = keyOf<K>(decodeKey(rowKey, prefixBytes));
    const value = bytes === undefined ? undefined : dictionary.decode(bytes);
    const previous = before === undefined ? undefined : dictionary.decode(before);
    const change =
      bytes === undefined
        ? { action: 'remove', key, previous, transaction }
        : before === undefined
          ? { action: 'add', key, value, transaction }
          : { action: 'update', key, value, previous, transaction };
    tx.kernel.notifier.tellAll(dictionary.listeners, change as DictionaryChange<K, V>);
  });
}

export function recordClear<K extends CollectionKey, V>(tx: Transaction, dictionary: Dictionary<K, V>): void {
  tx.record((transaction) => {
    if (isRebuilt(dictionary, transaction)) return;
    const { commitSequenceNumber } = transaction;
    tx.kernel.notifier.tellAll(dictionary.listeners, { action: 'clear', commitSequenceNumber });
  });
}

/** Whether a rebuild has told of it already: it was durable while that was under way. */
function isRebuilt<K extends CollectionKey, V>(
  { rebuiltTo }: DictionaryRows<K, V>,
  { commitSequenceNumber }: Transaction,
): boolean {
  return commitSequenceNumber <= rebuiltTo;
}
