// What `adds` keeps under a key: a whole number in eight bytes, big-endian IEEE 754, exact up to 2^53.

import { assert } from '../base/assert.js';

/** Nothing stored: 0. */
export function decodeCounter(value: Uint8Array | undefined): number {
  if (value === undefined) return 0;
  assert(value.length === 8, 'the key of an add holds a value that is not a counter');
  return new DataView(value.buffer, value.byteOffset, 8).getFloat64(0);
}

export function encodeCounter(count: number): Uint8Array {
  assert(Number.isSafeInteger(count), 'a counter is a whole number below 2^53');
  const value = Buffer.allocUnsafe(8);
  value.writeDoubleBE(count);
  return value;
}
