// The bytes that an operation takes from a URL: of a blob of this server, or of another server.

import { parseHttpDate } from '../../base/times.js';
import { readBlob } from '../../services/blob/blobs.js';
import type { BlobRecord, ContentHeaders } from '../../services/blob/model.js';
import type { BlobService } from '../../services/blob/service.js';
import { invalidHeader, StorageError } from '../../services/common/errors.js';
import type { Metadata } from '../../services/common/metadata.js';
import type { Tags } from '../../services/common/tags-filter.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { sourceConditionsOf } from '../condition-headers.js';
import { requireHeader } from '../headers.js';
import type { Inside } from '../operation.js';
import { type ByteRange, cutRange, lengthOf } from '../ranges.js';
import { sourceAddress, tokenHeaders } from '../source-head.js';
import { statusOf } from '../status.js';
import { localSource, sourceHeader } from './copy-source.js';
import type { ForeignHead } from './foreign-head.js';
import { foreignHead } from './foreign-head.js';

export interface SourceBytes {
  readonly length: number;
  readonly body: AsyncIterable<Buffer>;
  readonly headers: ContentHeaders;
  readonly metadata: Metadata;
  readonly tags: Tags;
}

/**
 * A range of the source, or all of it. What the source refuses is told with its status: 304 and 412 as
 * `conditionCode`, the rest as `CannotVerifyCopySource`.
 */
export async function openSource(
  call: Call,
  service: BlobService,
  identity: Identity,
  inside: Inside,
  range: ByteRange | undefined,
  kind: 'copySource' | 'source',
): Promise<SourceBytes> {
  const local = await localSource(call, identity, inside);
  if (local === undefined) return openForeign(call, service, inside, range, kind);
  const guards = { conditions: sourceConditionsOf(call, 'source', 'MNIUT'), leaseId: undefined };
  const select = ({ length }: BlobRecord) => {
    if (range === undefined) return { offset: 0, length };
    const part = cutRange(range, length);
    return { offset: part.start, length: lengthOf(part) };
  };
  try {
    const { blob, slice, reader } = await readBlob(
      service.store,
      local.container,
      local.address,
      guards,
      select,
    );
    return {
      length: slice?.length ?? 0,
      body: reader ?? none(),
      headers: blob.headers,
      metadata: blob.metadata,
      tags: blob.tags ?? [],
    };
  } catch (error) {
    throw error instanceof StorageError ? refusalOfSource(statusOf(error), error.message, kind) : error;
  }
}

async function* none(): AsyncGenerator<Buffer> {}

async function openForeign(
  call: Call,
  service: BlobService,
  inside: Inside,
  range: ByteRange | undefined,
  kind: 'copySource' | 'source',
): Promise<SourceBytes> {
  const address = sourceAddress(call, sourceHeader, requireHeader(call, sourceHeader), inside.ports);
  const answer = await service.fetchSource(address, {
    ...conditionHeaders(call),
    ...(range === undefined ? {} : { range: rangeText(range) }),
  });
  const wanted = range === undefined ? 200 : 206;
  try {
    if (answer.status !== wanted) {
      throw refusalOfSource(answer.status, `The source answered ${answer.status}.`, kind);
    }
    const head = foreignHead(answer.headers);
    return { ...head, length: requireLength(head), body: answer.body, tags: [] };
  } catch (error) {
    answer.discard();
    throw error;
  }
}

export function requireLength({ length }: ForeignHead): number {
  if (length !== undefined) return length;
  throw new StorageError('CannotVerifyCopySource', {
    status: 400,
    message: 'The source does not tell its length.',
  });
}

function rangeText({ start, end }: ByteRange): string {
  return `bytes=${start}-${Number.isFinite(end) ? end : ''}`;
}

const conditions = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'] as const;

/** As the source takes them itself, and the token for it. */
export function conditionHeaders(call: Call): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of conditions) {
    const value = call.header(`x-ms-source-${name}`);
    if (value === undefined) continue;
    if (name.endsWith('since') && parseHttpDate(value) === undefined)
      throw invalidHeader(`x-ms-source-${name}`, value);
    headers[name] = value;
  }
  return { ...headers, ...tokenHeaders(call) };
}

export function refusalOfSource(
  status: number,
  message: string,
  kind: 'copySource' | 'source',
): StorageError {
  if (kind === 'copySource' && (status === 304 || status === 412))
    return new StorageError('SourceConditionNotMet');
  const told = status === 401 ? 403 : status >= 300 && status < 500 ? status : 500;
  return new StorageError('CannotVerifyCopySource', { status: told, message });
}
