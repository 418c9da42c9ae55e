// The reading half of the codec (pack.ts has the format). What it gives shares no memory with the bytes.
// Bytes that `pack` did not make are refused, whatever they are: lengths are checked before anything is
// made of them.

import { type Bytes, buffer } from '../base/bytes.js';
import { DamageError } from '../engine/errors.js';
import { arrayTypes, tag } from './pack-format.js';

const maxDepth = 512; // of tags and values together

let source: Buffer = Buffer.alloc(0);
let at = 0;

/** What stands in the bytes from `start` on. */
export function unpack(bytes: Bytes, start = 0): unknown {
  source = buffer(bytes);
  at = start;
  const value = takeValue(0);
  if (at !== source.length) throw damaged('something follows it');
  return value;
}

function damaged(why: string): DamageError {
  return new DamageError(`a stored value cannot be read, ${why}: it is damaged, or another codec wrote it`);
}

function takeValue(depth: number): unknown {
  const head = takeByte();
  if (head < 0x80) return head;
  if (head < 0x90) return takeRecord(head & 0x0f, depth + 1);
  if (head < 0xa0) return takeList(head & 0x0f, depth + 1);
  if (head < 0xc0) return takeText(head & 0x1f);
  if (head >= 0xe0) return head - 0x100;
  switch (head) {
    case 0xc0:
      return null;
    case 0xc2:
      return false;
    case 0xc3:
      return true;
    case 0xcb:
      return takeEight().getFloat64(0);
    case 0xcc:
      return takeByte();
    case 0xcd:
      return takeUint16();
    case 0xce:
      return takeUint32();
    case 0xd2:
      return takeUint32() | 0;
    case 0xd9:
      return takeText(takeByte());
    default:
      return takeRare(head, depth + 1);
  }
}

function takeByte(): number {
  const byte = source[at++];
  if (byte === undefined) throw damaged('it is cut off');
  return byte;
}

function takeUint16(): number {
  return (takeByte() << 8) | takeByte();
}

function takeUint32(): number {
  return takeUint16() * 0x10000 + takeUint16();
}

const eight = new DataView(new ArrayBuffer(8));

/** A view of each value would cost more than this copy. */
function takeEight(): DataView {
  eight.setUint32(0, takeUint32());
  eight.setUint32(4, takeUint32());
  return eight;
}

/** One, two or four bytes, by which of three heads in a row it is. */
function takeLength(form: number): number {
  return form === 0 ? takeByte() : form === 1 ? takeUint16() : takeUint32();
}

function takeRare(head: number, depth: number): unknown {
  switch (head) {
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return takeBytes(takeLength(head - 0xc4));
    case 0xc7:
    case 0xc8:
    case 0xc9:
      return takeTypedArray(takeLength(head - 0xc7));
    case 0xcf:
      return takeEight().getBigUint64(0);
    case 0xd3:
      return takeEight().getBigInt64(0);
    case 0xd4:
      return takeTagged(depth);
    case 0xd7:
      return takeDate();
    case 0xda:
      return takeText(takeUint16());
    case 0xdb:
      return takeText(takeUint32());
    case 0xdc:
      return takeList(takeUint16(), depth);
    case 0xdd:
      return takeList(takeUint32(), depth);
    case 0xde:
      return takeRecord(takeUint16(), depth);
    case 0xdf:
      return takeRecord(takeUint32(), depth);
    default:
      throw damaged(`${head} is no type`);
  }
}

/** So many bytes must be left; each thing counted takes one at least. */
function require(bytes: number): void {
  if (bytes > source.length - at) throw damaged('it is cut off');
}

function enter(depth: number, count: number): void {
  if (depth > maxDepth) throw damaged('it nests too deep');
  require(count);
}

/** Longer texts are cheaper by a call out of JavaScript. */
const shortText = 24;

function takeText(length: number): string {
  require(length);
  const end = at + length;
  if (length <= shortText) {
    let text = '';
    let i = at;
    for (; i < end; i++) {
      const byte = source[i] as number;
      if (byte >= 0x80) break;
      text += String.fromCharCode(byte);
    }
    if (i === end) {
      at = end;
      return text;
    }
  }
  const text = source.toString('utf8', at, end);
  at = end;
  return text;
}

interface CachedKey {
  readonly bytes: Uint8Array;
  readonly text: string;
}

/** Keys repeat: the same few names in every value. Looked up by their bytes, they are not made again. */
const keys: (CachedKey | undefined)[] = new Array(1024);
const longestCached = 32;

function takeKey(): string {
  const head = source[at] as number;
  const length = head & 0x1f;
  if (head < 0xa0 || head >= 0xc0 || length === 0 || length > longestCached || at + length >= source.length) {
    return checkedKey(takeValue(0));
  }
  const first = at + 1;
  const last = source[first + length - 1] as number;
  const place = (((source[first] as number) << 5) ^ (last << 2) ^ (length * 37)) & 1023;
  const cached = keys[place];
  if (cached !== undefined && isSame(cached.bytes, first, length)) {
    at = first + length;
    return cached.text;
  }
  at = first;
  const text = checkedKey(takeText(length));
  keys[place] = { bytes: new Uint8Array(source.subarray(first, first + length)), text };
  return text;
}

function isSame(bytes: Uint8Array, from: number, length: number): boolean {
  if (bytes.length !== length) return false;
  for (let i = 0; i < length; i++) if (bytes[i] !== source[from + i]) return false;
  return true;
}

function checkedKey(key: unknown): string {
  if (typeof key !== 'string' || key === '__proto__') throw damaged('a key is none');
  return key;
}

function takeRecord(count: number, depth: number): object {
  enter(depth, count);
  const record: Record<string, unknown> = {};
  for (let i = 0; i < count; i++) {
    const key = takeKey();
    record[key] = takeValue(depth);
  }
  return record;
}

function takeList(count: number, depth: number): unknown[] {
  enter(depth, count);
  const list = new Array<unknown>(count);
  for (let i = 0; i < count; i++) list[i] = takeValue(depth);
  return list;
}

function takeBytes(length: number): Uint8Array {
  require(length);
  const bytes = new Uint8Array(length);
  bytes.set(source.subarray(at, at + length));
  at += length;
  return bytes;
}

function takeDate(): Date {
  if (takeByte() !== tag.date) throw damaged('an extension is unknown');
  return new Date(takeEight().getFloat64(0));
}

function takeTypedArray(length: number): unknown {
  const known = takeByte() === tag.array;
  const type = arrayTypes[takeByte()];
  if (!known || type === undefined || length === 0) throw damaged('an extension is unknown');
  const { buffer: memory } = takeBytes(length - 1);
  if (type === ArrayBuffer) return memory;
  const size = 'BYTES_PER_ELEMENT' in type ? type.BYTES_PER_ELEMENT : 1;
  if (memory.byteLength % size !== 0) throw damaged('it is cut off');
  return new (type as DataViewConstructor)(memory as ArrayBuffer);
}

function takeTagged(depth: number): unknown {
  const kind = takeByte();
  takeByte(); // a filler
  if (kind === tag.undefined) return undefined;
  enter(depth, 0);
  const content = takeValue(depth);
  if (kind === tag.text && content instanceof Uint8Array) return buffer(content).toString('utf16le');
  if (kind === tag.buffer && content instanceof Uint8Array) return buffer(content);
  if (kind === tag.set && Array.isArray(content)) return new Set(content);
  if (kind === tag.map && Array.isArray(content)) return mapOf(content);
  if (kind === tag.bigint && typeof content === 'string') return bigintOf(content);
  throw damaged('a tag is unknown');
}

function mapOf(flat: readonly unknown[]): Map<unknown, unknown> {
  const map = new Map<unknown, unknown>();
  for (let i = 0; i < flat.length; i += 2) map.set(flat[i], flat[i + 1]);
  return map;
}

function bigintOf(text: string): bigint {
  if (!/^-?[0-9a-f]+$/.test(text)) throw damaged('a bigint is none');
  return text.startsWith('-') ? -BigInt(`0x${text.slice(1)}`) : BigInt(`0x${text}`);
}
