// Get Blob and what else reads one: properties, metadata.

import { crc64, crc64Bytes } from '../../base/crc64.js';
import { md5 } from '../../base/digests.js';
import { type BlobAddress, baseOf, formatKeptTime } from '../../services/blob/address.js';
import type { BlobReader } from '../../services/blob/blobs.js';
import * as blobs from '../../services/blob/blobs.js';
import type { ByteSlice } from '../../services/blob/content.js';
import { type BlobRecord, isPremium } from '../../services/blob/model.js';
import type { BlobService } from '../../services/blob/service.js';
import { ContentReader } from '../../services/common/content-reader.js';
import { invalidHeader } from '../../services/common/errors.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { addMetadata, flagHeader, stampHeaders } from '../headers.js';
import type { Handler, Operation } from '../operation.js';
import { contentRange, cutRange, holdsIfRange, lengthOf, readRange } from '../ranges.js';
import { addLastAccess, addTier, blobHeaders, md5Text } from './blob-headers.js';
import { blobAddress, containerKey, guardsOf } from './requests.js';
import { servePage, websiteOf } from './website.js';

const mostSummed = 4 * 1024 * 1024;
const nothing = Buffer.alloc(0);

type Teller = (
  call: Call,
  service: BlobService,
  identity: Identity,
  operation: Operation,
  address: BlobAddress,
) => Promise<Answer>;

/** The blob that the request names, or the page of a website. */
function told(tell: Teller): Handler<BlobService> {
  return (call, service, identity, operation) => {
    const site = websiteOf(call, service, identity);
    if (site === undefined) return tell(call, service, identity, operation, blobAddress(call));
    return servePage(call, site, (name) => tell(call, service, identity, operation, baseOf(name)));
  };
}

export const getBlob = told(answerBlob);
export const getBlobProperties = told(answerProperties);

async function answerBlob(
  call: Call,
  { store, lastAccess }: BlobService,
  identity: Identity,
  operation: Operation,
  address: BlobAddress,
): Promise<Answer> {
  const range = readRange(call);
  const sum = wantedSum(call, range !== undefined);
  const select = ({ length: size, stamp }: BlobRecord): ByteSlice => {
    if (range === undefined || !holdsIfRange(call, stamp)) return { offset: 0, length: size };
    const part = cutRange(range, size);
    const length = lengthOf(part);
    if (sum !== undefined && length > mostSummed) throw invalidHeader(sum, 'true');
    return { offset: part.start, length };
  };
  const guards = guardsOf(call, operation, 'read');
  const read = await blobs.readBlob(store, containerKey(call), address, guards, select);
  const { blob, now, slice, reader } = read;
  const headers = blobHeaders(blob, address, call.version, now, identity);
  if (lastAccess.isKept(call.account)) {
    addLastAccess(headers, blob, call.version);
    lastAccess.note(containerKey(call), address, blob, now);
  }
  if (range === undefined || !holdsIfRange(call, blob.stamp)) {
    if (blob.headers.md5 !== undefined) headers.push('Content-MD5', md5Text(blob.headers.md5));
    return { status: 200, ...content(headers, reader, blob.length) };
  }
  const { offset, length } = slice ?? { offset: 0, length: 0 };
  headers.push('Content-Range', contentRange({ start: offset, end: offset + length - 1 }, blob.length));
  if (blob.headers.md5 !== undefined && call.version >= '2016-05-31') {
    headers.push('x-ms-blob-content-md5', md5Text(blob.headers.md5));
  }
  if (sum !== undefined) return { status: 206, ...(await summed(headers, reader, sum)) };
  return { status: 206, ...content(headers, reader, length) };
}

type Summed = 'x-ms-range-get-content-md5' | 'x-ms-range-get-content-crc64';

/** The header that asks for the checksum of a range. */
function wantedSum(call: Call, hasRange: boolean): Summed | undefined {
  const wantsMd5 = flagHeader(call, 'x-ms-range-get-content-md5');
  const wantsCrc64 = flagHeader(call, 'x-ms-range-get-content-crc64');
  if (!wantsMd5 && !wantsCrc64) return undefined;
  const name = wantsMd5 ? 'x-ms-range-get-content-md5' : 'x-ms-range-get-content-crc64';
  if (!hasRange || (wantsMd5 && wantsCrc64)) throw invalidHeader(name, 'true');
  return name;
}

/** What lies in a row is sent at once, the rest as it is read. */
function content(
  headers: string[],
  reader: BlobReader | undefined,
  length: number,
): Pick<Answer, 'headers' | 'body'> {
  const whole =
    reader === undefined ? nothing : reader instanceof ContentReader ? reader.takeWhole() : undefined;
  if (whole !== undefined) return { headers, body: whole };
  headers.push('Content-Length', String(length));
  return { headers, body: reader };
}

async function summed(
  headers: string[],
  reader: BlobReader | undefined,
  sum: Summed,
): Promise<Pick<Answer, 'headers' | 'body'>> {
  const chunks: Buffer[] = [];
  for await (const chunk of reader ?? []) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (sum === 'x-ms-range-get-content-md5') headers.push('Content-MD5', md5(body).toString('base64'));
  else headers.push('x-ms-content-crc64', crc64Bytes(crc64(body)).toString('base64'));
  return { headers, body };
}

async function answerProperties(
  call: Call,
  { store, lastAccess }: BlobService,
  identity: Identity,
  operation: Operation,
  address: BlobAddress,
): Promise<Answer> {
  const guards = guardsOf(call, operation, 'read');
  const { blob, now } = await blobs.readBlob(store, containerKey(call), address, guards);
  const headers = blobHeaders(blob, address, call.version, now, identity);
  addTier(headers, blob, call.version, now, isPremium(store, containerKey(call)));
  if (lastAccess.isKept(call.account)) addLastAccess(headers, blob, call.version);
  if (blob.incremental !== undefined) {
    headers.push('x-ms-incremental-copy', 'true');
    headers.push('x-ms-copy-destination-snapshot', formatKeptTime(blob.incremental.target));
  }
  if (blob.headers.md5 !== undefined) headers.push('Content-MD5', md5Text(blob.headers.md5));
  headers.push('Content-Length', String(blob.length));
  return { status: 200, headers };
}

export const getBlobMetadata: Handler<BlobService> = async (call, { store }, _, operation) => {
  const guards = guardsOf(call, operation, 'read');
  const { blob } = await blobs.readBlob(store, containerKey(call), blobAddress(call), guards);
  const headers = stampHeaders(blob.stamp);
  addMetadata(headers, blob.metadata);
  return { status: 200, headers };
};
