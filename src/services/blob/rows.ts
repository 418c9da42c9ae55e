// The rows of a name: its blob as it is now, its snapshots, its versions. Whoever writes one does it here, so that what
// a container uses is counted in the same commit (usage.ts). Whoever reads the blob as it is now asks here whether its
// time is over (expiry.ts): then it is gone for everybody, swept or not.

import type { Transaction } from '../../collections/index.js';
import type { BlobKey, BlobStore, Found, KeptBlob, KeptKey } from './model.js';
import { countRow, usedBy, usedByKept } from './usage.js';

export type KeptKind = 'snapshot' | 'version';

/** Whether its time is over. */
export function hasExpired(found: Found, tx: Pick<Transaction, 'now'>): boolean {
  return found?.type !== 'uncommitted' && found?.expires !== undefined && found.expires <= tx.now;
}

/** A row of a name as everybody sees it. */
export function seen(found: Found, tx: Pick<Transaction, 'now'>): Found {
  return hasExpired(found, tx) ? undefined : found;
}

/** The name's row, which was `before`, becomes `after`; nothing: it goes. */
export async function writeRow(
  store: BlobStore,
  tx: Transaction,
  key: BlobKey,
  before: Found,
  after: Found,
): Promise<void> {
  if (after === undefined) await store.blobs.delete(tx, key);
  else await store.blobs.set(tx, key, after);
  await countRow(store, tx, key[0], usedBy(before), usedBy(after));
}

/** The same of a snapshot or version. */
export async function writeKept(
  store: BlobStore,
  tx: Transaction,
  kind: KeptKind,
  key: KeptKey,
  before: KeptBlob | undefined,
  after: KeptBlob | undefined,
): Promise<void> {
  const dictionary = keptRows(store, kind);
  if (after === undefined) await dictionary.delete(tx, key);
  else await dictionary.set(tx, key, after);
  await countRow(store, tx, key[0], usedByKept(kind, before), usedByKept(kind, after));
}

export function keptRows(store: BlobStore, kind: KeptKind): BlobStore['snapshots'] {
  return kind === 'snapshot' ? store.snapshots : store.versions;
}
