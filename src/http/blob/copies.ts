// Copies on the wire: Copy Blob, Copy Blob From URL, Abort Copy Blob.

import { randomUUID } from 'node:crypto';
import * as copies from '../../services/blob/copies.js';
import type { BlobService } from '../../services/blob/service.js';
import { StorageError } from '../../services/common/errors.js';
import { parseTags } from '../../services/common/tags.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { sourceConditionsOf } from '../condition-headers.js';
import { flagHeader, metadataOf, wordHeader } from '../headers.js';
import type { Inside, Operation } from '../operation.js';
import { requireParameter } from '../parameters.js';
import { md5Text, writtenHeaders } from './blob-headers.js';
import { copySource } from './copy-source.js';
import { requireNoBody } from './put-blob.js';
import { changedBlobName, containerKey, createGuardsOf, leaseIdOf, newBlobName, tierOf } from './requests.js';

const syncLimit = 256 * 1024 * 1024;

export async function copyBlob(
  call: Call,
  { store }: BlobService,
  identity: Identity,
  operation: Operation,
  inside: Inside,
): Promise<Answer> {
  const options: copies.CopyOptions = {
    ...commonOptions(call),
    tags: parseTags(call.header('x-ms-tags')),
    seal: call.headers['x-ms-seal-blob'] === undefined ? undefined : flagHeader(call, 'x-ms-seal-blob'),
  };
  const blob = await copy(call, store, identity, operation, inside, options);
  return { status: 202, headers: copiedHeaders(call, blob) };
}

/** Block blobs alone, and it is done when it is answered. */
export async function copyBlobFromUrl(
  call: Call,
  { store }: BlobService,
  identity: Identity,
  operation: Operation,
  inside: Inside,
): Promise<Answer> {
  const options = {
    ...commonOptions(call),
    tags: copiedTags(call),
    seal: undefined,
    blockBlobLimit: syncLimit,
  };
  const blob = await copy(call, store, identity, operation, inside, options);
  const headers = copiedHeaders(call, blob);
  if (blob.headers.md5 !== undefined) headers.push('Content-MD5', md5Text(blob.headers.md5));
  return { status: 202, headers };
}

function commonOptions(call: Call): Pick<copies.CopyOptions, 'id' | 'metadata' | 'tier'> {
  requireNoBody(call);
  return { id: randomUUID(), metadata: metadataOf(call), tier: tierOf(call) };
}

function copiedTags(call: Call): copies.CopyOptions['tags'] {
  const option = wordHeader(call, 'x-ms-copy-source-tag-option', ['REPLACE', 'COPY']);
  const text = call.header('x-ms-tags');
  if (option !== 'COPY') return parseTags(text);
  if (text !== undefined) throw new StorageError('InvalidHeaderValue', { status: 409 });
  return 'source';
}

async function copy(
  call: Call,
  store: BlobService['store'],
  identity: Identity,
  operation: Operation,
  inside: Inside,
  options: copies.CopyOptions,
): ReturnType<typeof copies.copyBlob> {
  const name = newBlobName(call);
  const guards = createGuardsOf(call, operation, identity, 'copy');
  const conditions = sourceConditionsOf(call, 'copySource', 'MNIUT');
  const source = { ...(await copySource(call, identity, inside)), conditions };
  return copies.copyBlob(store, containerKey(call), name, source, options, guards);
}

function copiedHeaders(call: Call, blob: Awaited<ReturnType<typeof copies.copyBlob>>): string[] {
  const headers = writtenHeaders(blob, call.version);
  if (blob.copy !== undefined)
    headers.push('x-ms-copy-id', blob.copy.id, 'x-ms-copy-status', blob.copy.status);
  return headers;
}

export async function abortCopy(call: Call, { store }: BlobService): Promise<Answer> {
  const copyId = requireParameter(call, 'copyid');
  await copies.abortCopy(store, containerKey(call), changedBlobName(call), copyId, leaseIdOf(call));
  return { status: 204, headers: [] };
}
