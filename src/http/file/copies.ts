// Copy File and Abort Copy File on the wire. A copy is done when it is answered.

import { randomUUID } from 'node:crypto';
import { invalidHeader, missingHeader } from '../../services/common/errors.js';
import * as copies from '../../services/file/copies.js';
import type { FileService } from '../../services/file/service.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { flagHeader, metadataOf, wordHeader } from '../headers.js';
import type { Inside } from '../operation.js';
import { requireParameter } from '../parameters.js';
import { copySource } from './copy-source.js';
import { stampHeaders } from './file-headers.js';
import { mayOverwrite } from './files.js';
import { leaseIdOf, writeFileTarget } from './requests.js';
import { smbRequest } from './smb-headers.js';

export async function copyFile(
  call: Call,
  service: FileService,
  identity: Identity,
  _: unknown,
  inside: Inside,
): Promise<Answer> {
  const target = writeFileTarget(call);
  const request = copyRequest(call, identity);
  const source = await copySource(call, identity, inside);
  const entry = await copies.copyFile(service, target, source.target, { ...request, url: source.url });
  const headers = [...stampHeaders(entry.stamp), 'x-ms-copy-id', request.id, 'x-ms-copy-status', 'success'];
  return { status: 202, headers };
}

function copyRequest(call: Call, identity: Identity): Omit<copies.CopyRequest, 'url'> {
  const { wishes, fromSource } = smbRequest(call, 'copy', false);
  const metadata = metadataOf(call);
  return {
    id: randomUUID(),
    metadata: metadata.length === 0 ? undefined : metadata,
    smb: wishes,
    fromSource: { ...fromSource, permission: permissionMode(call) === 'source' },
    setArchive: flagHeader(call, 'x-ms-file-copy-set-archive'),
    ignoreReadOnly: flagHeader(call, 'x-ms-file-copy-ignore-readonly'),
    leaseId: leaseIdOf(call),
    mayOverwrite: mayOverwrite(identity),
  };
}

const modeHeader = 'x-ms-file-permission-copy-mode';

/** A permission that is given overrides, and says so. */
function permissionMode(call: Call): 'source' | 'override' | undefined {
  const mode = wordHeader(call, modeHeader, ['source', 'override']);
  const given = ['x-ms-file-permission', 'x-ms-file-permission-key'].find(
    (name) => call.headers[name] !== undefined,
  );
  if (mode === 'override' && given === undefined) throw missingHeader('x-ms-file-permission');
  if (mode !== 'override' && given !== undefined) throw invalidHeader(given, call.header(given));
  return mode;
}

export async function abortCopy(call: Call, service: FileService): Promise<Answer> {
  const action = call.header('x-ms-copy-action');
  if (action === undefined) throw missingHeader('x-ms-copy-action');
  if (action.toLowerCase() !== 'abort') throw invalidHeader('x-ms-copy-action', action);
  const copyId = requireParameter(call, 'copyid');
  await copies.abortCopy(service, writeFileTarget(call), copyId, leaseIdOf(call));
  return { status: 204, headers: [] };
}
