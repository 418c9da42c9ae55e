// Watching a dictionary: what changes in a range of keys, as it becomes durable, in order, each with its place
// in the history. It holds no lock and delays nobody. Who is slow does not make it grow without bound: of a key
// that changes again before it was looked at, only the newest state is told, and who falls too far behind is
// told that. So is who watches when the disk fails: what was lost, and is there when the store is opened again, is no
// commit that anybody hears of.

import { mapKey, ownCopy } from '../base/bytes.js';
import type { DurableCommit, Version } from '../engine/engine.js';
import { decodeKey } from '../engine/keys.js';
import { decodeRecord, type Generation, generation } from './catalog.js';
import type { Collection } from './collection.js';
import { boundsOf, type RangeOptions } from './enumerate.js';
import { ObjectClosedError, TransientError } from './errors.js';
import { keyOf } from './key-parts.js';
import { checkNumber } from './options.js';
import { liveValue } from './rows.js';
import { checkSignal } from './waits.js';

export type Watched<K, V> = Readonly<
  | { action: 'set'; key: K; value: V; commitSequenceNumber: bigint }
  | { action: 'remove'; key: K; commitSequenceNumber: bigint }
  /** All keys are gone. */
  | { action: 'clear'; commitSequenceNumber: bigint }
>;

export type WatchRange<K> = Pick<RangeOptions<K>, 'from' | 'to' | 'prefix' | 'startsWith'> & {
  readonly signal?: AbortSignal;
  /** How many keys may wait to be looked at; one more ends the watch with an error. 100,000 unless given. */
  readonly maxPending?: number;
  /** How many bytes they may have, their values included; likewise. 64 MiB unless given, as much as one transaction. */
  readonly maxPendingBytes?: number;
};

/** From the moment of the call on, whenever the first change is asked for. */
export function watch<K, V>(
  collection: Collection,
  range: WatchRange<K>,
  decode: (value: Uint8Array) => V,
): AsyncIterableIterator<Watched<K, V>> & AsyncDisposable {
  const { maxPending, maxPendingBytes, signal } = range;
  if (maxPending !== undefined) checkNumber('maxPending', maxPending, 1, Number.MAX_SAFE_INTEGER);
  if (maxPendingBytes !== undefined)
    checkNumber('maxPendingBytes', maxPendingBytes, 1, Number.MAX_SAFE_INTEGER);
  checkSignal(signal);
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

interface Pending {
  readonly version: Version;
  /** The row; nothing: removed. */
  readonly row: Uint8Array | undefined;
}

const defaultMaxPending = 100_000;
const defaultMaxPendingBytes = 64 * 1024 * 1024;

class Watcher<K, V> {
  readonly #collection: Collection;
  readonly #range: WatchRange<K>;
  readonly #decode: (value: Uint8Array) => V;
  readonly #stops: readonly (() => void)[];
  /** By key; the order is that of the changes. */
  readonly #pending = new Map<string, Pending>();
  #pendingBytes = 0;
  #cleared: Version | undefined;
  #generation: Generation;
  #bounds: { low: string; high: string };
  #wakes: (() => void)[] = [];
  #ended = false;
  /** What it ends with when all that is pending has been told. */
  #error: Error | undefined;

  constructor(collection: Collection, range: WatchRange<K>, decode: (value: Uint8Array) => V) {
    this.#collection = collection;
    this.#range = range;
    this.#decode = decode;
    this.#generation = collection.generation;
    this.#bounds = this.#boundsNow();
    const { engine } = collection.kernel;
    this.#stops = [engine.changes((commit) => this.#take(commit)), engine.resets(() => this.#lost())];
    collection.kernel.onClose.add(this.#onClose);
    range.signal?.addEventListener('abort', this.#onClose, { once: true });
    if (range.signal?.aborted) this.end();
  }

  async next(): Promise<IteratorResult<Watched<K, V>, undefined>> {
    for (;;) {
      if (this.#cleared !== undefined) {
        const commitSequenceNumber = BigInt(this.#cleared);
        this.#cleared = undefined;
        return { done: false, value: { action: 'clear', commitSequenceNumber } };
      }
      for (const [name, pending] of this.#pending) {
        this.#drop(name);
        return { done: false, value: this.#told(name, pending) };
      }
      if (this.#error !== undefined) throw this.#error;
      if (this.#ended) return { done: true, value: undefined };
      await new Promise<void>((resolve) => this.#wakes.push(resolve));
    }
  }

  end(error?: Error): IteratorResult<Watched<K, V>, undefined> {
    if (!this.#ended) {
      this.#ended = true;
      this.#error = error;
      for (const stop of this.#stops) stop();
      this.#collection.kernel.onClose.delete(this.#onClose);
      this.#range.signal?.removeEventListener('abort', this.#onClose);
      this.#wakeUp();
    }
    return { done: true, value: undefined };
  }

  readonly #onClose = (): void => void this.end();

  #told(name: string, { row, version }: Pending): Watched<K, V> {
    const key = keyOf<K>(decodeKey(Buffer.from(name, 'latin1'), this.#generation.rows.length));
    const value = liveValue(row, { now: this.#collection.kernel.engine.clock.now() });
    const commitSequenceNumber = BigInt(version);
    return value === undefined
      ? { action: 'remove', key, commitSequenceNumber }
      : { action: 'set', key, value: this.#decode(value), commitSequenceNumber };
  }

  /** One durable commit. A clear is a new record of the collection, a removal is one that is gone. */
  #take({ version, writes }: DurableCommit): void {
    for (const { key, value } of writes) {
      const name = mapKey(key);
      if (name === this.#collection.catalog.name) this.#takeRecord(value, version);
      else if (name >= this.#bounds.low && name < this.#bounds.high) {
        this.#drop(name); // the newest is last
        this.#pending.set(name, { version, row: value && ownCopy(value) });
        this.#pendingBytes += bytesOf(name, value);
      }
    }
    const { maxPending = defaultMaxPending, maxPendingBytes = defaultMaxPendingBytes } = this.#range;
    if (this.#pending.size > maxPending || this.#pendingBytes > maxPendingBytes) {
      this.#dropAll();
      this.end(new TransientError('the watch fell too far behind: read the range, and watch it again'));
    }
    if (this.#pending.size > 0 || this.#cleared !== undefined) this.#wakeUp();
  }

  /** What it has not told yet is on disk, and is told before. */
  #lost(): void {
    this.end(
      new TransientError(
        'the disk failed, and some changes may be missing: read the range, and watch it again',
      ),
    );
  }

  #drop(name: string): void {
    const pending = this.#pending.get(name);
    if (pending === undefined) return;
    this.#pending.delete(name);
    this.#pendingBytes -= bytesOf(name, pending.row);
  }

  #dropAll(): void {
    this.#pending.clear();
    this.#pendingBytes = 0;
  }

  #takeRecord(value: Uint8Array | undefined, version: Version): void {
    const { name } = this.#collection;
    if (value === undefined) {
      this.end(new ObjectClosedError(`the collection ${name} was removed`));
      return;
    }
    const record = decodeRecord(name, value);
    if (record.generation === this.#generation.id) return;
    this.#generation = generation(record.generation);
    this.#bounds = this.#boundsNow();
    this.#dropAll();
    this.#cleared = version;
  }

  #boundsNow(): { low: string; high: string } {
    const { from, to } = boundsOf(this.#generation.rows, this.#range);
    return { low: mapKey(from), high: mapKey(to) };
  }

  #wakeUp(): void {
    const wakes = this.#wakes;
    this.#wakes = [];
    for (const wake of wakes) wake();
  }
}

function bytesOf(name: string, row: Uint8Array | undefined): number {
  return name.length + (row?.length ?? 0);
}
