// Taking a snapshot of a share: one more epoch, and a row that names the one before. Every writer has the share's row
// checked at commit, so each write is in the snapshot as a whole or not at all.

import { StorageError } from '../common/errors.js';
import { availableLease } from '../common/lease.js';
import { checkMetadata, type Metadata } from '../common/metadata.js';
import type { FileStore, ShareKey, ShareSnapshot } from './model.js';
import { lockShare, propertiesOf } from './share-access.js';

const mostSnapshots = 200;

/** Called after the second it was taken in, or the next that is free. Without metadata it has the share's. */
export function snapshotShare(
  store: FileStore,
  key: ShareKey,
  metadata: Metadata | undefined,
): Promise<ShareSnapshot & { readonly second: number }> {
  if (metadata !== undefined) checkMetadata(metadata);
  return store.run(async (tx) => {
    const share = await lockShare(store, tx, key);
    const properties = await propertiesOf(store, tx, share);
    let count = 0;
    let last = 0;
    for await (const [, second] of store.snapshots.keys(tx, { prefix: [share.id], newest: true })) {
      last = second;
      if (++count >= mostSnapshots) throw new StorageError('ShareSnapshotCountExceeded');
    }
    const second = Math.max(Math.floor(tx.now / 1000), last + 1);
    const snapshot: ShareSnapshot = {
      ...properties,
      metadata: metadata ?? properties.metadata,
      lease: availableLease,
      epoch: share.epoch,
      quotaGib: share.quotaGib,
    };
    await store.snapshots.set(tx, [share.id, second], snapshot);
    await store.shares.set(tx, key, { ...share, newest: share.epoch, epoch: share.epoch + 1 });
    return { ...snapshot, second };
  });
}
