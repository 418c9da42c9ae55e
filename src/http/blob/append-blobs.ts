// Append blobs on the wire.

import * as appendBlobs from '../../services/blob/append-blobs.js';
import type { BlobService } from '../../services/blob/service.js';
import { invalidHeader } from '../../services/common/errors.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call, Version } from '../call.js';
import { integerHeader } from '../headers.js';
import type { Inside, Operation } from '../operation.js';
import { sourceRange } from '../ranges.js';
import { writtenHeaders } from './blob-headers.js';
import { receiveBody, receiveSource, transportHeaders } from './bodies.js';
import { keyHeaders } from './customer-keys.js';
import { requireNoBody } from './put-blob.js';
import { changedBlobName, containerKey, guardsOf } from './requests.js';
import { openSource } from './sources.js';

const MiB = 1024 * 1024;

function appendLimit(version: Version): number {
  return version >= '2022-11-02' ? 100 * MiB : 4 * MiB;
}

const positionHeader = 'x-ms-blob-condition-appendpos';

function appendConditions(call: Call): appendBlobs.AppendConditions {
  return {
    position: integerHeader(call, positionHeader),
    maxSize: integerHeader(call, 'x-ms-blob-condition-maxsize'),
  };
}

export async function appendBlock(
  call: Call,
  service: BlobService,
  _: Identity,
  operation: Operation,
): Promise<Answer> {
  const container = containerKey(call);
  const name = changedBlobName(call);
  const guards = guardsOf(call, operation, 'write');
  const conditions = appendConditions(call);
  if (call.body.declaredLength === 0) throw invalidHeader('Content-Length', '0');
  using received = await receiveBody(call, service, { limit: appendLimit(call.version), md5: false });
  const appended = await appendBlobs.appendBlock(
    service.store,
    container,
    name,
    received.body,
    conditions,
    guards,
  );
  return { status: 201, headers: [...appendedHeaders(call, appended), ...transportHeaders(call, received)] };
}

export async function appendBlockFromUrl(
  call: Call,
  service: BlobService,
  identity: Identity,
  operation: Operation,
  inside: Inside,
): Promise<Answer> {
  const container = containerKey(call);
  const name = changedBlobName(call);
  const guards = guardsOf(call, operation, 'write');
  const conditions = appendConditions(call);
  requireNoBody(call);
  const source = await openSource(call, service, identity, inside, sourceRange(call), 'source');
  using received = await receiveSource(call, service, source, {
    limit: appendLimit(call.version),
    md5: false,
  });
  const { body } = received;
  const appended = await appendBlobs.appendBlock(service.store, container, name, body, conditions, guards);
  return { status: 201, headers: [...appendedHeaders(call, appended), ...transportHeaders(call, received)] };
}

function appendedHeaders(call: Call, { blob, offset }: appendBlobs.Appended): string[] {
  const headers = writtenHeaders(blob, call.version);
  headers.push('x-ms-blob-append-offset', String(offset));
  headers.push('x-ms-blob-committed-block-count', String(blob.appends ?? 0));
  headers.push('x-ms-request-server-encrypted', 'true', ...keyHeaders(blob));
  return headers;
}

export async function sealBlob(
  call: Call,
  { store }: BlobService,
  _: Identity,
  operation: Operation,
): Promise<Answer> {
  const guards = guardsOf(call, operation, 'write');
  const name = changedBlobName(call);
  const position = integerHeader(call, positionHeader);
  const blob = await appendBlobs.sealBlob(store, containerKey(call), name, position, guards);
  const headers = writtenHeaders(blob, call.version);
  headers.push('x-ms-blob-sealed', 'true');
  return { status: 200, headers };
}
