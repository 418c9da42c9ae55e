// The bytes that a request brings for a file: received in one pass with their checksum, plain or as a structured
// message, and verified before anybody can name them.

import { crc64Bytes } from '../../base/crc64.js';
import { type Body, inlineBytes } from '../../services/common/body.js';
import { StorageError } from '../../services/common/errors.js';
import type { FileService } from '../../services/file/service.js';
import type { Call } from '../call.js';
import { type Checksums, expectedChecksums, verifyChecksums } from '../checksums.js';
import { integerHeader } from '../headers.js';
import { decodeMessage, isStructured, messageBytes, structuredHeader } from '../structured-body.js';

export const mostBytes = 4 * 1024 * 1024;

export interface ReceivedBytes extends Disposable {
  readonly body: Body;
  /** What the answer tells of them. */
  readonly headers: readonly string[];
}

/** So many bytes as the request is for: 400 or 413 for any other number. To be disposed after the commit. */
export async function receiveBytes(call: Call, service: FileService, length: number): Promise<ReceivedBytes> {
  if (isStructured(call)) return receiveMessage(call, service, length);
  const declared = call.body.requireLength(mostBytes);
  if (declared !== length) throw lengthMismatch(declared);
  const expected = expectedChecksums(call);
  // The MD5 is always told back; a CRC64 only where it was sent.
  const wants = { md5: expected.crc64 === undefined, crc64: expected.crc64 !== undefined };
  const { contents } = service.store.content;
  const body =
    length <= inlineBytes
      ? await contents.store(await call.body.readAll(inlineBytes), wants)
      : await contents.receive(call.body, length, wants);
  return verified(body, expected);
}

async function receiveMessage(call: Call, service: FileService, length: number): Promise<ReceivedBytes> {
  const declared = integerHeader(call, 'x-ms-structured-content-length') ?? 0;
  if (declared !== length) throw lengthMismatch(declared);
  const message = await call.body.readAll(messageBytes(mostBytes));
  const body = await service.store.content.contents.store(decodeMessage(message, length), {});
  const headers = ['x-ms-structured-body', structuredHeader];
  return { body, headers, [Symbol.dispose]: () => body[Symbol.dispose]() };
}

function verified(body: Body, expected: Checksums): ReceivedBytes {
  const { md5, crc64 } = body.digests;
  const actual = { md5, crc64: crc64 === undefined ? undefined : crc64Bytes(crc64) };
  try {
    verifyChecksums(expected, actual);
  } catch (error) {
    body[Symbol.dispose]();
    throw error;
  }
  const headers = md5 === undefined ? [] : ['Content-MD5', md5.toString('base64')];
  if (actual.crc64 !== undefined) headers.push('x-ms-content-crc64', actual.crc64.toString('base64'));
  return { body, headers, [Symbol.dispose]: () => body[Symbol.dispose]() };
}

function lengthMismatch(declared: number): StorageError {
  return new StorageError('InvalidHeaderValue', {
    details: { HeaderName: 'Content-Length', HeaderValue: String(declared) },
  });
}
