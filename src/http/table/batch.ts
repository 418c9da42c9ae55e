// Entity group transactions: `POST /$batch`. One change set of up to 100 writes to one partition of one table,
// all or nothing; or one query by itself.
//
// What is wrong with the frame is an answer of its own, 400. What is wrong with an operation is told inside,
// as the answer of that operation alone, with its index before the message.

import { randomUUID } from 'node:crypto';
import { type ErrorCode, orThrow, StorageError } from '../../services/common/errors.js';
import type { EntityWrite } from '../../services/table/entities.js';
import * as entities from '../../services/table/entities.js';
import { entityEtag } from '../../services/table/entity.js';
import { tableKey } from '../../services/table/model.js';
import type { TableService } from '../../services/table/service.js';
import type { Answer } from '../answer.js';
import { type Access, refusalOf } from '../auth/permissions.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { errorAnswer } from '../errors.js';
import {
  boundaryOf,
  type InnerRequest,
  multipartType,
  nestedPart,
  type OutPart,
  type Part,
  parseInnerRequest,
  parseMultipart,
  writeInnerAnswer,
  writeMultipart,
} from '../multipart.js';
import { placeOf } from '../places.js';
import { parseQuery } from '../uri.js';
import { accessOf, readAccess } from './access.js';
import { entityJson, type JsonContext } from './json.js';
import { parseEntityKey } from './keys.js';
import { checkKeys, jsonAnswer, jsonContext, mostBytes } from './wire.js';
import { readWrite, type WriteRequest, writeAnswer } from './writes.js';

const mostOperations = 100;

export async function entityGroupTransaction(
  call: Call,
  service: TableService,
  identity: Identity,
): Promise<Answer> {
  const boundary = boundaryOf(call.headers['content-type']);
  if (boundary === undefined) throw new StorageError('InvalidInput');
  const parts = orThrow(parseMultipart(await call.body.readAll(mostBytes), boundary, 2));
  const [part, ...others] = parts;
  if (part === undefined || others.length > 0) throw new StorageError('InvalidInput');
  const changeset = boundaryOf(part.headers.get('content-type'));
  if (changeset === undefined) return batchAnswer([await runQuery(call, service, identity, part)]);
  const operations = orThrow(parseMultipart(part.body, changeset, mostOperations));
  const answers = await runChangeset(call, service, identity, operations);
  return batchAnswer([nestedPart(`changesetresponse_${randomUUID()}`, answers)]);
}

function batchAnswer(parts: readonly OutPart[]): Answer {
  const boundary = `batchresponse_${randomUUID()}`;
  const headers = [
    'Content-Type',
    multipartType(boundary),
    'Cache-Control',
    'no-cache',
    'X-Content-Type-Options',
    'nosniff',
  ];
  return { status: 202, headers, body: writeMultipart(boundary, parts) };
}

interface Operation {
  readonly request: WriteRequest;
  readonly contentId: string | undefined;
  readonly context: JsonContext;
}

async function runChangeset(
  call: Call,
  { store }: TableService,
  identity: Identity,
  parts: readonly Part[],
): Promise<OutPart[]> {
  if (parts.length === 0) throw new StorageError('InvalidInput');
  const operations = parts.map((part) => readOperation(call, part));
  try {
    const writes = operations.map((operation, index) =>
      atIndex(index, () => checkedWrite(operation, identity)),
    );
    checkTogether(operations, writes);
    const table = tableKey(call.account, (operations[0] as Operation).request.table);
    const written = await entities.writeEntities(store, table, writes);
    return operations.map(({ request, contentId, context }, index) =>
      answerPart(writeAnswer(request, writes[index] as EntityWrite, written[index], context), contentId),
    );
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const failed = operations[error.index ?? 0];
    return [answerPart(refusalAnswer(call, error), failed?.contentId)];
  }
}

function atIndex<T>(index: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw new StorageError(error.code, { message: error.message, details: error.details, index });
  }
}

/** One entity by its keys, which is all that clients ask for in a batch. */
async function runQuery(
  call: Call,
  { store }: TableService,
  identity: Identity,
  part: Part,
): Promise<OutPart> {
  const operation = readOperation(call, part);
  const { request, context, contentId } = operation;
  if (request.method !== 'GET') throw new StorageError('InvalidInput');
  try {
    const key = orThrow(parseEntityKey(request.keys));
    checkMember(identity, request.table, readAccess);
    checkKeys(identity, key);
    const entity = await entities.getEntity(store, tableKey(call.account, request.table), key);
    const etag = ['ETag', entityEtag(entity.stamp)];
    return answerPart(jsonAnswer(200, entityJson(entity, request.table, context), context, etag), contentId);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const refusal = new StorageError(error.code, {
      message: error.message,
      details: error.details,
      index: 0,
    });
    return answerPart(refusalAnswer(call, refusal), contentId);
  }
}

function refusalAnswer(call: Call, error: StorageError): Answer {
  return errorAnswer(error, { service: 'table', id: call.id, now: call.startedAt, call });
}

function readOperation(call: Call, part: Part): Operation {
  const request = orThrow(parseInnerRequest(part.body));
  const { resource, container, name, query } = placeIn(call, request);
  const insert = request.method === 'POST' && resource === '/{table}';
  if (!insert && resource !== '/{table}({keys})') throw new StorageError('InvalidInput');
  const { version, endpoint, account } = call;
  return {
    request: {
      method: request.headers['x-http-method'] ?? request.method,
      table: container,
      keys: name,
      headers: request.headers,
      body: request.body,
    },
    contentId: request.headers['content-id'] ?? part.headers.get('content-id'),
    context: jsonContext({ version, endpoint, account, query, headers: request.headers }),
  };
}

/** The path inside a part: absolute or not, with or without the account. */
function placeIn(
  call: Call,
  { url }: InnerRequest,
): ReturnType<typeof placeOf> & { query: ReadonlyMap<string, string> } {
  const [target = '', rawQuery = ''] = url.split('?');
  const path = target.replace(/^https?:\/\/[^/]*/i, '');
  const account = `/${call.account}/`;
  const query = parseQuery(rawQuery);
  return {
    ...placeOf('table', path.startsWith(account) ? path.slice(account.length - 1) : path, query),
    query,
  };
}

const methods = ['POST', 'PUT', 'MERGE', 'PATCH', 'DELETE'];

function checkedWrite({ request }: Operation, identity: Identity): EntityWrite {
  if (!methods.includes(request.method)) throw new StorageError('InvalidInput');
  const write = readWrite(request);
  checkMember(identity, request.table, accessOf(write));
  checkKeys(identity, entities.keyOfWrite(write));
  return write;
}

/** Whoever may ask for the batch must be allowed each operation in it. */
function checkMember(identity: Identity, table: string, access: Access): void {
  const refusal = refusalOf(identity, access);
  if (refusal !== undefined) throw new StorageError(refusal);
  if (identity.kind === 'sas' && identity.table !== undefined && identity.table !== table.toLowerCase()) {
    throw new StorageError('AuthorizationFailure');
  }
}

function refuseAt(index: number, code: ErrorCode, message?: string): never {
  throw new StorageError(code, { index, message });
}

/** One table, one partition, no entity twice, a hundred at most. */
function checkTogether(operations: readonly Operation[], writes: readonly EntityWrite[]): void {
  if (writes.length > mostOperations) {
    const message = 'The batch request operation exceeds the maximum 100 changes per change set.';
    refuseAt(mostOperations - 1, 'InvalidInput', message);
  }
  const table = operations[0]?.request.table.toLowerCase();
  const partition = writes[0] === undefined ? '' : entities.keyOfWrite(writes[0]).partitionKey;
  const rows = new Set<string>();
  writes.forEach((write, index) => {
    const { partitionKey, rowKey } = entities.keyOfWrite(write);
    if (operations[index]?.request.table.toLowerCase() !== table) refuseAt(index, 'InvalidInput');
    if (partitionKey !== partition) refuseAt(index, 'CommandsInBatchActOnDifferentPartitions');
    if (rows.has(rowKey)) refuseAt(index, 'InvalidDuplicateRow');
    rows.add(rowKey);
  });
}

function answerPart(answer: Answer, contentId: string | undefined): OutPart {
  const id = contentId === undefined ? [] : ['Content-ID', contentId];
  const version = answer.body === undefined ? '1.0;' : '3.0;';
  const headers = [...id, ...answer.headers, 'DataServiceVersion', version];
  const body = writeInnerAnswer({ status: answer.status, headers, body: answer.body as string | undefined });
  return { headers: ['Content-Type', 'application/http', 'Content-Transfer-Encoding', 'binary'], body };
}
