// Rename File and Rename Directory on the wire.

import { invalidHeader, StorageError } from '../../services/common/errors.js';
import { renameEntry } from '../../services/file/renames.js';
import type { FileService } from '../../services/file/service.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { flagHeader, metadataOf, requireHeader } from '../headers.js';
import type { Inside } from '../operation.js';
import { sourceHead } from '../source-head.js';
import { statusOf } from '../status.js';
import { writtenHeaders } from './file-headers.js';
import { leaseIdOf, namesOf, writeFileTarget, writeTarget } from './requests.js';
import { smbRequest } from './smb-headers.js';

const sourceHeader = 'x-ms-file-rename-source';

export function renameFile(
  call: Call,
  service: FileService,
  identity: Identity,
  _: unknown,
  inside: Inside,
): Promise<Answer> {
  return rename(call, service, identity, inside, false);
}

export function renameDirectory(
  call: Call,
  service: FileService,
  identity: Identity,
  _: unknown,
  inside: Inside,
): Promise<Answer> {
  return rename(call, service, identity, inside, true);
}

async function rename(
  call: Call,
  service: FileService,
  identity: Identity,
  inside: Inside,
  directory: boolean,
): Promise<Answer> {
  const target = directory ? writeTarget(call) : writeFileTarget(call);
  if (target.path.length === 0) throw new StorageError('InvalidInput');
  const replaces = flagHeader(call, 'x-ms-file-rename-replace-if-exists');
  const ignoreReadOnly = flagHeader(call, 'x-ms-file-rename-ignore-readonly');
  if (ignoreReadOnly && !replaces) throw invalidHeader('x-ms-file-rename-ignore-readonly', 'true');
  const metadata = metadataOf(call);
  const moved = await renameEntry(service, target, {
    ...{ directory, replaces, ignoreReadOnly },
    source: await sourceOf(call, identity, inside),
    sourceLeaseId: leaseIdOf(call, 'x-ms-source-lease-id'),
    targetLeaseId: leaseIdOf(call, 'x-ms-destination-lease-id'),
    smb: smbRequest(call, 'rename', directory).wishes,
    metadata: metadata.length === 0 ? undefined : metadata,
    contentType: directory ? undefined : call.header('x-ms-content-type'),
  });
  return { status: 200, headers: writtenHeaders(moved, call.version) };
}

/** In the same share, by somebody who may delete it there and write. */
async function sourceOf(call: Call, identity: Identity, inside: Inside): Promise<string[]> {
  const url = requireHeader(call, sourceHeader);
  const head = sourceHead(call, sourceHeader, url, 'DELETE');
  if (head === undefined) throw invalidHeader(sourceHeader, url);
  const admitted = await inside
    .admit(head, ({ query }) => (query.has('sig') || !coversAccount(identity) ? undefined : identity))
    .catch((error: unknown) => {
      // An address that nothing can be deleted at, such as a share's, names no file.
      const status = error instanceof StorageError ? statusOf(error) : 0;
      throw status === 400 || status === 405 ? invalidHeader(sourceHeader, url) : error;
    });
  const source = admitted.call;
  const { kind } = admitted.identity;
  if (kind === 'sas' && !admitted.identity.permissions.includes('w')) {
    throw new StorageError('AuthorizationPermissionMismatch');
  }
  if (source.account !== call.account || source.container !== call.container || source.name === '') {
    throw invalidHeader(sourceHeader, url);
  }
  return namesOf(source.name, flagHeader(call, 'x-ms-source-allow-trailing-dot'));
}

/** A service SAS is for what it names and nothing else. */
function coversAccount(identity: Identity): boolean {
  return identity.kind !== 'sas' || identity.sas === 'account';
}
