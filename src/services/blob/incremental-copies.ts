// Incremental Copy Blob: the snapshots of a page blob, one after the other, into a blob that only holds them. Each copy
// makes the next snapshot of the target; the target itself is neither read nor written by anybody else.

import type { Transaction } from '../../collections/index.js';
import { checkConditions } from '../common/conditions.js';
import { StorageError } from '../common/errors.js';
import { makeBlob } from './blobs.js';
import { forkContent } from './content.js';
import { type CopySource, copiedState, copyContent, findSource } from './copies.js';
import { lockBlob } from './expiry.js';
import { committed, type Guards, useLease } from './guards.js';
import { asKept, replaceBlob } from './history.js';
import {
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  findPlace,
  type IncrementalCopy,
  type Place,
  withLease,
} from './model.js';
import { writeKept } from './rows.js';

export function copyIncrementally(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  source: CopySource,
  copyId: string,
  { conditions, leaseId }: Guards,
): Promise<BlobRecord> {
  const { address } = source;
  if (address.kind !== 'snapshot') throw new StorageError('IncrementalCopySourceMustBeSnapshot');
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const found = await lockBlob(store, tx, place);
    const original = await findSource(store, tx, source);
    if (original.type !== 'PageBlob') throw new StorageError('InvalidSourceBlobType');
    const old = committed(found);
    const home = `${source.container.join('/')}/${address.name}`;
    if (old !== undefined) checkSuccession(old, home, address.stamp);
    checkConditions(conditions, 'copy', old);
    const lease = useLease(found, leaseId, 'required', tx.now);
    const content = { content: await copyContent(store, tx, original), length: original.length };
    const fresh = { headers: original.headers, metadata: original.metadata, tags: [], tier: undefined };
    const made = makeBlob(tx, found, 'PageBlob', fresh, { ...content, sequence: original.sequence ?? 0n });
    const copy = copiedState(tx, source, original, copyId);
    const blob = await keepSnapshot(store, tx, place, withLease({ ...made, copy }, lease), {
      source: home,
      snapshot: address.stamp,
    });
    return replaceBlob(store, tx, place, found, blob);
  });
}

function checkSuccession({ incremental }: BlobRecord, home: string, snapshot: number): void {
  if (incremental === undefined || incremental.source !== home) {
    throw new StorageError('IncrementalCopyBlobMismatch');
  }
  if (snapshot <= incremental.snapshot) {
    throw new StorageError('IncrementalCopyOfEarlierVersionSnapshotNotAllowed');
  }
}

async function keepSnapshot(
  store: BlobStore,
  tx: Transaction,
  { key }: Place,
  made: BlobRecord,
  { source, snapshot }: Pick<IncrementalCopy, 'source' | 'snapshot'>,
): Promise<BlobRecord> {
  const { kept, current } = await forkContent(store, tx, made.content);
  const target = tx.stamp(made.stamp);
  await writeKept(store, tx, 'snapshot', [...key, target], undefined, { ...asKept(made), content: kept });
  return { ...made, content: current, incremental: { source, snapshot, target } };
}
