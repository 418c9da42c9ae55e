// Undelete Blob: what soft delete keeps under a name comes back. The blob itself, if nothing has its name now; all
// snapshots and versions; and older blobs of that name, as snapshots.

import type { Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import { revivedContent } from './content.js';
import { committed } from './guards.js';
import { isRestorable } from './history.js';
import {
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  findPlace,
  type KeptBlob,
  type KeptKey,
  type Place,
} from './model.js';
import { indexTags } from './tag-index.js';

type Row = readonly [key: KeptKey, kept: KeptBlob];

export function undeleteBlob(store: BlobStore, container: ContainerKey, name: string): Promise<void> {
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const found = await store.blobs.get(tx, place.key, { lock: 'update' });
    const snapshots = await keptRows(store.snapshots, tx, place);
    const versions = await keptRows(store.versions, tx, place);
    const there = [...snapshots, ...versions].filter(
      ([, kept]) => kept.deleted === undefined || isRestorable(kept, tx.now),
    );
    if (found === undefined && there.length === 0) throw new StorageError('BlobNotFound');
    const base = committed(found) === undefined ? newestBase(snapshots, tx.now) : undefined;
    for (const [key, kept] of snapshots) {
      if (isRestorable(kept, tx.now) && key !== base?.[0]) await restore(store.snapshots, tx, key, kept);
    }
    for (const [key, kept] of versions) {
      if (isRestorable(kept, tx.now)) await restore(store.versions, tx, key, kept);
    }
    if (base !== undefined) await restoreBase(store, tx, place, base, found);
  });
}

async function keptRows(dictionary: BlobStore['snapshots'], tx: Transaction, { key }: Place): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of dictionary.entries(tx, { prefix: key, newest: true, check: true })) rows.push(row);
  return rows;
}

function newestBase(rows: readonly Row[], now: number): Row | undefined {
  return rows.findLast(([, kept]) => kept.deleted?.wasBase && isRestorable(kept, now));
}

async function restore(
  dictionary: BlobStore['snapshots'],
  tx: Transaction,
  key: KeptKey,
  { deleted: _, ...kept }: KeptBlob,
): Promise<void> {
  await dictionary.set(tx, key, kept);
}

async function restoreBase(
  store: BlobStore,
  tx: Transaction,
  place: Place,
  [key, { deleted: _, ...kept }]: Row,
  found: Pick<BlobRecord, 'upload' | 'lease'> | undefined,
): Promise<void> {
  const blob: BlobRecord = {
    ...kept,
    content: await revivedContent(store, tx, place.key, kept.content),
    ...(found?.upload === undefined ? {} : { upload: found.upload }),
    ...(found?.lease === undefined ? {} : { lease: found.lease }),
  };
  await store.snapshots.delete(tx, key);
  await store.blobs.set(tx, place.key, blob);
  await indexTags(store, tx, place, undefined, blob.tags);
}
