// Append blobs: what is appended lands whole, behind what came before, in the order of the commits.

import { assert } from '../../base/assert.js';
import type { Transaction } from '../../collections/index.js';
import type { Body } from '../common/body.js';
import { StorageError } from '../common/errors.js';
import type { Lease } from '../common/lease.js';
import { checkKey } from './encryption.js';
import { lockBlob } from './expiry.js';
import { admitWrite, checkOnline, checkType, existing, type Guards } from './guards.js';
import {
  type BlobContent,
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  type Found,
  findPlace,
  withLease,
} from './model.js';
import { writeRow } from './rows.js';

const mostAppends = 50_000;

export interface AppendConditions {
  /** The length it must have; nothing: whatever it has. */
  readonly position: number | undefined;
  /** The length it must not exceed afterwards. */
  readonly maxSize: number | undefined;
}

export interface Appended {
  readonly blob: BlobRecord;
  /** Where the bytes landed. */
  readonly offset: number;
}

export function appendBlock(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  body: Body,
  conditions: AppendConditions,
  guards: Guards,
): Promise<Appended> {
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const found = await lockBlob(store, tx, place);
    const { old, lease } = admitAppend(found, body.length, conditions, guards, tx.now);
    const length = old.length + body.length;
    const content = await appendContent(store, tx, old, body);
    const { copy: _, ...kept } = old;
    const appends = (old.appends ?? 0) + 1;
    const blob = withLease({ ...kept, stamp: tx.stamp(old.stamp), length, content, appends }, lease);
    await writeRow(store, tx, place.key, old, blob);
    return { blob, offset: old.length };
  });
}

/** Whether so many bytes may be appended, and the lease as it is then. */
export function admitAppend(
  found: Found,
  bytes: number,
  conditions: AppendConditions,
  guards: Guards,
  now: number,
): { old: BlobRecord; lease: Lease } {
  const old = existing(found);
  checkOnline(old, now);
  const lease = admitWrite(old, guards, now);
  checkAppend(old, old.length + bytes, conditions);
  checkKey(old, guards.key);
  return { old, lease };
}

function checkAppend(blob: BlobRecord, length: number, { position, maxSize }: AppendConditions): void {
  if (position !== undefined && position !== blob.length) {
    throw new StorageError('AppendPositionConditionNotMet');
  }
  if (maxSize !== undefined && length > maxSize) throw new StorageError('MaxBlobSizeConditionNotMet');
  checkType(blob, 'AppendBlob');
  if (blob.sealed) throw new StorageError('BlobIsSealed');
  if ((blob.appends ?? 0) >= mostAppends) throw new StorageError('BlockCountExceedsLimit');
}

/** The map only grows: snapshots share it and end where they did. */
async function appendContent(
  store: BlobStore,
  tx: Transaction,
  { content, length }: BlobRecord,
  body: Body,
): Promise<BlobContent> {
  assert(content.kind === 'empty' || content.kind === 'map', 'what was appended is a map');
  const map = content.kind === 'map' ? content.map : await store.maps.create(tx);
  const source = await store.contents.source(tx, body);
  await store.maps.append(tx, map, length, [{ source, length: body.length }]);
  return { kind: 'map', map };
}

/** Nothing can be appended any more. Sealing twice is harmless. The ETag stays. */
export function sealBlob(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  position: number | undefined,
  guards: Guards,
): Promise<BlobRecord> {
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const old = existing(await lockBlob(store, tx, place));
    const lease = admitWrite(old, guards, tx.now);
    if (position !== undefined && position !== old.length) {
      throw new StorageError('AppendPositionConditionNotMet');
    }
    checkType(old, 'AppendBlob');
    const blob = withLease({ ...old, sealed: true as const }, lease);
    await writeRow(store, tx, place.key, old, blob);
    return blob;
  });
}
