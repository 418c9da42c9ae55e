// All tables of an account: for who resets or removes an account.

import { discardEntities, type TableStore } from './model.js';

export async function clearTables(store: TableStore, account: string): Promise<void> {
  await store.run(async (tx) => {
    for await (const [key, { id }] of store.tables.entries(tx, { prefix: [account], newest: true })) {
      await store.tables.delete(tx, key);
      await store.policies.delete(tx, id);
      await discardEntities(store, tx, id);
    }
  });
}
