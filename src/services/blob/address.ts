// Which of the blobs that share a name is meant: the one there is now, a snapshot, or a version. Snapshots and
// versions are called by the time they were made, in seven digits after the second: `2019-05-09T00:53:51.6017960Z`.

import { type Stamp, stampToMs } from '../../base/stamps.js';
import { formatIsoTime, parseIsoTime } from '../../base/times.js';
import type { Transaction } from '../../collections/index.js';
import { invalidParameter, StorageError } from '../common/errors.js';
import { committed, existing } from './guards.js';
import { isLive } from './history.js';
import type { BlobKey, BlobRecord, BlobStore, KeptKey } from './model.js';
import { keptRows, seen, writeKept, writeRow } from './rows.js';

export type BlobAddress = Readonly<{ name: string; kind: 'base' } | KeptAddress>;
export type KeptAddress = Readonly<{ name: string; kind: 'snapshot' | 'version'; stamp: Stamp }>;

export function baseOf(name: string): BlobAddress {
  return { name, kind: 'base' };
}

export function formatKeptTime(stamp: Stamp): string {
  return formatIsoTime({ ms: stampToMs(stamp), ticks: (stamp % 1000) * 10 });
}

/** The stamp that a client calls a snapshot or version by; a time that none can have is -1. */
export function parseKeptTime(parameter: 'snapshot' | 'versionid' | 'prevsnapshot', text: string): Stamp {
  const time = parseIsoTime(text);
  if (time === undefined || !text.includes('T')) throw invalidParameter(parameter, text);
  return time.ticks % 10 === 0 ? time.ms * 1000 + time.ticks / 10 : -1;
}

/** As it is now, which can be checked at commit, or as the snapshot has it. */
export async function findBlob(
  store: BlobStore,
  tx: Transaction,
  container: number,
  address: BlobAddress,
  how: 'check' | 'read' | 'snapshot' = 'read',
): Promise<BlobRecord> {
  const { name, kind } = address;
  const options: ReadHow =
    how === 'snapshot' ? { lock: 'snapshot' } : { lock: 'none', check: how === 'check' };
  if (kind !== 'base') return findKept(store, tx, container, address, options);
  return existing(seen(await store.blobs.get(tx, [container, name], options), tx));
}

/**
 * The blob, for who also reads its content. Pages change in place, so there it is checked at commit: what is told of the
 * blob and what is read of it are of one moment.
 */
export async function findWithContent(
  store: BlobStore,
  tx: Transaction,
  container: number,
  address: BlobAddress,
): Promise<BlobRecord> {
  const blob = await findBlob(store, tx, container, address);
  return blob.content.kind === 'pages' ? findBlob(store, tx, container, address, 'check') : blob;
}

type ReadHow = { readonly lock: 'none'; readonly check: boolean } | { readonly lock: 'snapshot' };

async function findKept(
  store: BlobStore,
  tx: Transaction,
  container: number,
  { name, kind, stamp }: KeptAddress,
  options: ReadHow,
): Promise<BlobRecord> {
  const kept = await keptRows(store, kind).get(tx, [container, name, stamp], options);
  if (kept !== undefined && isLive(kept)) return kept;
  const current = kind === 'version' ? await store.blobs.get(tx, [container, name], options) : undefined;
  const blob = committed(seen(current, tx));
  if (blob !== undefined && blob.version === stamp) return blob;
  throw new StorageError('BlobNotFound');
}

/** The row that an address names, locked, and how it is put back. */
export interface LockedRow {
  readonly blob: BlobRecord;
  /** It is the blob as it is now. */
  readonly isCurrent: boolean;
  write(blob: BlobRecord): Promise<void>;
}

export async function lockRow(
  store: BlobStore,
  tx: Transaction,
  key: BlobKey,
  address: BlobAddress,
): Promise<LockedRow> {
  const update = { lock: 'update' } as const;
  if (address.kind !== 'base') {
    const { kind } = address;
    const keptKey: KeptKey = [...key, address.stamp];
    const kept = await keptRows(store, kind).get(tx, keptKey, update);
    if (kept !== undefined && isLive(kept)) {
      const write = (blob: BlobRecord) => writeKept(store, tx, kind, keptKey, kept, blob);
      return { blob: kept, isCurrent: false, write };
    }
    if (kind === 'snapshot') throw new StorageError('BlobNotFound');
  }
  const blob = existing(seen(await store.blobs.get(tx, key, update), tx));
  if (address.kind === 'version' && blob.version !== address.stamp) throw new StorageError('BlobNotFound');
  return { blob, isCurrent: true, write: (changed) => writeRow(store, tx, key, blob, changed) };
}
