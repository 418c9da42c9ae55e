// What requests about page blobs say in their headers, checked.

import type { SequenceConditions } from '../../services/blob/page-blobs.js';
import type { SequenceChange } from '../../services/blob/properties.js';
import { invalidHeader, missingHeader, StorageError } from '../../services/common/errors.js';
import { pageBytes, type Range } from '../../services/common/range-map.js';
import type { Call } from '../call.js';
import { integerHeader, longHeader, wordHeader } from '../headers.js';
import { writeRange } from '../ranges.js';

const mostBytes = 8 * 1024 ** 4;

/** `x-ms-blob-content-length`: whole pages, 8 TiB at most. */
export function pageBlobLength(call: Call): number | undefined {
  const name = 'x-ms-blob-content-length';
  const length = integerHeader(call, name);
  if (length === undefined) return undefined;
  if (length % pageBytes !== 0) throw invalidHeader(name, String(length));
  if (length > mostBytes) {
    throw new StorageError('RequestBodyTooLarge', { details: { MaxLimit: String(mostBytes) } });
  }
  return length;
}

/** `x-ms-blob-sequence-number`: 0 to 2^63 - 1. */
export function sequenceNumber(call: Call): bigint | undefined {
  return longHeader(call, 'x-ms-blob-sequence-number');
}

/** What is to become of the sequence number; nothing if it stays. */
export function sequenceChange(call: Call): SequenceChange | undefined {
  const action = wordHeader(call, 'x-ms-sequence-number-action', ['max', 'update', 'increment']);
  const number = sequenceNumber(call);
  if (action === undefined) {
    if (number !== undefined) throw missingHeader('x-ms-sequence-number-action');
    return undefined;
  }
  if (action === 'increment') {
    if (number !== undefined) throw invalidHeader('x-ms-blob-sequence-number', String(number));
    return { action };
  }
  if (number === undefined) throw missingHeader('x-ms-blob-sequence-number');
  return { action, number };
}

export function sequenceConditions(call: Call): SequenceConditions {
  return {
    atMost: longHeader(call, 'x-ms-if-sequence-number-le'),
    below: longHeader(call, 'x-ms-if-sequence-number-lt'),
    equal: longHeader(call, 'x-ms-if-sequence-number-eq'),
  };
}

/** The pages that a write is for. */
export function pagesRange(call: Call): Range {
  const { start, end } = writeRange(call);
  const range = { start, end: end + 1 };
  if (range.start % pageBytes !== 0 || range.end % pageBytes !== 0)
    throw new StorageError('InvalidPageRange');
  return range;
}
