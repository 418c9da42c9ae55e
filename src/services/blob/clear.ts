// All containers of an account, whatever leases they have: for who resets or removes an account.

import type { BlobStore } from './model.js';
import { discardContents } from './sweep.js';

export async function clearBlobs(store: BlobStore, account: string): Promise<void> {
  await store.run(async (tx) => {
    for await (const [key, { id }] of store.containers.entries(tx, { prefix: [account], newest: true })) {
      await store.containers.delete(tx, key);
      await store.properties.delete(tx, id);
      await discardContents(store, tx, id);
    }
  });
}
