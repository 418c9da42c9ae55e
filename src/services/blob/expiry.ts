// When a blob ends by itself: Set Blob Expiry, and what becomes of one whose time is over. Nothing of it is kept,
// neither by soft delete nor as a version; snapshots and versions that were there before stay.
//
//   RelativeToCreation   so long after it was made
//   RelativeToNow        so long from now on
//   Absolute             at that time
//   NeverExpire          not any more
//
// A time that is over cannot be set. Putting another blob under the name keeps the time unless the request says
// another. The ETag stays.

import { stampToMs } from '../../base/stamps.js';
import type { Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import { dropContent } from './content.js';
import { noteDue } from './due.js';
import { admitWrite, committed, existing, type Guards } from './guards.js';
import {
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  type Found,
  findPlace,
  type Place,
  withLease,
} from './model.js';
import { hasExpired, writeRow } from './rows.js';
import { indexTags } from './tag-index.js';
import { discardUpload } from './uploads.js';

export type Expiry = Readonly<
  | { option: 'RelativeToCreation' | 'RelativeToNow'; ms: number }
  | { option: 'Absolute'; at: number }
  | { option: 'NeverExpire' }
>;

/** The end of the year 9999: later times have no name. */
const latest = Date.UTC(10_000, 0) - 1;

/** When a blob ends that was made at `created`; nothing: never. */
export function expiryTime(expiry: Expiry, created: number, now: number): number | undefined {
  const at = timeOf(expiry, created, now);
  if (at === undefined || (at > now && at <= latest)) return at;
  throw new StorageError('InvalidHeaderValue', {
    message: 'The time that a blob is to expire at lies in the past, or too far ahead.',
    details: { HeaderName: 'x-ms-expiry-time' },
  });
}

function timeOf(expiry: Expiry, created: number, now: number): number | undefined {
  switch (expiry.option) {
    case 'RelativeToCreation':
      return Math.ceil(created + expiry.ms);
    case 'RelativeToNow':
      return Math.ceil(now + expiry.ms);
    case 'Absolute':
      return expiry.at;
    case 'NeverExpire':
      return undefined;
  }
}

export function setExpiry(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  expiry: Expiry,
  guards: Guards,
): Promise<BlobRecord> {
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const old = existing(await lockBlob(store, tx, place));
    const lease = admitWrite(old, guards, tx.now);
    const blob = withLease(await withExpiry(store, tx, place, old, expiry), lease);
    await writeRow(store, tx, place.key, old, blob);
    return blob;
  });
}

/** The blob with another end, which is noted for the sweep. */
export async function withExpiry(
  store: BlobStore,
  tx: Transaction,
  { key }: Pick<Place, 'key'>,
  blob: BlobRecord,
  expiry: Expiry | undefined,
): Promise<BlobRecord> {
  if (expiry === undefined) return blob;
  const { expires: _, ...rest } = blob;
  const expires = expiryTime(expiry, stampToMs(blob.created), tx.now);
  if (expires === undefined) return rest;
  await noteDue(store, tx, [expires, 'blob', ...key, 0]);
  return { ...rest, expires };
}

/** The name's row, locked. One whose time is over goes in this transaction, as if it had never been there. */
export async function lockBlob(store: BlobStore, tx: Transaction, place: Place): Promise<Found> {
  const found = await store.blobs.get(tx, place.key, { lock: 'update' });
  if (!hasExpired(found, tx)) return found;
  await endBlob(store, tx, place, found);
  return undefined;
}

async function endBlob(store: BlobStore, tx: Transaction, place: Place, found: Found): Promise<void> {
  const blob = committed(found);
  if (found?.upload !== undefined) await discardUpload(store, tx, place.key[0], found.upload);
  await writeRow(store, tx, place.key, found, undefined);
  if (blob === undefined) return;
  await indexTags(store, tx, place, blob.tags, undefined);
  await dropContent(store, tx, place.key, blob.content);
}

/** For the sweep, which knows the row alone. */
export async function endExpired(
  store: BlobStore,
  tx: Transaction,
  [id, name]: readonly [number, string],
): Promise<void> {
  const properties = await store.properties.get(tx, id, { lock: 'none' });
  if (properties !== undefined)
    await lockBlob(store, tx, { container: properties.container, key: [id, name] });
}
