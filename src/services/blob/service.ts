// The blob service as protocols see it: its store, and its accounts.

import type { AccountStore } from '../common/account-store.js';
import { defaultSettings } from '../common/accounts.js';
import type { ContentStore } from '../common/content-store.js';
import type { Garbage } from '../common/garbage.js';
import { PendingCopies } from '../common/pending-copies.js';
import type { FetchSource, PendingCopy } from '../common/sources.js';
import type { Store } from '../common/store.js';
import { registerBlockLists } from './block-lists.js';
import { copyTargets } from './copy-targets.js';
import { sweepDue } from './due.js';
import { type BlobKey, type BlobStore, openBlobStore } from './model.js';
import { registerContainers } from './sweep.js';
import { registerUploads } from './uploads.js';

export interface BlobService {
  readonly store: BlobStore;
  readonly accounts: AccountStore;
  readonly pending: PendingCopies<BlobKey, PendingCopy>;
  readonly fetchSource: FetchSource;
  close(): Promise<void>;
}

export interface BlobServiceGround {
  readonly store: Store;
  readonly garbage: Garbage;
  readonly accounts: AccountStore;
  readonly content: ContentStore;
  readonly fetchSource: FetchSource;
  report(error: unknown): void;
}

export async function openBlobService(ground: BlobServiceGround): Promise<BlobService> {
  const { store, garbage, accounts, fetchSource, report } = ground;
  const { contents, maps, slices } = ground.content;
  const settings = (account: string) => accounts.get(account)?.settings ?? defaultSettings;
  const retentionDays = (account: string) => accounts.serviceSettings(account, 'blob').deleteRetention.days;
  const blobs = await openBlobStore({ store, contents, maps, slices, garbage, settings, retentionDays });
  registerBlockLists(blobs);
  registerUploads(blobs);
  registerContainers(blobs);
  garbage.also(() => sweepDue(blobs));
  const pending = new PendingCopies(copyTargets(blobs), fetchSource, report);
  await pending.resume();
  return { store: blobs, accounts, pending, fetchSource, close: () => pending.close() };
}
