// What time alone makes garbage: uploads that nobody commits, blobs whose time is over, what soft delete kept long
// enough. Nobody sees any of it once its time has come, swept or not; sweep-due.ts gives the space back. A row says
// when to look; whether there is something to do is decided by what is there then.

import type { Transaction } from '../../collections/index.js';
import type { BlobStore, DueKey } from './model.js';

export async function noteDue(store: BlobStore, tx: Transaction, key: DueKey): Promise<void> {
  await store.due.set(tx, key, true);
}
