// `x-ms-copy-source`: what a copy or a range is of, and whether who asks may read it. Whoever holds the key of the
// account, or a token for it, reads its files; any other source has a SAS in its URL, or is public.

import { invalidHeader, StorageError } from '../../services/common/errors.js';
import type { FetchedAnswer, SourceAddress } from '../../services/common/sources.js';
import { readFile } from '../../services/file/files.js';
import type { FileService } from '../../services/file/service.js';
import type { Target } from '../../services/file/targets.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { flagHeader, requireHeader } from '../headers.js';
import type { Inside } from '../operation.js';
import { type ByteRange, lengthOf } from '../ranges.js';
import { sourceAddress, sourceHead, tokenHeaders } from '../source-head.js';
import { statusOf } from '../status.js';
import { namesOf, shareKey, snapshotOf } from './requests.js';

const header = 'x-ms-copy-source';

/** A file of this server that may be read, or what must be fetched. */
export type Source = Readonly<{ target: Target; url: string }> | SourceAddress;

export async function copySource(call: Call, identity: Identity, inside: Inside): Promise<Source> {
  const url = requireHeader(call, header);
  const head = sourceHead(call, header, url);
  if (head === undefined) return sourceAddress(call, header, url, inside.ports);
  return verified(async () => {
    const source = await inside.admit(head, ({ account, query }) =>
      identity.kind !== 'sas' && account === call.account && !query.has('sig') ? identity : undefined,
    );
    if (source.operation.name !== 'Get File') throw invalidHeader(header, url);
    const path = namesOf(source.call.name, flagHeader(call, 'x-ms-source-allow-trailing-dot'));
    const snapshot = snapshotOf(source.call);
    return { url, target: { share: shareKey(source.call), path, snapshot, timeoutMs: call.timeoutMs } };
  });
}

/** The bytes of a range of the source, which must all be there. */
export async function readSource(
  call: Call,
  service: FileService,
  identity: Identity,
  inside: Inside,
  range: ByteRange,
): Promise<Buffer> {
  const source = await copySource(call, identity, inside);
  const bytes =
    'target' in source
      ? await verified(() => openFile(service, source.target, range))
      : await fetchRange(call, service, source, range);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > lengthOf(range)) break;
    chunks.push(chunk);
  }
  if (length === lengthOf(range)) return Buffer.concat(chunks);
  throw refusalOfSource(416, 'InvalidRange', 'The source does not have all of the range.');
}

async function openFile(
  service: FileService,
  target: Target,
  range: ByteRange,
): Promise<AsyncIterable<Buffer>> {
  const cut = (length: number) => {
    if (range.end >= length) throw new StorageError('InvalidRange');
    return { start: range.start, end: range.end + 1 };
  };
  return (await readFile(service, target, undefined, cut, 'copySource')).bytes;
}

async function fetchRange(
  call: Call,
  service: FileService,
  source: SourceAddress,
  { start, end }: ByteRange,
): Promise<AsyncIterable<Buffer>> {
  const headers = { ...tokenHeaders(call), range: `bytes=${start}-${end}` };
  return (await fetched(service, source, headers, 206)).body;
}

/** The source's answer, which must be of this status. */
export async function fetched(
  service: FileService,
  source: SourceAddress,
  headers: Readonly<Record<string, string>>,
  status: 200 | 206,
): Promise<FetchedAnswer> {
  const answer = await service.fetchSource(source, headers);
  if (answer.status === status) return answer;
  answer.discard();
  const code = answer.headers['x-ms-error-code'];
  const message = `The source answered ${answer.status}.`;
  throw refusalOfSource(answer.status, typeof code === 'string' ? code : undefined, message);
}

/** What the source said, in the answer to the copy: its status, its code and its words. */
export async function verified<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const status = statusOf(error);
    if (status === 400 || status === 409) throw error;
    throw refusalOfSource(status, error.code, error.message);
  }
}

function refusalOfSource(status: number, code: string | undefined, message: string): StorageError {
  return new StorageError('CannotVerifyCopySource', {
    status: status === 401 ? 403 : status >= 400 && status < 500 ? status : 500,
    message,
    details: {
      CopySourceStatusCode: String(status),
      ...(code === undefined ? {} : { CopySourceErrorCode: code }),
      CopySourceErrorMessage: message,
    },
  });
}
