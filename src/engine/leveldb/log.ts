// LevelDB's log format, as its log files and its MANIFEST are written: blocks of 32 KiB, each filled with
// fragments, none across two blocks.
//
//   fragment   masked CRC-32C of type and bytes (4), length (2), type (1), bytes
//   type       1 a whole record; 2 the first, 3 a middle, 4 the last piece of one
//
// Fewer than 7 bytes at the end of a block are left empty.
//
// How a log ends. LevelDB appends a record, syncs it, and only then comes the next. So what follows the last
// synced record may be anything at all: half a record, zeros, sectors of it in any order. But no record
// begins behind one that was not synced: where one does, the hole before it is damage, not a torn end.

import { crc32c, maskCrc } from '../../base/crc32c.js';

export interface LogRecord {
  /** Where it begins and ends in the file. */
  readonly start: number;
  readonly end: number;
  readonly payload: Buffer;
}

export type LogEnd =
  | { readonly kind: 'whole' }
  | {
      readonly kind: 'broken';
      /** Where the first record begins that cannot be read. */
      readonly offset: number;
      readonly reason: string;
    };

const blockBytes = 32 * 1024;
const headerBytes = 7;
const full = 1;
const first = 2;
const middle = 3;
const last = 4;

interface Fragment {
  readonly type: number;
  readonly bytes: Buffer;
  readonly end: number;
}

/** Gives each record up to the end of the file or the first that cannot be read, or that `visit` objects to. */
export function readLog(content: Buffer, visit: (record: LogRecord) => string | undefined): LogEnd {
  let offset = 0;
  while (true) {
    offset = skipTrailer(offset);
    if (offset >= content.length) return { kind: 'whole' };
    const record = recordAt(content, offset);
    if (typeof record === 'string') return { kind: 'broken', offset, reason: record };
    const objection = visit(record);
    if (objection !== undefined) return { kind: 'broken', offset, reason: objection };
    offset = record.end;
  }
}

/**
 * Where a record begins behind `offset`, which is where one could not be read. `plausible` is asked about its
 * first bytes: a value may hold the copy of a log, and its records are none of ours.
 */
export function laterRecord(
  content: Buffer,
  offset: number,
  plausible: (bytes: Buffer) => boolean,
): number | undefined {
  for (let start = offset + 1; start + headerBytes <= content.length; start++) {
    const type = content[start + 6];
    if (type !== full && type !== first) continue;
    const end = start + headerBytes + content.readUInt16LE(start + 4);
    if (end > content.length || end > blockEnd(start)) continue;
    if (!plausible(content.subarray(start + headerBytes, end))) continue;
    if (typeof fragmentAt(content, start) !== 'string') return start;
  }
  return undefined;
}

function recordAt(content: Buffer, start: number): LogRecord | string {
  const head = fragmentAt(content, start);
  if (typeof head === 'string') return head;
  if (head.type === full) return { start, end: head.end, payload: head.bytes };
  if (head.type !== first) return 'a record begins in its middle';
  const pieces = [head.bytes];
  let end = head.end;
  while (true) {
    const next = fragmentAt(content, skipTrailer(end));
    if (typeof next === 'string') return next;
    if (next.type !== middle && next.type !== last) return 'a record has no end';
    pieces.push(next.bytes);
    end = next.end;
    if (next.type === last) return { start, end, payload: Buffer.concat(pieces) };
  }
}

/** The fragment, or what is wrong with it. */
function fragmentAt(content: Buffer, start: number): Fragment | string {
  if (start + headerBytes > content.length) return 'the file ends in a record';
  const length = content.readUInt16LE(start + 4);
  const type = content[start + 6] as number;
  const end = start + headerBytes + length;
  if (type < full || type > last) return type === 0 ? 'there are zeros' : 'a record has an unknown type';
  if (end > blockEnd(start)) return 'a record is too long';
  if (end > content.length) return 'the file ends in a record';
  const sum = maskCrc(crc32c(content.subarray(start + 6, end)));
  if (sum !== content.readUInt32LE(start)) return 'a record does not match its checksum';
  return { type, bytes: content.subarray(start + headerBytes, end), end };
}

function blockEnd(offset: number): number {
  return (Math.floor(offset / blockBytes) + 1) * blockBytes;
}

/** To the next block where there is no room for a header. */
function skipTrailer(offset: number): number {
  const end = blockEnd(offset);
  return end - offset < headerBytes ? end : offset;
}
