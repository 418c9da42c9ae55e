// All shares of an account, whatever leases they have and whoever has them open: for who resets or removes an account.

import { closeVolume } from './handles.js';
import type { FileService } from './service.js';
import { isLive } from './share-access.js';
import { discardShare } from './sweep.js';

export async function clearShares(service: FileService, account: string): Promise<void> {
  const { store } = service;
  const gone = await store.run(async (tx) => {
    const ids: number[] = [];
    const range = { prefix: [account], newest: true };
    for await (const [key, row] of store.shares.entries(tx, range)) {
      if (isLive(row)) ids.push(row.id);
      await store.shares.remove(tx, key);
    }
    for await (const [key, { share }] of store.deleted.entries(tx, range)) {
      ids.push(share.id);
      await store.deleted.delete(tx, key);
    }
    for (const id of ids) await discardShare(store, tx, id);
    return ids;
  });
  for (const id of gone) await closeVolume(service, String(id));
}
