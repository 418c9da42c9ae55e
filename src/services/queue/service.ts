// The queue service as protocols see it: its store, and the properties of its accounts.

import type { AccountStore } from '../common/account-store.js';
import type { Garbage } from '../common/garbage.js';
import type { Store } from '../common/store.js';
import { ExpiredSweep } from './expired.js';
import { openQueueStore, type QueueStore } from './model.js';

export interface QueueService {
  readonly store: QueueStore;
  readonly accounts: AccountStore;
}

export async function openQueueService(
  store: Store,
  garbage: Garbage,
  accounts: AccountStore,
): Promise<QueueService> {
  const queueStore = await openQueueStore(store, garbage);
  const expired = new ExpiredSweep(queueStore);
  garbage.also(() => expired.round());
  return { store: queueStore, accounts };
}
