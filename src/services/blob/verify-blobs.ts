// Whether blobs hold together: for who verifies a store. Each blob, snapshot, version and uncommitted block names
// bytes that are there (common/verify-contents.ts tells why work may go on meanwhile), and they are counted as they are.

import type { Dictionary, Transaction } from '../../collections/index.js';
import { type ContentRows, openContentRows, unpackPiece } from '../common/content-rows.js';
import { hasExtent, hasMap, isSame, verifyMaps } from '../common/verify-contents.js';
import type { BlobContent, BlobStore } from './model.js';
import { verifyUsage } from './verify-usage.js';

/** A sentence for each that does not. */
export async function verifyBlobs(store: BlobStore): Promise<string[]> {
  const rows = await openContentRows(store.state);
  await using tx = store.state.begin();
  const damage = await verifyMaps(tx, rows);
  damage.push(...(await missingOf(tx, rows, 'blob', store.blobs)));
  damage.push(...(await missingOf(tx, rows, 'snapshot of', store.snapshots)));
  damage.push(...(await missingOf(tx, rows, 'version of', store.versions)));
  for await (const [key, piece] of store.blocks.entries(tx)) {
    if (await hasExtent(tx, rows, unpackPiece(piece).extent)) continue;
    if (await isSame(tx, store.blocks, key, piece))
      damage.push(`the bytes of block ${key[1]} are not stored`);
  }
  damage.push(...(await verifyUsage(store, tx)));
  return damage;
}

async function missingOf<Key extends readonly [container: number, name: string, ...rest: number[]], Row>(
  tx: Transaction,
  rows: ContentRows,
  kind: string,
  dictionary: Dictionary<Key, Row>,
): Promise<string[]> {
  const missing: string[] = [];
  for await (const [key, row] of dictionary.entries(tx)) {
    const { content } = row as { readonly content?: BlobContent };
    if (content === undefined || (await isThere(tx, rows, content))) continue;
    if (await isSame(tx, dictionary, key, row)) missing.push(`the bytes of ${kind} ${key[1]} are not stored`);
  }
  return missing;
}

async function isThere(tx: Transaction, rows: ContentRows, content: BlobContent): Promise<boolean> {
  if (content.kind === 'empty') return true;
  if (content.kind === 'piece') return hasExtent(tx, rows, unpackPiece(content.piece).extent);
  return hasMap(tx, rows, content.map);
}
