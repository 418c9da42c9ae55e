// `x-ms-copy-source`: which blob a copy is of, and whether who asks may read it.
//
// Whoever holds the key of the account, or a token for it, reads its blobs; any other source has a SAS in its URL or is
// public.

import type { BlobAddress } from '../../services/blob/address.js';
import type { ContainerKey } from '../../services/blob/model.js';
import { invalidHeader, StorageError } from '../../services/common/errors.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { requireHeader } from '../headers.js';
import type { Inside } from '../operation.js';
import { sourceHead } from '../source-head.js';
import { statusOf } from '../status.js';
import { blobAddress, containerKey } from './requests.js';

export interface LocalSource {
  readonly container: ContainerKey;
  readonly address: BlobAddress;
  /** As the client named it. */
  readonly url: string;
}

export const sourceHeader = 'x-ms-copy-source';

/** The source, if it is a blob of this server, which may be read; nothing if another server has it. */
export async function localSource(
  call: Call,
  identity: Identity,
  inside: Inside,
): Promise<LocalSource | undefined> {
  const url = requireHeader(call, sourceHeader);
  const head = sourceHead(call, sourceHeader, url);
  if (head === undefined) return undefined;
  try {
    const source = await inside.admit(head, ({ account, query }) =>
      mayReadAccount(identity) && account === call.account && !query.has('sig') ? identity : undefined,
    );
    if (source.operation.name !== 'Get Blob') throw invalidHeader(sourceHeader, url);
    return { container: containerKey(source.call), address: blobAddress(source.call), url };
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw asRefusalOfSource(error);
  }
}

function mayReadAccount(identity: Identity): boolean {
  return identity.kind === 'key' || identity.kind === 'bearer';
}

/** What the source said, in the answer to the copy: its status and its words. */
function asRefusalOfSource(error: StorageError): StorageError {
  const status = statusOf(error);
  if (status === 400) return error;
  return new StorageError('CannotVerifyCopySource', {
    status: status === 401 ? 403 : status,
    message: error.message,
  });
}
