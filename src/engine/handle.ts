// A store as it was opened once: who reads it, and the snapshots over it.
//
// Between two groups the store does not change, and while one is being written the overlay covers it. So all
// snapshots taken between the ends of two writes share one snapshot of the store.

import { mapKey } from '../base/bytes.js';
import type { Key, Page, RangeOptions, Version, Versioned } from './engine.js';
import { lookUp, type View } from './overlay.js';
import { readPage } from './page-reader.js';
import { decodeRecord } from './record.js';
import type { Store, StoreSnapshot } from './store.js';

const noop = (): void => {};
const absent: Versioned = Object.freeze({ value: undefined, version: 0, seen: 0 });

export interface Range {
  readonly from: Key;
  readonly to: Key | undefined;
  readonly options: RangeOptions | undefined;
}

/** What is in the overlay, as a reader sees it: not yet durable. */
export function shown({ value, version }: { value: Uint8Array | undefined; version: Version }): Versioned {
  return { value, version: value === undefined ? 0 : version, seen: version };
}

/** A snapshot of the store that several hold; the last one to let go closes it. */
class SharedSnapshot {
  readonly level: StoreSnapshot;
  #holders = 1;

  constructor(store: Store) {
    this.level = store.snapshot();
  }

  hold(): this {
    this.#holders++;
    return this;
  }

  release(): void {
    if (--this.#holders === 0) this.level.close().catch(noop);
  }
}

/** One moment: a view, and below it the store as it was. */
export class Moment {
  readonly handle: Handle;
  readonly #view: View;
  readonly #shared: SharedSnapshot;

  constructor(handle: Handle, view: View, shared: SharedSnapshot) {
    this.handle = handle;
    this.#view = view;
    this.#shared = shared.hold();
  }

  get(key: Key): Versioned {
    const entry = this.#view.layers.length > 0 ? lookUp(this.#view, mapKey(key)) : undefined;
    return entry === undefined ? this.handle.get(key, this.#shared.level) : shown(entry);
  }

  async page(range: Range): Promise<Page> {
    const shared = this.#shared.hold();
    try {
      return await this.handle.page(this.#view, range, shared.level);
    } finally {
      shared.release();
    }
  }

  close(): void {
    this.#shared.release();
  }
}

export class Handle {
  readonly store: Store;
  #shared: SharedSnapshot | undefined;
  #pages = 0;
  #drained: (() => void) | undefined;
  /** Closed, or about to be: the store was opened again. */
  retired = false;

  constructor(store: Store) {
    this.store = store;
  }

  /** What is stored is durable, so there is nothing to wait for: `seen` is 0. */
  get(key: Key, snapshot?: StoreSnapshot): Versioned {
    const record = this.store.get(key, snapshot);
    if (record === undefined) return absent;
    const { value, version } = decodeRecord(key, record, this.store.name);
    return { value, version, seen: 0 };
  }

  async page(view: View, range: Range, snapshot?: StoreSnapshot): Promise<Page> {
    this.#pages++;
    try {
      return await readPage(this.store, snapshot, view, range, range.options);
    } finally {
      if (--this.#pages === 0) this.#drained?.();
    }
  }

  moment(view: View): Moment {
    this.#shared ??= new SharedSnapshot(this.store);
    return new Moment(this, view, this.#shared);
  }

  /** A group was written: the next snapshot shows it. */
  changed(): void {
    this.#shared?.release();
    this.#shared = undefined;
  }

  /** Takes no new reader, waits for those that are there and closes the store. */
  async close(): Promise<void> {
    this.retired = true;
    if (this.#pages > 0) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    }
    this.changed();
    await this.store.close();
  }
}
