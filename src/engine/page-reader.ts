// A page of a range: the overlay merged over the store, in order, as of one moment.

import { compareBytes, emptyBytes } from '../base/bytes.js';
import type { Key, Page, RangeOptions, Row, Version } from './engine.js';
import { type Entry, OverlayCursor, type View } from './overlay.js';
import { decodeRecord } from './record.js';
import type { Store, StoreCursor, StoreSnapshot } from './store.js';

/** Keys that begin with this byte are the engine's own. */
export const reservedPrefix = 0xff;
const endOfKeys = Uint8Array.of(reservedPrefix);

const defaultLimit = 1000;
const defaultMaxBytes = 4 * 1024 * 1024;
/** One step of the store's cursor holds no more than about this. */
const chunkBytes = 1024 * 1024;

/** What is read is fixed by the time this returns its promise: later writes do not show. */
export function readPage(
  store: Store,
  snapshot: StoreSnapshot | undefined,
  view: View,
  range: { readonly from: Key; readonly to: Key | undefined },
  options: RangeOptions = {},
): Promise<Page> {
  const to = range.to === undefined || compareBytes(range.to, endOfKeys) > 0 ? endOfKeys : range.to;
  return new PageReader(store, snapshot, view, range.from, to, options).read();
}

class PageReader {
  readonly #store: Store;
  readonly #reverse: boolean;
  readonly #limit: number;
  readonly #maxBytes: number;
  readonly #keysOnly: boolean;
  readonly #overlay: OverlayCursor;
  readonly #cursor: StoreCursor;
  #chunk: [Uint8Array, Uint8Array][] = [];
  #position = 0;
  #ended = false;

  readonly #rows: Row[] = [];
  #bytes = 0;
  #seen: Version = 0;
  #more = false;

  constructor(
    store: Store,
    snapshot: StoreSnapshot | undefined,
    view: View,
    from: Key,
    to: Key,
    options: RangeOptions,
  ) {
    this.#store = store;
    this.#reverse = options.reverse ?? false;
    this.#limit = Math.max(0, options.limit ?? defaultLimit);
    this.#maxBytes = Math.max(1, options.maxBytes ?? defaultMaxBytes);
    this.#keysOnly = options.keysOnly ?? false;
    this.#overlay = new OverlayCursor(view, from, to, this.#reverse);
    this.#cursor = store.cursor({
      gte: from,
      lt: to,
      reverse: this.#reverse,
      highWaterMarkBytes: Math.min(chunkBytes, this.#maxBytes),
      fillCache: this.#limit <= defaultLimit,
      ...(snapshot && { snapshot }),
    });
  }

  async read(): Promise<Page> {
    try {
      await this.#merge();
    } finally {
      await this.#cursor.close();
    }
    return { rows: this.#rows, more: this.#more, seen: this.#seen };
  }

  async #merge(): Promise<void> {
    let entry = this.#overlay.next();
    while (!this.#more) {
      if (this.#position === this.#chunk.length && !this.#ended) await this.#readChunk();
      const stored = this.#chunk[this.#position];
      if (stored === undefined && entry === undefined) return;
      const order = this.#compare(entry, stored);
      if (order >= 0) this.#position++;
      if (order > 0) {
        const [key, bytes] = stored as [Uint8Array, Uint8Array];
        const { value, version } = decodeRecord(key, bytes as Buffer, this.#store.name);
        this.#take(key, value, version);
      } else {
        this.#takeEntry(entry as Entry);
        entry = this.#overlay.next();
      }
    }
  }

  /** Negative: the overlay's is next; zero: both, and the overlay's counts; positive: the store's is next. */
  #compare(entry: Entry | undefined, stored: [Uint8Array, Uint8Array] | undefined): number {
    if (entry === undefined) return 1;
    if (stored === undefined) return -1;
    const order = compareBytes(entry.key, stored[0]);
    return this.#reverse ? -order : order;
  }

  async #readChunk(): Promise<void> {
    // One row more than asked for tells whether the range goes on.
    this.#chunk = await this.#cursor.nextv(Math.max(this.#limit - this.#rows.length, 0) + 1);
    this.#position = 0;
    this.#ended = this.#chunk.length === 0;
  }

  #takeEntry({ key, value, version }: Entry): void {
    this.#seen = Math.max(this.#seen, version);
    if (value !== undefined) this.#take(key, value, version);
  }

  #take(key: Key, value: Uint8Array, version: Version): void {
    if (this.#rows.length >= this.#limit || this.#bytes >= this.#maxBytes) {
      this.#more = true;
      return;
    }
    this.#bytes += key.length + (this.#keysOnly ? 0 : value.length);
    this.#rows.push({ key, value: this.#keysOnly ? emptyBytes : value, version });
  }
}
