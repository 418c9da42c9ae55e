// All tables of an account: for who resets or removes an account.

import { discardTable, type TableStore } from './model.js';

export async function clearTables(store: TableStore, account: string): Promise<void> {
  await store.run(async (tx) => {
    for await (const [key, entry] of store.tables.entries(tx, { prefix: [account], newest: true })) {
      await store.tables.delete(tx, key);
      await discardTable(store, tx, entry);
    }
  });
}
