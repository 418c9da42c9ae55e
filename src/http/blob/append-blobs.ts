// Append blobs on the wire.

import * as appendBlobs from '../../services/blob/append-blobs.js';
import { lookFirst } from '../../services/blob/first-look.js';
import type { BlobService } from '../../services/blob/service.js';
import { invalidHeader } from '../../services/common/errors.js';
import type { Answer } from '../answer.js';
import type { Call, Version } from '../call.js';
import { longHeader } from '../headers.js';
import type { Handler } from '../operation.js';
import { sourceRange } from '../ranges.js';
import { writtenHeaders } from './blob-headers.js';
import { type Received, receiveBody, receiveSource, transportHeaders } from './bodies.js';
import { keyHeaders } from './customer-keys.js';
import { requireNoBody, type Target, targetOf } from './requests.js';
import { openSource } from './sources.js';

const MiB = 1024 * 1024;

function appendLimit(version: Version): number {
  return version >= '2022-11-02' ? 100 * MiB : 4 * MiB;
}

const positionHeader = 'x-ms-blob-condition-appendpos';

function appendConditions(call: Call): appendBlobs.AppendConditions {
  return {
    position: lengthHeader(call, positionHeader),
    maxSize: lengthHeader(call, 'x-ms-blob-condition-maxsize'),
  };
}

/** Clients say 2^63 - 1 for no limit. It need not be exact where no blob comes near. */
function lengthHeader(call: Call, name: string): number | undefined {
  const length = longHeader(call, name);
  return length === undefined ? undefined : Number(length);
}

export const appendBlock: Handler<BlobService> = async (call, service, _, operation) => {
  const target = targetOf(call, operation);
  const conditions = appendConditions(call);
  if (call.body.declaredLength === 0) throw invalidHeader('Content-Length', '0');
  const { container, name, guards } = target;
  using received = await receiveBody(call, service, {
    limit: appendLimit(call.version),
    md5: false,
    look: (length) =>
      lookFirst(service.store, container, name, (found, now) =>
        appendBlobs.admitAppend(found, length, conditions, guards, now),
      ),
  });
  return append(call, service, target, conditions, received);
};

export const appendBlockFromUrl: Handler<BlobService> = async (
  call,
  service,
  identity,
  operation,
  inside,
) => {
  const target = targetOf(call, operation);
  const conditions = appendConditions(call);
  requireNoBody(call);
  const source = await openSource(call, service, identity, inside, sourceRange(call), 'source');
  const limit = appendLimit(call.version);
  using received = await receiveSource(call, service, source, { limit, md5: false });
  return append(call, service, target, conditions, received);
};

async function append(
  call: Call,
  { store }: BlobService,
  { container, name, guards }: Target,
  conditions: appendBlobs.AppendConditions,
  received: Received,
): Promise<Answer> {
  const { body } = received;
  const appended = await appendBlobs.appendBlock(store, container, name, body, conditions, guards);
  return { status: 201, headers: [...appendedHeaders(call, appended), ...transportHeaders(call, received)] };
}

function appendedHeaders(call: Call, { blob, offset }: appendBlobs.Appended): string[] {
  const headers = writtenHeaders(blob, call.version);
  headers.push('x-ms-blob-append-offset', String(offset));
  headers.push('x-ms-blob-committed-block-count', String(blob.appends ?? 0));
  headers.push('x-ms-request-server-encrypted', 'true', ...keyHeaders(blob));
  return headers;
}

export const sealBlob: Handler<BlobService> = async (call, { store }, _, operation) => {
  const { container, name, guards } = targetOf(call, operation);
  const position = lengthHeader(call, positionHeader);
  const blob = await appendBlobs.sealBlob(store, container, name, position, guards);
  const headers = writtenHeaders(blob, call.version);
  headers.push('x-ms-blob-sealed', 'true');
  return { status: 200, headers };
};
