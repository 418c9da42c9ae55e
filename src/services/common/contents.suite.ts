// What the tests of contents share: a store in memory, and a check that all rows agree with each other.

import assert from 'node:assert/strict';
import { ManualClock } from '../../base/clock.js';
import { seededRandom } from '../../base/random.js';
import { StateManager } from '../../collections/index.js';
import { type Extents, openExtents } from '../../extents/extents.js';
import type { ContentReader } from './content-reader.js';
import {
  type ContentRows,
  mapHeader,
  openContentRows,
  placeOf,
  type SliceRow,
  takes,
  unpackSlice,
} from './content-rows.js';
import { type ContentStore, openContentStore } from './content-store.js';
import { createStore, type Store } from './store.js';

export interface Given extends ContentStore, AsyncDisposable {
  readonly store: Store;
  readonly extents: Extents;
  readonly rows: ContentRows;
  /** What went wrong in the background. */
  readonly reported: unknown[];
}

export async function givenContents(limitBytes = 64 * 1024 * 1024): Promise<Given> {
  const state = await StateManager.open({ memory: true });
  const store = createStore(state);
  const extents = await openExtents(
    { memory: true, limitBytes },
    { clock: new ManualClock(), segmentBytes: 256 * 1024 },
  );
  const reported: unknown[] = [];
  const contents = await openContentStore(store, extents, (error) => reported.push(error));
  const dispose = async () => {
    await contents.reclaim.stop();
    await state.close();
    await extents.close();
  };
  const rows = await openContentRows(state);
  return { ...contents, store, extents, rows, reported, [Symbol.asyncDispose]: dispose };
}

export function bytesOf(length: number, salt: number): Buffer {
  const random = seededRandom(length * 31 + salt);
  return Buffer.from(Uint8Array.from({ length }, () => random() * 256));
}

export async function readAll(reader: ContentReader): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of reader) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Live bytes are what the rows say, moved extents are indexed, and slices name extents as often as is counted. */
export async function checkRows(
  { store, rows, extents }: Pick<Given, 'store' | 'rows' | 'extents'>,
  pieceReferences: ReadonlyMap<string, number>,
): Promise<void> {
  await store.run(async (tx) => {
    const live = new Map<number, number>();
    const moved: string[] = [];
    const counted = new Map<string, number>();
    for await (const [key, row] of rows.extents.entries(tx, { newest: true })) {
      counted.set(key.join(' '), row[1] + 1);
      const place = placeOf(key, row);
      if (!place) continue;
      live.set(place.segment, (live.get(place.segment) ?? 0) + takes(place));
      if (place.segment !== key[0]) moved.push([place.segment, ...key].join(' '));
    }
    for (const { number } of extents.segments()) {
      assert.equal(await rows.live.get(tx, number), live.get(number) ?? 0, `live bytes of segment ${number}`);
      live.delete(number);
    }
    assert.deepEqual([...live.keys()], [], 'what lives lies in a segment that is there');
    const indexed: string[] = [];
    for await (const key of rows.moved.keys(tx, { newest: true })) indexed.push(key.join(' '));
    assert.deepEqual(indexed.sort(), moved.sort());

    const named = new Map(pieceReferences);
    const name = (row: SliceRow) => {
      const { source } = unpackSlice(0, row);
      if (source.kind !== 'extent') return;
      const key = `${source.extent.segment} ${source.extent.offset}`;
      named.set(key, (named.get(key) ?? 0) + 1);
    };
    for await (const [[, start], row] of rows.maps.entries(tx, { newest: true })) {
      if (start !== mapHeader) name(row as SliceRow);
    }
    for await (const [, row] of rows.kept.entries(tx, { newest: true })) name(row);
    assert.deepEqual([...counted].sort(), [...named].sort(), 'references');
  });
}
