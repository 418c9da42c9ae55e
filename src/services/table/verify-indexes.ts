// Whether the indexes of all tables say what their entities say: for who verifies a store. One moment of it.

import type { Transaction } from '../../collections/index.js';
import { comparePlaces } from './index-places.js';
import { indexRowOf, placeIn } from './indexes.js';
import { rowKeyOf, type TableEntry, type TableIndex, type TableStore } from './model.js';

export interface IndexReport {
  readonly indexes: number;
  readonly rows: number;
  /** A sentence each. */
  readonly damage: readonly string[];
}

export async function verifyIndexes(store: TableStore): Promise<IndexReport> {
  const damage: string[] = [];
  let [indexes, rows] = [0, 0];
  await using tx = store.state.begin();
  for await (const [[account], table] of store.tables.entries(tx)) {
    for (const index of table.indexes ?? []) {
      const found = await countRows(store, tx, table, index);
      const missing = index.ready ? await countMissing(store, tx, table, index) : 0;
      indexes++;
      rows += found.rows;
      const name = `the index on ${index.property} of table ${account}/${table.name}`;
      const remedy = 'delete it and create it again';
      if (found.wrong > 0) damage.push(`${name} has ${found.wrong} rows that no entity has: ${remedy}`);
      if (missing > 0) damage.push(`${name} lacks ${missing} entities: ${remedy}`);
    }
  }
  return { indexes, rows, damage };
}

async function countRows(
  store: TableStore,
  tx: Transaction,
  table: TableEntry,
  { id, property }: TableIndex,
): Promise<{ rows: number; wrong: number }> {
  let [rows, wrong] = [0, 0];
  for await (const [, rank, value, partitionKey, rowKey] of store.indexRows.keys(tx, { prefix: [id] })) {
    rows++;
    const row = rowKeyOf(table.id, { partitionKey: partitionKey.text, rowKey: rowKey.text });
    const place = placeIn(property, row, await store.entities.get(tx, row, { lock: 'snapshot' }));
    if (place === undefined || comparePlaces(place, [rank, value]) !== 0) wrong++;
  }
  return { rows, wrong };
}

async function countMissing(
  store: TableStore,
  tx: Transaction,
  table: TableEntry,
  { id, property }: TableIndex,
): Promise<number> {
  let missing = 0;
  for await (const [row, record] of store.entities.entries(tx, { prefix: [table.id] })) {
    const place = placeIn(property, row, record);
    if (place === undefined) continue;
    const found = await store.indexRows.has(tx, indexRowOf(id, place, row), { lock: 'snapshot' });
    if (!found) missing++;
  }
  return missing;
}
