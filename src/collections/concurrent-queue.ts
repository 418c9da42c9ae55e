// The Reliable Concurrent Queue: many producers, many consumers, best effort order.
//
// An item is a row whose key is a stamp drawn when it was enqueued. Enqueuing locks nothing and shows
// nothing before the commit, not even to its own transaction. Dequeuing takes the first item that nobody
// has out at once: other transactions go on to the next one. If the transaction aborts, its items come back
// to their old places. Which items can be taken is known to the window (window.ts).

import { type Awaitable, then } from '../base/awaitable.js';
import { decodeCounter } from '../engine/counter.js';
import type { Version } from '../engine/engine.js';
import { decodeKey, encodeKey } from '../engine/keys.js';
import type { CatalogRecord } from './catalog.js';
import { ArgumentError, QueueFullError } from './errors.js';
import { encodeRow, liveValue } from './rows.js';
import { runTransaction } from './run.js';
import type { Transaction } from './transaction.js';
import { ValueCollection } from './values.js';
import { longestTimer, type Wait, type WaitOptions } from './waits.js';
import { type Item, Window } from './window.js';

const windowSize = 256;

export class ConcurrentQueue<V> extends ValueCollection<V> {
  readonly kind = 'concurrent queue';
  readonly #window = new Window((after) => this.#readOn(after));

  #maxSize: number | undefined;

  /** How many items it takes; nothing: any number. */
  get maxSize(): number | undefined {
    return this.#maxSize;
  }

  /** @internal */
  limitTo(maxSize: number): void {
    if (this.#maxSize !== undefined && this.#maxSize !== maxSize)
      throw new ArgumentError(`${this.name} is in use with maxSize ${this.#maxSize}: give the same, or none`);
    this.#maxSize = maxSize;
  }

  /** Can be dequeued once the transaction has committed. */
  enqueue(tx: Transaction, item: V, options?: WaitOptions): Promise<void> {
    return this.call(tx, () => {
      tx.assertWritable();
      const wait = this.wait(tx, options);
      const bytes = this.encode(tx, item);
      return then(this.touch(tx, wait), () => then(this.#assertRoom(tx), () => this.#enqueue(tx, bytes)));
    });
  }

  /** An item, or `undefined` if there is none to be had now. Never waits for one to come. */
  tryDequeue(tx: Transaction, options?: WaitOptions): Promise<V | undefined> {
    return this.call(tx, () => {
      tx.assertWritable();
      return then(this.touch(tx, this.wait(tx, options)), () => this.#dequeue(tx));
    });
  }

  /** Waits until there is an item; `undefined` when the time is over. The transaction stays open meanwhile. */
  dequeue(tx: Transaction, options?: WaitOptions): Promise<V | undefined> {
    return this.call(tx, async () => {
      tx.assertWritable();
      const wait = this.wait(tx, options);
      await this.touch(tx, wait);
      const alarm = { ring: () => {} };
      tx.onEnd({ aborted: () => alarm.ring() });
      for (;;) {
        const { arrivals } = this.#window;
        const value = await this.#dequeue(tx);
        if (value !== undefined || !(await this.#itemOrEnd(tx, wait, alarm, arrivals))) return value;
      }
    });
  }

  /** Items that can be dequeued now: those that are out are not counted. Takes no transaction. */
  async count(): Promise<number> {
    this.assertOpen();
    this.kernel.assertReadable();
    const count = (tx: Transaction) => tx.call(() => this.#countNow(tx));
    return runTransaction(this.kernel, count, { snapshot: 'first read' });
  }

  #countNow(tx: Transaction): Awaitable<number> {
    this.expectUnlocked(tx, false);
    const found = tx.read(this.generation.count, false, false);
    if (found instanceof Promise) return found.then(() => this.#countNow(tx)); // others were out then
    return decodeCounter(found.value) - this.#window.out;
  }

  /** @internal After a clear: what was read ahead is gone. */
  override use(record: CatalogRecord, version: Version, seen: Version): void {
    super.use(record, version, seen);
    this.forget();
  }

  /** @internal */
  override forget(): void {
    this.#window.forget();
  }

  #enqueue(tx: Transaction, bytes: Uint8Array): void {
    const place = tx.stamp();
    const { key, name } = this.rowKey([place]);
    const row = encodeRow(bytes, undefined);
    const { count } = this.generation;
    tx.write(name, key, row);
    tx.changes.add(count.name, count.key, 1, this.maxSize, this.#full);
    tx.onEnd({ ordered: (version) => this.#window.arrived({ place, row, version, seen: version }) });
  }

  /** The commit checks the limit again; this is so that a full queue is told at once. */
  #assertRoom(tx: Transaction): Awaitable<void> {
    const { maxSize } = this;
    if (maxSize === undefined) return;
    const { count } = this.generation;
    return then(tx.read(count, false, false), ({ value }) => {
      const own = tx.changes.adds?.get(count.name)?.amount ?? 0;
      if (decodeCounter(value) + own >= maxSize) throw this.#full();
    });
  }

  readonly #full = () => new QueueFullError(`${this.name} is full: it takes ${this.maxSize} items`);

  #dequeue(tx: Transaction): Awaitable<V | undefined> {
    return then(this.#window.take(), (taken) => {
      tx.see(taken.seen);
      return taken.place === undefined ? undefined : this.#take(tx, taken);
    });
  }

  #take(tx: Transaction, item: Item): V {
    const { count } = this.generation;
    try {
      tx.assertActive(); // it may have ended while the window was filled
      const row = this.rowKey([item.place]);
      // Nobody else has it, which is as good as a lock.
      tx.expect(row, item.version, true);
      tx.write(row.name, row.key, undefined);
    } catch (error) {
      this.#window.returned(item);
      throw error;
    }
    tx.changes.add(count.name, count.key, -1);
    tx.onEnd({
      aborted: () => this.#window.returned(item),
      ordered: (version) => this.#window.gone(item, version),
    });
    return this.decode(liveValue(item.row, tx) as Uint8Array);
  }

  /**
   * Ends when there may be an item that came after so many `arrivals`; false: the time is over. Whoever rings the alarm
   * ends it, too.
   */
  #itemOrEnd(tx: Transaction, wait: Wait, alarm: { ring: () => void }, arrivals: number): Promise<boolean> {
    const assertGoesOn = () => {
      wait.assertNotCanceled();
      this.assertOpen();
      tx.assertActive();
      tx.assertWritable();
    };
    return new Promise((resolve, reject) => {
      assertGoesOn(); // what ended while this one looked rings no alarm any more
      const { timeoutMs, signal } = wait;
      const { onClose } = this.kernel;
      const done = (result: boolean) => {
        clearTimeout(timer);
        unsubscribe();
        onClose.delete(end);
        signal?.removeEventListener('abort', end);
        try {
          assertGoesOn();
          resolve(result);
        } catch (error) {
          reject(error);
        }
      };
      const end = () => done(false);
      const unsubscribe = this.#window.onItem(() => done(true));
      const timer = timeoutMs > longestTimer ? undefined : setTimeout(end, timeoutMs);
      onClose.add(end);
      alarm.ring = end;
      signal?.addEventListener('abort', end, { once: true });
      if (timeoutMs <= 0) end();
      else if (this.#window.arrivals !== arrivals) done(true); // it came while this one looked
    });
  }

  /** The next items behind this place. */
  async #readOn(after: number): Promise<{ items: Item[]; seen: Version }> {
    const { rows } = this.generation;
    const from = Buffer.concat([encodeKey([after], rows), Buffer.of(0)]);
    const to = Buffer.concat([rows, Buffer.of(0xff)]);
    const page = await this.kernel.engine.range(from, to, { limit: windowSize });
    const items = page.rows.map(({ key, value, version }) => ({
      place: decodeKey(key, rows.length)[0] as number,
      row: value,
      version,
      seen: page.seen,
    }));
    return { items, seen: page.seen };
  }
}
