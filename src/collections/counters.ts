// Counters: whole numbers by key that many transactions add to at once. Adding locks nothing and conflicts
// with nothing; a limit given with an amount is kept exactly. Reading takes no lock: the newest value, with
// the transaction's own amounts.

import { type Awaitable, then } from '../base/awaitable.js';
import { mapKey } from '../base/bytes.js';
import { decodeCounter } from '../engine/counter.js';
import { encodeKey } from '../engine/keys.js';
import { Collection, type CollectionKey } from './collection.js';
import { ArgumentError } from './errors.js';
import { partsOf } from './key-parts.js';
import type { Transaction } from './transaction.js';
import type { WaitOptions } from './waits.js';

export interface AddOptions extends WaitOptions {
  /** The commit is refused with a `LimitError` if the sum would be above. */
  readonly max?: number;
}

export class Counters<K extends CollectionKey> extends Collection {
  readonly kind = 'counters';

  add(tx: Transaction, key: K, amount: number, options?: AddOptions): Promise<void> {
    return this.call(tx, () => {
      tx.assertWritable();
      if (!Number.isSafeInteger(amount))
        throw new ArgumentError(`a counter takes whole numbers, not ${amount}`);
      const bytes = partsOf(key);
      return then(this.touch(tx, this.wait(tx, options)), () => {
        const row = encodeKey(bytes, this.generation.rows);
        if (amount !== 0) tx.add(mapKey(row), row, amount, options?.max);
      });
    });
  }

  /** 0 where nothing was added yet. */
  get(tx: Transaction, key: K): Promise<number> {
    return this.call(tx, () => {
      tx.assertReadable();
      this.expectUnlocked(tx, false);
      const row = encodeKey(partsOf(key), this.generation.rows);
      const own = tx.adds?.get(mapKey(row))?.amount ?? 0;
      return then(this.#newest(tx, row), (count) => count + own);
    });
  }

  /** Forgets the counter: for what is gone. Nobody may add to it at the same time. */
  remove(tx: Transaction, key: K, options?: WaitOptions): Promise<void> {
    return this.call(tx, () => {
      tx.assertWritable();
      const parts = partsOf(key);
      return then(this.touch(tx, this.wait(tx, options)), () => {
        const row = encodeKey(parts, this.generation.rows);
        const name = mapKey(row);
        tx.adds?.delete(name);
        tx.write(name, row, undefined);
      });
    });
  }

  #newest(tx: Transaction, row: Buffer): Awaitable<number> {
    return then(tx.read(row, '', false, false), ({ value }) => decodeCounter(value));
  }
}
