// The Reliable Concurrent Queue: many producers, many consumers, best effort order.
//
// An item is a row whose key is a stamp drawn when it was enqueued. Enqueuing locks nothing and shows
// nothing before the commit, not even to its own transaction. Dequeuing takes the first item that nobody
// has out at once: other transactions go on to the next one. If the transaction aborts, its items come back
// to their old places.
//
// In memory there is a window: the items from the front that were read ahead, and the places that are out.
// It follows load, not data, and is built again when commits were lost. An item that commits behind the
// window is found when the window is filled again; one that commits before its end is put into it.

import type { Awaitable } from '../base/awaitable.js';
import { mapKey } from '../base/bytes.js';
import { decodeCounter } from '../engine/counter.js';
import { maxValueBytes, type Version } from '../engine/engine.js';
import { decodeKey, encodeKey } from '../engine/keys.js';
import type { CatalogRecord } from './catalog.js';
import { type Codec, deepFreeze } from './codec.js';
import { Collection } from './collection.js';
import { ArgumentError, QueueFullError } from './errors.js';
import type { Kernel } from './kernel.js';
import { encodeRow, liveValue } from './rows.js';
import type { Transaction } from './transaction.js';
import type { WaitOptions } from './waits.js';

const windowSize = 256;

interface Item {
  readonly place: number;
  readonly row: Uint8Array;
  readonly version: Version;
}

export class ConcurrentQueue<V> extends Collection {
  readonly kind = 'concurrent queue';
  readonly maxSize: number | undefined;
  readonly #codec: Codec<V>;
  /** Items that can be taken, in order. */
  #window: Item[] = [];
  /** Every stored place up to here is in the window, out, or gone. */
  #covered = 0;
  /** Places that an open transaction has taken. */
  readonly #out = new Map<number, Item>();
  #filling: Promise<void> | undefined;
  /** Items that were committed while the window was being filled: the read may have missed them. */
  #meanwhile: Item[] = [];

  /** @internal Use `state.concurrentQueue()`. */
  constructor(
    kernel: Kernel,
    name: string,
    record: CatalogRecord,
    version: Version,
    codec: Codec<V>,
    maxSize: number | undefined,
  ) {
    super(kernel, name, record, version);
    this.#codec = codec;
    this.maxSize = maxSize;
  }

  /** Can be dequeued once the transaction has committed. */
  enqueue(tx: Transaction, item: V, options?: WaitOptions): Promise<void> {
    return this.call(tx, () => {
      tx.assertWritable();
      if (item === undefined) throw new ArgumentError(`${this.name}: undefined cannot be stored: use null`);
      const bytes = this.#codec.encode(item);
      if (bytes.length >= maxValueBytes) {
        throw this.tooLarge(
          tx,
          `an item of ${bytes.length} bytes is over the limit of ${maxValueBytes}: split it`,
        );
      }
      const touched = this.touch(tx, this.wait(tx, options));
      return touched instanceof Promise
        ? touched.then(() => this.#enqueue(tx, bytes))
        : this.#enqueue(tx, bytes);
    });
  }

  /** An item, or `undefined` if there is none to be had now. Never waits for one to come. */
  tryDequeue(tx: Transaction, options?: WaitOptions): Promise<V | undefined> {
    return this.call(tx, async () => {
      tx.assertWritable();
      await this.touch(tx, this.wait(tx, options));
      if (this.#window.length === 0) await this.#fill();
      const item = this.#window.shift();
      return item === undefined ? undefined : this.#take(tx, item);
    });
  }

  /** Items that can be dequeued now: those that are out are not counted. Takes no transaction. */
  async count(): Promise<number> {
    this.assertOpen();
    this.kernel.assertReadable();
    const { value, seen } = await this.kernel.engine.get(this.generation.count.key);
    const count = decodeCounter(value) - this.#out.size;
    await this.kernel.engine.settled(seen);
    return count;
  }

  /** @internal After a clear, or when commits were lost: what was read ahead may be gone. */
  override use(record: CatalogRecord, version: Version): void {
    super.use(record, version);
    this.forget();
  }

  /** @internal */
  forget(): void {
    this.#window = [];
    this.#covered = 0;
  }

  async #enqueue(tx: Transaction, bytes: Uint8Array): Promise<void> {
    if (this.maxSize !== undefined) await this.#assertRoom(tx, this.maxSize);
    const place = tx.stamp();
    const key = encodeKey([place], this.generation.rows);
    const row = encodeRow(bytes, undefined);
    tx.write(mapKey(key), key, row);
    tx.add(
      this.generation.count.name,
      this.generation.count.key,
      1,
      this.maxSize,
      this.maxSize === undefined ? undefined : this.#full(),
    );
    tx.onEnd({ ordered: (version) => this.#arrived({ place, row, version }), lost: () => this.forget() });
  }

  /** The commit checks the limit again; this is so that a full queue is told at once. */
  async #assertRoom(tx: Transaction, maxSize: number): Promise<void> {
    const { value } = await this.kernel.engine.get(this.generation.count.key);
    const own = tx.adds?.get(this.generation.count.name)?.amount ?? 0;
    if (decodeCounter(value) + own >= maxSize) throw this.#full();
  }

  #full(): QueueFullError {
    return new QueueFullError(`${this.name} is full: it takes ${this.maxSize} items`);
  }

  #take(tx: Transaction, item: Item): V {
    this.#out.set(item.place, item);
    const key = encodeKey([item.place], this.generation.rows);
    const generation = this.generation;
    tx.see(item.version);
    tx.write(mapKey(key), key, undefined);
    tx.add(generation.count.name, generation.count.key, -1);
    tx.onEnd({
      aborted: () => this.#returned(item, generation.id),
      ordered: () => this.#out.delete(item.place),
      lost: () => this.forget(),
    });
    const value = this.#codec.decode(liveValue(item.row, () => tx.now) as Uint8Array);
    return this.kernel.options.freeze ? deepFreeze(value) : value;
  }

  #arrived(item: Item): void {
    if (item.place <= this.#covered) this.#insert(item);
    else if (this.#filling !== undefined) this.#meanwhile.push(item);
  }

  #returned(item: Item, generation: number): void {
    this.#out.delete(item.place);
    if (generation === this.generation.id && item.place <= this.#covered) this.#insert(item);
  }

  #insert(item: Item): void {
    let at = this.#window.length;
    while (at > 0 && (this.#window[at - 1] as Item).place > item.place) at--;
    if (this.#window[at - 1]?.place !== item.place) this.#window.splice(at, 0, item);
  }

  /** Reads on from where the window ends. Several that find it empty share one read. */
  #fill(): Awaitable<void> {
    this.#filling ??= this.#read().finally(() => {
      this.#filling = undefined;
      for (const item of this.#meanwhile) this.#arrived(item);
      this.#meanwhile = [];
    });
    return this.#filling;
  }

  async #read(): Promise<void> {
    const { rows } = this.generation;
    const from = encodeKey([this.#covered], rows);
    const page = await this.kernel.engine.range(
      Buffer.concat([from, Buffer.of(0)]),
      Buffer.concat([rows, Buffer.of(0xff)]),
      { limit: windowSize },
    );
    if (rows !== this.generation.rows) return; // cleared meanwhile
    for (const row of page.rows) {
      const place = decodeKey(row.key, rows.length)[0] as number;
      if (place > this.#covered) this.#covered = place;
      if (!this.#out.has(place)) this.#insert({ place, row: row.value, version: row.version });
    }
  }
}
