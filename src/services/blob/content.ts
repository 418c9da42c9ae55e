// The bytes of a blob, whatever they are made of: nothing, one piece, or a map of many.
//
// A piece and the map of a block blob never change, so snapshots and copies name the same one. The map of an
// append blob only grows: a snapshot names the same one, and its own length tells where it ends.

import type { Transaction } from '../../collections/index.js';
import type { Body } from '../common/body.js';
import type { ContentReader } from '../common/content-reader.js';
import { packPiece, unpackPiece } from '../common/content-rows.js';
import { discardNames } from './block-lists.js';
import type { BlobContent, BlobStore } from './model.js';

export const noContent: BlobContent = { kind: 'empty' };

export interface ByteSlice {
  readonly offset: number;
  readonly length: number;
}

/** A body that was received in one piece. */
export async function nameContent(store: BlobStore, tx: Transaction, body: Body): Promise<BlobContent> {
  const piece = await store.contents.name(tx, body);
  return piece === undefined ? noContent : { kind: 'piece', piece: packPiece(piece) };
}

/** Reads a part of it; nothing where there is nothing to read. */
export async function openContent(
  store: BlobStore,
  tx: Transaction,
  content: BlobContent,
  slice: ByteSlice,
): Promise<ContentReader | undefined> {
  if (slice.length === 0) return undefined;
  switch (content.kind) {
    case 'empty':
      return undefined;
    case 'piece':
      return store.contents.open(tx, [unpackPiece(content.piece)], slice);
    case 'map':
      return store.maps.open(tx, content.map, slice);
  }
}

/** One more owner. Who calls holds the lock of one, or has it checked at commit. */
export async function shareContent(store: BlobStore, tx: Transaction, content: BlobContent): Promise<void> {
  if (content.kind === 'piece') await store.contents.share(tx, [unpackPiece(content.piece)]);
  else if (content.kind === 'map') await store.maps.share(tx, content.map);
}

/** One owner less; after the last one its space is given back. */
export async function dropContent(store: BlobStore, tx: Transaction, content: BlobContent): Promise<void> {
  if (content.kind === 'piece') await store.contents.drop(tx, [unpackPiece(content.piece)]);
  else if (content.kind === 'map' && (await store.maps.drop(tx, content.map)))
    await discardNames(store, tx, content.map);
}
