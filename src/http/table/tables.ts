// Tables on the wire: create, delete, query, and their stored access policies.

import { orThrow, StorageError } from '../../services/common/errors.js';
import { everything, parseFilter } from '../../services/table/filter.js';
import { checkTop } from '../../services/table/query.js';
import type { TableService } from '../../services/table/service.js';
import * as tables from '../../services/table/tables.js';
import { readAcl, writeAcl } from '../acl.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { type Preference, preference } from '../odata.js';
import { xmlAnswer } from '../xml.js';
import { readTableName } from './entity-reader.js';
import { type JsonContext, tableJson, tablesJson } from './json.js';
import { continuationToken, parseContinuationToken } from './keys.js';
import { jsonAnswer, jsonContext, readJsonBody, tableOf } from './wire.js';

export async function createTable(call: Call, { store }: TableService): Promise<Answer> {
  const name = orThrow(readTableName(await readJsonBody(call)));
  await tables.createTable(store, call.account, name);
  const location = `${call.endpoint}/Tables('${name}')`;
  const links = ['Location', location, 'DataServiceId', location];
  return created(
    preference(call.headers['prefer']),
    links,
    () => tableJson(name, jsonContext(call)),
    jsonContext(call),
  );
}

/** What was made, or only that it was. */
export function created(
  wish: Preference,
  headers: readonly string[],
  body: () => string,
  context: JsonContext,
): Answer {
  const applied = wish === undefined ? headers : [...headers, 'Preference-Applied', wish];
  if (wish === 'return-no-content')
    return { status: 204, headers: [...applied, 'Cache-Control', 'no-cache'] };
  return jsonAnswer(201, body(), context, applied);
}

export async function deleteTable(call: Call, { store }: TableService): Promise<Answer> {
  await tables.deleteTable(store, call.account, call.container);
  return { status: 204, headers: ['Cache-Control', 'no-cache'] };
}

export async function getTable(call: Call, { store }: TableService): Promise<Answer> {
  const name = await tables.getTable(store, call.account, call.container);
  const context = jsonContext(call);
  return jsonAnswer(200, tableJson(name, context), context);
}

export async function queryTables(call: Call, { store }: TableService): Promise<Answer> {
  const context = jsonContext(call);
  const next = call.query.get('nexttablename');
  const filter = call.query.get('$filter');
  const listing = await tables.queryTables(store, call.account, {
    filter: filter === undefined ? everything : orThrow(parseFilter(filter)),
    marker: next === undefined ? undefined : orThrow(parseContinuationToken(next)),
    top: topOf(call),
  });
  const headers =
    listing.next === undefined ? [] : ['x-ms-continuation-NextTableName', continuationToken(listing.next)];
  return jsonAnswer(200, tablesJson(listing.names, context), context, headers);
}

const mostRows = 1000;

export function topOf(call: Call): number {
  const text = call.query.get('$top');
  if (text === undefined) return mostRows;
  if (!/^\d{1,9}$/.test(text)) throw new StorageError('InvalidInput');
  return checkTop(Number(text));
}

export async function getTableAcl(call: Call, { store }: TableService): Promise<Answer> {
  tableOf(call);
  const policies = await tables.tablePolicies(store, call.account, call.container);
  if (policies === undefined) throw new StorageError('TableNotFound');
  return xmlAnswer(200, writeAcl(policies, call.version), ['Cache-Control', 'no-cache']);
}

export async function setTableAcl(call: Call, { store }: TableService): Promise<Answer> {
  tableOf(call);
  await tables.setPolicies(store, call.account, call.container, await readAcl(call, 'table'));
  return { status: 204, headers: [] };
}
