// Which conditional headers an operation takes. A guard that would be ignored is refused on a write, since
// ignoring it loses updates; on a read it is harmless and ignored. The file service has no conditions at
// all and says so; queues never look at them; tables have rules of their own.

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

/** 400 `ConditionHeadersNotSupported`. */
export function checkConditions(call: Call, operation: Operation<never>): void {
  const refused = refusedOn[call.service];
  if (refused === 'none') return;
  if (refused === 'writes' && (call.method === 'GET' || call.method === 'HEAD')) return;
  for (const [letter, name] of headers) {
    if (call.headers[name] !== undefined && !operation.conditions.includes(letter)) {
      throw new StorageError('ConditionHeadersNotSupported', { details: { HeaderName: name } });
    }
  }
}
