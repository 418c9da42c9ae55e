// The bytes of a blob, whatever they are made of.
//
//   empty    nothing
//   piece    what came in one body
//   map      the blocks that were committed, or what was appended
//   pages    a page blob: a map with snapshots by epoch (common/range-map.ts)
//
// A piece and the map of a block blob never change, so snapshots and copies name the same one. The map of an
// append blob only grows: a snapshot names the same one, and its own length tells where it ends. The map of a page
// blob is shared by the rows of one name: the blob as it is now, which is written in its epoch, and what was
// kept of it, each of which shows the epochs up to its own.

import type { Transaction } from '../../collections/index.js';
import type { Body } from '../common/body.js';
import type { ContentReader } from '../common/content-reader.js';
import { packPiece, unpackPiece } from '../common/content-rows.js';
import { discardNames } from './block-lists.js';
import type { BlobContent, BlobKey, BlobRecord, BlobStore, UncommittedBlob } from './model.js';
import { writeRow } from './rows.js';

export const noContent: BlobContent = { kind: 'empty' };

export type Pages = Extract<BlobContent, { kind: 'pages' }>;

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
    case 'pages':
      return store.maps.open(tx, content.map, slice, content.isKept ? content.epoch : undefined);
  }
}

/** Two contents out of one that are the same now: one that is kept, and one to go on with. */
export async function forkContent(
  store: BlobStore,
  tx: Transaction,
  content: BlobContent,
): Promise<{ kept: BlobContent; current: BlobContent }> {
  await shareContent(store, tx, content);
  if (content.kind !== 'pages') return { kept: content, current: content };
  const { kind, map, epoch } = content;
  return {
    kept: { kind, map, epoch, isKept: true },
    current: { kind, map, epoch: epoch + 1, newest: epoch },
  };
}

/** What is no longer written, as it is kept. */
export function keptContent(content: BlobContent): BlobContent {
  if (content.kind !== 'pages') return content;
  return { kind: content.kind, map: content.map, epoch: content.epoch, isKept: true };
}

/** One more owner. Who calls holds the lock of one, or has it checked at commit. */
export async function shareContent(store: BlobStore, tx: Transaction, content: BlobContent): Promise<void> {
  if (content.kind === 'piece') await store.contents.share(tx, [unpackPiece(content.piece)]);
  else if (content.kind === 'map' || content.kind === 'pages') await store.maps.share(tx, content.map);
}

/** One owner less; after the last one its space is given back. Of a name's row, or of what was kept of it. */
export async function dropContent(
  store: BlobStore,
  tx: Transaction,
  key: BlobKey,
  content: BlobContent,
): Promise<void> {
  switch (content.kind) {
    case 'empty':
      return;
    case 'piece':
      return store.contents.drop(tx, [unpackPiece(content.piece)]);
    case 'map':
      if (await store.maps.drop(tx, content.map)) await discardNames(store, tx, content.map);
      return;
    case 'pages':
      if (await store.maps.drop(tx, content.map)) return;
      return content.isKept
        ? dropKeptPages(store, tx, key, content)
        : store.maps.dropNewer(tx, content.map, content.newest ?? -1);
  }
}

/** The rest of the name's rows show what they showed; what only this one showed is swept. */
async function dropKeptPages(store: BlobStore, tx: Transaction, key: BlobKey, content: Pages): Promise<void> {
  const { map } = content;
  const epochs = (await keptEpochs(store, tx, key, map)).filter((epoch) => epoch !== content.epoch);
  const newest = epochs.length === 0 ? undefined : Math.max(...epochs);
  const base = await store.blobs.get(tx, key, { lock: 'update' });
  const current = pagesOf(base, map);
  if (current === undefined) {
    await store.maps.dropNewer(tx, map, newest ?? -1);
    await store.maps.dropSnapshot(tx, { map, epoch: content.epoch + 1 }, epochs);
    return;
  }
  await store.maps.dropSnapshot(tx, { map, epoch: current.epoch }, epochs);
  if (current.newest !== newest) {
    const changed = { ...(base as BlobRecord), content: withNewest(current, newest) };
    await writeRow(store, tx, key, base, changed);
  }
}

function pagesOf(found: BlobRecord | UncommittedBlob | undefined, map: number): Pages | undefined {
  const content = found === undefined || found.type === 'uncommitted' ? undefined : found.content;
  return content?.kind === 'pages' && content.map === map ? content : undefined;
}

function withNewest({ kind, map, epoch }: Pages, newest: number | undefined): Pages {
  return newest === undefined ? { kind, map, epoch } : { kind, map, epoch, newest };
}

/** A content that was kept, to be written again. */
export async function revivedContent(
  store: BlobStore,
  tx: Transaction,
  key: BlobKey,
  content: BlobContent,
): Promise<BlobContent> {
  if (content.kind !== 'pages') return content;
  const epochs = (await keptEpochs(store, tx, key, content.map)).filter((epoch) => epoch < content.epoch);
  return withNewest(content, epochs.length === 0 ? undefined : Math.max(...epochs));
}

/** The epochs of a map that snapshots and versions of a name show. */
async function keptEpochs(store: BlobStore, tx: Transaction, key: BlobKey, map: number): Promise<number[]> {
  const epochs: number[] = [];
  for (const dictionary of [store.snapshots, store.versions]) {
    for await (const [, kept] of dictionary.entries(tx, { prefix: key, newest: true })) {
      const pages = pagesOf(kept, map);
      if (pages !== undefined) epochs.push(pages.epoch);
    }
  }
  return epochs;
}
