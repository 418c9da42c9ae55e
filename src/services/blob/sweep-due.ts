// Gives back the space of what time made garbage (due.ts).

import type { Transaction } from '../../collections/index.js';
import { noteDue } from './due.js';
import { endExpired } from './expiry.js';
import { dropKept } from './history.js';
import type { BlobStore, DeletedContainerKey, DueKey, KeptKey } from './model.js';
import { keptRows, writeRow } from './rows.js';
import { discardContents } from './sweep.js';
import { discardUpload, hasEnded, uploadEnd } from './uploads.js';

const atOnce = 100;

/** Sweeps what is due now. */
export async function sweepDue(store: BlobStore): Promise<void> {
  while ((await store.run((tx) => sweepSome(store, tx))) === atOnce);
}

async function sweepSome(store: BlobStore, tx: Transaction): Promise<number> {
  let swept = 0;
  const range = { to: [tx.now] as const, newest: true, pageSize: atOnce };
  for await (const key of store.due.keys(tx, range)) {
    await sweepOne(store, tx, key);
    await store.due.delete(tx, key);
    if (++swept === atOnce) break;
  }
  return swept;
}

async function sweepOne(store: BlobStore, tx: Transaction, key: DueKey): Promise<void> {
  const [, what, where, name, stamp] = key;
  if (what === 'container') return endContainer(store, tx, [String(where), name, stamp]);
  const container = Number(where);
  if (what === 'upload') return endUpload(store, tx, container, name, stamp);
  if (what === 'blob') return endExpired(store, tx, [container, name]);
  const kept: KeptKey = [container, name, stamp];
  await store.blobs.get(tx, [container, name], { lock: 'update' }); // where all who change a name meet
  const row = await keptRows(store, what).get(tx, kept, { lock: 'update' });
  if (row?.deleted === undefined || row.deleted.until > tx.now) return;
  await dropKept(store, tx, { key: [container, name] }, what, kept, row);
}

/** The blocks go, and the name with them if it has nothing else. More blocks may have come: then later. */
async function endUpload(
  store: BlobStore,
  tx: Transaction,
  container: number,
  name: string,
  id: number,
): Promise<void> {
  const found = await store.blobs.get(tx, [container, name], { lock: 'update' });
  if (found?.upload?.id !== id) return;
  if (!hasEnded(found.upload, tx.now)) {
    return noteDue(store, tx, [uploadEnd(found.upload), 'upload', container, name, id]);
  }
  await discardUpload(store, tx, container, found.upload);
  if (found.type === 'uncommitted') return writeRow(store, tx, [container, name], found, undefined);
  const { upload: _, ...blob } = found;
  await writeRow(store, tx, [container, name], found, blob);
}

/** It can be restored no more. */
async function endContainer(store: BlobStore, tx: Transaction, key: DeletedContainerKey): Promise<void> {
  const deleted = await store.deletedContainers.get(tx, key, { lock: 'update' });
  if (deleted === undefined || deleted.until > tx.now) return;
  await store.deletedContainers.delete(tx, key);
  await discardContents(store, tx, deleted.id);
}
