// The table service as protocols see it: its store, and the properties of its accounts.

import type { AccountStore } from '../common/account-store.js';
import type { Garbage } from '../common/garbage.js';
import type { Store } from '../common/store.js';
import { openTableStore, type TableStore } from './model.js';

export interface TableService {
  readonly store: TableStore;
  readonly accounts: AccountStore;
}

export async function openTableService(
  store: Store,
  garbage: Garbage,
  accounts: AccountStore,
): Promise<TableService> {
  return { store: await openTableStore(store, garbage), accounts };
}
