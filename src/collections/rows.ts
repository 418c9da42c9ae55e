// A row of a dictionary as bytes: what the codec made of the value, behind a first byte that tells the form.
//
//   00  value
//   01  time it expires, 8 bytes  value

import { buffer } from '../base/bytes.js';
import { InvalidDataError } from './errors.js';

const plain = 0;
const expiring = 1;

export function encodeRow(value: Uint8Array, expires: number | undefined): Uint8Array {
  const header = expires === undefined ? 1 : 9;
  const row = Buffer.allocUnsafe(header + value.length);
  row[0] = expires === undefined ? plain : expiring;
  if (expires !== undefined) row.writeDoubleBE(expires, 1);
  row.set(value, header);
  return row;
}

/** When the row expires, in milliseconds since 1970; nothing if it does not. */
export function expiryOf(row: Uint8Array): number | undefined {
  if (row[0] === plain) return undefined;
  if (row[0] !== expiring)
    throw new InvalidDataError(`a row of form ${row[0]} was written by a newer version`);
  return buffer(row).readDoubleBE(1);
}

/** The codec's bytes of a row that expires, expired or not. */
export function expiredValue(row: Uint8Array): Uint8Array {
  return row.subarray(9);
}

/** Where the codec's bytes begin; 0 if there is no row, or it has expired. The time is asked for only where it matters. */
export function valueStart(row: Uint8Array | undefined, time: { readonly now: number }): number {
  if (row === undefined) return 0;
  if (row[0] === plain) return 1;
  return (expiryOf(row) as number) > time.now ? 9 : 0;
}

/** The codec's bytes, a view of the row; nothing if there is no row, or it has expired. */
export function liveValue(
  row: Uint8Array | undefined,
  time: { readonly now: number },
): Uint8Array | undefined {
  const start = valueStart(row, time);
  return start === 0 ? undefined : row?.subarray(start);
}
