// The list of blocks that a blob was committed from: their ids and lengths, beside the map of their bytes. A blob
// that was put in one piece has none.
//
//   [map, n]    the nth part of the list: [id, length, id, length ...]
//
// Snapshots and copies share the map and with it the list; it goes when the map goes.

import { assert } from '../../base/assert.js';
import { Turns } from '../../base/turns.js';
import type { Transaction } from '../../collections/index.js';
import type { Source } from '../common/range-map.js';
import type { BlobRecord, BlobStore } from './model.js';

export interface NamedBlock {
  readonly id: string;
  readonly length: number;
}

export interface Block extends NamedBlock {
  readonly source: Source;
}

/** As it is stored. */
export type BlockNames = readonly (string | number)[];

const namesAtOnce = 500;
const turns = new Turns(1);
const garbageKind = 'block list';

/** Some blocks of a list are worked on, then all other requests are looked at: 50,000 take a second. */
export function turnAfter(blocks: number): Promise<void> | undefined {
  return blocks > 0 && blocks % namesAtOnce === 0 ? turns.take() : undefined;
}

/** Before a list of so many is begun: what was done at once to read it is one turn. */
export function turnBefore(blocks: number): Promise<void> | undefined {
  return blocks > namesAtOnce ? turns.take() : undefined;
}

/** A content made of these blocks, which are its own now. */
export async function contentOfBlocks(
  store: BlobStore,
  tx: Transaction,
  blocks: readonly Block[],
): Promise<Pick<BlobRecord, 'content' | 'length'>> {
  if (blocks.length === 0) return { content: { kind: 'empty' }, length: 0 };
  const map = await store.maps.create(tx);
  let length = 0;
  for (let at = 0; at < blocks.length; at += namesAtOnce) {
    await turnAfter(at);
    const part = blocks.slice(at, at + namesAtOnce);
    length = await store.maps.append(tx, map, length, part);
    const names = part.flatMap(({ id, length }) => [id, length]);
    await store.blockNames.set(tx, [map, at / namesAtOnce], names);
  }
  return { content: { kind: 'map', map }, length };
}

export async function namesOf(
  store: BlobStore,
  tx: Transaction,
  { content }: BlobRecord,
  state: 'newest' | 'snapshot',
): Promise<NamedBlock[]> {
  if (content.kind !== 'map') return [];
  const blocks: NamedBlock[] = [];
  const range = { prefix: [content.map], newest: state === 'newest', pageSize: 16 };
  for await (const [, names] of store.blockNames.entries(tx, range)) {
    await turnAfter(blocks.length);
    for (let at = 0; at < names.length; at += 2) {
      blocks.push({ id: names[at] as string, length: names[at + 1] as number });
    }
  }
  return blocks;
}

/** The blocks by their ids, with where their bytes are. Of an id that is there twice, the first. */
export async function blocksOf(
  store: BlobStore,
  tx: Transaction,
  blob: BlobRecord,
): Promise<Map<string, Block>> {
  const blocks = new Map<string, Block>();
  if (blob.content.kind !== 'map') return blocks;
  const names = await namesOf(store, tx, blob, 'newest');
  const slices = await store.slices.touched(tx, blob.content.map, { start: 0, end: blob.length });
  assert(slices.length === names.length, 'a list has a name for each slice of its map');
  for (const [index, name] of names.entries()) {
    await turnAfter(index);
    const source = slices[index]?.source;
    if (source !== undefined && !blocks.has(name.id)) blocks.set(name.id, { ...name, source });
  }
  return blocks;
}

/** Nobody has the map any more: its list goes with the commit. */
export async function discardNames(store: BlobStore, tx: Transaction, map: number): Promise<void> {
  await store.garbage.discard(tx, garbageKind, map);
}

export function registerBlockLists(store: BlobStore): void {
  store.garbage.register(garbageKind, (map) =>
    store.run(async (tx) => {
      for await (const key of store.blockNames.keys(tx, { prefix: [map], newest: true })) {
        await store.blockNames.delete(tx, key);
      }
      return false;
    }),
  );
}
