// Contents that are made of many slices: page blobs and files, which are written anywhere, and long lists
// of blocks. A map is rows from offsets to slices (range-map.ts says which rows a write changes); its header
// says that it exists and how many owners share it.
//
// Who writes to a map holds the lock of its owner's record and changes that record in the same transaction,
// so two writes of one map never meet. A reader holds nothing: it pins the map, reads the rows of its range and
// then looks whether the map still exists. If so, none of them was swept before. What fits into one window of
// 256 slices is read as of one moment; beyond that each window is as of its own, unless the map no
// longer changes (a list that was committed, a snapshot).

import { assert } from '../../base/assert.js';
import { buffer } from '../../base/bytes.js';
import { ConflictError, type Transaction } from '../../collections/index.js';
import type { Slice as ByteRange, Extents } from '../../extents/extents.js';
import type { Body } from './body.js';
import { ContentReader, type Part, Pins, type Window } from './content-reader.js';
import { type ContentRows, mapHeader, packSlice } from './content-rows.js';
import type { Contents } from './contents.js';
import {
  clear,
  clearPages,
  cut,
  type Edit,
  fill,
  overwrite,
  type Range,
  type Slice,
  type Source,
} from './range-map.js';
import { SliceRows } from './slice-rows.js';
import type { Store } from './store.js';

/** A map as its owner's record has it. */
export interface MapState {
  readonly map: number;
  /** How many snapshots were taken. */
  readonly epoch: number;
  /** The newest one there is. */
  readonly newestSnapshot?: number | undefined;
}

export interface MapsOptions {
  readonly store: Store;
  readonly rows: ContentRows;
  readonly contents: Contents;
  readonly extents: Extents;
}

export class ContentMaps {
  readonly #store: Store;
  readonly #rows: ContentRows;
  readonly #contents: Contents;
  readonly #extents: Extents;
  readonly #slices: SliceRows;
  /** Maps being read, and by how many. */
  readonly #readers = new Map<number, number>();

  constructor({ store, rows, contents, extents }: MapsOptions) {
    this.#store = store;
    this.#rows = rows;
    this.#contents = contents;
    this.#extents = extents;
    this.#slices = new SliceRows(rows);
  }

  /** An empty map with one owner. */
  async create(tx: Transaction): Promise<number> {
    const map = tx.stamp();
    await this.#rows.maps.set(tx, [map, mapHeader], [0]);
    return map;
  }

  /** One more owner: of a map that no longer changes, or a snapshot of one that does. */
  async share(tx: Transaction, map: number): Promise<void> {
    await this.#rows.maps.set(tx, [map, mapHeader], [(await this.#more(tx, map)) + 1]);
  }

  /** One owner less; after the last one it is swept. Whether it was the last. */
  async drop(tx: Transaction, map: number): Promise<boolean> {
    const more = await this.#more(tx, map);
    if (more > 0) {
      await this.#rows.maps.set(tx, [map, mapHeader], [more - 1]);
      return false;
    }
    await this.#rows.maps.remove(tx, [map, mapHeader]);
    await this.#rows.garbage.set(tx, tx.stamp(), ['map', map]);
    return true;
  }

  /** A snapshot was deleted: what only it showed is swept. `snapshots`: those that are left. */
  async dropSnapshot(tx: Transaction, { map, epoch }: MapState, snapshots: readonly number[]): Promise<void> {
    await this.#rows.garbage.set(tx, tx.stamp(), ['kept', map, epoch, snapshots]);
  }

  /** Only snapshots are left, as their base was deleted or replaced: what none of them shows is swept. */
  async dropNewer(tx: Transaction, map: number, newestSnapshot: number): Promise<void> {
    await this.#rows.garbage.set(tx, tx.stamp(), ['newer', map, newestSnapshot]);
  }

  /** Writes a body from `start` on. */
  async write(tx: Transaction, state: MapState, start: number, body: Body): Promise<void> {
    if (body.length === 0) return;
    const range = { start, end: start + body.length };
    await this.put(tx, state, range, await this.#contents.source(tx, body));
  }

  /** The same where no slice lies from `start` on, so that there is nothing to look for. */
  async writeBehind(tx: Transaction, state: MapState, start: number, body: Body): Promise<void> {
    const range = { start, end: start + body.length, epoch: state.epoch };
    const slice = { ...range, source: await this.#contents.source(tx, body) };
    await this.#rows.maps.set(tx, [state.map, start], packSlice(slice));
  }

  /** Adds sources at the end of a map, one behind the other. Where they end. Their extents have been named or shared. */
  async append(
    tx: Transaction,
    map: number,
    start: number,
    parts: Iterable<{ readonly source: Source; readonly length: number }>,
  ): Promise<number> {
    let at = start;
    for (const { source, length } of parts) {
      const end = at + length;
      await this.#rows.maps.set(tx, [map, at], packSlice({ start: at, end, epoch: 0, source }));
      at = end;
    }
    return at;
  }

  /** Shares what lies in a range of another map, which had nothing there. */
  async fill(tx: Transaction, map: number, slices: readonly Slice[], range: Range): Promise<void> {
    for (const slice of slices) {
      const part = cut(slice, range.start, range.end);
      if (!part) continue;
      if (part.source.kind === 'extent') await this.#contents.refer(tx, { ...part.source, change: 1 });
      await this.#rows.maps.set(tx, [map, part.start], packSlice({ ...part, epoch: 0 }));
    }
  }

  /** Makes these bytes those of `source`, whose extent has been named or shared for it. */
  async put(tx: Transaction, state: MapState, range: Range, source: Source): Promise<void> {
    const touched = await this.#slices.touched(tx, state.map, range);
    const slice = { ...range, epoch: state.epoch, source };
    await this.#apply(tx, state.map, overwrite(touched, slice, state.newestSnapshot));
  }

  /** Makes a hole; also the way to cut off what lies behind a new, smaller size. */
  async clear(tx: Transaction, state: MapState, range: Range): Promise<void> {
    const touched = await this.#slices.touched(tx, state.map, range);
    await this.#apply(tx, state.map, clear(touched, range, state.newestSnapshot));
  }

  /** Makes a hole as the file service does: pages that are cut in part stay allocated. */
  async clearPages(tx: Transaction, state: MapState, range: Range): Promise<void> {
    const touched = await this.#slices.touched(tx, state.map, range);
    await this.#apply(tx, state.map, clearPages(touched, range, state.epoch, state.newestSnapshot));
  }

  /**
   * Reads a range, holes as zeros. A `ConflictError` where the map was dropped since its owner was looked at.
   * With a snapshot the caller has the snapshot's record checked at commit.
   */
  async open(
    tx: Transaction,
    map: number,
    { offset, length }: ByteRange,
    snapshot?: number,
  ): Promise<ContentReader> {
    const unpin = this.#pin(map);
    const end = offset + length;
    const from = (start: number) => (inner: Transaction) =>
      this.#window(inner, map, { start, end }, snapshot);
    try {
      const first = await from(offset)(tx);
      if (!(await this.#rows.maps.has(tx, [map, mapHeader], { lock: 'none' })))
        throw new ConflictError('the content was replaced or deleted while it was looked up: look again');
      let at = first.end;
      const next = async (): Promise<Window | undefined> => {
        if (at >= end) return undefined;
        const window = await this.#store.run(from(at));
        at = window.end;
        return window;
      };
      const reader = new ContentReader({
        extents: this.#extents,
        first,
        ended: unpin,
        ...(at < end ? { next } : {}),
      });
      forgotten.register(reader, unpin);
      const dispose = () => reader[Symbol.dispose]();
      tx.onEnd({ aborted: dispose, lost: dispose }); // It is run again, or nobody is told.
      return reader;
    } catch (error) {
      unpin();
      throw error;
    }
  }

  /** Whether somebody reads it: it is then swept later. */
  isRead(map: number): boolean {
    return this.#readers.has(map);
  }

  async #more(tx: Transaction, map: number): Promise<number> {
    const header = await this.#rows.maps.get(tx, [map, mapHeader], { lock: 'update' });
    assert(header, 'a map that has an owner exists');
    return header[0];
  }

  #pin(map: number): () => void {
    this.#readers.set(map, (this.#readers.get(map) ?? 0) + 1);
    let pinned = true;
    return () => {
      if (!pinned) return;
      pinned = false;
      const left = (this.#readers.get(map) ?? 1) - 1;
      if (left > 0) this.#readers.set(map, left);
      else this.#readers.delete(map);
    };
  }

  async #apply(tx: Transaction, map: number, edit: Edit): Promise<void> {
    const { maps, kept } = this.#rows;
    for (const start of edit.removed) await maps.remove(tx, [map, start]);
    for (const slice of edit.written) await maps.set(tx, [map, slice.start], packSlice(slice));
    for (const slice of edit.kept) await kept.set(tx, [map, slice.until, slice.start], packSlice(slice));
    for (const change of edit.references) await this.#contents.refer(tx, change);
  }

  /** What lies in the range, or in the first part of it, up to `end`. Its pins last as long as the transaction may. */
  async #window(
    tx: Transaction,
    map: number,
    range: Range,
    snapshot: number | undefined,
  ): Promise<Window & { readonly end: number }> {
    const page = await this.#slices.shown(tx, map, range, snapshot);
    const pins = new Pins();
    const parts: Part[] = [];
    const unpin = () => pins[Symbol.dispose]();
    tx.onEnd({ aborted: unpin, lost: unpin });
    for (const { start, end, source } of fill(page.slices, { start: range.start, end: page.end })) {
      const length = end - start;
      if (source?.kind === 'bytes') parts.push({ kind: 'bytes', bytes: buffer(source.bytes) });
      else if (source?.kind === 'extent')
        parts.push(await this.#contents.locate(tx, { ...source, length }, pins));
      else parts.push({ kind: 'zeros', length });
    }
    return { parts, pins, end: page.end };
  }
}

/** A reader that was let go without being ended ends when its memory is reclaimed. */
const forgotten = new FinalizationRegistry<() => void>((unpin) => unpin());
