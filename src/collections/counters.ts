// Counters: whole numbers by key that many transactions add to at once. Adding locks nothing and conflicts
// with nothing; a limit given with an amount is kept exactly. Reading takes no lock: the newest value, or that of the
// transaction's snapshot, with the transaction's own amounts.

import { type Awaitable, then } from '../base/awaitable.js';
import { decodeCounter } from '../engine/counter.js';
import type { Versioned } from '../engine/engine.js';
import { encodeKey } from '../engine/keys.js';
import { Collection, type CollectionKey } from './collection.js';
import { ArgumentError, InvalidOperationError, LimitError } from './errors.js';
import { partsOf, show } from './key-parts.js';
import { checkNumber } from './options.js';
import type { Transaction } from './transaction.js';
import type { WaitOptions } from './waits.js';

export interface AddOptions extends WaitOptions {
  /** The commit is refused with a `LimitError` if the sum would be above. */
  readonly max?: number;
}

export interface CounterReadOptions {
  /** The commit is refused as a conflict if somebody has added meanwhile. */
  readonly check?: boolean;
  /** As it is in the snapshot, beside the rows that are enumerated, instead of the newest value. */
  readonly snapshot?: boolean;
}

export class Counters<K extends CollectionKey> extends Collection {
  readonly kind = 'counters';

  add(tx: Transaction, key: K, amount: number, options?: AddOptions): Promise<void> {
    return this.call(tx, () => {
      tx.assertWritable();
      if (!Number.isSafeInteger(amount))
        throw new ArgumentError(`a counter takes whole numbers, not ${String(amount)}`);
      if (options?.max !== undefined)
        checkNumber('max', options.max, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
      const parts = partsOf(key);
      this.rowKey(parts); // a key that cannot be is refused before any lock
      return then(this.touch(tx, this.wait(tx, options)), () => {
        const row = this.rowKey(parts);
        if (tx.changes.writes?.has(row.name))
          throw new InvalidOperationError(`${this.name}: ${show(key)} was removed in this transaction`);
        if (amount === 0) return;
        if (options?.max === undefined) tx.changes.add(row.name, row.key, amount);
        else tx.changes.add(row.name, row.key, amount, options.max, () => this.#limitError(key));
      });
    });
  }

  #limitError(key: K): LimitError {
    return new LimitError(`${this.name}: the counter ${show(key)} would pass its limit`);
  }

  /** 0 where nothing was added yet. */
  get(
    tx: Transaction,
    key: K,
    { check = false, snapshot = false }: CounterReadOptions = {},
  ): Promise<number> {
    return this.call(tx, () => {
      tx.assertReadable();
      if (check && snapshot) throw new ArgumentError('what the snapshot has cannot be checked');
      this.expectUnlocked(tx, check);
      const row = this.rowKey(partsOf(key));
      if (tx.changes.writes?.has(row.name)) return 0;
      const own = tx.changes.adds?.get(row.name)?.amount ?? 0;
      const found = snapshot ? this.#inSnapshot(tx, key) : tx.read(row, false, check);
      return then(found, ({ value }) => decodeCounter(value) + own);
    });
  }

  #inSnapshot(tx: Transaction, key: K): Awaitable<Pick<Versioned, 'value'>> {
    return then(this.snapshotGeneration(tx), (generation) =>
      generation === undefined
        ? { value: undefined }
        : tx.snapshot.get(encodeKey(partsOf(key), generation.rows)),
    );
  }

  /** Forgets the counter: for what is gone. Nobody may add to it at the same time. */
  remove(tx: Transaction, key: K, options?: WaitOptions): Promise<void> {
    return this.call(tx, () => {
      tx.assertWritable();
      const parts = partsOf(key);
      return then(this.touch(tx, this.wait(tx, options)), () => {
        const row = this.rowKey(parts);
        tx.changes.adds?.delete(row.name);
        tx.write(row.name, row.key, undefined);
      });
    });
  }
}
