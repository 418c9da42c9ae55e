// Secondary indexes: beyond the reference, declared by the operator for a property of a table, and seen by nobody
// but in the time a query takes.
//
// Which indexes a table has stands in its entry, which every write reads and has checked when it commits. So from
// the commit that declares one, each write keeps its rows in the same transaction as the entity. What was there
// before is brought in by the builder (index-builder.ts); only then queries use it.

import type { Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import { checkName, type EntityKey, propertyOf } from './entity.js';
import type { EntityRecord } from './entity-codec.js';
import { comparePlaces, type Place, placeOf } from './index-places.js';
import {
  discardIndex,
  entityKeyOf,
  entityOf,
  type IndexRowKey,
  type RowKey,
  type TableEntry,
  type TableIndex,
  type TableKey,
  type TableStore,
} from './model.js';

const mostIndexes = 16;

export interface IndexState {
  readonly account: string;
  readonly table: string;
  readonly property: string;
  readonly state: 'building' | 'ready';
  /** Entities the builder has been at; nothing when it is done. */
  readonly done?: number;
}

/** Declares it; one that is there already is left as it is. */
export async function createIndex(store: TableStore, key: TableKey, property: string): Promise<IndexState> {
  checkProperty(property);
  return store.run(async (tx) => {
    const entry = await lockEntry(store, tx, key);
    const { indexes = [] } = entry;
    const known = indexes.find((index) => index.property === property);
    if (known !== undefined) return stateOf(store, tx, key, entry, known);
    if (indexes.length >= mostIndexes) refuse(`a table has ${mostIndexes} indexes at most`);
    const index: TableIndex = { id: tx.stamp(), property, ready: false };
    await store.tables.set(tx, key, { ...entry, indexes: [...indexes, index] });
    await store.builds.set(tx, index.id, { table: key, after: undefined, done: 0 });
    return stateOf(store, tx, key, entry, index);
  });
}

/** Whether there was one. Its rows are swept. */
export function dropIndex(store: TableStore, key: TableKey, property: string): Promise<boolean> {
  return store.run(async (tx) => {
    const entry = await lockEntry(store, tx, key);
    const index = entry.indexes?.find((one) => one.property === property);
    if (index === undefined) return false;
    const indexes = entry.indexes?.filter((one) => one !== index);
    await store.tables.set(tx, key, { ...entry, indexes: indexes?.length === 0 ? undefined : indexes });
    await discardIndex(store, tx, index);
    return true;
  });
}

/** Of all accounts, or of one. */
export function listIndexes(store: TableStore, account?: string): Promise<IndexState[]> {
  return store.run(async (tx) => {
    const found: IndexState[] = [];
    const range = account === undefined ? {} : { prefix: [account] };
    for await (const [key, entry] of store.tables.entries(tx, range)) {
      for (const index of entry.indexes ?? []) found.push(await stateOf(store, tx, key, entry, index));
    }
    return found;
  });
}

async function stateOf(
  store: TableStore,
  tx: Transaction,
  [account]: TableKey,
  { name }: TableEntry,
  { id, property, ready }: TableIndex,
): Promise<IndexState> {
  const state = { account, table: name, property };
  if (ready) return { ...state, state: 'ready' };
  const { done = 0 } = (await store.builds.get(tx, id, { lock: 'none' })) ?? {};
  return { ...state, state: 'building', done };
}

async function lockEntry(store: TableStore, tx: Transaction, key: TableKey): Promise<TableEntry> {
  const entry = await store.tables.get(tx, key, { lock: 'update' });
  if (entry === undefined) throw new StorageError('TableNotFound');
  return entry;
}

function checkProperty(property: string): void {
  if (property === 'PartitionKey' || property === 'RowKey')
    refuse(`${property} needs no index: entities lie in its order`);
  const refusal = checkName(property);
  if (refusal !== undefined) throw new StorageError(refusal);
}

function refuse(message: string): never {
  throw new StorageError('InvalidInput', { message });
}

/** Stores what an entity has become, or removes it where that is nothing, and its rows in the indexes. */
export async function storeEntity(
  store: TableStore,
  tx: Transaction,
  { id, indexes }: TableEntry,
  row: RowKey,
  before: EntityRecord | undefined,
  after: EntityRecord | undefined,
): Promise<void> {
  store.recent.writes(tx, id, entityKeyOf(row));
  if (after === undefined) await store.entities.delete(tx, row);
  else await store.entities.set(tx, row, after);
  for (const index of indexes ?? []) await indexEntity(store, tx, index, row, before, after);
}

export async function indexEntity(
  store: TableStore,
  tx: Transaction,
  { id, property }: TableIndex,
  row: RowKey,
  before: EntityRecord | undefined,
  after: EntityRecord | undefined,
): Promise<void> {
  const [old, place] = [placeIn(property, row, before), placeIn(property, row, after)];
  if (old !== undefined && place !== undefined && comparePlaces(old, place) === 0) return;
  if (old !== undefined) await store.indexRows.delete(tx, indexRowOf(id, old, row));
  if (place !== undefined) await store.indexRows.set(tx, indexRowOf(id, place, row), true);
}

/** Where an entity stands; nothing if it lacks the property. */
export function placeIn(property: string, row: RowKey, record: EntityRecord | undefined): Place | undefined {
  const value = record && propertyOf(entityOf(row, record), property);
  return value && placeOf(value);
}

export function indexRowOf(
  index: number,
  [rank, value]: Place,
  [, partitionKey, rowKey]: RowKey,
): IndexRowKey {
  return [index, rank, value, partitionKey, rowKey];
}

export function keyOfIndexRow([, , , { text: partitionKey }, { text: rowKey }]: IndexRowKey): EntityKey {
  return { partitionKey, rowKey };
}
