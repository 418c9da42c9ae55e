// The checksum a client sends with its bytes: `Content-MD5`, or `x-ms-content-crc64`, but not both.

import { type Bytes, equalBytes } from '../base/bytes.js';
import { crc64, crc64Bytes } from '../base/crc64.js';
import { md5 } from '../base/digests.js';
import { invalidHeader, StorageError } from '../services/common/errors.js';
import type { Call } from './call.js';

export interface Checksums {
  readonly md5?: Buffer | undefined;
  readonly crc64?: Buffer | undefined;
}

/** What the body of a request must come to. Nothing of it is read yet. */
export function expectedChecksums(call: Call): Checksums {
  return checksumHeaders(call, 'content-md5', 'x-ms-content-crc64');
}

/** The same of the bytes fetched from `x-ms-copy-source`. */
export function expectedSourceChecksums(call: Call): Checksums {
  return checksumHeaders(call, 'x-ms-source-content-md5', 'x-ms-source-content-crc64');
}

function checksumHeaders(call: Call, md5Name: string, crcName: string): Checksums {
  const crcText = call.header(crcName);
  const expected = { md5: md5Header(call, md5Name), crc64: undefined };
  if (crcText === undefined) return expected;
  if (expected.md5 !== undefined) throw new StorageError('BothCrc64AndMd5HeaderPresent');
  const crc = base64(crcText, 8);
  if (crc === undefined) throw invalidHeader(crcName, crcText);
  return { md5: undefined, crc64: crc };
}

/** An MD5 in a header: 16 bytes in Base64, else 400 `InvalidMd5`. */
export function md5Header(call: Call, name: string): Buffer | undefined {
  const text = call.header(name);
  if (text === undefined) return undefined;
  const value = base64(text, 16);
  if (value === undefined) throw new StorageError('InvalidMd5');
  return value;
}

/** Bytes in Base64, written in the one way there is for them. */
function base64(text: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined;
}

/** 400 `Md5Mismatch` or `Crc64Mismatch` if what came is not what was announced. */
export function verifyChecksums(expected: Checksums, actual: Checksums): void {
  if (expected.md5 !== undefined && actual.md5 !== undefined && !equalBytes(expected.md5, actual.md5)) {
    throw new StorageError('Md5Mismatch', {
      details: {
        UserSpecifiedMd5: expected.md5.toString('base64'),
        ServerCalculatedMd5: actual.md5.toString('base64'),
      },
    });
  }
  if (
    expected.crc64 !== undefined &&
    actual.crc64 !== undefined &&
    !equalBytes(expected.crc64, actual.crc64)
  ) {
    throw new StorageError('Crc64Mismatch', {
      details: {
        UserSpecifiedCrc64: expected.crc64.toString('base64'),
        ServerCalculatedCrc64: actual.crc64.toString('base64'),
      },
    });
  }
}

/** Of a body that is in memory. */
export function verifyBytes(expected: Checksums, bytes: Bytes): void {
  if (expected.md5 !== undefined) verifyChecksums(expected, { md5: md5(bytes) });
  if (expected.crc64 !== undefined) verifyChecksums(expected, { crc64: crc64Bytes(crc64(bytes)) });
}
