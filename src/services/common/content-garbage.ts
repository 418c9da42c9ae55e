// What was noted as garbage is dropped a few rows at a time, each few in a transaction of their own. A map
// that somebody still reads is left for later.

import type { Transaction } from '../../collections/index.js';
import type { ContentMaps } from './content-maps.js';
import {
  type ContentRows,
  type Garbage,
  mapHeader,
  type SliceRow,
  unpackKept,
  unpackSlice,
} from './content-rows.js';
import type { Contents } from './contents.js';
import { isShown, type KeptSlice, type Slice } from './range-map.js';
import type { Store } from './store.js';

export interface GarbageOptions {
  readonly store: Store;
  readonly rows: ContentRows;
  readonly contents: Contents;
  readonly maps: ContentMaps;
}

/** Rows that one transaction looks at. */
const batch = 200;

export class GarbageSweeper {
  readonly #options: GarbageOptions;

  constructor(options: GarbageOptions) {
    this.#options = options;
  }

  /** Sweeps all there is, oldest first, until `stopped`. */
  async sweep(stopped: () => boolean): Promise<void> {
    const { store, rows } = this.#options;
    for (let after = 0; !stopped(); ) {
      const note = await store.run((tx) =>
        first(rows.garbage.entries(tx, { after, newest: true, pageSize: 1 })),
      );
      if (!note) return;
      after = note[0];
      if (await this.#sweepNote(after, note[1], stopped))
        await store.run((tx) => rows.garbage.remove(tx, after));
    }
  }

  /** Whether all of it is gone. */
  async #sweepNote(stamp: number, garbage: Garbage, stopped: () => boolean): Promise<boolean> {
    switch (garbage[0]) {
      case 'extents':
        return this.#sweepExtents(stamp, stopped);
      case 'kept': {
        const [, map, before, snapshots] = garbage;
        return this.#sweepKept(map, (slice) => slice.until < before && !isShown(slice, snapshots), stopped);
      }
      case 'newer':
        return this.#sweepCurrent(garbage[1], (slice) => slice.epoch > garbage[2], stopped);
      case 'map':
        return (
          (await this.#sweepCurrent(garbage[1], () => true, stopped)) &&
          (await this.#sweepKept(garbage[1], () => true, stopped))
        );
    }
  }

  /** The note is shortened with each few that are dropped, so that none is dropped twice. */
  async #sweepExtents(stamp: number, stopped: () => boolean): Promise<boolean> {
    const { store, rows, contents } = this.#options;
    for (let left = 1; left > 0; ) {
      if (stopped()) return false;
      left = await store.run(async (tx) => {
        const [, ...names] = ((await rows.garbage.get(tx, stamp, { lock: 'update' })) ??
          []) as ExtentsGarbage;
        for (const [segment, offset] of names.slice(0, batch)) {
          await contents.refer(tx, { extent: { segment, offset, length: 0 }, change: -1 });
        }
        await rows.garbage.set(tx, stamp, ['extents', ...names.slice(batch)]);
        return names.length - batch;
      });
    }
    return true;
  }

  #sweepCurrent(map: number, doomed: (slice: Slice) => boolean, stopped: () => boolean): Promise<boolean> {
    const { maps } = this.#options.rows;
    return this.#sweepRows(
      map,
      (tx, after: [number, number] = [map, mapHeader]) =>
        maps.entries(tx, { prefix: [map], after, newest: true }),
      ([, start], row) => unpackSlice(start, row as SliceRow),
      doomed,
      (tx, key) => maps.remove(tx, key),
      stopped,
    );
  }

  #sweepKept(map: number, doomed: (slice: KeptSlice) => boolean, stopped: () => boolean): Promise<boolean> {
    const { kept } = this.#options.rows;
    return this.#sweepRows(
      map,
      (tx, after?: [number, number, number]) =>
        kept.entries(tx, { prefix: [map], ...(after ? { after } : {}), newest: true }),
      ([, until, start], row) => unpackKept(until, start, row),
      doomed,
      (tx, key) => kept.remove(tx, key),
      stopped,
    );
  }

  /** Looks at all rows of a map, some in each transaction; false where it had to stop before the end. */
  async #sweepRows<Key, Row, S extends Slice>(
    map: number,
    entries: (tx: Transaction, after?: Key) => AsyncIterable<[Key, Row]>,
    unpack: (key: Key, row: Row) => S,
    doomed: (slice: S) => boolean,
    remove: (tx: Transaction, key: Key) => Promise<unknown>,
    stopped: () => boolean,
  ): Promise<boolean> {
    const { store, contents, maps } = this.#options;
    const some = (after: Key | undefined) =>
      store.run(async (tx) => {
        let looked = 0;
        for await (const [key, row] of entries(tx, after)) {
          const slice = unpack(key, row);
          if (doomed(slice)) {
            await remove(tx, key);
            if (slice.source.kind === 'extent') await contents.refer(tx, { ...slice.source, change: -1 });
          }
          if (++looked === batch) return key;
        }
        return undefined;
      });
    let after: Key | undefined;
    do {
      if (stopped() || maps.isRead(map)) return false;
      after = await some(after);
    } while (after !== undefined);
    return true;
  }
}

type ExtentsGarbage = Extract<Garbage, readonly ['extents', ...unknown[]]>;

async function first<T>(rows: AsyncIterable<T>): Promise<T | undefined> {
  for await (const row of rows) return row;
  return undefined;
}
