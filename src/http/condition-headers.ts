// The conditional headers of a call. A guard that an operation would ignore is refused on a write, since
// ignoring it loses updates; on a read it is harmless and ignored. The file service has no conditions at
// all and says so; queues never look at them; tables have rules of their own.

import { type ConditionKind, type Conditions, parseConditions } from '../services/common/conditions.js';
import { StorageError } from '../services/common/errors.js';
import type { Call, ServiceName } from './call.js';
import type { Operation } from './operation.js';

const headers = [
  ['M', 'if-match'],
  ['N', 'if-none-match'],
  ['I', 'if-modified-since'],
  ['U', 'if-unmodified-since'],
  ['T', 'x-ms-if-tags'],
] as const;

const refusedOn: Record<ServiceName, 'writes' | 'all' | 'none'> = {
  blob: 'writes',
  file: 'all',
  queue: 'none',
  table: 'none',
};

/** Asked of every request: 400 `ConditionHeadersNotSupported`. */
export function checkConditions(call: Call, operation: Operation): void {
  const refused = refusedOn[call.service];
  if (refused === 'none') return;
  if (refused === 'writes' && (call.method === 'GET' || call.method === 'HEAD')) return;
  for (const [letter, name] of headers) {
    if (call.headers[name] !== undefined && !operation.conditions.includes(letter)) {
      throw new StorageError('ConditionHeadersNotSupported', { details: { HeaderName: name } });
    }
  }
}

/** Those the operation takes, parsed. */
export function conditionsOf(call: Call, operation: Operation, kind: ConditionKind): Conditions {
  const sent = {
    ifMatch: call.header('if-match'),
    ifNoneMatch: call.header('if-none-match'),
    ifModifiedSince: call.header('if-modified-since'),
    ifUnmodifiedSince: call.header('if-unmodified-since'),
    ifTags: call.header('x-ms-if-tags'),
  };
  return parseConditions(sent, kind, operation.conditions, call.version);
}

/** Those on the source of a copy: `x-ms-source-if-match` and its like. `accepts` as in the operation table. */
export function sourceConditionsOf(call: Call, kind: 'copySource' | 'source', accepts: string): Conditions {
  const sent = {
    ifMatch: call.header('x-ms-source-if-match'),
    ifNoneMatch: call.header('x-ms-source-if-none-match'),
    ifModifiedSince: call.header('x-ms-source-if-modified-since'),
    ifUnmodifiedSince: call.header('x-ms-source-if-unmodified-since'),
    ifTags: call.header('x-ms-source-if-tags'),
  };
  return parseConditions(sent, kind, accepts, call.version);
}
