// Snapshots, and deleting: a blob with its snapshots, its snapshots alone, or one of them.

import { stampToMs } from '../../base/stamps.js';
import type { Transaction } from '../../collections/index.js';
import { type Conditions, checkConditions } from '../common/conditions.js';
import { StorageError } from '../common/errors.js';
import { checkMetadata, type Metadata } from '../common/metadata.js';
import type { BlobAddress, KeptAddress } from './address.js';
import { forkContent } from './content.js';
import { checkKey } from './encryption.js';
import { lockBlob } from './expiry.js';
import {
  admitWrite,
  checkMutable,
  checkOnline,
  committed,
  existing,
  type Guards,
  useLease,
} from './guards.js';
import { asKept, changeVersion, dropKept, isLive, isRestorable, removeBlob, removeKept } from './history.js';
import {
  type BlobKey,
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  findPlace,
  isPremium,
  type KeptBlob,
  type KeptKey,
  type Place,
} from './model.js';
import { judgeSnapshot } from './page-tiers.js';
import { keptRows, writeKept } from './rows.js';

export interface TakenSnapshot {
  readonly snapshot: KeptBlob;
  /** What it is called by. */
  readonly stamp: number;
  /** The blob, which has a new version where versions are kept. */
  readonly blob: BlobRecord;
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
    const place = await findPlace(store, tx, container, name);
    const old = existing(await lockBlob(store, tx, place));
    checkOnline(old, tx.now);
    admitWrite(old, guards, tx.now, 'checked');
    checkKey(old, guards.key);
    if (old.type === 'PageBlob' && isPremium(store, container)) await checkPace(store, tx, place);
    const stamp = tx.stamp(old.stamp);
    const { kept, current } = await forkContent(store, tx, old.content);
    const base = { ...asKept(old), content: kept };
    const snapshot = metadata.length === 0 ? base : { ...base, metadata, stamp };
    await writeKept(store, tx, 'snapshot', [...place.key, stamp], undefined, snapshot);
    const blob = await changeVersion(store, tx, place, old, { ...old, content: current }, tx.stamp());
    return { snapshot, stamp, blob };
  });
}

/** Of a page blob in a premium account. */
async function checkPace(store: BlobStore, tx: Transaction, { key }: Place): Promise<void> {
  let count = 0;
  let last: number | undefined;
  for await (const [[, , stamp]] of liveSnapshots(store, tx, key)) {
    count++;
    last = stampToMs(stamp);
  }
  const refusal = judgeSnapshot(count, last, tx.now);
  if (refusal !== undefined) throw new StorageError(refusal);
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
  for await (const row of store.snapshots.entries(tx, range)) if (isLive(row[1])) yield row;
}

/** What to do with the snapshots of a blob that is deleted: there must be none, they go too, or they alone go. */
export type DeleteSnapshots = 'none' | 'include' | 'only';

export interface DeletedBlob {
  /** Nothing is left that could be restored. */
  readonly permanent: boolean;
}

export function deleteBlob(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
  snapshots: DeleteSnapshots,
  guards: Guards,
): Promise<DeletedBlob> {
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, address.name);
    if (address.kind === 'base') return deleteBase(store, tx, place, snapshots, guards);
    return deleteKept(store, tx, place, address, guards);
  });
}

async function deleteBase(
  store: BlobStore,
  tx: Transaction,
  place: Place,
  snapshots: DeleteSnapshots,
  guards: Guards,
): Promise<DeletedBlob> {
  const { key } = place;
  const found = await lockBlob(store, tx, place);
  const blob = committed(found);
  if (found === undefined) throw new StorageError('BlobNotFound');
  if (blob === undefined) useLease(found, guards.leaseId, 'required', tx.now);
  else admitDelete(blob, guards, tx.now);
  let permanent = true;
  if (snapshots === 'none') {
    if (await hasSnapshots(store, tx, key)) throw new StorageError('SnapshotsPresent');
  } else {
    for await (const [kept, row] of liveSnapshots(store, tx, key)) {
      checkMutable(row, tx.now);
      permanent = await removeKept(store, tx, place, 'snapshot', kept, row);
    }
  }
  if (snapshots === 'only') return { permanent };
  // Removing snapshots may have changed what the row says of them.
  const last = await store.blobs.get(tx, key, { lock: 'update' });
  return { permanent: await removeBlob(store, tx, place, last) };
}

/** A copy does not keep its target: it ends with it. */
function admitDelete(blob: BlobRecord, guards: Guards, now: number): void {
  const { copy: _copy, incremental: _incremental, ...rest } = blob;
  admitWrite(rest, guards, now);
}

async function deleteKept(
  store: BlobStore,
  tx: Transaction,
  place: Place,
  { kind, stamp }: KeptAddress,
  guards: Guards,
): Promise<DeletedBlob> {
  const key: KeptKey = [...place.key, stamp];
  const found = await lockBlob(store, tx, place); // who deletes the blob with its snapshots waits
  const kept = await keptRows(store, kind).get(tx, key, { lock: 'update' });
  if (kept !== undefined && isLive(kept)) {
    admitWrite(kept, guards, tx.now, 'checked');
    return { permanent: await removeKept(store, tx, place, kind, key, kept) };
  }
  const current = kind === 'version' ? committed(found) : undefined;
  if (current === undefined || current.version !== stamp) throw new StorageError('BlobNotFound');
  return deleteCurrentVersion(store, tx, place, current, guards);
}

/** What soft delete keeps of a snapshot or version goes for good, if the account lets it. */
export function purgeKept(
  store: BlobStore,
  container: ContainerKey,
  { name, kind, stamp }: KeptAddress,
  conditions: Conditions,
): Promise<void> {
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const key: KeptKey = [...place.key, stamp];
    await lockBlob(store, tx, place);
    const kept = await keptRows(store, kind).get(tx, key, { lock: 'update' });
    if (kept === undefined || (!isLive(kept) && !isRestorable(kept, tx.now))) {
      throw new StorageError('BlobNotFound');
    }
    if (isLive(kept) || !store.allowsPermanentDelete(container[0])) {
      throw new StorageError('InvalidOperation', {
        status: 409,
        message: 'Only what is soft-deleted is deleted permanently, where AllowPermanentDelete is set.',
      });
    }
    checkMutable(kept, tx.now);
    checkConditions(conditions, 'write', kept);
    await dropKept(store, tx, place, kind, key, kept);
  });
}

/** The current version, called by its id: it goes, and does not become an earlier one. */
async function deleteCurrentVersion(
  store: BlobStore,
  tx: Transaction,
  place: Place,
  current: BlobRecord,
  guards: Guards,
): Promise<DeletedBlob> {
  admitDelete(current, guards, tx.now);
  await removeBlob(store, tx, place, current);
  const key: KeptKey = [...place.key, current.version ?? current.stamp];
  return { permanent: await removeKept(store, tx, place, 'version', key, asKept(current)) };
}
