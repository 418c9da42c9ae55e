// Values to bytes and back. What is stored is what comes back, or it is refused: nothing is dropped or
// changed on the way in silence.
//
//   stored      null, booleans, numbers, bigints, strings, dates, Uint8Array and its kin, arrays, plain
//               objects, Map, Set; undefined inside an object or an array
//   refused     undefined by itself, functions, symbols, class instances, a key `__proto__`, what refers to
//               itself or nests deeper than 100 levels
//
// The bytes are MessagePack, each value by itself: no structure is shared between values, so that any one
// can be read without the rest. What MessagePack as bound here would change, a Map among objects, -0 and a
// text with half a surrogate pair, is wrapped in an extension of ours (type 4D).

import { addExtension, Packr } from 'msgpackr';
import { type Bytes, buffer } from '../base/bytes.js';
import { DamageError } from '../engine/errors.js';

export interface Codec<T = unknown> {
  /** Stored with the collection, with its version: another codec is refused when it is opened. */
  readonly name: string;
  readonly version: number;
  encode(value: T): Uint8Array;
  /** The result shares no memory with `bytes`. */
  decode(bytes: Uint8Array): T;
}

/** The value cannot be stored as it is; the message says what in it and where. */
export class NotSerializableError extends TypeError {
  override readonly name = 'NotSerializableError';
}

export const defaultCodec: Codec = { name: 'msgpack', version: 1, encode, decode };

const maxDepth = 100;
/** Each node takes a byte, and no engine takes a value of more: beyond it the walk would only take longer. */
const maxNodes = 16 * 1024 * 1024;

/** Stands in for what msgpackr would change. */
class Wrapped {
  readonly content: readonly unknown[];
  constructor(...content: readonly unknown[]) {
    this.content = content;
  }
}

addExtension({
  Class: Wrapped,
  type: 0x4d,
  write: (wrapped: Wrapped) => wrapped.content,
  read: unwrap,
});

const packr = new Packr({
  useRecords: false,
  variableMapSize: true,
  moreTypes: true,
  useBigIntExtension: true,
  copyBuffers: true,
  useToJSON: false,
} as ConstructorParameters<typeof Packr>[0]);

let nodes = 0;

function encode(value: unknown): Buffer {
  if (value === undefined) {
    throw new NotSerializableError('undefined cannot be stored: remove the key, or store null');
  }
  nodes = 0;
  return packr.pack(prepare(value, 0));
}

function decode(bytes: Bytes): unknown {
  try {
    return packr.unpack(buffer(bytes));
  } catch (cause) {
    throw new DamageError('a stored value cannot be read: it is damaged, or another codec wrote it', {
      cause,
    });
  }
}

/** The value itself if msgpackr keeps it as it is, else a copy with wrapped parts; refuses the rest. */
function prepare(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return isWellFormed(value) ? value : new Wrapped('text', Buffer.from(value, 'utf16le'));
    case 'number':
      return Object.is(value, -0) ? new Wrapped('-0') : value;
    case 'object':
      return value === null ? value : prepareObject(value, depth + 1);
    case 'function':
    case 'symbol':
      throw new NotSerializableError(`a ${typeof value} cannot be stored`);
    default:
      return value;
  }
}

function prepareObject(value: object, depth: number): unknown {
  if (depth > maxDepth || ++nodes > maxNodes) {
    throw new NotSerializableError(
      `the value refers to itself, nests deeper than ${maxDepth} levels or is too large`,
    );
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return prepareRecord(value, depth);
  if (prototype === Array.prototype) return prepareArray(value as unknown[], depth);
  if (prototype === Date.prototype || prototype === Buffer.prototype || binary.has(prototype)) return value;
  if (prototype === Map.prototype) {
    const entries = [...(value as Map<unknown, unknown>)].flat();
    return new Wrapped('map', prepareArray(entries, depth));
  }
  if (prototype === Set.prototype)
    return new Wrapped('set', prepareArray([...(value as Set<unknown>)], depth));
  throw new NotSerializableError(
    `an instance of ${value.constructor?.name ?? 'a class'} cannot be stored: it would come back as a plain ` +
      'object; store plain data, or give the collection a codec',
  );
}

const binary = new Set<object>(
  [
    ...[Uint8Array, Uint8ClampedArray, Uint16Array, Uint32Array, Int8Array, Int16Array, Int32Array],
    ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array, ArrayBuffer, DataView],
  ].map((type) => type.prototype),
);

function prepareRecord(value: object, depth: number): object {
  const record = value as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(record)) {
    if (key === '__proto__') throw new NotSerializableError('a key __proto__ cannot be stored');
    if (!isWellFormed(key))
      throw new NotSerializableError('a key with half a surrogate pair cannot be stored');
    const part = record[key];
    const prepared = prepare(part, depth);
    if (prepared !== part) (copy ??= { ...record })[key] = prepared;
  }
  if (Object.getOwnPropertySymbols(record).length > 0) {
    throw new NotSerializableError('a key that is a symbol cannot be stored');
  }
  return copy ?? record;
}

function prepareArray(values: readonly unknown[], depth: number): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < values.length; i++) {
    const part = values[i];
    const prepared = prepare(part, depth);
    if (prepared !== part) (copy ??= [...values])[i] = prepared;
  }
  return copy ?? values;
}

function unwrap(content: unknown): unknown {
  const [kind, inner] = content as [string, unknown];
  if (kind === '-0') return -0;
  if (kind === 'text') return (inner as Buffer).toString('utf16le');
  if (kind === 'set') return new Set(inner as unknown[]);
  const flat = inner as unknown[];
  const map = new Map<unknown, unknown>();
  for (let i = 0; i < flat.length; i += 2) map.set(flat[i], flat[i + 1]);
  return map;
}

/** Part of the language since ES2024 and of Node.js since 20; a text of one byte each costs nothing. */
function isWellFormed(text: string): boolean {
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}

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
