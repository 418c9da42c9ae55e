// The table service as protocols see it: its store, and the properties of its accounts.

import type { AccountStore } from '../common/account-store.js';
import type { Garbage } from '../common/garbage.js';
import type { Store } from '../common/store.js';
import { IndexBuilder } from './index-builder.js';
import { openTableStore, type TableStore } from './model.js';

export interface TableService {
  readonly store: TableStore;
  readonly accounts: AccountStore;
  readonly indexBuilder: IndexBuilder;
}

export async function openTableService(
  store: Store,
  garbage: Garbage,
  accounts: AccountStore,
  report: (error: unknown) => void,
): Promise<TableService> {
  const tableStore = await openTableStore(store, garbage);
  return { store: tableStore, accounts, indexBuilder: new IndexBuilder(tableStore, report) };
}
