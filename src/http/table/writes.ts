// A write of one entity, by itself or inside a transaction: from the request to what is asked of the service,
// and from what came of it to an answer.

import { orThrow, StorageError } from '../../services/common/errors.js';
import type { EntityWrite, Written } from '../../services/table/entities.js';
import { entityEtag, type Match, parseMatch } from '../../services/table/entity.js';
import type { Answer } from '../answer.js';
import { preference } from '../odata.js';
import { readInsert, readUpdate } from './entity-reader.js';
import { entityJson, type JsonContext } from './json.js';
import { entityPath, parseEntityKey } from './keys.js';
import { created } from './tables.js';
import { checkContentType } from './wire.js';

export interface WriteRequest {
  readonly method: string;
  readonly table: string;
  /** What stands between the parentheses; empty for an insert. */
  readonly keys: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export function readWrite(request: WriteRequest): EntityWrite {
  const match = matchOf(request);
  if (request.method === 'POST') {
    if (match !== undefined) throw new StorageError('InvalidInput');
    checkContentType(headerOf(request, 'content-type'));
    return { kind: 'insert', entity: orThrow(readInsert(request.body)) };
  }
  const key = orThrow(parseEntityKey(request.keys));
  if (request.method === 'DELETE') {
    if (match === undefined) throw new StorageError('InvalidInput');
    return { kind: 'delete', key, match };
  }
  checkContentType(headerOf(request, 'content-type'));
  const entity = orThrow(readUpdate(request.body, key));
  return { kind: request.method === 'PUT' ? 'replace' : 'merge', entity, match };
}

function headerOf({ headers }: WriteRequest, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

const badEtag = (text: string) =>
  `The etag value '${text}' specified in one of the request headers is not valid. Please make sure only one etag value is specified and is valid.`;

function matchOf(request: WriteRequest): Match | undefined {
  if (headerOf(request, 'if-none-match') !== undefined) {
    const message = `If-None-Match HTTP header cannot be specified for ${request.method} operations.`;
    throw new StorageError('InvalidInput', { message });
  }
  const text = headerOf(request, 'if-match');
  if (text === undefined) return undefined;
  return orThrow(parseMatch(text), { message: badEtag(text) });
}

export function writeAnswer(
  request: WriteRequest,
  write: EntityWrite,
  written: Written,
  context: JsonContext,
): Answer {
  if (written === undefined) return { status: 204, headers: ['Cache-Control', 'no-cache'] };
  const etag = ['ETag', entityEtag(written.stamp)];
  if (write.kind !== 'insert') return { status: 204, headers: [...etag, 'Cache-Control', 'no-cache'] };
  const location = `${context.endpoint}/${entityPath(request.table, written)}`;
  const headers = [...etag, 'Location', location, 'DataServiceId', location];
  const body = () => entityJson(written, request.table, context);
  return created(preference(request.headers['prefer']), headers, body, context);
}
