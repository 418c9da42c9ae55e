// Byte ranges: `bytes=a-b` and `bytes=a-`, in `x-ms-range` or, without it, in `Range`.
//
//                                 blob, read          file, read              a write
//   no header                     whole               whole                   400 MissingRequiredHeader
//   bytes=0-9                     206                 206                     so
//   bytes=5- (2011-08-18)         206                 206                     400 InvalidHeaderValue
//   bytes=-5, two ranges, 9-5,
//   other units, no numbers       ignored: whole      400 InvalidHeaderValue  400 InvalidHeaderValue
//   begins at or after the end    416 InvalidRange    416 InvalidRange        the operation's to say
//   ends after the end            cut                 cut                     the operation's to say
//
// If-Range on a read of a blob: the range is for who has the part before it of this very content. Azure's reference does
// not name it; HTTP does (RFC 9110, 13.1.5), and a download that is resumed would else be joined of two contents.

import type { Stamp } from '../base/stamps.js';
import { parseHttpDate } from '../base/times.js';
import { invalidHeader, missingHeader } from '../services/common/errors.js';
import { bareEtag, lastModifiedMs, withoutQuotes } from '../services/common/etag.js';
import type { Call } from './call.js';
import { HeaderedError } from './errors.js';

/** Both ends belong to it. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const form = /^bytes=(\d{1,19})-(\d{1,19})?$/i;

/** What a read asks for: the end is infinite where it is open. Nothing: the whole. */
export function readRange(call: Call): ByteRange | undefined {
  const name = headerName(call);
  if (name === undefined) return undefined;
  const text = call.header(name) ?? '';
  const range = parse(text, call.version >= '2011-08-18');
  if (range === undefined && call.service === 'file') throw invalidHeader(name, text);
  return range;
}

/** Whether what has this stamp is read in part: there is no If-Range, or it names this ETag or Last-Modified. */
export function holdsIfRange(call: Call, stamp: Stamp): boolean {
  const text = call.header('if-range');
  if (text === undefined) return true;
  return withoutQuotes(text.trim()) === bareEtag(stamp) || parseHttpDate(text) === lastModifiedMs(stamp);
}

/** What a write changes: both ends are told. */
export function writeRange(call: Call): ByteRange {
  const name = headerName(call);
  if (name === undefined) throw missingHeader('x-ms-range');
  const text = call.header(name) ?? '';
  const range = parse(text, false);
  if (range === undefined) throw invalidHeader(name, text);
  return range;
}

/** The same of `x-ms-source-range`, which may be left out. */
export function sourceRange(call: Call): ByteRange | undefined {
  const text = call.header('x-ms-source-range');
  if (text === undefined) return undefined;
  const range = parse(text, true);
  if (range === undefined) throw invalidHeader('x-ms-source-range', text);
  return range;
}

/** The part of a resource that a range covers; 416 `InvalidRange` if there is none. */
export function cutRange(range: ByteRange, size: number): ByteRange {
  if (range.start >= size) {
    throw new HeaderedError('InvalidRange', ['Content-Range', `bytes */${size}`]);
  }
  return { start: range.start, end: Math.min(range.end, size - 1) };
}

export function lengthOf(range: ByteRange): number {
  return range.end - range.start + 1;
}

/** The value of `Content-Range`. */
export function contentRange(range: ByteRange, size: number): string {
  return `bytes ${range.start}-${range.end}/${size}`;
}

function headerName(call: Call): string | undefined {
  if (call.headers['x-ms-range'] !== undefined) return 'x-ms-range';
  return call.headers.range === undefined ? undefined : 'range';
}

function parse(text: string, mayBeOpen: boolean): ByteRange | undefined {
  const [, first, last] = form.exec(text) ?? [];
  if (first === undefined || (last === undefined && !mayBeOpen)) return undefined;
  const start = Number(first);
  const end = last === undefined ? Number.POSITIVE_INFINITY : Number(last);
  return start <= end ? { start, end } : undefined;
}
