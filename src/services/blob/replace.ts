// What becomes of a blob when its name is given to another content, or to none: what was there is kept as a
// version or as something that can be restored, or it is dropped; blocks that nobody has committed go.

import type { Transaction } from '../../collections/index.js';
import { dropContent } from './content.js';
import { committed } from './guards.js';
import type { BlobKey, BlobRecord, BlobStore, UncommittedBlob } from './model.js';
import { discardUpload } from './uploads.js';

type Found = BlobRecord | UncommittedBlob | undefined;

/** The name's row becomes `blob`. */
export async function replaceBlob(
  store: BlobStore,
  tx: Transaction,
  key: BlobKey,
  found: Found,
  blob: BlobRecord,
): Promise<void> {
  await leaveBehind(store, tx, found);
  await store.blobs.set(tx, key, blob);
}

/** The name's row goes. */
export async function removeBlob(
  store: BlobStore,
  tx: Transaction,
  key: BlobKey,
  found: Found,
): Promise<void> {
  await leaveBehind(store, tx, found);
  await store.blobs.delete(tx, key);
}

async function leaveBehind(store: BlobStore, tx: Transaction, found: Found): Promise<void> {
  if (found?.upload !== undefined) await discardUpload(store, tx, found.upload);
  const old = committed(found);
  if (old !== undefined) await dropContent(store, tx, old.content);
}
