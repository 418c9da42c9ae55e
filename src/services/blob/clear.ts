// All containers of an account, also those that could be restored, whatever leases they have: for who resets or
// removes an account.

import type { BlobStore } from './model.js';
import { discardContents } from './sweep.js';

export async function clearBlobs(store: BlobStore, account: string): Promise<void> {
  const range = { prefix: [account], newest: true };
  await store.run(async (tx) => {
    for await (const [key, { id }] of store.containers.entries(tx, range)) {
      await store.containers.delete(tx, key);
      await discardContents(store, tx, id);
    }
    for await (const [key, { id }] of store.deletedContainers.entries(tx, range)) {
      await store.deletedContainers.delete(tx, key);
      await discardContents(store, tx, id);
    }
  });
}
