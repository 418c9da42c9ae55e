// Where the bytes of an extent lie in its segment, and what their checksums are: docs/formats/extents.md.
// Pure arithmetic; nothing here touches a file.

import { crc32 } from 'node:zlib';
import { assert } from '../base/assert.js';
import type { Bytes } from '../base/bytes.js';
import { DamageError } from './errors.js';

/** One piece of a segment; `length` counts the caller's bytes, without checksums. */
export interface Extent {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
}

export const blockBytes = 16 * 1024;
export const checksumBytes = 4;
const blocksInGroup = 16;
export const groupBytes = blocksInGroup * blockBytes;
/** The checksums of a full group. */
export const tableBytes = blocksInGroup * checksumBytes;
const groupStride = groupBytes + tableBytes;

export const headerBytes = 24;
const magic = 'LZSEGMNT';
const version = 1;

/** What content of `length` bytes takes in a segment. */
export function storedBytes(length: number): number {
  return length + checksumBytes * Math.ceil(length / blockBytes);
}

export function segmentName(number: number): string {
  return `${String(number).padStart(16, '0')}.segment`;
}

/** Nothing for a name that is not a segment's. */
export function segmentNumber(name: string): number | undefined {
  const digits = /^(\d{16})\.segment$/.exec(name)?.[1];
  const number = Number(digits);
  return digits !== undefined && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

export function encodeHeader(number: number): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write(magic, 0, 'latin1');
  header.writeUInt16LE(version, 8);
  header.writeBigUInt64LE(BigInt(number), 12);
  header.writeUInt32LE(crc32(header.subarray(0, 20)), 20);
  return header;
}

/** Throws unless these are the first bytes of that segment, in a version that is known here. */
export function checkHeader(header: Bytes, number: number, path: string): void {
  const expected = encodeHeader(number);
  const found = Buffer.from(header);
  if (found.equals(expected)) return;
  const sound = found.length === headerBytes && found.readUInt32LE(20) === crc32(found.subarray(0, 20));
  if (sound && found.toString('latin1', 0, 8) === magic && found.readUInt16LE(8) > version) {
    throw new DamageError(`${path} was written by a newer version of this program; use that version`);
  }
  throw new DamageError(`${path} does not begin as segment ${number} does: damaged, or another file`);
}

/** What the checksums of a segment's blocks start from, before the position is added. */
export function checksumSeed(number: number): number {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(number));
  return crc32(bytes);
}

function blockChecksum(block: Bytes, seed: number, position: number): number {
  return crc32(block, (seed ^ Math.imul(position, 0x9e3779b1)) >>> 0);
}

/** Writes the checksums of the blocks in `data`, which lies at `position`, into `table` from `at` on. */
export function putChecksums(data: Bytes, seed: number, position: number, table: Buffer, at: number): void {
  for (let start = 0; start < data.length; start += blockBytes) {
    const block = data.subarray(start, start + blockBytes);
    table.writeUInt32LE(blockChecksum(block, seed, position + start), at);
    at += checksumBytes;
  }
}

/** The position in the file of the first block that does not match, or nothing. */
export function findDamage(data: Bytes, seed: number, position: number, table: Buffer): number | undefined {
  let at = 0;
  for (let start = 0; start < data.length; start += blockBytes) {
    const block = data.subarray(start, start + blockBytes);
    if (table.readUInt32LE(at) !== blockChecksum(block, seed, position + start)) return position + start;
    at += checksumBytes;
  }
  return undefined;
}

/** What must be read for the part of a slice that lies in one group: whole blocks and their checksums. */
export interface GroupPart {
  readonly position: number;
  readonly bytes: number;
  readonly tablePosition: number;
  readonly tableBytes: number;
  /** The part itself within those blocks. */
  readonly from: number;
  readonly to: number;
}

/** The group of the content that `position` lies in. */
export function groupOf(extent: Extent, position: number): { readonly start: number; readonly end: number } {
  const start = position - (position % groupBytes);
  return { start, end: Math.min(extent.length, start + groupBytes) };
}

/** The part of the content from `start` to `end` that lies in the group of `start`. */
export function groupPart(extent: Extent, start: number, end: number): GroupPart {
  assert(start >= 0 && start < end && end <= extent.length, 'a slice lies in its extent and is not empty');
  const group = groupOf(extent, start);
  const groupStart = group.start;
  const groupLength = group.end - groupStart;
  const groupPosition = extent.offset + (groupStart / groupBytes) * groupStride;
  const to = Math.min(end - groupStart, groupLength);
  const first = Math.floor((start - groupStart) / blockBytes);
  const after = Math.ceil(to / blockBytes);
  const skipped = first * blockBytes;
  return {
    position: groupPosition + skipped,
    bytes: Math.min(after * blockBytes, groupLength) - skipped,
    tablePosition: groupPosition + groupLength + first * checksumBytes,
    tableBytes: (after - first) * checksumBytes,
    from: start - groupStart - skipped,
    to: to - skipped,
  };
}
