// Undelete Blob: what soft delete keeps under a name comes back. The blob itself, if nothing has its name now; all
// snapshots and versions; and older blobs of that name, as snapshots.

import type { Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import { revivedContent } from './content.js';
import { lockBlob } from './expiry.js';
import { committed } from './guards.js';
import { isRestorable } from './history.js';
import {
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  type Found,
  findPlace,
  type KeptBlob,
  type KeptKey,
  type Place,
} from './model.js';
import { type KeptKind, writeKept, writeRow } from './rows.js';
import { indexTags } from './tag-index.js';

type Row = readonly [key: KeptKey, kept: KeptBlob];

export function undeleteBlob(store: BlobStore, container: ContainerKey, name: string): Promise<void> {
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const found = await lockBlob(store, tx, place);
    const snapshots = await keptRows(store.snapshots, tx, place);
    const versions = await keptRows(store.versions, tx, place);
    const there = [...snapshots, ...versions].filter(
      ([, kept]) => kept.deleted === undefined || isRestorable(kept, tx.now),
    );
    if (found === undefined && there.length === 0) throw new StorageError('BlobNotFound');
    const base = committed(found) === undefined ? newestBase(snapshots, tx.now) : undefined;
    for (const [key, kept] of snapshots) {
      if (isRestorable(kept, tx.now) && key !== base?.[0]) await restore(store, tx, 'snapshot', key, kept);
    }
    for (const [key, kept] of versions) {
      if (isRestorable(kept, tx.now)) await restore(store, tx, 'version', key, kept);
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
  store: BlobStore,
  tx: Transaction,
  kind: KeptKind,
  key: KeptKey,
  kept: KeptBlob,
): Promise<void> {
  const { deleted: _, ...live } = kept;
  await writeKept(store, tx, kind, key, kept, live);
}

async function restoreBase(
  store: BlobStore,
  tx: Transaction,
  place: Place,
  [key, row]: Row,
  found: Found,
): Promise<void> {
  const { deleted: _, ...kept } = row;
  const blob: BlobRecord = {
    ...kept,
    content: await revivedContent(store, tx, place.key, kept.content),
    ...(found?.upload === undefined ? {} : { upload: found.upload }),
    ...(found?.lease === undefined ? {} : { lease: found.lease }),
  };
  await writeKept(store, tx, 'snapshot', key, row, undefined);
  await writeRow(store, tx, place.key, found, blob);
  await indexTags(store, tx, place, undefined, blob.tags);
}
