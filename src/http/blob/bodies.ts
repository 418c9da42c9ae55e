// A body that is stored: received in one pass with the checksums that its answer tells, and verified before
// anybody can name it.

import { crc64Bytes } from '../../base/crc64.js';
import { receiveEncrypted } from '../../services/blob/encryption.js';
import type { BlobService } from '../../services/blob/service.js';
import {
  type Body,
  BodyLengthError,
  type BodyOptions,
  inlineBody,
  inlineBytes,
} from '../../services/common/body.js';
import { StorageError } from '../../services/common/errors.js';
import type { Call } from '../call.js';
import { type Checksums, expectedChecksums, expectedSourceChecksums, verifyChecksums } from '../checksums.js';
import { customerKeyOf } from './customer-keys.js';
import type { SourceBytes } from './sources.js';

const crc64Since = '2019-02-02';

export interface ReceiveOptions {
  readonly limit: number;
  /** Also where the client has not sent one. */
  readonly md5: boolean;
  /** Another one that the body must have. */
  readonly contentMd5?: Uint8Array | undefined;
  /** Throws if the body would be refused as things are now: asked before a long one is read. */
  readonly look?: (length: number) => Promise<void>;
}

/** A body of this length is read without a look: its bytes cost no more. */
const shortBytes = 64 * 1024;

export interface Received extends Disposable {
  readonly body: Body;
  readonly md5: Buffer | undefined;
  readonly crc64: Buffer | undefined;
}

/** To be disposed when the commit that names it is known to have succeeded or failed. */
export async function receiveBody(
  call: Call,
  { store }: BlobService,
  options: ReceiveOptions,
): Promise<Received> {
  refuseStructured(call);
  const length = call.body.requireLength(options.limit);
  if (length > shortBytes || call.body.isHeldBack) await options.look?.(length);
  const key = customerKeyOf(call);
  const receive = async (wants: BodyOptions) => {
    if (key !== undefined && length > 0) return exact(receiveEncrypted(store, call.body, length, wants, key));
    if (length <= inlineBytes) return inlineBody(await call.body.readAll(inlineBytes), wants);
    return exact(store.contents.receive(call.body, length, wants));
  };
  return verified(call, expectedChecksums(call), options, receive);
}

/** Its bytes are not the content: they would be stored with their frames. */
function refuseStructured(call: Call): void {
  const form = call.headers['x-ms-structured-body'];
  if (form === undefined) return;
  throw new StorageError('UnsupportedHeader', { details: { HeaderName: 'x-ms-structured-body' } });
}

/** The same of bytes that come from a source. */
export async function receiveSource(
  call: Call,
  { store }: BlobService,
  { length, body }: Pick<SourceBytes, 'length' | 'body'>,
  options: ReceiveOptions,
): Promise<Received> {
  if (length > options.limit) {
    throw new StorageError('RequestBodyTooLarge', { details: { MaxLimit: String(options.limit) } });
  }
  const key = customerKeyOf(call);
  const receive = (wants: BodyOptions) =>
    exact(
      key === undefined || length === 0
        ? store.contents.receive(body, length, wants)
        : receiveEncrypted(store, body, length, wants, key),
    );
  return verified(call, expectedSourceChecksums(call), options, receive);
}

async function verified(
  call: Call,
  expected: Checksums,
  { md5, contentMd5 }: ReceiveOptions,
  receive: (wants: BodyOptions) => Promise<Body>,
): Promise<Received> {
  const wants = {
    md5: md5 || expected.md5 !== undefined || contentMd5 !== undefined || call.version < crc64Since,
    crc64: call.version >= crc64Since || expected.crc64 !== undefined,
  };
  const body = await receive(wants);
  const { digests } = body;
  const actual: Checksums = {
    md5: digests.md5,
    crc64: digests.crc64 === undefined ? undefined : crc64Bytes(digests.crc64),
  };
  try {
    verifyChecksums(expected, actual);
    if (contentMd5 !== undefined) verifyChecksums({ md5: Buffer.from(contentMd5) }, actual);
  } catch (error) {
    body[Symbol.dispose]();
    throw error;
  }
  const { md5: sum, crc64 } = actual;
  return { body, md5: sum, crc64, [Symbol.dispose]: () => body[Symbol.dispose]() };
}

/** A body of another length than was said is the sender's fault. */
async function exact(receiving: Promise<Body>): Promise<Body> {
  try {
    return await receiving;
  } catch (error) {
    if (error instanceof BodyLengthError) throw new StorageError('InvalidInput', { cause: error });
    throw error;
  }
}

/** What is told of a body: the MD5 if the client sent it or knows nothing newer, else the CRC64. */
export function transportHeaders(call: Call, { md5, crc64 }: Received): string[] {
  const sent = call.headers['content-md5'] ?? call.headers['x-ms-source-content-md5'];
  const tellsMd5 = sent !== undefined || call.version < crc64Since;
  if (tellsMd5) return md5 === undefined ? [] : ['Content-MD5', md5.toString('base64')];
  return crc64 === undefined ? [] : ['x-ms-content-crc64', crc64.toString('base64')];
}

/** Both, as Put Blob tells them. */
export function contentChecksumHeaders(call: Call, { md5, crc64 }: Received): string[] {
  const headers = md5 === undefined ? [] : ['Content-MD5', md5.toString('base64')];
  if (crc64 !== undefined && call.version >= crc64Since) {
    headers.push('x-ms-content-crc64', crc64.toString('base64'));
  }
  return headers;
}
