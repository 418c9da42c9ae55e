// Structured messages (`x-ms-structured-body: XSM/1.0; properties=crc64`): bytes in segments, each with its CRC64, so
// that what goes wrong on the way is found. All numbers little-endian.
//
//   message   version 1 (u8), length of the message (u64), flags (u16, 1: CRC64), number of segments (u16)
//   segment   its number from 1 (u16), its length (u64), bytes, CRC64 of them
//   end       CRC64 of all bytes

import { crc64, crc64Bytes } from '../base/crc64.js';
import { invalidHeader, StorageError } from '../services/common/errors.js';
import type { Call } from './call.js';

export const structuredHeader = 'XSM/1.0; properties=crc64';

const headBytes = 13;
const segmentHeadBytes = 10;
const sumBytes = 8;
const largestSegment = 4 * 1024 * 1024;
const mostSegments = 0xffff;

/** Whether a request says that its body is one, or asks for one; 400 for a form that is not known. */
export function isStructured(call: Call): boolean {
  const text = call.header('x-ms-structured-body');
  if (text === undefined) return false;
  if (text.toLowerCase().replaceAll(' ', '') === structuredHeader.toLowerCase().replaceAll(' ', ''))
    return true;
  throw invalidHeader('x-ms-structured-body', text);
}

/** The longest message that so many bytes may come in. */
export function messageBytes(length: number): number {
  return headBytes + length + sumBytes + mostSegments * (segmentHeadBytes + sumBytes);
}

/** The bytes; 400 where the message is malformed or a sum is wrong. */
export function decodeMessage(message: Buffer, length: number): Buffer {
  const malformed = new StorageError('InvalidInput');
  if (message.length < headBytes || message[0] !== 1) throw malformed;
  if (message.readBigUInt64LE(1) !== BigInt(message.length)) throw malformed;
  const flags = message.readUInt16LE(9);
  if (flags > 1) throw malformed;
  const sums = flags & 1 ? sumBytes : 0;
  const chunks: Buffer[] = [];
  let at = headBytes;
  for (let number = 1; number <= message.readUInt16LE(11); number++) {
    if (at + segmentHeadBytes > message.length || message.readUInt16LE(at) !== number) throw malformed;
    const size = Number(message.readBigUInt64LE(at + 2));
    const start = at + segmentHeadBytes;
    if (start + size + sums > message.length) throw malformed;
    const chunk = message.subarray(start, start + size);
    at = start + size + sums;
    if (sums > 0) checkSum(chunk, message.subarray(at - sums, at));
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  if (at + sums !== message.length || bytes.length !== length) throw malformed;
  if (sums > 0) checkSum(bytes, message.subarray(at));
  return bytes;
}

function checkSum(bytes: Buffer, sum: Buffer): void {
  if (!crc64Bytes(crc64(bytes)).equals(sum)) throw new StorageError('Crc64Mismatch');
}

/** How long the message of so many bytes is. */
export function messageLength(length: number): number {
  return headBytes + length + sumBytes + segmentsOf(length) * (segmentHeadBytes + sumBytes);
}

function segmentsOf(length: number): number {
  return Math.max(1, Math.ceil(length / largestSegment));
}

/** A message of bytes on their way. */
export async function* encodeMessage(bytes: AsyncIterable<Buffer>, length: number): AsyncGenerator<Buffer> {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(1, 0);
  head.writeBigUInt64LE(BigInt(messageLength(length)), 1);
  head.writeUInt16LE(1, 9);
  head.writeUInt16LE(segmentsOf(length), 11);
  yield head;
  let whole = 0n;
  let segment = 0n;
  let number = 0;
  let left = 0;
  let rest = length;
  const begin = () => {
    number++;
    left = Math.min(largestSegment, rest);
    rest -= left;
    segment = 0n;
    const segmentHead = Buffer.alloc(segmentHeadBytes);
    segmentHead.writeUInt16LE(number, 0);
    segmentHead.writeBigUInt64LE(BigInt(left), 2);
    return segmentHead;
  };
  yield begin();
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; ) {
      if (left === 0) {
        yield crc64Bytes(segment);
        yield begin();
      }
      const part = chunk.subarray(at, at + left);
      segment = crc64(part, segment);
      whole = crc64(part, whole);
      yield part;
      left -= part.length;
      at += part.length;
    }
  }
  yield crc64Bytes(segment);
  yield crc64Bytes(whole);
}
