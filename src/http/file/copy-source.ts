// `x-ms-copy-source`: which file a copy or a range is of, and whether who asks may read it. Whoever holds the key of the
// account, or a token for it, reads its files; any other source has a SAS in its URL.

import { invalidHeader, StorageError } from '../../services/common/errors.js';
import { readFile } from '../../services/file/files.js';
import type { FileService } from '../../services/file/service.js';
import type { Target } from '../../services/file/targets.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { flagHeader, requireHeader } from '../headers.js';
import type { Inside } from '../operation.js';
import { type ByteRange, lengthOf } from '../ranges.js';
import { sourceHead } from '../source-head.js';
import { statusOf } from '../status.js';
import { namesOf, shareKey, snapshotOf } from './requests.js';

const header = 'x-ms-copy-source';

export interface Source {
  readonly target: Target;
  /** As the client named it. */
  readonly url: string;
}

/** A file of this server that may be read. */
export async function copySource(call: Call, identity: Identity, inside: Inside): Promise<Source> {
  const url = requireHeader(call, header);
  const head = sourceHead(call, header, url);
  if (head === undefined) {
    throw new StorageError('CannotVerifyCopySource', { message: 'The source is not a file of this server.' });
  }
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
  const { target } = await copySource(call, identity, inside);
  return verified(async () => {
    const { bytes } = await readFile(
      service,
      target,
      undefined,
      (length) => {
        if (range.end >= length) throw new StorageError('InvalidRange');
        return { start: range.start, end: range.end + 1 };
      },
      'copySource',
    );
    const chunks: Buffer[] = [];
    for await (const chunk of bytes) chunks.push(chunk);
    const read = Buffer.concat(chunks);
    if (read.length !== lengthOf(range)) throw new StorageError('InvalidRange');
    return read;
  });
}

/** What the source said, in the answer to the copy: its status, its code and its words. */
export async function verified<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw asRefusalOfSource(error);
  }
}

function asRefusalOfSource(error: StorageError): StorageError {
  const status = statusOf(error);
  if (status === 400 || status === 409) return error;
  return new StorageError('CannotVerifyCopySource', {
    status: status === 401 ? 403 : status,
    message: error.message,
    details: {
      CopySourceStatusCode: String(status),
      CopySourceErrorCode: error.code,
      CopySourceErrorMessage: error.message,
    },
  });
}
