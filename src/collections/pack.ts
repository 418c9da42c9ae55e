// The writing half of the codec: a value to MessagePack, checked on the way in the same pass.
//
// Everything is plain MessagePack but for what that cannot tell apart. A tag is an extension of one byte, and
// the value that follows is what it is made of:
//
//   undefined                 tag 0, nothing follows
//   Map, Set                  tag M, S and a list: keys and values in turn, or values
//   Buffer                    tag B and bytes: bytes by themselves are a Uint8Array
//   bigint beyond 64 bits     tag N and a text in hex
//   half a surrogate pair     tag U and bytes: the text in UTF-16
//   dates                     an extension d of 8 bytes, the milliseconds as a double
//   other typed arrays        an extension a: a byte for the type, then the bytes
//
// Values are written one behind the other into a slab and handed out as views of it: no copy. A library for
// this was used before: it changed some values in silence (a Map, -0, half a surrogate pair), needed a pass of
// its own for the checks, and took up to twice as long (1.1 and 3.3 microseconds to encode a small and a middling
// record, against 0.7 and 1.8; 0.8 and 3.2 to decode them, against 0.85 and 1.9).

import { arrayTypes, tag } from './pack-format.js';

/** The value cannot be stored as it is; the message says why. */
export class NotSerializableError extends TypeError {
  override readonly name = 'NotSerializableError';
}

/** More than any store takes: the value itself is large, or unfolds to something large. */
export class ValueTooLargeError extends NotSerializableError {}

const maxDepth = 100;
/** No engine takes a value of more. It also ends the walk through what unfolds without end. */
const maxBytes = 16 * 1024 * 1024;
const slabBytes = 32 * 1024;

let slab = Buffer.allocUnsafeSlow(slabBytes);
let view = new DataView(slab.buffer);
/** Where the value at hand begins, and where its next byte goes. */
let start = 0;
let at = 0;
let busy = false;

/** The bytes are not to be written to. */
export function pack(value: unknown): Buffer {
  if (value === undefined) {
    throw new NotSerializableError('undefined cannot be stored: remove the key, or store null');
  }
  if (busy) throw new NotSerializableError('a getter in a value that is being stored stores another');
  busy = true;
  at = start;
  try {
    putValue(value, 0);
  } finally {
    busy = false;
  }
  const bytes = slab.subarray(start, at);
  start = at;
  if (slab.length > slabBytes) useSlab(slabBytes); // else the next values would keep this one's memory
  return bytes;
}

function useSlab(bytes: number): void {
  slab = Buffer.allocUnsafeSlow(bytes);
  view = new DataView(slab.buffer);
  start = 0;
  at = 0;
}

/** Room for so many bytes more; the value at hand moves to a new slab where this one is full. */
function reserve(bytes: number): void {
  if (at + bytes <= slab.length) return;
  const used = slab.subarray(start, at);
  if (used.length + bytes > maxBytes + slabBytes) throw new ValueTooLargeError(tooLarge);
  useSlab(Math.max(slabBytes, 2 * (used.length + bytes)));
  slab.set(used);
  at = used.length;
}

const tooDeep = `the value refers to itself, or nests deeper than ${maxDepth} levels`;
const tooLarge = 'the value is larger than 16 MiB: split it';

function putValue(value: unknown, depth: number): void {
  reserve(9);
  switch (typeof value) {
    case 'string':
      putText(value);
      break;
    case 'number':
      putNumber(value);
      break;
    case 'boolean':
      slab[at++] = value ? 0xc3 : 0xc2;
      break;
    case 'object':
      if (value === null) slab[at++] = 0xc0;
      else putObject(value, depth + 1);
      break;
    case 'undefined':
      putTag(tag.undefined);
      break;
    case 'bigint':
      putBigint(value);
      break;
    default:
      throw new NotSerializableError(`a ${typeof value} cannot be stored`);
  }
}

function putTag(byte: number): void {
  slab[at++] = 0xd4;
  slab[at++] = byte;
  slab[at++] = 0;
}

function putNumber(value: number): void {
  if (value >>> 0 === value && !Object.is(value, -0)) {
    if (value < 0x80) slab[at++] = value;
    else if (value < 0x100) {
      slab[at++] = 0xcc;
      slab[at++] = value;
    } else if (value < 0x10000) {
      slab[at++] = 0xcd;
      slab[at++] = value >> 8;
      slab[at++] = value;
    } else {
      slab[at++] = 0xce;
      view.setUint32(at, value);
      at += 4;
    }
  } else if (value >> 0 === value && value !== 0) {
    if (value >= -0x20) slab[at++] = value;
    else {
      slab[at++] = 0xd2;
      view.setInt32(at, value);
      at += 4;
    }
  } else {
    slab[at++] = 0xcb;
    view.setFloat64(at, value);
    at += 8;
  }
}

function putBigint(value: bigint): void {
  if (BigInt.asIntN(64, value) === value) {
    slab[at++] = 0xd3;
    view.setBigInt64(at, value);
    at += 8;
  } else if (BigInt.asUintN(64, value) === value) {
    slab[at++] = 0xcf;
    view.setBigUint64(at, value);
    at += 8;
  } else {
    putTag(tag.bigint);
    putText(value.toString(16));
  }
}

const shortText = 64;

function putText(text: string): void {
  const { length } = text;
  if (length > shortText) {
    putLongText(text);
    return;
  }
  reserve(2 + length);
  const head = at;
  const bytes = slab;
  let to = head + (length < 32 ? 1 : 2);
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x80) {
      putLongText(text);
      return;
    }
    bytes[to++] = code;
  }
  if (length < 32) bytes[head] = 0xa0 | length;
  else {
    bytes[head] = 0xd9;
    bytes[head + 1] = length;
  }
  at = to;
}

function putLongText(text: string): void {
  if (!isWellFormed(text)) {
    putTag(tag.text);
    putBytes(Buffer.from(text, 'utf16le'));
    return;
  }
  const length = Buffer.byteLength(text);
  reserve(5 + length);
  if (length < 32) slab[at++] = 0xa0 | length;
  else putLength(length, 0xd9);
  at += slab.write(text, at, 'utf8');
}

/** The length in one, two or four bytes, behind one of three heads in a row. */
function putLength(length: number, head: number): void {
  if (length < 0x100) {
    slab[at++] = head;
    slab[at++] = length;
  } else if (length < 0x10000) {
    slab[at++] = head + 1;
    view.setUint16(at, length);
    at += 2;
  } else {
    slab[at++] = head + 2;
    view.setUint32(at, length);
    at += 4;
  }
}

/** Lists and maps: up to 15 in the head itself, else two or four bytes behind one of two heads. */
function putCount(count: number, short: number, head: number): void {
  reserve(5);
  if (count < 16) slab[at++] = short | count;
  else if (count < 0x10000) {
    slab[at++] = head;
    view.setUint16(at, count);
    at += 2;
  } else {
    slab[at++] = head + 1;
    view.setUint32(at, count);
    at += 4;
  }
}

function putBytes(bytes: Uint8Array): void {
  reserve(5 + bytes.length);
  putLength(bytes.length, 0xc4);
  slab.set(bytes, at);
  at += bytes.length;
}

function putObject(value: object, depth: number): void {
  if (depth > maxDepth) throw new NotSerializableError(tooDeep);
  if (at - start > maxBytes) throw new ValueTooLargeError(tooLarge);
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null)
    putRecord(value as Record<string, unknown>, depth);
  else if (prototype === Array.prototype) putList(value as readonly unknown[], depth);
  else putRare(value, prototype, depth);
}

function putRecord(record: Record<string, unknown>, depth: number): void {
  const keys = Object.keys(record);
  putCount(keys.length, 0x80, 0xde);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    if (key === '__proto__') throw new NotSerializableError('a key __proto__ cannot be stored');
    putText(key);
    putValue(record[key], depth);
  }
  if (Object.getOwnPropertySymbols(record).length > 0) {
    throw new NotSerializableError('a key that is a symbol cannot be stored');
  }
}

function putList(list: readonly unknown[], depth: number): void {
  putCount(list.length, 0x90, 0xdc);
  for (let i = 0; i < list.length; i++) putValue(list[i], depth);
}

function putRare(value: object, prototype: object, depth: number): void {
  if (prototype === Uint8Array.prototype) putBytes(value as Uint8Array);
  else if (prototype === Buffer.prototype) {
    putTag(tag.buffer);
    putBytes(value as Buffer);
  } else if (prototype === Date.prototype) putDate(value as Date);
  else if (prototype === Map.prototype) {
    putTag(tag.map);
    putList([...(value as Map<unknown, unknown>)].flat(), depth);
  } else if (prototype === Set.prototype) {
    putTag(tag.set);
    putList([...(value as Set<unknown>)], depth);
  } else putTypedArray(value, prototype);
}

function putDate(date: Date): void {
  reserve(10);
  slab[at++] = 0xd7;
  slab[at++] = tag.date;
  view.setFloat64(at, date.getTime());
  at += 8;
}

function putTypedArray(value: object, prototype: object): void {
  const kind = arrayTypes.findIndex((type) => type.prototype === prototype);
  if (kind < 0) {
    throw new NotSerializableError(
      `an instance of ${value.constructor?.name ?? 'a class'} cannot be stored: it would come back as a plain ` +
        'object; store plain data, or give the collection a codec',
    );
  }
  const bytes = ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value as ArrayBuffer);
  reserve(7 + bytes.length);
  putLength(bytes.length + 1, 0xc7);
  slab[at++] = tag.array;
  slab[at++] = kind;
  slab.set(bytes, at);
  at += bytes.length;
}

/** Part of the language since ES2024 and of Node.js since 20; a text of one byte each costs nothing. */
function isWellFormed(text: string): boolean {
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}
