// All containers of an account, also those that could be restored, whatever leases they have: for who resets or
// removes an account.

import type { Transaction } from '../../collections/index.js';
import type { BlobStore } from './model.js';
import { discardContents } from './sweep.js';

export async function clearBlobs(store: BlobStore, account: string): Promise<void> {
  const range = { prefix: [account], newest: true };
  await store.run(async (tx) => {
    for await (const [key, { id }] of store.containers.entries(tx, range)) {
      await store.containers.delete(tx, key);
      await discard(store, tx, id);
    }
    for await (const [key, { id }] of store.deletedContainers.entries(tx, range)) {
      await store.deletedContainers.delete(tx, key);
      await discard(store, tx, id);
    }
  });
}

async function discard(store: BlobStore, tx: Transaction, id: number): Promise<void> {
  await store.properties.delete(tx, id);
  await discardContents(store, tx, id);
}
