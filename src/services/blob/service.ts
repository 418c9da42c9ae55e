// The blob service as protocols see it: its store, and its accounts.

import type { AccountStore } from '../common/account-store.js';
import { defaultSettings } from '../common/accounts.js';
import type { ContentStore } from '../common/content-store.js';
import type { Garbage } from '../common/garbage.js';
import type { Store } from '../common/store.js';
import { registerBlockLists } from './block-lists.js';
import { sweepDue } from './due.js';
import { type BlobStore, openBlobStore } from './model.js';
import { registerContainers } from './sweep.js';
import { registerUploads } from './uploads.js';

export interface BlobService {
  readonly store: BlobStore;
  readonly accounts: AccountStore;
}

export async function openBlobService(
  store: Store,
  garbage: Garbage,
  accounts: AccountStore,
  { contents, maps, slices }: ContentStore,
): Promise<BlobService> {
  const settings = (account: string) => accounts.get(account)?.settings ?? defaultSettings;
  const retentionDays = (account: string) => accounts.serviceSettings(account, 'blob').deleteRetention.days;
  const blobs = await openBlobStore({ store, contents, maps, slices, garbage, settings, retentionDays });
  registerBlockLists(blobs);
  registerUploads(blobs);
  registerContainers(blobs);
  garbage.also(() => sweepDue(blobs));
  return { store: blobs, accounts };
}
