// The Reliable Queue: strict first in, first out.
//
// A queue is rows: `head`, the place of the next item to leave; `tail`, the place of the last that came; and
// an item for each place. Places grow by one and are never used again. Empty means that there is no item at
// the head, and then the head is the place that the next enqueue must fill. All waiting follows from the
// locks on these rows, which a transaction keeps to its end:
//
//   enqueue                update tail; exclusive item[tail + 1]; tail to exclusive
//   tryDequeue             update head; exclusive item[head]; head to exclusive if there is an item
//   tryPeek                shared head; shared item[head], or both update
//   count, entries         none: the snapshot
//
// So one transaction enqueues and one dequeues at a time; who has seen the queue empty holds the place that
// the next item would take, and nobody fills it before that transaction ends.

import { type Awaitable, then } from '../base/awaitable.js';
import { decodeCounter, encodeCounter } from '../engine/counter.js';
import type { NamedKey } from '../engine/engine.js';
import { encodeKey } from '../engine/keys.js';
import { enumerate } from './enumerate.js';
import { ArgumentError, NotReadableError } from './errors.js';
import type { LockMode } from './lock-entries.js';
import { encodeRow, liveValue } from './rows.js';
import type { Transaction } from './transaction.js';
import { ValueCollection } from './values.js';
import type { Wait, WaitOptions } from './waits.js';

export interface PeekOptions extends WaitOptions {
  readonly lock?: 'shared' | 'update';
}

type End = 'head' | 'tail';

const firstPlace = 1;

export class Queue<V> extends ValueCollection<V> {
  readonly kind = 'queue';

  enqueue(tx: Transaction, item: V, options?: WaitOptions): Promise<void> {
    return this.call(tx, () => {
      tx.assertWritable();
      const wait = this.wait(tx, options);
      const bytes = this.encode(tx, item);
      return then(this.#place(tx, 'tail', 'update', wait), (tail) => {
        const row = this.rowKey(['item', tail + 1]);
        return then(this.#row(tx, row, 'exclusive', wait), () =>
          then(this.#move(tx, 'tail', tail + 1, wait), () => {
            tx.write(row.name, row.key, encodeRow(bytes, undefined));
            tx.changes.add(this.generation.count.name, this.generation.count.key, 1);
          }),
        );
      });
    });
  }

  /** The oldest item, or `undefined` if there is none. Never waits for one to come. */
  tryDequeue(tx: Transaction, options?: WaitOptions): Promise<V | undefined> {
    return this.call(tx, () => {
      tx.assertWritable();
      const wait = this.wait(tx, options);
      return then(this.#place(tx, 'head', 'update', wait), (head) =>
        then(this.#item(tx, head, 'exclusive', wait), (bytes) => {
          if (bytes === undefined) return undefined;
          return then(this.#move(tx, 'head', head + 1, wait), () => {
            const row = this.rowKey(['item', head]);
            tx.write(row.name, row.key, undefined);
            tx.changes.add(this.generation.count.name, this.generation.count.key, -1);
            return this.decode(bytes);
          });
        }),
      );
    });
  }

  /** The oldest item, left where it is. */
  tryPeek(tx: Transaction, options?: PeekOptions): Promise<V | undefined> {
    return this.call(tx, () => {
      const lock = options?.lock ?? 'shared';
      if (lock !== 'shared' && lock !== 'update')
        throw new ArgumentError(`lock is shared or update, not ${String(lock)}`);
      tx.assertReadable();
      const wait = this.wait(tx, options);
      if (!tx.primary) return this.#peekSnapshot(tx, lock, wait);
      return then(this.#place(tx, 'head', lock, wait), (head) =>
        then(this.#item(tx, head, lock, wait), (bytes) =>
          bytes === undefined ? undefined : this.decode(bytes),
        ),
      );
    });
  }

  /** How many items the transaction's snapshot has, with its own changes. Costs the same for any number. */
  count(tx: Transaction, options?: WaitOptions): Promise<number> {
    return this.call(tx, () => {
      tx.assertReadable();
      return then(this.touch(tx, this.wait(tx, options)), () => {
        const own = tx.changes.adds?.get(this.generation.count.name)?.amount ?? 0;
        return then(this.snapshotGeneration(tx), (generation) => {
          if (generation === undefined) return own;
          return then(tx.snapshot.get(generation.count.key), ({ value }) => decodeCounter(value) + own);
        });
      });
    });
  }

  /** From the oldest to the newest: the transaction's snapshot with its own changes. */
  entries(tx: Transaction, options: WaitOptions = {}): AsyncIterable<V> {
    this.assertUsable(tx);
    return enumerate(this, tx, {
      ...options,
      prefix: ['item'],
      places: true,
      make: (_: readonly [string, number], value) => this.decode(value),
    });
  }

  async #peekSnapshot(tx: Transaction, lock: string, wait: Wait): Promise<V | undefined> {
    if (lock === 'update')
      throw new NotReadableError('a secondary takes no update locks: peek on the primary');
    await this.touch(tx, wait);
    const generation = await this.snapshotGeneration(tx);
    if (generation === undefined) return undefined;
    const head = await tx.snapshot.get(encodeKey(['head'], generation.rows));
    const place = head.value === undefined ? firstPlace : decodeCounter(head.value);
    const { value } = await tx.snapshot.get(encodeKey(['item', place], generation.rows));
    const item = liveValue(value, tx);
    return item === undefined ? undefined : this.decode(item);
  }

  #place(tx: Transaction, end: End, mode: LockMode, wait: Wait): Awaitable<number> {
    return then(this.touch(tx, wait), () =>
      then(this.#row(tx, this.rowKey([end]), mode, wait), (bytes) =>
        bytes === undefined ? (end === 'head' ? firstPlace : firstPlace - 1) : decodeCounter(bytes),
      ),
    );
  }

  /** The mark itself is no new data: a queue can be emptied on a disk that is nearly full. */
  #move(tx: Transaction, end: End, place: number, wait: Wait): Awaitable<void> {
    const row = this.rowKey([end]);
    return then(tx.lock(row.name, 'exclusive', wait), () =>
      tx.write(row.name, row.key, encodeCounter(place), true),
    );
  }

  #item(tx: Transaction, place: number, mode: LockMode, wait: Wait): Awaitable<Uint8Array | undefined> {
    return then(this.#row(tx, this.rowKey(['item', place]), mode, wait), (bytes) => liveValue(bytes, tx));
  }

  #row(tx: Transaction, row: NamedKey, mode: LockMode, wait: Wait): Awaitable<Uint8Array | undefined> {
    return then(tx.lock(row.name, mode, wait), () => {
      const own = tx.changes.writes?.get(row.name);
      return own === undefined ? then(tx.read(row, true, true), ({ value }) => value) : own.value;
    });
  }
}
