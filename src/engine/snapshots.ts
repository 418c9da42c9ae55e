// Snapshots: the overlay as it was and, below it, a snapshot of the store.
//
// Between two groups the store does not change, and while one is being written the overlay covers it. So all
// snapshots taken between the ends of two writes share one snapshot of the store.

import { mapKey } from '../base/bytes.js';
import type { Key, Page, RangeOptions, Snapshot, Version, Versioned } from './engine.js';
import { ClosedError } from './errors.js';
import { lookUp, type View } from './overlay.js';
import { readPage } from './page-reader.js';
import { decodeRecord } from './record.js';
import type { Store, StoreSnapshot } from './store.js';

const noop = (): void => {};

const absent: Versioned = Object.freeze({ value: undefined, version: 0, seen: 0 });

/** A snapshot of the store that several hold; the last one to let go closes it. */
export class SharedSnapshot {
  readonly store: Store;
  readonly level: StoreSnapshot;
  #holders = 0;

  constructor(store: Store) {
    this.store = store;
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

/** What is in the store under a key. It is durable, so there is nothing to wait for. */
export function readStored(store: Store, key: Key, snapshot: StoreSnapshot | undefined): Versioned {
  const record = store.get(key, snapshot);
  if (record === undefined) return absent;
  const { value, version } = decodeRecord(key, record, store.name);
  return { value, version, seen: 0 };
}

export class LevelSnapshot implements Snapshot {
  readonly seen: Version;
  readonly #view: View;
  readonly #shared: SharedSnapshot;
  /** Throws if what this has seen was lost. */
  readonly #check: (seen: Version) => void;
  #open = true;

  constructor(shared: SharedSnapshot, view: View, seen: Version, check: (seen: Version) => void) {
    this.#shared = shared.hold();
    this.#view = view;
    this.seen = seen;
    this.#check = check;
  }

  get(key: Key): Versioned {
    this.#assertUsable();
    if (this.#view.layers.length > 0) {
      const entry = lookUp(this.#view, mapKey(key));
      if (entry !== undefined) {
        const { value, version } = entry;
        return { value, version: value === undefined ? 0 : version, seen: version };
      }
    }
    return readStored(this.#shared.store, key, this.#shared.level);
  }

  getMany(keys: readonly Key[]): readonly Versioned[] {
    return keys.map((key) => this.get(key));
  }

  async range(from: Key, to: Key | undefined, options?: RangeOptions): Promise<Page> {
    this.#assertUsable();
    const shared = this.#shared.hold();
    try {
      return await readPage(shared.store, shared.level, this.#view, { from, to }, options);
    } finally {
      shared.release();
    }
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    this.#shared.release();
  }

  #assertUsable(): void {
    if (!this.#open) throw new ClosedError('The snapshot was closed.');
    this.#check(this.seen);
  }
}
