// Finding a share, and a snapshot of it, at the beginning of an operation.

import type { Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import {
  type FileStore,
  gib,
  type LiveShare,
  type ShareKey,
  type ShareProperties,
  type ShareRow,
  type ShareSnapshot,
} from './model.js';
import type { View } from './tree.js';

export function isLive(row: ShareRow | undefined): row is LiveShare {
  return row !== undefined && 'id' in row;
}

/** The share as it is now, and must still be when the transaction commits. */
export async function findShare(store: FileStore, tx: Transaction, key: ShareKey): Promise<LiveShare> {
  const row = await store.shares.get(tx, key, { lock: 'none', check: true });
  if (!isLive(row)) throw new StorageError('ShareNotFound');
  return row;
}

/** The same for who changes it. */
export async function lockShare(store: FileStore, tx: Transaction, key: ShareKey): Promise<LiveShare> {
  const row = await store.shares.get(tx, key, { lock: 'update' });
  if (!isLive(row)) throw new StorageError('ShareNotFound');
  return row;
}

/** `snapshot`: the second it is called after. */
export async function findView(
  store: FileStore,
  tx: Transaction,
  key: ShareKey,
  snapshot: number | undefined,
): Promise<View> {
  const share = await findShare(store, tx, key);
  if (snapshot === undefined) return { share, snapshot };
  const { epoch } = await findSnapshot(store, tx, share, snapshot);
  return { share, snapshot: epoch };
}

export async function findSnapshot(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  second: number,
): Promise<ShareSnapshot> {
  const found = await store.snapshots.get(tx, [share.id, second], { lock: 'none', check: true });
  if (found === undefined) throw new StorageError('ShareSnapshotNotFound');
  return found;
}

export async function propertiesOf(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  lock: 'none' | 'update' = 'none',
): Promise<ShareProperties> {
  const properties = await store.properties.get(tx, share.id, { lock });
  if (properties === undefined) throw new StorageError('ShareNotFound'); // deleted since its name was read
  return properties;
}

/** The name of a share, or of a snapshot of one, in the lock table. */
export function volumeId({ share, snapshot }: View): string {
  return snapshot === undefined ? String(share.id) : `${share.id}@${snapshot}`;
}

/** Lengths of files change the share's usage; growing is refused where the quota would be passed. */
export async function useSpace(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  bytes: number,
): Promise<void> {
  if (bytes === 0) return;
  const limit = bytes > 0 ? { max: share.quotaGib * gib } : undefined;
  await store.usage.add(tx, share.id, bytes, limit);
}
