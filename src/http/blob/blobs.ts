// What else can be done to a blob of any kind: properties, metadata, lease, snapshot, delete.

import { randomUUID } from 'node:crypto';
import { formatKeptTime } from '../../services/blob/address.js';
import * as blobs from '../../services/blob/blobs.js';
import type { ContentHeaders } from '../../services/blob/model.js';
import { setProperties } from '../../services/blob/properties.js';
import type { BlobService } from '../../services/blob/service.js';
import * as snapshots from '../../services/blob/snapshots.js';
import { invalidHeader, invalidParameter } from '../../services/common/errors.js';
import type { Call } from '../call.js';
import { conditionsOf } from '../condition-headers.js';
import { metadataOf, stampHeaders, wordHeader } from '../headers.js';
import type { Handler } from '../operation.js';
import { parameter } from '../parameters.js';
import { addVersion, sequenceHeader, writtenHeaders } from './blob-headers.js';
import { keyHeaders } from './customer-keys.js';
import { leaseAction, leaseAnswer } from './leases.js';
import { pageBlobLength, sequenceChange } from './page-requests.js';
import { blobAddress, changedBlobName, containerKey, contentHeadersOf, guardsOf } from './requests.js';

export const setBlobProperties: Handler<BlobService> = async (call, { store }, _, operation) => {
  const guards = guardsOf(call, operation, 'write');
  const name = changedBlobName(call);
  const change = { headers: newHeaders(call), length: pageBlobLength(call), sequence: sequenceChange(call) };
  const blob = await setProperties(store, containerKey(call), name, change, guards);
  return { status: 200, headers: [...writtenHeaders(blob, call.version), ...sequenceHeader(blob)] };
};

const properties = [
  'x-ms-blob-cache-control',
  'x-ms-blob-content-type',
  'x-ms-blob-content-md5',
  'x-ms-blob-content-encoding',
  'x-ms-blob-content-language',
  'x-ms-blob-content-disposition',
];

/** All six are set together if one is named; those that are not are cleared. */
function newHeaders(call: Call): ContentHeaders | undefined {
  return properties.some((name) => call.headers[name] !== undefined) ? contentHeadersOf(call) : undefined;
}

export const setBlobMetadata: Handler<BlobService> = async (call, { store }, _, operation) => {
  const guards = guardsOf(call, operation, 'write');
  const name = changedBlobName(call);
  const blob = await blobs.setMetadata(store, containerKey(call), name, metadataOf(call), guards);
  const headers = writtenHeaders(blob, call.version);
  headers.push('x-ms-request-server-encrypted', 'true', ...keyHeaders(blob));
  return { status: 200, headers };
};

export const leaseBlob: Handler<BlobService> = async (call, { store }, identity, operation) => {
  const action = leaseAction(call, identity, randomUUID, 'blob');
  const conditions = conditionsOf(call, operation, 'write');
  const name = changedBlobName(call);
  return leaseAnswer(action, await blobs.leaseBlob(store, containerKey(call), name, action, conditions));
};

export const snapshotBlob: Handler<BlobService> = async (call, { store }, _, operation) => {
  const guards = guardsOf(call, operation, 'write');
  const name = changedBlobName(call);
  const taken = await snapshots.snapshotBlob(store, containerKey(call), name, metadataOf(call), guards);
  const headers = stampHeaders(taken.snapshot.stamp);
  headers.push('x-ms-snapshot', formatKeptTime(taken.stamp), 'x-ms-request-server-encrypted', 'true');
  addVersion(headers, taken.blob, call.version);
  return { status: 201, headers };
};

/** A snapshot or version that is deleted softly goes for good, before its time. */
export const deletePermanently: Handler<BlobService> = async (call, { store }, _, operation) => {
  const address = blobAddress(call);
  const asked = call.header('x-ms-delete-snapshots');
  if (asked !== undefined) throw invalidHeader('x-ms-delete-snapshots', asked);
  if (address.kind === 'base') throw invalidParameter('deletetype', 'permanent');
  const { conditions } = guardsOf(call, operation, 'write');
  await snapshots.purgeKept(store, containerKey(call), address, conditions);
  return { status: 202, headers: ['x-ms-delete-type-permanent', 'true'] };
};

export const deleteBlob: Handler<BlobService> = async (call, { store }, _, operation) => {
  const address = blobAddress(call);
  const type = parameter(call, 'deletetype');
  if (type !== undefined) throw invalidParameter('deletetype', type);
  const asked = wordHeader(call, 'x-ms-delete-snapshots', ['include', 'only']);
  if (asked !== undefined && address.kind !== 'base') throw invalidHeader('x-ms-delete-snapshots', asked);
  const guards = guardsOf(call, operation, 'write');
  const { permanent } = await snapshots.deleteBlob(
    store,
    containerKey(call),
    address,
    asked ?? 'none',
    guards,
  );
  const headers = call.version >= '2017-07-29' ? ['x-ms-delete-type-permanent', String(permanent)] : [];
  return { status: 202, headers };
};
