// A first look before a long body is read: whether it would be refused as things are now. What binds is decided again in
// the transaction that stores it; this only spares both sides the bytes.

import { type BlobStore, type ContainerKey, type Found, findContainer } from './model.js';
import { seen } from './rows.js';

export function lookFirst(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  judge: (found: Found, now: number) => unknown,
): Promise<void> {
  return store.run(async (tx) => {
    const id = await findContainer(store, tx, container, 'read');
    judge(seen(await store.blobs.get(tx, [id, name], { lock: 'none' }), tx), tx.now);
  });
}
