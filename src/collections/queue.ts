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
import { mapKey } from '../base/bytes.js';
import { decodeCounter } from '../engine/counter.js';
import { maxValueBytes, type Version } from '../engine/engine.js';
import { encodeKey } from '../engine/keys.js';
import type { CatalogRecord, NamedKey } from './catalog.js';
import { type Codec, deepFreeze } from './codec.js';
import { Collection } from './collection.js';
import { enumerate } from './enumerate.js';
import { ArgumentError, NotReadableError } from './errors.js';
import type { Kernel } from './kernel.js';
import type { LockMode } from './locks.js';
import { encodeRow, liveValue } from './rows.js';
import type { Transaction } from './transaction.js';
import type { Wait, WaitOptions } from './waits.js';

export interface PeekOptions extends WaitOptions {
  readonly lock?: 'shared' | 'update';
}

const firstPlace = 1;

export class Queue<V> extends Collection {
  readonly kind = 'queue';
  readonly #codec: Codec<V>;

  /** @internal Use `state.queue()`. */
  constructor(kernel: Kernel, name: string, record: CatalogRecord, version: Version, codec: Codec<V>) {
    super(kernel, name, record, version);
    this.#codec = codec;
  }

  enqueue(tx: Transaction, item: V, options?: WaitOptions): Promise<void> {
    return this.call(tx, () => {
      tx.assertWritable();
      const wait = this.wait(tx, options);
      const bytes = this.#encode(tx, item);
      return then(this.#place(tx, 'tail', 'update', wait), (tail) => {
        const place = tail + 1;
        return then(this.#item(tx, place, 'exclusive', wait), () =>
          then(this.#move(tx, 'tail', place, wait), () => {
            const row = this.#itemKey(place);
            tx.write(row.name, row.key, encodeRow(bytes, undefined));
            tx.add(this.generation.count.name, this.generation.count.key, 1);
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
            const row = this.#itemKey(head);
            tx.write(row.name, row.key, undefined);
            tx.add(this.generation.count.name, this.generation.count.key, -1);
            return this.#decode(bytes);
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
          bytes === undefined ? undefined : this.#decode(bytes),
        ),
      );
    });
  }

  /** How many items the transaction's snapshot has, with its own changes. Costs the same for any number. */
  count(tx: Transaction): Promise<number> {
    return this.call(tx, () => {
      tx.assertReadable();
      return then(this.touch(tx, this.wait(tx, undefined)), () => {
        const own = tx.adds?.get(this.generation.count.name)?.amount ?? 0;
        return then(this.snapshotGeneration(tx), (generation) => {
          if (generation === undefined) return own;
          return then(tx.snapshot.get(generation.count.key), ({ value }) => decodeCounter(value) + own);
        });
      });
    });
  }

  /** From the oldest to the newest: the transaction's snapshot with its own changes. */
  entries(tx: Transaction): AsyncIterable<V> {
    this.assertUsable(tx);
    return enumerate(this, tx, {
      prefix: ['item'],
      make: (_: readonly [string, number], value) => this.#decode(value),
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
    const item = liveValue(
      (await tx.snapshot.get(encodeKey(['item', place], generation.rows))).value,
      () => tx.now,
    );
    return item === undefined ? undefined : this.#decode(item);
  }

  #endKey(end: 'head' | 'tail'): NamedKey {
    const key = encodeKey([end], this.generation.rows);
    return { key, name: mapKey(key) };
  }

  #itemKey(place: number): NamedKey {
    const key = encodeKey(['item', place], this.generation.rows);
    return { key, name: mapKey(key) };
  }

  #place(tx: Transaction, end: 'head' | 'tail', mode: LockMode, wait: Wait): Awaitable<number> {
    return then(this.touch(tx, wait), () =>
      then(this.#row(tx, this.#endKey(end), mode, wait), (bytes) =>
        bytes === undefined
          ? end === 'head'
            ? firstPlace
            : firstPlace - 1
          : Buffer.from(bytes).readDoubleBE(0),
      ),
    );
  }

  #move(tx: Transaction, end: 'head' | 'tail', place: number, wait: Wait): Awaitable<void> {
    const row = this.#endKey(end);
    return then(tx.lock(row.name, 'exclusive', wait), () => {
      const value = Buffer.allocUnsafe(8);
      value.writeDoubleBE(place);
      tx.write(row.name, row.key, value);
    });
  }

  #item(tx: Transaction, place: number, mode: LockMode, wait: Wait): Awaitable<Uint8Array | undefined> {
    return then(this.#row(tx, this.#itemKey(place), mode, wait), (bytes) => liveValue(bytes, () => tx.now));
  }

  #row(
    tx: Transaction,
    { key, name }: NamedKey,
    mode: LockMode,
    wait: Wait,
  ): Awaitable<Uint8Array | undefined> {
    return then(tx.lock(name, mode, wait), () => {
      const own = tx.writes?.get(name);
      return own === undefined ? then(tx.read(key, name, true, true), ({ value }) => value) : own.value;
    });
  }

  #encode(tx: Transaction, item: V): Uint8Array {
    if (item === undefined) throw new ArgumentError(`${this.name}: undefined cannot be stored: use null`);
    const bytes = this.#codec.encode(item);
    if (bytes.length >= maxValueBytes) {
      throw this.tooLarge(
        tx,
        `an item of ${bytes.length} bytes is over the limit of ${maxValueBytes}: split it`,
      );
    }
    return bytes;
  }

  #decode(bytes: Uint8Array): V {
    const value = this.#codec.decode(bytes);
    return this.kernel.options.freeze ? deepFreeze(value) : value;
  }
}
