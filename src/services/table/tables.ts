// Tables: create, delete, query, and stored access policies.

import { type AccessPolicy, checkPolicies } from '../common/access-policy.js';
import { StorageError } from '../common/errors.js';
import { checkName } from '../common/names.js';
import { type Filter, matches } from './filter.js';
import { discardTable, findTable, type TableStore, tableKey } from './model.js';

export function createTable(store: TableStore, account: string, name: string): Promise<void> {
  checkName('table', name);
  return store.run(async (tx) => {
    const key = tableKey(account, name);
    const added = await store.tables.tryAdd(tx, key, { format: 1, id: tx.stamp(), name });
    if (!added) throw new StorageError('TableAlreadyExists');
  });
}

/** One write: the entities are swept. */
export function deleteTable(store: TableStore, account: string, name: string): Promise<void> {
  return store.run(async (tx) => {
    const entry = await store.tables.remove(tx, tableKey(account, name));
    if (entry === undefined) throw new StorageError('ResourceNotFound');
    await discardTable(store, tx, entry);
  });
}

/** The name as it was created. */
export function getTable(store: TableStore, account: string, name: string): Promise<string> {
  return store.run(async (tx) => {
    const entry = await store.tables.get(tx, tableKey(account, name), { lock: 'none' });
    if (entry === undefined) throw new StorageError('ResourceNotFound');
    return entry.name;
  });
}

export interface TableListing {
  readonly names: readonly string[];
  /** Where the next page begins, in lower case. */
  readonly next: string | undefined;
}

/** By name in any case, from `marker` on. */
export function queryTables(
  store: TableStore,
  account: string,
  query: { readonly filter: Filter; readonly marker: string | undefined; readonly top: number },
): Promise<TableListing> {
  return store.run(async (tx) => {
    const names: string[] = [];
    const from = query.marker === undefined ? {} : { from: [account, query.marker] };
    for await (const [[, folded], { name }] of store.tables.entries(tx, { prefix: [account], ...from })) {
      const property = (asked: string) =>
        asked === 'TableName' ? ({ type: 'Edm.String', value: name } as const) : undefined;
      if (!matches(query.filter, property)) continue;
      if (names.length === query.top) return { names, next: folded };
      names.push(name);
    }
    return { names, next: undefined };
  });
}

/** Nothing if there is no such table. */
export function tablePolicies(
  store: TableStore,
  account: string,
  name: string,
): Promise<readonly AccessPolicy[] | undefined> {
  return store.run(async (tx) => {
    const entry = await store.tables.get(tx, tableKey(account, name), { lock: 'none' });
    return entry && ((await store.policies.get(tx, entry.id, { lock: 'none' })) ?? []);
  });
}

export function setPolicies(
  store: TableStore,
  account: string,
  name: string,
  policies: readonly AccessPolicy[],
): Promise<void> {
  const checked = checkPolicies(policies, 'table');
  return store.run(async (tx) => {
    const { id } = await findTable(store, tx, tableKey(account, name));
    await store.policies.set(tx, id, checked);
  });
}
