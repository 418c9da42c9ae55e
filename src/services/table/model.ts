// What a table is made of.
//
//   tables      [account, name in lower case]   which incarnation has this name; changed by create and delete
//   policies    id                              stored access policies
//   entities    [id, partition key, row key]    in the order of UTF-16 code units, as queries return them
//   indexRows   [index, place, keys]            of the indexes that an operator declared (indexes.ts)
//   builds      index                           how far the builder of an index is

import { type Dictionary, type Transaction, type Utf16, utf16 } from '../../collections/index.js';
import type { AccessPolicy } from '../common/access-policy.js';
import { StorageError } from '../common/errors.js';
import type { Garbage } from '../common/garbage.js';
import type { Store } from '../common/store.js';
import type { Entity, EntityKey } from './entity.js';
import { type EntityRecord, entityCodec } from './entity-codec.js';
import type { PlaceValue } from './index-places.js';
import { RecentPages } from './recent-pages.js';

export interface TableEntry {
  readonly format: 1;
  readonly id: number;
  /** With the case it was created with. */
  readonly name: string;
  readonly indexes?: readonly TableIndex[] | undefined;
}

export interface TableIndex {
  readonly id: number;
  readonly property: string;
  /** Whether every entity is in it that should be. */
  readonly ready: boolean;
}

export interface IndexBuild {
  readonly table: TableKey;
  /** The last key that was brought in. */
  readonly after: readonly [partitionKey: string, rowKey: string] | undefined;
  readonly done: number;
}

export type TableKey = readonly [account: string, name: string];
export type RowKey = readonly [table: number, partitionKey: Utf16, rowKey: Utf16];

/** The two in the middle are the place of the entity's value (index-places.ts). */
export type IndexRowKey = readonly [
  index: number,
  rank: number,
  value: PlaceValue,
  partitionKey: Utf16,
  rowKey: Utf16,
];

export interface TableStore extends Store {
  readonly tables: Dictionary<TableKey, TableEntry>;
  readonly policies: Dictionary<number, readonly AccessPolicy[]>;
  readonly entities: Dictionary<RowKey, EntityRecord>;
  readonly indexRows: Dictionary<IndexRowKey, true>;
  readonly builds: Dictionary<number, IndexBuild>;
  readonly recent: RecentPages;
  readonly garbage: Garbage;
}

const garbageKind = 'table entities';
const indexGarbageKind = 'table index';

export async function openTableStore(store: Store, garbage: Garbage): Promise<TableStore> {
  const { state } = store;
  const tableStore: TableStore = {
    ...store,
    tables: await state.dictionary('$system/table/tables', { system: true }),
    policies: await state.dictionary('$system/table/policies', { system: true, count: false }),
    entities: await state.dictionary('$system/table/entities', {
      system: true,
      count: false,
      codec: entityCodec,
    }),
    indexRows: await state.dictionary('$system/table/index-rows', { system: true, count: false }),
    builds: await state.dictionary('$system/table/index-builds', { system: true, count: false }),
    recent: new RecentPages(),
    garbage,
  };
  state.engine.resets(() => tableStore.recent.reset());
  garbage.register(garbageKind, (id) => sweepRows(tableStore, tableStore.entities, id));
  garbage.register(indexGarbageKind, (id) => sweepRows(tableStore, tableStore.indexRows, id));
  return tableStore;
}

/** Names are found in any case. */
export function tableKey(account: string, name: string): TableKey {
  return [account, name.toLowerCase()];
}

export function rowKeyOf(table: number, { partitionKey, rowKey }: EntityKey): RowKey {
  return [table, utf16(partitionKey), utf16(rowKey)];
}

export function entityKeyOf([, partitionKey, rowKey]: RowKey): EntityKey {
  return { partitionKey: partitionKey.text, rowKey: rowKey.text };
}

export function entityOf([, partitionKey, rowKey]: RowKey, record: EntityRecord): Entity {
  return { partitionKey: partitionKey.text, rowKey: rowKey.text, ...record };
}

/** The table as it is now, and must still be when the transaction commits. */
export async function findTable(store: TableStore, tx: Transaction, key: TableKey): Promise<TableEntry> {
  const entry = await store.tables.get(tx, key, { lock: 'none', check: true });
  if (entry === undefined) throw new StorageError('TableNotFound');
  return entry;
}

/** All that a table holds goes with the commit. */
export async function discardTable(
  store: TableStore,
  tx: Transaction,
  { id, indexes = [] }: TableEntry,
): Promise<void> {
  await store.policies.delete(tx, id);
  await store.garbage.discard(tx, garbageKind, id);
  for (const index of indexes) await discardIndex(store, tx, index);
}

/** The rows of the index, and the builder's note of it, go with the commit. */
export async function discardIndex(store: TableStore, tx: Transaction, { id }: TableIndex): Promise<void> {
  await store.builds.delete(tx, id);
  await store.garbage.discard(tx, indexGarbageKind, id);
}

const sweepAtOnce = 500;

/** Both kinds of rows begin with the id of what they belong to. */
function sweepRows<K extends RowKey | IndexRowKey, V>(
  store: Store,
  rows: Dictionary<K, V>,
  id: number,
): Promise<boolean> {
  return store.run(async (tx) => {
    let swept = 0;
    for await (const key of rows.keys(tx, { prefix: [id], newest: true, pageSize: sweepAtOnce })) {
      await rows.delete(tx, key);
      if (++swept === sweepAtOnce) return true;
    }
    return false;
  });
}
