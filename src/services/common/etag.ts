// ETag and Last-Modified, both made of the stamp that a record carries (base/stamps.ts).
//
//   ETag            0x and the time in ticks of 100 ns since the year 1, in hex: "0x8DE489FE8AC1F40"
//   Last-Modified   the same moment in whole seconds
//
// Headers have the ETag in quotes, listings of blobs do not; a request may write it either way. Two are
// equal when they are the same text without quotes: an ETag of ours is strong, so a weak one (W/"...") is
// never equal to it. A table's ETag has another form, which the table service makes.

import { type Stamp, stampToMs } from '../../base/stamps.js';

/** Ticks of 100 ns from the year 1 to 1970. */
const year1970 = 621_355_968_000_000_000n;

/** Without quotes, as listings of blobs have it. */
export function bareEtag(stamp: Stamp): string {
  return `0x${(BigInt(stamp) * 10n + year1970).toString(16).toUpperCase()}`;
}

/** In quotes, as headers have it. */
export function etag(stamp: Stamp): string {
  return `"${bareEtag(stamp)}"`;
}

/** Milliseconds since 1970, without the part of a second that Last-Modified cannot say. */
export function lastModifiedMs(stamp: Stamp): number {
  const ms = stampToMs(stamp);
  return ms - (ms % 1000);
}

/** One ETag as a client wrote it, for comparison with `bareEtag`. */
export function withoutQuotes(text: string): string {
  return text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}
