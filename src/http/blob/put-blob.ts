// Put Blob on the wire.

import * as blobs from '../../services/blob/blobs.js';
import { lookFirst } from '../../services/blob/first-look.js';
import { admitCreate } from '../../services/blob/guards.js';
import type { BlobService } from '../../services/blob/service.js';
import { invalidHeader, missingHeader, StorageError } from '../../services/common/errors.js';
import type { Answer } from '../answer.js';
import type { Call, Version } from '../call.js';
import { requireHeader, wordHeader } from '../headers.js';
import type { Handler } from '../operation.js';
import { writtenHeaders } from './blob-headers.js';
import { contentChecksumHeaders, receiveBody, receiveSource } from './bodies.js';
import { keyHeaders } from './customer-keys.js';
import { pageBlobLength, sequenceNumber } from './page-requests.js';
import {
  bodyHeadersOf,
  contentHeadersOf,
  newBlobOf,
  newTargetOf,
  requireNoBody,
  usualType,
} from './requests.js';
import { openSource } from './sources.js';

const MiB = 1024 * 1024;

function putLimit(version: Version): number {
  if (version >= '2019-12-12') return 5000 * MiB;
  return version >= '2016-05-31' ? 256 * MiB : 64 * MiB;
}

export const putBlockBlob: Handler<BlobService> = async (call, service, identity, operation) => {
  const { container, name, guards } = newTargetOf(call, operation, identity);
  const headers = bodyHeadersOf(call);
  const fresh = newBlobOf(call, service, headers);
  refuseHeader(call, 'x-ms-blob-content-length');
  const { store } = service;
  const received = await receiveBody(call, service, {
    limit: putLimit(call.version),
    md5: true,
    contentMd5: headers.md5,
    look: () => lookFirst(store, container, name, (found, now) => admitCreate(found, guards, now)),
  });
  const { body, md5 } = received;
  // Not `using`: on this path, what the compiler makes of it would cost more than all the parsing.
  try {
    const withMd5 = md5 === undefined ? fresh : { ...fresh, headers: { ...headers, md5 } };
    const blob = await blobs.putBlob(store, container, name, withMd5, body, guards);
    return created(call, blob, contentChecksumHeaders(call, received));
  } finally {
    body[Symbol.dispose]();
  }
};

/** A block blob of what a URL has; its properties too, unless the request says otherwise. */
export const putBlobFromUrl: Handler<BlobService> = async (call, service, identity, operation, inside) => {
  const { container, name, guards } = newTargetOf(call, operation, identity);
  requireNoBody(call);
  const copies = call.header('x-ms-copy-source-blob-properties')?.toLowerCase() !== 'false';
  const source = await openSource(call, service, identity, inside, undefined, 'copySource');
  using received = await receiveSource(call, service, source, { limit: putLimit(call.version), md5: true });
  const { body, md5 } = received;
  const given = newBlobOf(call, service, contentHeadersOf(call));
  const headers = {
    ...(copies ? source.headers : { type: usualType }),
    ...given.headers,
    ...(md5 && { md5 }),
  };
  const metadata = copies && given.metadata.length === 0 ? source.metadata : given.metadata;
  const tags = copiesTags(call) ? source.tags : given.tags;
  const fresh = { ...given, headers, metadata, tags };
  const blob = await blobs.putBlob(service.store, container, name, fresh, body, guards);
  return created(call, blob, contentChecksumHeaders(call, received));
};

/** `x-ms-copy-source-tag-option`: the source's tags, or those of the request. */
export function copiesTags(call: Call): boolean {
  const option = wordHeader(call, 'x-ms-copy-source-tag-option', ['REPLACE', 'COPY']);
  if (option !== 'COPY') return false;
  if (call.headers['x-ms-tags'] !== undefined) throw new StorageError('InvalidHeaderValue', { status: 409 });
  return true;
}

export const putAppendBlob: Handler<BlobService> = async (call, service, identity, operation) => {
  const { container, name, guards } = newTargetOf(call, operation, identity);
  requireNoBody(call);
  refuseHeader(call, 'x-ms-blob-content-length');
  const fresh = newBlobOf(call, service, bodyHeadersOf(call));
  const blob = await blobs.putAppendBlob(service.store, container, name, fresh, guards);
  return created(call, blob, []);
};

export const putPageBlob: Handler<BlobService> = async (call, service, identity, operation) => {
  const { container, name, guards } = newTargetOf(call, operation, identity);
  requireNoBody(call);
  requireHeader(call, 'x-ms-blob-content-length');
  const length = pageBlobLength(call) ?? 0;
  const sequence = sequenceNumber(call) ?? 0n;
  const fresh = newBlobOf(call, service, bodyHeadersOf(call));
  const blob = await blobs.putPageBlob(service.store, container, name, { length, sequence }, fresh, guards);
  return created(call, blob, []);
};

/** A request that none of the others fits: it says no type, or one there is not. */
export function putUnknownBlob(call: Call): never {
  const type = call.header('x-ms-blob-type');
  throw type === undefined ? missingHeader('x-ms-blob-type') : invalidHeader('x-ms-blob-type', type);
}

function refuseHeader(call: Call, name: string): void {
  const value = call.header(name);
  if (value !== undefined) throw invalidHeader(name, value);
}

export function created(
  call: Call,
  blob: Parameters<typeof writtenHeaders>[0],
  more: readonly string[],
): Answer {
  const headers = writtenHeaders(blob, call.version);
  headers.push(...more, 'x-ms-request-server-encrypted', 'true', ...keyHeaders(blob));
  return { status: 201, headers };
}
