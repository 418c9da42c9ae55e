// What a table is made of.
//
//   tables      [account, name in lower case]   which incarnation has this name; changed by create and delete
//   policies    id                              stored access policies
//   entities    [id, partition key, row key]    in the order of UTF-16 code units, as queries return them

import { type Dictionary, type Transaction, type Utf16, utf16 } from '../../collections/index.js';
import type { AccessPolicy } from '../common/access-policy.js';
import { StorageError } from '../common/errors.js';
import type { Garbage } from '../common/garbage.js';
import type { Store } from '../common/store.js';
import type { Entity, EntityKey } from './entity.js';
import { type EntityRecord, entityCodec } from './entity-codec.js';

export interface TableEntry {
  readonly format: 1;
  readonly id: number;
  /** With the case it was created with. */
  readonly name: string;
}

export type TableKey = readonly [account: string, name: string];
export type RowKey = readonly [table: number, partitionKey: Utf16, rowKey: Utf16];

export interface TableStore extends Store {
  readonly tables: Dictionary<TableKey, TableEntry>;
  readonly policies: Dictionary<number, readonly AccessPolicy[]>;
  readonly entities: Dictionary<RowKey, EntityRecord>;
  readonly garbage: Garbage;
}

const garbageKind = 'table entities';

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
    garbage,
  };
  garbage.register(garbageKind, (id) => sweepEntities(tableStore, id));
  return tableStore;
}

/** Names are found in any case. */
export function tableKey(account: string, name: string): TableKey {
  return [account, name.toLowerCase()];
}

export function rowKeyOf(table: number, { partitionKey, rowKey }: EntityKey): RowKey {
  return [table, utf16(partitionKey), utf16(rowKey)];
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

/** The entities under this id go with the commit. */
export async function discardEntities(store: TableStore, tx: Transaction, id: number): Promise<void> {
  await store.garbage.discard(tx, garbageKind, id);
}

const sweepAtOnce = 500;

function sweepEntities(store: TableStore, id: number): Promise<boolean> {
  return store.run(async (tx) => {
    let swept = 0;
    for await (const key of store.entities.keys(tx, { prefix: [id], newest: true, pageSize: sweepAtOnce })) {
      await store.entities.delete(tx, key);
      if (++swept === sweepAtOnce) return true;
    }
    return false;
  });
}
