// Entities: reading one, and writing one or up to a hundred in one transaction.
//
// What a write makes of the entity that is there, or is not, is decided by `decide`:
//
//                     absent      there, no If-Match   there, If-Match fits    there, does not fit
//   insert            stored      409                  -                       -
//   replace, merge    stored      stored               stored                  412
//     with If-Match   404
//   delete            404         -                    gone                    412

import { ok, type Result, refuse } from '../../base/result.js';
import type { Stamp } from '../../base/stamps.js';
import type { Transaction } from '../../collections/index.js';
import { type ErrorCode, StorageError } from '../common/errors.js';
import {
  checkEntity,
  type Entity,
  type EntityInput,
  type EntityKey,
  type Match,
  matchesStamp,
  mergeProperties,
} from './entity.js';
import { storeEntity } from './indexes.js';
import { entityOf, findTable, rowKeyOf, type TableEntry, type TableKey, type TableStore } from './model.js';

export type EntityWrite = Readonly<
  | { kind: 'insert'; entity: EntityInput }
  /** Without a match it is an upsert. */
  | { kind: 'replace' | 'merge'; entity: EntityInput; match: Match | undefined }
  | { kind: 'delete'; key: EntityKey; match: Match }
>;

export function keyOfWrite(write: EntityWrite): EntityKey {
  return write.kind === 'delete' ? write.key : write.entity;
}

/** What is to be stored; nothing: it is removed. */
export function decide(
  current: Entity | undefined,
  write: EntityWrite,
): Result<EntityInput | undefined, ErrorCode> {
  if (write.kind === 'insert')
    return current === undefined ? checkEntity(write.entity) : refuse('EntityAlreadyExists');
  if (write.match !== undefined) {
    if (current === undefined) return refuse('ResourceNotFound');
    if (!matchesStamp(write.match, current.stamp)) return refuse('UpdateConditionNotSatisfied');
  }
  if (write.kind === 'delete') return ok(undefined);
  if (write.kind === 'replace' || current === undefined) return checkEntity(write.entity);
  return checkEntity({
    ...write.entity,
    properties: mergeProperties(current.properties, write.entity.properties),
  });
}

export function getEntity(store: TableStore, table: TableKey, key: EntityKey): Promise<Entity> {
  return store.run(async (tx) => {
    const { id } = await findTable(store, tx, table);
    const row = rowKeyOf(id, key);
    const record = await store.entities.get(tx, row, { lock: 'none' });
    if (record === undefined) throw new StorageError('ResourceNotFound');
    return entityOf(row, record);
  });
}

/** What a write left behind; nothing after a delete. */
export type Written = Entity | undefined;

export function writeEntity(store: TableStore, table: TableKey, write: EntityWrite): Promise<Written> {
  return store.run(async (tx) => {
    return applyWrite(store, tx, await findTable(store, tx, table), write);
  });
}

/** All or nothing. A refusal carries the index of the write that caused it. */
export function writeEntities(
  store: TableStore,
  table: TableKey,
  writes: readonly EntityWrite[],
): Promise<readonly Written[]> {
  return store.run(async (tx) => {
    const entry = await indexed(0, () => findTable(store, tx, table));
    const written: Written[] = [];
    for (const [index, write] of writes.entries()) {
      written.push(await indexed(index, () => applyWrite(store, tx, entry, write)));
    }
    return written;
  });
}

async function indexed<T>(index: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StorageError)
      throw new StorageError(error.code, { ...error, message: error.message, index });
    throw error;
  }
}

async function applyWrite(
  store: TableStore,
  tx: Transaction,
  table: TableEntry,
  write: EntityWrite,
): Promise<Written> {
  const row = rowKeyOf(table.id, keyOfWrite(write));
  const record = await store.entities.get(tx, row, { lock: 'update' });
  const outcome = decide(record && entityOf(row, record), write);
  if (!outcome.ok) throw new StorageError(outcome.code);
  if (outcome.value === undefined) {
    await storeEntity(store, tx, table, row, record, undefined);
    return undefined;
  }
  const stamp: Stamp = tx.stamp(record?.stamp);
  await storeEntity(store, tx, table, row, record, { stamp, properties: outcome.value.properties });
  return { ...outcome.value, stamp };
}
