// Watching a dictionary: what changes in a range of keys, as it becomes durable. It holds no lock and delays
// nobody. Who is slow does not make it grow without bound: of a key that changes again before it was looked
// at, only the newest state is told.

import { mapKey } from '../base/bytes.js';
import { decodeKey } from '../engine/keys.js';
import type { Collection } from './collection.js';
import { boundsOf, type RangeOptions } from './enumerate.js';
import { ObjectClosedError } from './errors.js';
import { keyOf } from './key-parts.js';
import { liveValue } from './rows.js';

export type Watched<K, V> = Readonly<
  | { action: 'set'; key: K; value: V }
  | { action: 'remove'; key: K }
  /** All keys are gone. */
  | { action: 'clear' }
>;

export type WatchRange<K> = Pick<RangeOptions<K>, 'from' | 'to' | 'prefix' | 'startsWith'> & {
  readonly signal?: AbortSignal;
};

/** From the moment of the call on, whenever the first change is asked for. */
export function watch<K, V>(
  collection: Collection,
  range: WatchRange<K>,
  decode: (value: Uint8Array) => V,
): AsyncIterableIterator<Watched<K, V>> & AsyncDisposable {
  const watcher = new Watcher<K, V>(collection, range, decode);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => watcher.next(),
    return: async () => watcher.end(),
    [Symbol.asyncDispose]: async () => void watcher.end(),
  };
}

class Watcher<K, V> {
  readonly #collection: Collection;
  readonly #range: WatchRange<K>;
  readonly #decode: (value: Uint8Array) => V;
  readonly #stop: () => void;
  /** By key; a removal has no value. The order is that of the changes. */
  #pending = new Map<string, Uint8Array | undefined>();
  #cleared = false;
  #generation;
  #bounds: { low: string; high: string };
  #wake: (() => void) | undefined;
  #ended = false;

  constructor(collection: Collection, range: WatchRange<K>, decode: (value: Uint8Array) => V) {
    this.#collection = collection;
    this.#range = range;
    this.#decode = decode;
    this.#generation = collection.generation;
    this.#bounds = this.#boundsNow();
    this.#stop = collection.kernel.engine.changes(({ writes }) => {
      this.#checkGeneration();
      for (const { key, value } of writes) this.#take(mapKey(key), value);
      if (this.#pending.size > 0 || this.#cleared) this.#wakeUp();
    });
    collection.kernel.onClose.add(this.#onClose);
    range.signal?.addEventListener('abort', this.#onClose, { once: true });
  }

  async next(): Promise<IteratorResult<Watched<K, V>, undefined>> {
    for (;;) {
      if (this.#cleared) {
        this.#cleared = false;
        return { done: false, value: { action: 'clear' } };
      }
      for (const [name, value] of this.#pending) {
        this.#pending.delete(name);
        return { done: false, value: this.#told(name, value) };
      }
      if (this.#ended) return { done: true, value: undefined };
      if (this.#collection.removed)
        throw new ObjectClosedError(`the collection ${this.#collection.name} was removed`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  end(): IteratorResult<Watched<K, V>, undefined> {
    if (!this.#ended) {
      this.#ended = true;
      this.#stop();
      this.#collection.kernel.onClose.delete(this.#onClose);
      this.#range.signal?.removeEventListener('abort', this.#onClose);
      this.#wakeUp();
    }
    return { done: true, value: undefined };
  }

  readonly #onClose = (): void => void this.end();

  #told(name: string, row: Uint8Array | undefined): Watched<K, V> {
    const key = keyOf<K>(decodeKey(Buffer.from(name, 'latin1'), this.#generation.rows.length));
    const value = liveValue(row, () => this.#collection.kernel.engine.clock.now());
    return value === undefined
      ? { action: 'remove', key }
      : { action: 'set', key, value: this.#decode(value) };
  }

  #take(name: string, value: Uint8Array | undefined): void {
    if (name < this.#bounds.low || name >= this.#bounds.high) return;
    this.#pending.delete(name); // the newest is last
    this.#pending.set(name, value);
  }

  #checkGeneration(): void {
    if (this.#collection.removed) this.#wakeUp();
    if (this.#collection.generation === this.#generation) return;
    this.#generation = this.#collection.generation;
    this.#bounds = this.#boundsNow();
    this.#pending.clear();
    this.#cleared = true;
  }

  #boundsNow(): { low: string; high: string } {
    const { from, to } = boundsOf(this.#generation.rows, this.#range);
    return { low: mapKey(from), high: mapKey(to) };
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
