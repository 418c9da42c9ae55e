// Entities on the wire: one at a time, and queries.

import { orThrow, StorageError } from '../../services/common/errors.js';
import * as entities from '../../services/table/entities.js';
import { type EntityKey, entityEtag } from '../../services/table/entity.js';
import { everything, parseFilter } from '../../services/table/filter.js';
import { queryEntities as query } from '../../services/table/query.js';
import type { TableService } from '../../services/table/service.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { entitiesJson, entityJson } from './json.js';
import { continuationToken, parseContinuationToken, parseEntityKey } from './keys.js';
import { topOf } from './tables.js';
import { checkKeys, jsonAnswer, jsonContext, keysOf, readJsonBody, tableOf } from './wire.js';
import { readWrite, writeAnswer } from './writes.js';

/** Insert, update, merge, both upserts, delete. */
export async function writeEntity(call: Call, { store }: TableService, identity: Identity): Promise<Answer> {
  const context = jsonContext(call);
  const request = {
    method: call.method,
    table: call.container,
    keys: call.name,
    headers: call.headers,
    body: call.method === 'DELETE' ? none : await readJsonBody(call),
  };
  const write = readWrite(request);
  checkKeys(identity, entities.keyOfWrite(write));
  const written = await entities.writeEntity(store, tableOf(call), write);
  return writeAnswer(request, write, written, context);
}

const none = Buffer.alloc(0);

export async function getEntity(call: Call, { store }: TableService, identity: Identity): Promise<Answer> {
  const context = jsonContext(call);
  const key = orThrow(parseEntityKey(call.name));
  checkKeys(identity, key);
  const entity = await entities.getEntity(store, tableOf(call), key);
  const body = entityJson(entity, call.container, context);
  return jsonAnswer(200, body, context, ['ETag', entityEtag(entity.stamp)]);
}

const unsupported = ['$orderby', '$skip', '$expand', '$inlinecount', '$count'];

export async function queryEntities(
  call: Call,
  { store }: TableService,
  identity: Identity,
): Promise<Answer> {
  if (unsupported.some((option) => call.query.has(option))) throw new StorageError('NotImplemented');
  const context = jsonContext(call);
  const filter = call.query.get('$filter');
  const page = await query(store, tableOf(call), {
    filter: filter === undefined ? everything : orThrow(parseFilter(filter)),
    top: topOf(call),
    from: continuationOf(call),
    within: keysOf(identity),
  });
  const headers =
    page.next === undefined
      ? []
      : [
          'x-ms-continuation-NextPartitionKey',
          continuationToken(page.next.partitionKey),
          'x-ms-continuation-NextRowKey',
          continuationToken(page.next.rowKey),
        ];
  return jsonAnswer(200, entitiesJson(page.entities, call.container, context), context, headers);
}

function continuationOf(call: Call): EntityKey | undefined {
  const partition = call.query.get('nextpartitionkey');
  const row = call.query.get('nextrowkey');
  if (!partition) return undefined;
  const rowKey = row ? orThrow(parseContinuationToken(row)) : '';
  return { partitionKey: orThrow(parseContinuationToken(partition)), rowKey };
}
