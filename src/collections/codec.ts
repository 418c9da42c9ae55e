// Values to bytes and back. What is stored is what comes back, or it is refused: nothing is dropped or
// changed on the way in silence.
//
//   stored      null, booleans, numbers, bigints, strings, dates, Uint8Array and its kin, arrays, plain
//               objects, Map, Set; undefined inside an object or an array
//   refused     undefined by itself, functions, symbols, class instances, a key `__proto__`, what refers to
//               itself or nests deeper than 100 levels
//
// The bytes are MessagePack (pack.ts), each value by itself: no structure is shared between values, so that
// any one can be read without the rest. Equal values with their keys in the same order are equal bytes.

import { ArgumentError } from './errors.js';
import { pack } from './pack.js';
import { unpack } from './unpack.js';

export { NotSerializableError } from './pack.js';

export interface Codec<T = unknown> {
  /** Stored with the collection, with its version: another codec is refused when it is opened. */
  readonly name: string;
  readonly version: number;
  encode(value: T): Uint8Array;
  /** The result shares no memory with `bytes`. */
  decode(bytes: Uint8Array): T;
}

/** What is not a codec is refused before anything is stored with it. */
export function checkCodec(codec: { readonly [Field in keyof Codec]: unknown }): void {
  const { name, version, encode, decode } = codec ?? {};
  if (typeof name !== 'string' || name === '') throw new ArgumentError('a codec has a name');
  if (!Number.isSafeInteger(version) || Number(version) < 0)
    throw new ArgumentError(`the version of the codec ${name} is a whole number, not ${String(version)}`);
  if (typeof encode !== 'function' || typeof decode !== 'function')
    throw new ArgumentError(`the codec ${name} needs functions encode and decode`);
}

export const defaultCodec: Codec = {
  name: 'msgpack',
  version: 1,
  encode: pack,
  decode: (bytes) => unpack(bytes),
};

/**
 * Freezes a value that was just decoded, all the way down, so that a change to it is an error and not a
 * surprise. The contents of a Map or Set are frozen, they themselves and bytes cannot be.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (value instanceof Map) for (const entry of value) entry.forEach(deepFreeze);
  else if (value instanceof Set) value.forEach(deepFreeze);
  else if (!Object.isFrozen(value)) {
    Object.freeze(value);
    for (const key in value) deepFreeze(value[key]);
  }
  return value;
}
