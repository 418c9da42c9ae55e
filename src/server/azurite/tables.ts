// Tables and their entities, with their Timestamps.

import { readInsert } from '../../http/table/entity-reader.js';
import { checkPolicies } from '../../services/common/access-policy.js';
import { orThrow } from '../../services/common/errors.js';
import { within } from '../../services/common/store.js';
import { checkEntity, type EntityInput } from '../../services/table/entity.js';
import { storeEntity } from '../../services/table/indexes.js';
import { findTable, rowKeyOf, type TableStore, tableKey } from '../../services/table/model.js';
import { createTable, setPolicies } from '../../services/table/tables.js';
import { opened } from '../services.js';
import { type Import, policiesOf, stampOf } from './import.js';
import type { AzuriteEntity, AzuriteTable } from './workspace.js';

const atOnce = 200;

export async function importTables(run: Import): Promise<void> {
  const { store } = await opened(run.store, 'table');
  for (const table of run.workspace.tables) {
    const key = tableKey(table.account, table.table);
    const place = ['table', table.account, table.table] as const;
    if ((await run.underWay.done(place)) === undefined) {
      if (await store.run((tx) => store.tables.has(tx, key, { lock: 'none' }))) {
        run.note(`table ${table.account}/${table.table} is here already and was left alone`);
        continue;
      }
      const policies = checkPolicies(policiesOf(table.tableAcl), 'table');
      await store.run(async (tx) => {
        const inside = within(store, tx);
        await createTable(inside, table.account, table.table);
        await setPolicies(inside, table.account, table.table, policies);
        await run.underWay.note(tx, place, 0);
      });
      run.count('tables');
    }
    await importEntities(store, run, table);
    await run.underWay.finish(place);
  }
}

async function importEntities(store: TableStore, run: Import, table: AzuriteTable): Promise<void> {
  const entities = run.workspace.entities(table);
  for (let at = 0; at < entities.length; at += atOnce) {
    const batch = entities.slice(at, at + atOnce).flatMap((entity) => {
      const input = inputOf(entity);
      if (input !== undefined) return [{ input, stamp: stampOf(entity.lastModifiedTime) }];
      run.note(
        `entity ${entity.PartitionKey}/${entity.RowKey} of table ${table.table} was left out: it is not valid`,
      );
      return [];
    });
    const made = await store.run(async (tx) => {
      let count = 0;
      const entry = await findTable(store, tx, tableKey(table.account, table.table));
      for (const { input, stamp } of batch) {
        const row = rowKeyOf(entry.id, input);
        // One that is there came with an import that was cut off, or was written since.
        if (await store.entities.has(tx, row, { lock: 'update' })) continue;
        await storeEntity(store, tx, entry, row, undefined, { stamp, properties: input.properties });
        count++;
      }
      return count;
    });
    for (let one = 0; one < made; one++) run.count('entities');
  }
}

const typeSuffix = '@odata.type';

/** Azurite keeps what a client sent, with the text of a Guid in Base64. */
function inputOf({ PartitionKey, RowKey, properties }: AzuriteEntity): EntityInput | undefined {
  const members: Record<string, unknown> = { PartitionKey, RowKey };
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('Timestamp') || name.startsWith('odata.')) continue;
    const isGuid = properties[`${name}${typeSuffix}`] === 'Edm.Guid' && typeof value === 'string';
    members[name] = isGuid && !value.includes('-') ? Buffer.from(value, 'base64').toString() : value;
  }
  const read = readInsert(Buffer.from(JSON.stringify(members)));
  return read.ok && checkEntity(read.value).ok ? orThrow(read) : undefined;
}
