// Uploads: the blocks put under a name and not committed yet. They belong to the name's row, which carries the
// upload's id; a commit, a put or a delete gives the name another or none, and what is left is swept.
//
// Put Block takes no lock of the name: it has the row checked at commit, so that many blocks of one blob come in
// side by side, and nothing is put under an upload that has ended.

import type { Transaction } from '../../collections/index.js';
import { unpackPiece } from '../common/content-rows.js';
import { StorageError } from '../common/errors.js';
import type { BlobStore, Upload } from './model.js';

/** Uncommitted blocks go when none has come for so long. */
const uploadLifeMs = 7 * 24 * 3600 * 1000;
/** How exactly it is known when the last one came. */
const touchMs = 60_000;

const garbageKind = 'blob upload';
const sweepAtOnce = 200;

/** The upload that a block of this id belongs to: the one there is, touched if that is long ago, or a new one. */
export function uploadFor(
  upload: Upload | undefined,
  blockId: string,
  key: string | undefined,
  now: number,
  newId: () => number,
): Upload {
  if (upload === undefined || hasEnded(upload, now)) {
    return { id: newId(), idLength: blockId.length, lastPut: now, ...(key === undefined ? {} : { key }) };
  }
  if (upload.key !== key) throw new StorageError('BlobCustomerSpecifiedEncryptionMismatch');
  if (upload.idLength !== blockId.length) throw new StorageError('InvalidBlobOrBlock');
  return now - upload.lastPut < touchMs ? upload : { ...upload, lastPut: now };
}

/** When its blocks are gone, if none comes. */
export function uploadEnd({ lastPut }: Upload): number {
  return lastPut + uploadLifeMs + touchMs;
}

/** Whether its blocks are gone, swept or not. */
export function hasEnded(upload: Upload, now: number): boolean {
  return now >= uploadEnd(upload);
}

/** Its blocks go with the commit. A block that comes meanwhile is a conflict: it would be counted for ever. */
export async function discardUpload(
  store: BlobStore,
  tx: Transaction,
  container: number,
  { id }: Upload,
): Promise<void> {
  await store.garbage.discard(tx, garbageKind, id);
  const count = await store.blockCounts.get(tx, id, { check: true });
  const bytes = await store.blockBytes.get(tx, id, { check: true });
  await store.usage.add(tx, [container, 'uncommitted', 'count'], -count);
  await store.usage.add(tx, [container, 'uncommitted', 'bytes'], -bytes);
}

export function registerUploads(store: BlobStore): void {
  store.garbage.register(garbageKind, (id) => sweepUpload(store, id));
}

function sweepUpload(store: BlobStore, id: number): Promise<boolean> {
  return store.run(async (tx) => {
    let swept = 0;
    const range = { prefix: [id], newest: true, pageSize: sweepAtOnce };
    for await (const [key, piece] of store.blocks.entries(tx, range)) {
      await store.blocks.delete(tx, key);
      await store.contents.drop(tx, [unpackPiece(piece)]);
      if (++swept === sweepAtOnce) return true;
    }
    await store.blockCounts.remove(tx, id);
    await store.blockBytes.remove(tx, id);
    return false;
  });
}
