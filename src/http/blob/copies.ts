// Copies on the wire: Copy Blob, Copy Blob From URL, Abort Copy Blob.

import { randomUUID } from 'node:crypto';
import * as copies from '../../services/blob/copies.js';
import type { CreateGuards } from '../../services/blob/guards.js';
import { copyIncrementally } from '../../services/blob/incremental-copies.js';
import type { BlobRecord } from '../../services/blob/model.js';
import type { BlobService } from '../../services/blob/service.js';
import { noConditions } from '../../services/common/conditions.js';
import { StorageError } from '../../services/common/errors.js';
import { endsWithin } from '../../services/common/sources.js';
import { parseTags } from '../../services/common/tags.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { sourceConditionsOf } from '../condition-headers.js';
import { flagHeader, metadataOf, requireHeader } from '../headers.js';
import type { Handler, Inside } from '../operation.js';
import { requireParameter } from '../parameters.js';
import { sourceAddress } from '../source-head.js';
import { md5Text, writtenHeaders } from './blob-headers.js';
import { receiveSource } from './bodies.js';
import { type LocalSource, localSource, sourceHeader } from './copy-source.js';
import { foreignHead } from './foreign-head.js';
import { copiesTags } from './put-blob.js';
import {
  changedBlobName,
  containerKey,
  leaseIdOf,
  newTargetOf,
  protectionOf,
  requireNoBody,
  type Target,
  tierOf,
} from './requests.js';
import { conditionHeaders, openSource, refusalOfSource, requireLength } from './sources.js';

const syncLimit = 256 * 1024 * 1024;

export const copyBlob: Handler<BlobService> = async (call, service, identity, operation, inside) => {
  const options: copies.CopyOptions = {
    ...commonOptions(call, service),
    tags: parseTags(call.header('x-ms-tags')),
    seal: call.headers['x-ms-seal-blob'] === undefined ? undefined : flagHeader(call, 'x-ms-seal-blob'),
  };
  const target = newTargetOf(call, operation, identity, 'copy');
  const local = await localSource(call, identity, inside);
  const blob =
    local === undefined
      ? await beginForeign(call, service, inside, target, options)
      : await copyLocal(call, service, target, local, options);
  return { status: 202, headers: copiedHeaders(call, blob) };
};

type CopyTarget = Target<CreateGuards>;

function copyLocal(
  call: Call,
  { store }: BlobService,
  { container, name, guards }: CopyTarget,
  local: LocalSource,
  options: copies.CopyOptions,
): Promise<BlobRecord> {
  const source = { ...local, conditions: sourceConditionsOf(call, 'copySource', 'MNIUT') };
  return copies.copyBlob(store, container, name, source, options, guards);
}

/** The source is asked for its head alone; its bytes come later. */
async function beginForeign(
  call: Call,
  { store, pending, fetchSource }: BlobService,
  inside: Inside,
  { container, name, guards }: CopyTarget,
  options: copies.CopyOptions,
): Promise<BlobRecord> {
  const address = sourceAddress(call, sourceHeader, requireHeader(call, sourceHeader), inside.ports);
  const answer = await fetchSource(address, conditionHeaders(call));
  answer.discard();
  if (answer.status !== 200) {
    throw refusalOfSource(answer.status, `The source answered ${answer.status}.`, 'copySource');
  }
  const head = foreignHead(answer.headers);
  const authorization = call.header('x-ms-copy-source-authorization');
  const source = { ...head, ...address, length: requireLength(head), authorization };
  const begun = await copies.beginCopy(store, container, name, source, options, guards);
  const ended = pending.start(begun.key, begun.copy);
  // What this server has itself mostly comes before the answer is due.
  if (address.own === undefined || !(await endsWithin(ended, call.timeoutMs / 3))) return begun.blob;
  return (await copies.currentBlob(store, begun.key)) ?? begun.blob;
}

/** Block blobs alone, and it is done when it is answered. */
export const copyBlobFromUrl: Handler<BlobService> = async (call, service, identity, operation, inside) => {
  const options = {
    ...commonOptions(call, service),
    tags: copiedTags(call),
    seal: undefined,
    blockBlobLimit: syncLimit,
  };
  const target = newTargetOf(call, operation, identity, 'copy');
  const local = await localSource(call, identity, inside);
  // A checksum that was sent is held against the bytes: then they are read, wherever they are.
  const isRead = local === undefined || call.headers['x-ms-source-content-md5'] !== undefined;
  const blob = isRead
    ? await copyBytes(call, service, identity, inside, target, options)
    : await copyLocal(call, service, target, local, options);
  const headers = copiedHeaders(call, blob);
  if (blob.headers.md5 !== undefined) headers.push('Content-MD5', md5Text(blob.headers.md5));
  return { status: 202, headers };
};

async function copyBytes(
  call: Call,
  service: BlobService,
  identity: Identity,
  inside: Inside,
  { container, name, guards }: CopyTarget,
  options: copies.CopyOptions,
): Promise<BlobRecord> {
  const source = await openSource(call, service, identity, inside, undefined, 'copySource');
  using received = await receiveSource(call, service, source, { limit: syncLimit, md5: true });
  const { body, md5 } = received;
  const url = requireHeader(call, sourceHeader);
  const headers = md5 === undefined ? source.headers : { ...source.headers, md5 };
  return copies.copyBody(service.store, container, name, { ...source, url, headers }, body, options, guards);
}

function commonOptions(call: Call, service: BlobService): Omit<copies.CopyOptions, 'tags' | 'seal'> {
  requireNoBody(call);
  const own = { id: randomUUID(), metadata: metadataOf(call), tier: tierOf(call) };
  return { ...own, ...protectionOf(call, service) };
}

function copiedTags(call: Call): copies.CopyOptions['tags'] {
  return copiesTags(call) ? 'source' : parseTags(call.header('x-ms-tags'));
}

function copiedHeaders(call: Call, blob: BlobRecord): string[] {
  const headers = writtenHeaders(blob, call.version);
  if (blob.copy !== undefined)
    headers.push('x-ms-copy-id', blob.copy.id, 'x-ms-copy-status', blob.copy.status);
  return headers;
}

export const incrementalCopy: Handler<BlobService> = async (call, { store }, identity, operation, inside) => {
  const { container, name, guards } = newTargetOf(call, operation, identity, 'copy');
  requireNoBody(call);
  const local = await localSource(call, identity, inside);
  if (local === undefined) throw new StorageError('InvalidSourceBlobUrl');
  const source = { ...local, conditions: noConditions };
  const blob = await copyIncrementally(store, container, name, source, randomUUID(), guards);
  return { status: 202, headers: copiedHeaders(call, blob) };
};

export async function abortCopy(call: Call, { store, pending }: BlobService): Promise<Answer> {
  const copyId = requireParameter(call, 'copyid');
  await copies.abortCopy(store, containerKey(call), changedBlobName(call), copyId, leaseIdOf(call));
  pending.stop(copyId);
  return { status: 204, headers: [] };
}
