// Snapshots, and deleting: a blob with its snapshots, its snapshots alone, or one of them.

import type { Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import { checkMetadata, type Metadata } from '../common/metadata.js';
import type { BlobAddress } from './address.js';
import { dropContent, shareContent } from './content.js';
import { admitWrite, checkOnline, committed, existing, type Guards, useLease } from './guards.js';
import {
  type BlobKey,
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  findContainer,
  type KeptBlob,
  type KeptKey,
} from './model.js';
import { removeBlob } from './replace.js';

export interface TakenSnapshot {
  readonly snapshot: KeptBlob;
  /** What it is called by. */
  readonly stamp: number;
}

/** The blob as it is, under a time of its own. With metadata of its own it also has an ETag of its own. */
export function snapshotBlob(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  metadata: Metadata,
  guards: Guards,
): Promise<TakenSnapshot> {
  checkMetadata(metadata);
  return store.run(async (tx) => {
    const key: BlobKey = [await findContainer(store, tx, container), name];
    const blob = existing(await store.blobs.get(tx, key, { lock: 'update' }));
    checkOnline(blob);
    admitWrite(blob, guards, tx.now, 'checked');
    const stamp = tx.stamp(blob.stamp);
    const { lease: _lease, upload: _upload, ...base } = blob;
    const snapshot = metadata.length === 0 ? base : { ...base, metadata, stamp };
    await shareContent(store, tx, blob.content);
    await store.snapshots.set(tx, [...key, stamp], snapshot);
    return { snapshot, stamp };
  });
}

/** Whether there is one that is not deleted, now and when the transaction commits. */
export async function hasSnapshots(store: BlobStore, tx: Transaction, key: BlobKey): Promise<boolean> {
  for await (const _ of liveSnapshots(store, tx, key)) return true;
  return false;
}

async function* liveSnapshots(
  store: BlobStore,
  tx: Transaction,
  key: BlobKey,
): AsyncGenerator<readonly [KeptKey, KeptBlob]> {
  const range = { prefix: key, newest: true, check: true, pageSize: 16 };
  for await (const row of store.snapshots.entries(tx, range)) if (row[1].deleted === undefined) yield row;
}

/** What to do with the snapshots of a blob that is deleted: there must be none, they go too, or they alone go. */
export type DeleteSnapshots = 'none' | 'include' | 'only';

export function deleteBlob(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
  snapshots: DeleteSnapshots,
  guards: Guards,
): Promise<void> {
  return store.run(async (tx) => {
    const key: BlobKey = [await findContainer(store, tx, container), address.name];
    if (address.kind === 'base') await deleteBase(store, tx, key, snapshots, guards);
    else await deleteKept(store, tx, [...key, address.stamp], address.kind, guards);
  });
}

async function deleteBase(
  store: BlobStore,
  tx: Transaction,
  key: BlobKey,
  snapshots: DeleteSnapshots,
  guards: Guards,
): Promise<void> {
  const found = await store.blobs.get(tx, key, { lock: 'update' });
  const blob = committed(found);
  if (found === undefined) throw new StorageError('BlobNotFound');
  if (blob === undefined) useLease(found, guards.leaseId, 'required', tx.now);
  else admitDelete(blob, guards, tx.now);
  if (snapshots === 'none') {
    if (await hasSnapshots(store, tx, key)) throw new StorageError('SnapshotsPresent');
  } else {
    for await (const [kept, { content }] of liveSnapshots(store, tx, key)) {
      await store.snapshots.delete(tx, kept);
      await dropContent(store, tx, content);
    }
  }
  if (snapshots !== 'only') await removeBlob(store, tx, key, found);
}

/** A pending copy does not keep its target: it ends with it. */
function admitDelete(blob: BlobRecord, guards: Guards, now: number): void {
  const { copy: _, ...rest } = blob;
  admitWrite(rest, guards, now);
}

async function deleteKept(
  store: BlobStore,
  tx: Transaction,
  key: KeptKey,
  kind: 'snapshot' | 'version',
  guards: Guards,
): Promise<void> {
  const dictionary = kind === 'snapshot' ? store.snapshots : store.versions;
  const kept = await dictionary.get(tx, key, { lock: 'update' });
  if (kept === undefined || kept.deleted !== undefined) throw new StorageError('BlobNotFound');
  admitWrite(kept, guards, tx.now, 'checked');
  await dictionary.delete(tx, key);
  await dropContent(store, tx, kept.content);
}
