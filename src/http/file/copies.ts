// Copy File and Abort Copy File on the wire. A copy of a file of this server is done when it is answered, one of a blob of
// it mostly; any other goes on in the background.

import { randomUUID } from 'node:crypto';
import { invalidHeader, missingHeader } from '../../services/common/errors.js';
import { endsWithin, type SourceAddress } from '../../services/common/sources.js';
import * as copies from '../../services/file/copies.js';
import type { CopyRequest } from '../../services/file/copy-request.js';
import { abortCopy as abort, beginCopy, currentFile } from '../../services/file/foreign-copies.js';
import type { FileEntry } from '../../services/file/model.js';
import type { FileService } from '../../services/file/service.js';
import type { Target } from '../../services/file/targets.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { flagHeader, metadataOf, stampHeaders, wordHeader } from '../headers.js';
import type { Inside } from '../operation.js';
import { requireParameter } from '../parameters.js';
import { tokenHeaders } from '../source-head.js';
import { copySource, fetched } from './copy-source.js';
import { mayOverwrite } from './files.js';
import { foreignHead } from './foreign-head.js';
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
  const entry =
    'target' in source
      ? await copies.copyFile(service, target, source.target, { ...request, url: source.url })
      : await copyForeign(call, service, target, source, { ...request, url: source.url });
  const status = entry.file.copy?.id === request.id ? entry.file.copy.status : 'success';
  const headers = [...stampHeaders(entry.stamp), 'x-ms-copy-id', request.id, 'x-ms-copy-status', status];
  return { status: 202, headers };
}

/** The source is asked for its head alone; its bytes come later. */
async function copyForeign(
  call: Call,
  service: FileService,
  target: Target,
  address: SourceAddress,
  request: CopyRequest,
): Promise<FileEntry> {
  // A key of a share means nothing in another one.
  if (request.fromSource.permission) throw invalidHeader(modeHeader, 'source');
  const answer = await fetched(service, address, tokenHeaders(call), 200);
  answer.discard();
  const authorization = call.header('x-ms-copy-source-authorization');
  const source = { ...foreignHead(answer.headers), ...address, authorization };
  const begun = await beginCopy(service, target, source, request);
  const ended = service.pending.start(begun.key, begun.copy);
  // What this server has itself mostly comes before the answer is due.
  if (address.own === undefined || !(await endsWithin(ended, call.timeoutMs / 3))) return begun.entry;
  return (await currentFile(service, begun)) ?? begun.entry;
}

function copyRequest(call: Call, identity: Identity): Omit<CopyRequest, 'url'> {
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
  await abort(service, writeFileTarget(call), copyId, leaseIdOf(call));
  service.pending.stop(copyId);
  return { status: 204, headers: [] };
}
