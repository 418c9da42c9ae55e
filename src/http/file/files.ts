// Files on the wire: create, properties, metadata, delete.

import { invalidHeader, missingHeader, StorageError } from '../../services/common/errors.js';
import { leaseFile as lease } from '../../services/file/file-leases.js';
import * as files from '../../services/file/files.js';
import { type HttpProperties, largestFile } from '../../services/file/model.js';
import { noHttpProperties } from '../../services/file/new-entry.js';
import type { FileService } from '../../services/file/service.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { md5Header } from '../checksums.js';
import { addMetadata, integerHeader, metadataOf, stampHeaders, wordHeader } from '../headers.js';
import { leaseActionOf, leaseAnswer } from '../leases.js';
import { receiveBytes } from './bodies.js';
import { encryptedRequest, fileHeaders, writtenHeaders } from './file-headers.js';
import { leaseIdOf, readFileTarget, writeFileTarget } from './requests.js';
import { smbRequest } from './smb-headers.js';

/** Which versions let Create File bring the first bytes along. */
const bodySince = '2025-11-05';

export async function createFile(call: Call, service: FileService, identity: Identity): Promise<Answer> {
  if (wordHeader(call, 'x-ms-type', ['file']) === undefined) throw missingHeader('x-ms-type');
  const length = lengthHeader(call);
  if (length === undefined) throw missingHeader('x-ms-content-length');
  const target = writeFileTarget(call);
  const declared = call.body.declaredLength ?? 0;
  if (declared > 0 && call.version < bodySince) throw invalidHeader('Content-Length', String(declared));
  if (declared > length) throw new StorageError('InvalidRange');
  const request = {
    length,
    http: { ...noHttpProperties, ...httpProperties(call) },
    metadata: metadataOf(call),
    smb: smbRequest(call, 'create', false).wishes,
    leaseId: leaseIdOf(call),
    mayOverwrite: mayOverwrite(identity),
  };
  using received = declared > 0 ? await receiveBytes(call, service, declared) : undefined;
  const entry = await files.createFile(service, target, { ...request, body: received?.body });
  const headers = writtenHeaders(entry, call.version);
  if (received !== undefined) headers.push(...received.headers, 'x-ms-content-length', String(declared));
  return { status: 201, headers };
}

/** A SAS with `c` alone makes files and overwrites none. */
export function mayOverwrite(identity: Identity): boolean {
  return identity.kind !== 'sas' || identity.permissions.includes('w');
}

function lengthHeader(call: Call): number | undefined {
  const length = integerHeader(call, 'x-ms-content-length');
  if (length !== undefined && length > largestFile) throw new StorageError('OutOfRangeInput');
  return length;
}

// biome-ignore format: a table
const propertyHeaders: readonly (readonly [header: string, property: keyof HttpProperties])[] = [
  ['x-ms-content-type',        'contentType'],
  ['x-ms-content-encoding',    'contentEncoding'],
  ['x-ms-content-language',    'contentLanguage'],
  ['x-ms-content-md5',         'contentMd5'],
  ['x-ms-content-disposition', 'contentDisposition'],
  ['x-ms-cache-control',       'cacheControl'],
];

/** Those that are there; nothing if none is. */
function httpProperties(call: Call): HttpProperties | undefined {
  const md5 = md5Header(call, 'x-ms-content-md5')?.toString('base64');
  const given = propertyHeaders.filter(([header]) => call.headers[header] !== undefined);
  if (given.length === 0) return undefined;
  const values = given.map(([header, property]) => [property, call.header(header) || undefined]);
  return { ...noHttpProperties, ...Object.fromEntries(values), contentMd5: md5 };
}

export async function getFileProperties(
  call: Call,
  service: FileService,
  identity: Identity,
): Promise<Answer> {
  const entry = await files.getFile(service, readFileTarget(call), leaseIdOf(call));
  const headers = fileHeaders(entry, entry.now, call.version, identity);
  const { length, http } = entry.file;
  headers.push('Content-Length', String(length), 'Accept-Ranges', 'bytes');
  if (http.contentMd5 !== undefined) headers.push('Content-MD5', http.contentMd5);
  return { status: 200, headers };
}

export async function getFileMetadata(call: Call, service: FileService): Promise<Answer> {
  const entry = await files.getFile(service, readFileTarget(call), leaseIdOf(call));
  const headers = stampHeaders(entry.stamp);
  addMetadata(headers, entry.metadata);
  return { status: 200, headers };
}

export async function setFileMetadata(call: Call, service: FileService): Promise<Answer> {
  const entry = await files.setFileMetadata(
    service,
    writeFileTarget(call),
    leaseIdOf(call),
    metadataOf(call),
  );
  return { status: 200, headers: [...stampHeaders(entry.stamp), ...encryptedRequest] };
}

export async function setFileProperties(call: Call, service: FileService): Promise<Answer> {
  const entry = await files.setFileProperties(service, writeFileTarget(call), {
    http: httpProperties(call),
    length: lengthHeader(call),
    smb: smbRequest(call, 'set', false).wishes,
    leaseId: leaseIdOf(call),
  });
  return { status: 200, headers: writtenHeaders(entry, call.version) };
}

export async function deleteFile(call: Call, service: FileService): Promise<Answer> {
  await files.deleteFile(service, writeFileTarget(call), leaseIdOf(call));
  return { status: 202, headers: [] };
}

export async function leaseFile(call: Call, service: FileService): Promise<Answer> {
  const target = writeFileTarget(call);
  const action = leaseActionOf(call, 'file');
  const { stamp, file } = await lease(service, target, action);
  return leaseAnswer(action, file.lease, service.store.now(), stampHeaders(stamp));
}
