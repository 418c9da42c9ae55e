// Keys: tuples to bytes whose order is the order of the tuples, and back. No two tuples are alike.
//
// A key is its parts one after the other, each a type byte and what belongs to it:
//
//   10        null
//   11 12     false, true
//   20        number      8 bytes: IEEE 754, big-endian, sign bit flipped; all bits flipped below zero
//   28        bigint      2 bytes: 0x8000 plus or minus the length; then the magnitude, big-endian,
//                         its bits flipped below zero
//   30        date        the milliseconds, as a number
//   40        string      in code point order: UTF-8, a lone surrogate in three bytes; ends in 00
//   48        utf16()     in UTF-16 code unit order: every unit by itself in one to three bytes; ends in 00
//   50        bytes       ends in 00
//   60        a tuple     its parts; ends in 00
//
// Inside what ends in 00, a 00 is written 00 FF. No type byte is 00 or FF, so the end sorts below all that
// can follow, and a key with FF appended is above all that begin with it. Parts of different types order by
// their type byte: 2 and 2n are different keys, and every number comes before every bigint.
//
// This is on the path of every read and write. Keys are written one behind the other into a slab and handed
// out as views of it: one allocation each, no copy.

import { afterPrefix, type Bytes, buffer, fromMapKey } from '../base/bytes.js';
import type { NamedKey } from './engine.js';
import { DamageError } from './errors.js';

export type KeyPart =
  | null
  | boolean
  | number
  | bigint
  | Date
  | string
  | Utf16
  | Uint8Array
  | readonly KeyPart[];

/** A text that orders by its UTF-16 code units, as the table service orders keys. */
export class Utf16 {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export function utf16(text: string): Utf16 {
  return new Utf16(text);
}

/** From `from` up to but not including `to`. */
export interface KeyRange {
  readonly from: Buffer;
  readonly to: Buffer;
}

/** The value cannot be part of a key; the message says which and why. */
export class InvalidKeyError extends TypeError {
  override readonly name = 'InvalidKeyError';
}

const type = {
  null: 0x10,
  false: 0x11,
  true: 0x12,
  number: 0x20,
  bigint: 0x28,
  date: 0x30,
  string: 0x40,
  utf16: 0x48,
  bytes: 0x50,
  tuple: 0x60,
} as const;

const end = 0x00;
const escaped = 0xff;
const maxDepth = 16;
const maxBigintBytes = 0x7fff;
const slabBytes = 16 * 1024;

let slab = Buffer.allocUnsafeSlow(slabBytes);
let view = new DataView(slab.buffer);
/** Where the next key begins, and where the next byte of the key at hand goes. */
let start = 0;
let at = 0;

/** The bytes are not to be written to. `prefix`: bytes to begin with, for a key inside a key space. */
export function encodeKey(parts: readonly KeyPart[], prefix?: Bytes): Buffer {
  begin(parts, prefix);
  return finish();
}

/** The same as a name; its bytes are made when they are asked for: what is found in memory needs none. */
export function encodeName(parts: readonly KeyPart[], prefix?: Bytes): NamedKey {
  begin(parts, prefix);
  const name = slab.toString('latin1', start, at); // the next key is written over it
  if (slab.length > slabBytes) useSlab(slabBytes);
  return new EncodedName(name);
}

class EncodedName implements NamedKey {
  readonly name: string;
  #key: Buffer | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get key(): Buffer {
    this.#key ??= fromMapKey(this.name);
    return this.#key;
  }
}

/** All tuples that begin with these parts, the parts themselves included. */
export function prefixRange(parts: readonly KeyPart[], prefix?: Bytes): KeyRange {
  const from = encodeKey(parts, prefix);
  const to = Buffer.allocUnsafe(from.length + 1);
  to.set(from);
  to[from.length] = 0xff;
  return { from, to };
}

/**
 * All tuples that begin with these parts and then have a text that begins with this one. Texts are compared
 * as they are ordered: a string by code points, so half a surrogate pair does not begin the whole one.
 */
export function textPrefixRange(parts: readonly KeyPart[], text: string | Utf16, prefix?: Bytes): KeyRange {
  begin(parts, prefix);
  if (typeof text === 'string') putText(type.string, text, true);
  else putText(type.utf16, text.text, false);
  at--; // without its end
  const from = finish();
  return { from, to: afterPrefix(from) as Buffer };
}

/** The parts from `offset` on. Bytes that `encodeKey` did not make are refused with a `DamageError`. */
export function decodeKey(bytes: Bytes, offset = 0): KeyPart[] {
  const reader: Reader = { bytes, at: offset };
  const parts: KeyPart[] = [];
  while (reader.at < bytes.length) parts.push(takePart(reader, 0));
  return parts;
}

function begin(parts: readonly KeyPart[], prefix: Bytes | undefined): void {
  at = start;
  if (prefix !== undefined) {
    reserve(prefix.length);
    slab.set(prefix, at);
    at += prefix.length;
  }
  for (let i = 0; i < parts.length; i++) putPart(parts[i], 0);
}

function finish(): Buffer {
  const key = slab.subarray(start, at);
  start = at;
  if (slab.length > slabBytes) useSlab(slabBytes); // else the next keys would keep this one's memory
  return key;
}

function useSlab(bytes: number): void {
  slab = Buffer.allocUnsafeSlow(bytes);
  view = new DataView(slab.buffer);
  start = 0;
  at = 0;
}

/** Room for so many bytes more; the key at hand moves to a new slab where this one is full. */
function reserve(bytes: number): void {
  if (at + bytes <= slab.length) return;
  const used = slab.subarray(start, at);
  useSlab(Math.max(slabBytes, 2 * (used.length + bytes)));
  slab.set(used);
  at = used.length;
}

function putPart(part: KeyPart | undefined, depth: number): void {
  if (typeof part === 'string') putText(type.string, part, true);
  else if (typeof part === 'number') putNumber(type.number, part);
  else if (part instanceof Utf16) putText(type.utf16, part.text, false);
  else if (part === null) putByte(type.null);
  else if (typeof part === 'boolean') putByte(part ? type.true : type.false);
  else if (typeof part === 'bigint') putBigint(part);
  else if (part instanceof Uint8Array) putBytes(part);
  else if (part instanceof Date) putNumber(type.date, part.getTime());
  else if (Array.isArray(part)) putTuple(part, depth + 1);
  else throw new InvalidKeyError(`a key cannot hold ${part === undefined ? 'undefined' : describe(part)}`);
}

function describe(part: unknown): string {
  return typeof part === 'object'
    ? `an object (${part?.constructor?.name ?? 'no class'})`
    : `a ${typeof part}`;
}

function putByte(byte: number): void {
  reserve(1);
  slab[at++] = byte;
}

function putNumber(kind: number, value: number): void {
  if (Number.isNaN(value)) {
    throw new InvalidKeyError(
      kind === type.date ? 'a key cannot hold an invalid date' : 'a key cannot hold NaN',
    );
  }
  reserve(9);
  slab[at] = kind;
  view.setFloat64(at + 1, value === 0 ? 0 : value); // -0 is 0
  const high = view.getInt32(at + 1);
  if (high < 0) {
    view.setInt32(at + 1, ~high);
    view.setInt32(at + 5, ~view.getInt32(at + 5));
  } else slab[at + 1] = (high >>> 24) ^ 0x80;
  at += 9;
}

function putBigint(value: bigint): void {
  const negative = value < 0n;
  let digits = value === 0n ? '' : (negative ? -value : value).toString(16);
  if (digits.length % 2 === 1) digits = `0${digits}`;
  const length = digits.length / 2;
  if (length > maxBigintBytes) throw new InvalidKeyError(`a key cannot hold a bigint of ${length} bytes`);
  reserve(3 + length);
  slab[at] = type.bigint;
  view.setUint16(at + 1, 0x8000 + (negative ? -length : length));
  at += 3;
  slab.write(digits, at, 'hex');
  for (const stop = at + length; at < stop; at++) if (negative) slab[at] = ~(slab[at] as number);
}

/** With `pairs`, a surrogate pair is one code point of four bytes; without, each unit has three of its own. */
function putText(kind: number, text: string, pairs: boolean): void {
  reserve(2 + 3 * text.length);
  const bytes = slab;
  let to = at;
  bytes[to++] = kind;
  let i = 0;
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i); // mostly all there is: ASCII
    if (code === end || code >= 0x80) break;
    bytes[to++] = code;
  }
  for (; i < text.length; i++) {
    let code = text.charCodeAt(i);
    if (code < 0x80) {
      bytes[to++] = code;
      if (code === end) bytes[to++] = escaped;
      continue;
    }
    if (code < 0x800) {
      bytes[to++] = 0xc0 | (code >> 6);
      bytes[to++] = 0x80 | (code & 0x3f);
      continue;
    }
    if (pairs && code >= 0xd800 && code <= 0xdbff) code = text.codePointAt(i) as number;
    if (code > 0xffff) {
      i++;
      bytes[to++] = 0xf0 | (code >> 18);
      bytes[to++] = 0x80 | ((code >> 12) & 0x3f);
    } else bytes[to++] = 0xe0 | (code >> 12);
    bytes[to++] = 0x80 | ((code >> 6) & 0x3f);
    bytes[to++] = 0x80 | (code & 0x3f);
  }
  bytes[to++] = end;
  at = to;
}

function putBytes(part: Uint8Array): void {
  reserve(2 + 2 * part.length);
  slab[at++] = type.bytes;
  for (let i = 0; i < part.length; i++) {
    const byte = part[i] as number;
    slab[at++] = byte;
    if (byte === end) slab[at++] = escaped;
  }
  slab[at++] = end;
}

function putTuple(parts: readonly KeyPart[], depth: number): void {
  if (depth > maxDepth) throw new InvalidKeyError(`a key nests at most ${maxDepth} tuples`);
  putByte(type.tuple);
  for (const part of parts) putPart(part, depth);
  putByte(end);
}

interface Reader {
  readonly bytes: Bytes;
  at: number;
}

function damaged(why: string): DamageError {
  return new DamageError(`these bytes are not a key: ${why}`);
}

function takePart(reader: Reader, depth: number): KeyPart {
  const kind = reader.bytes[reader.at++];
  switch (kind) {
    case type.null:
      return null;
    case type.false:
      return false;
    case type.true:
      return true;
    case type.number:
      return takeNumber(reader);
    case type.bigint:
      return takeBigint(reader);
    case type.date:
      return new Date(takeNumber(reader));
    case type.string:
      return takeText(reader, true);
    case type.utf16:
      return new Utf16(takeText(reader, false));
    case type.bytes:
      return takeBytes(reader);
    case type.tuple:
      return takeTuple(reader, depth + 1);
    default:
      throw damaged(`${kind} at ${reader.at - 1} is no type of part`);
  }
}

const eight = new DataView(new ArrayBuffer(8));

function takeNumber(reader: Reader): number {
  const { bytes, at } = reader;
  if (at + 8 > bytes.length) throw damaged('a number is cut off');
  const flip = (bytes[at] as number) & 0x80 ? 0 : 0xff;
  for (let i = 0; i < 8; i++) eight.setUint8(i, (bytes[at + i] as number) ^ flip);
  if (flip === 0) eight.setUint8(0, (bytes[at] as number) ^ 0x80);
  reader.at += 8;
  return eight.getFloat64(0);
}

function takeBigint(reader: Reader): bigint {
  const { bytes } = reader;
  const header = ((bytes[reader.at] ?? 0) << 8) | (bytes[reader.at + 1] ?? 0);
  const length = Math.abs(header - 0x8000);
  const from = reader.at + 2;
  if (from + length > bytes.length) throw damaged('a bigint is cut off');
  reader.at = from + length;
  if (length === 0) return 0n;
  const negative = header < 0x8000;
  const magnitude = Buffer.from(bytes.subarray(from, from + length));
  if (negative) for (let i = 0; i < length; i++) magnitude[i] = ~(magnitude[i] as number);
  const value = BigInt(`0x${magnitude.toString('hex')}`);
  return negative ? -value : value;
}

/** How many bytes stand before the end, escapes included. */
function lengthToEnd({ bytes, at }: Reader): number {
  for (let i = at; i < bytes.length; i++) {
    if (bytes[i] !== end) continue;
    if (bytes[i + 1] !== escaped) return i - at;
    i++;
  }
  throw damaged('a text or bytes have no end');
}

function takeBytes(reader: Reader): Uint8Array {
  const length = lengthToEnd(reader);
  const part = new Uint8Array(length);
  let size = 0;
  for (let i = 0; i < length; i++) {
    const byte = reader.bytes[reader.at + i] as number;
    part[size++] = byte;
    if (byte === end) i++; // the escape
  }
  reader.at += length + 1;
  return size === length ? part : part.slice(0, size);
}

/** Longer plain text is cheaper by a call out of JavaScript. */
const shortText = 24;

function takeText(reader: Reader, pairs: boolean): string {
  const { bytes, at } = reader;
  let stop = at;
  while (stop < bytes.length && bytes[stop] !== end && (bytes[stop] as number) < 0x80) stop++;
  let text = '';
  if (stop - at > shortText) text = buffer(bytes).toString('latin1', at, stop);
  else for (let i = at; i < stop; i++) text += String.fromCharCode(bytes[i] as number);
  for (let i = stop; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === end) {
      if (bytes[i + 1] !== escaped) {
        reader.at = i + 1;
        return text;
      }
      i++;
      text += '\0';
    } else if (byte < 0x80) text += String.fromCharCode(byte);
    else {
      const more = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
      text += String.fromCodePoint(takeCode(bytes, i, more, pairs));
      i += more;
    }
  }
  throw damaged('a text has no end');
}

function takeCode(bytes: Bytes, at: number, more: number, pairs: boolean): number {
  let code = (bytes[at] as number) & (0x3f >> more);
  for (let i = at + 1; i <= at + more; i++) {
    const byte = bytes[i] ?? 0;
    if ((byte & 0xc0) !== 0x80) throw damaged('a character is cut off');
    code = (code << 6) | (byte & 0x3f);
  }
  if (code > (pairs ? 0x10ffff : 0xffff)) throw damaged('there is no such character');
  return code;
}

function takeTuple(reader: Reader, depth: number): KeyPart[] {
  if (depth > maxDepth) throw damaged('too many tuples in one another');
  const parts: KeyPart[] = [];
  while (reader.bytes[reader.at] !== end) {
    if (reader.at >= reader.bytes.length) throw damaged('a tuple has no end');
    parts.push(takePart(reader, depth));
  }
  reader.at++;
  return parts;
}
