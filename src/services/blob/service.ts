// The blob service as protocols see it: its store, and its accounts.

import type { AccountStore } from '../common/account-store.js';
import { defaultSettings } from '../common/accounts.js';
import type { Ground } from '../common/ground.js';
import { PendingCopies } from '../common/pending-copies.js';
import type { FetchSource, PendingCopy } from '../common/sources.js';
import { registerBlockLists } from './block-lists.js';
import { copyTargets } from './copy-targets.js';
import { LastAccess } from './last-access.js';
import { type BlobKey, type BlobStore, openBlobStore } from './model.js';
import { registerContainers } from './sweep.js';
import { sweepDue } from './sweep-due.js';
import { indexOnce } from './tag-index.js';
import { registerUploads } from './uploads.js';
import { countOnce } from './usage.js';

export interface BlobService {
  readonly store: BlobStore;
  readonly accounts: AccountStore;
  readonly pending: PendingCopies<BlobKey, PendingCopy>;
  readonly lastAccess: LastAccess;
  readonly fetchSource: FetchSource;
  close(): Promise<void>;
}

export async function openBlobService(ground: Ground): Promise<BlobService> {
  const { store, garbage, accounts, fetchSource, report } = ground;
  const { contents, maps, slices } = ground.content;
  const settings = (account: string) => accounts.get(account)?.settings ?? defaultSettings;
  const retention = (account: string) => accounts.serviceSettings(account, 'blob').deleteRetention;
  const blobs = await openBlobStore({
    store,
    contents,
    maps,
    slices,
    garbage,
    settings,
    retentionDays: (account) => retention(account).days,
    allowsPermanentDelete: (account) => retention(account).allowPermanentDelete,
  });
  registerBlockLists(blobs);
  registerUploads(blobs);
  registerContainers(blobs);
  garbage.also(() => sweepDue(blobs));
  const pending = new PendingCopies(copyTargets(blobs), fetchSource, report);
  garbage.also(() => pending.wake());
  await countOnce(blobs);
  await indexOnce(blobs);
  await pending.resume();
  const lastAccess = new LastAccess(blobs, report);
  const close = async () => {
    await pending.close();
    await lastAccess.close();
  };
  return { store: blobs, accounts, pending, lastAccess, fetchSource, close };
}
