// Put Range, Clear Range, Put Range From URL and List Ranges on the wire.

import { crc64, crc64Bytes } from '../../base/crc64.js';
import { invalidHeader, missingHeader, StorageError } from '../../services/common/errors.js';
import { listRanges as list, putRange as put } from '../../services/file/file-ranges.js';
import type { FileEntry } from '../../services/file/model.js';
import type { FileService } from '../../services/file/service.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { expectedSourceChecksums, verifyChecksums } from '../checksums.js';
import { flagHeader, requireHeader, stampHeaders, wordHeader } from '../headers.js';
import type { Inside } from '../operation.js';
import { type ByteRange, lengthOf, readRange, sourceRange, writeRange } from '../ranges.js';
import { element, parent, xmlAnswer } from '../xml.js';
import { mostBytes, receiveBytes } from './bodies.js';
import { readSource } from './copy-source.js';
import { encryptedRequest, timeText } from './file-headers.js';
import { leaseIdOf, readFileTarget, refuseNfs, snapshotOf, writeFileTarget } from './requests.js';

/** From here on a write sets the last write time, and says so. */
const writtenSince = '2021-06-08';

/** Whether the last write time is to stay as it is. */
function keepsWritten(call: Call): boolean {
  const word = wordHeader(call, 'x-ms-file-last-write-time', ['now', 'preserve']);
  return call.version < writtenSince || word === 'preserve';
}

function writtenHeaders(call: Call, entry: FileEntry): string[] {
  return call.version < writtenSince ? [] : ['x-ms-file-last-write-time', timeText(entry.written)];
}

export async function putRange(call: Call, service: FileService): Promise<Answer> {
  refuseNfs(call);
  const target = writeFileTarget(call);
  const write = wordHeader(call, 'x-ms-write', ['update', 'clear']);
  if (write === undefined) throw missingHeader('x-ms-write');
  const range = writeRange(call);
  const slice = { start: range.start, end: range.end + 1 };
  const options = { range: slice, leaseId: leaseIdOf(call), keepWritten: keepsWritten(call) };
  if (write === 'clear') {
    refuseBody(call);
    const entry = await put(service, target, { ...options, body: undefined });
    return { status: 201, headers: [...stampHeaders(entry.stamp), ...writtenHeaders(call, entry)] };
  }
  if (lengthOf(range) > mostBytes) {
    throw new StorageError('RequestBodyTooLarge', { details: { MaxLimit: String(mostBytes) } });
  }
  using received = await receiveBytes(call, service, lengthOf(range));
  const entry = await put(service, target, { ...options, body: received.body });
  const headers = [...stampHeaders(entry.stamp), ...received.headers, ...encryptedRequest];
  return { status: 201, headers: [...headers, ...writtenHeaders(call, entry)] };
}

function refuseBody(call: Call): void {
  const md5 = call.header('content-md5');
  if (md5 !== undefined) throw invalidHeader('Content-MD5', md5);
  const length = call.body.declaredLength ?? 0;
  if (length !== 0) throw invalidHeader('Content-Length', String(length));
}

export async function putRangeFromUrl(
  call: Call,
  service: FileService,
  identity: Identity,
  _: unknown,
  inside: Inside,
): Promise<Answer> {
  refuseNfs(call);
  const target = writeFileTarget(call);
  const write = requireHeader(call, 'x-ms-write');
  if (write.toLowerCase() !== 'update') throw invalidHeader('x-ms-write', write);
  refuseBody(call);
  const range = writeRange(call);
  const from = boundedSource(call);
  if (lengthOf(from) !== lengthOf(range)) {
    throw invalidHeader('x-ms-source-range', call.header('x-ms-source-range'));
  }
  if (lengthOf(range) > mostBytes) {
    throw new StorageError('RequestBodyTooLarge', { details: { MaxLimit: String(mostBytes) } });
  }
  const bytes = await readSource(call, service, identity, inside, from);
  const sum = crc64Bytes(crc64(bytes));
  verifyChecksums(expectedSourceChecksums(call), { crc64: sum });
  checkSumConditions(call, sum);
  using body = await service.store.content.contents.store(bytes, {});
  const slice = { start: range.start, end: range.end + 1 };
  const options = { range: slice, leaseId: leaseIdOf(call), keepWritten: keepsWritten(call), body };
  const entry = await put(service, target, options);
  const headers = [...stampHeaders(entry.stamp), 'x-ms-content-crc64', sum.toString('base64')];
  return { status: 201, headers: [...headers, ...encryptedRequest, ...writtenHeaders(call, entry)] };
}

function boundedSource(call: Call): ByteRange {
  const from = sourceRange(call);
  if (from === undefined) throw missingHeader('x-ms-source-range');
  if (!Number.isFinite(from.end)) throw invalidHeader('x-ms-source-range', call.header('x-ms-source-range'));
  return from;
}

/** The source must have, or must not have, this sum. */
function checkSumConditions(call: Call, sum: Buffer): void {
  const wanted = call.header('x-ms-source-if-match-crc64');
  const unwanted = call.header('x-ms-source-if-none-match-crc64');
  const actual = sum.toString('base64');
  if ((wanted !== undefined && wanted !== actual) || unwanted === actual) {
    throw new StorageError('ConditionNotMet');
  }
}

export async function listRanges(call: Call, service: FileService): Promise<Answer> {
  const target = readFileTarget(call);
  const range = readRange(call);
  const { entry, ranges } = await list(service, target, {
    range: range && { start: range.start, end: range.end + 1 },
    leaseId: leaseIdOf(call),
    since: snapshotOf(call, 'prevsharesnapshot'),
    supportsRename: flagHeader(call, 'x-ms-file-support-rename'),
  });
  const rows = ranges.map(({ start, end, kind }) =>
    parent(
      kind === 'cleared' ? 'ClearRange' : 'Range',
      element('Start', String(start)) + element('End', String(end - 1)),
    ),
  );
  const headers = [...stampHeaders(entry.stamp), 'x-ms-content-length', String(entry.file.length)];
  return xmlAnswer(200, parent('Ranges', rows.join('')), headers);
}
