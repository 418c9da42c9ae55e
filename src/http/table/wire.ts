// What table requests have in common: the level of metadata, the body as JSON, `Prefer`, the keys of a SAS.

import { StorageError } from '../../services/common/errors.js';
import { checkName } from '../../services/common/names.js';
import type { EntityKey } from '../../services/table/entity.js';
import { compareKeys, type EntityRange } from '../../services/table/filter-plan.js';
import { type TableKey, tableKey } from '../../services/table/model.js';
import type { Answer } from '../answer.js';
import type { Identity, KeyRange } from '../auth/types.js';
import type { Call } from '../call.js';
import { askedLevel, jsonType } from '../odata.js';
import type { JsonContext } from './json.js';

/** The largest body, of a transaction too. */
export const mostBytes = 4 * 1024 * 1024;
const jsonSince = '2013-08-15';

/** How an answer is to be written, or 415 if it cannot be written so. */
export function jsonContext(
  call: Pick<Call, 'query' | 'headers' | 'version' | 'endpoint' | 'account'>,
): JsonContext {
  const accept = (call.query.get('$format') ?? call.headers.accept ?? '').toLowerCase();
  if (call.version < jsonSince) throw new StorageError('JsonFormatNotSupported');
  const takesJson =
    accept === '' || accept.includes('json') || accept.includes('*/*') || accept.includes('multipart');
  if (!takesJson) {
    throw new StorageError(accept.includes('atom') ? 'AtomFormatNotSupported' : 'MediaTypeNotSupported');
  }
  const { endpoint, account } = call;
  const level = askedLevel(call) ?? 'minimalmetadata';
  return { endpoint, account, level, select: call.query.get('$select') };
}

export function jsonAnswer(
  status: number,
  body: string,
  { level }: JsonContext,
  headers: readonly string[] = [],
): Answer {
  const own = [
    'Content-Type',
    jsonType(level),
    'Cache-Control',
    'no-cache',
    'X-Content-Type-Options',
    'nosniff',
  ];
  return { status, headers: [...own, ...headers], body };
}

/** The table that the path names; 400 if none can be called so. */
export function tableOf(call: Call): TableKey {
  checkName('table', call.container);
  return tableKey(call.account, call.container);
}

/** What was sent, which must say that it is JSON. */
export async function readJsonBody(call: Call): Promise<Buffer> {
  const type = call.headers['content-type'];
  checkContentType(type);
  const body = await call.body.readAll(mostBytes);
  if (type === undefined && body.length > 0) throw new StorageError('MediaTypeNotSupported');
  return body;
}

/** Inside a batch it may be left out. */
export function checkContentType(type: string | undefined): void {
  if (type === undefined || type.toLowerCase().includes('json')) return;
  throw new StorageError(
    type.toLowerCase().includes('atom') ? 'AtomFormatNotSupported' : 'MediaTypeNotSupported',
  );
}

/** The keys that a SAS lets its holder see; nothing: all. */
export function keysOf(identity: Identity): readonly EntityRange[] | undefined {
  if (identity.kind !== 'sas' || identity.keys === undefined) return undefined;
  return [rangeOf(identity.keys)];
}

/** A character behind every text that begins with the same: the smallest text above `text`. */
const next = '\u0000';

function rangeOf({ startPartition, startRow, endPartition, endRow }: KeyRange): EntityRange {
  const from: EntityKey = { partitionKey: startPartition ?? '', rowKey: startRow ?? '' };
  if (endPartition === undefined) return { from, to: undefined };
  if (endRow === undefined) return { from, to: { partitionKey: endPartition + next, rowKey: '' } };
  return { from, to: { partitionKey: endPartition, rowKey: endRow + next } };
}

/** 403 for a write outside the keys of a SAS. */
export function checkKeys(identity: Identity, key: EntityKey): void {
  const range = keysOf(identity)?.[0];
  if (range === undefined) return;
  const inside =
    compareKeys(key, range.from) >= 0 && (range.to === undefined || compareKeys(key, range.to) < 0);
  if (!inside) throw new StorageError('AuthorizationFailure');
}
