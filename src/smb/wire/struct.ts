// Structures on the wire, each described once as a table of fields and used to read and to write.
//
//   struct({...})         fields one after the other, nothing between them
//   body({...}, {...})    the body of a message: a struct after the 64-byte header, and the variable
//                         parts that its offset and length fields point to
//
// Reading is safe with any input: what lies outside the message or does not have the size that the
// structure announces is refused with INVALID_PARAMETER. Parts are views of the message, not copies.
// A field whose name begins with `_` is written as zero (or as its constant) and not read.

import { Refused } from '../status.js';

export interface Field<T> {
  readonly size: number;
  read(from: Buffer, at: number): T;
  write(to: Buffer, at: number, value: T): void;
  /** Written where no value is given: fields whose name begins with `_`. */
  readonly filler?: T;
}

export const u8: Field<number> = {
  size: 1,
  read: (from, at) => from.readUInt8(at),
  write: (to, at, value) => void to.writeUInt8(value, at),
};

export const u16: Field<number> = {
  size: 2,
  read: (from, at) => from.readUInt16LE(at),
  write: (to, at, value) => void to.writeUInt16LE(value, at),
};

export const u32: Field<number> = {
  size: 4,
  read: (from, at) => from.readUInt32LE(at),
  write: (to, at, value) => void to.writeUInt32LE(value, at),
};

export const u64: Field<bigint> = {
  size: 8,
  read: (from, at) => from.readBigUInt64LE(at),
  write: (to, at, value) => void to.writeBigUInt64LE(value, at),
};

export const i64: Field<bigint> = {
  size: 8,
  read: (from, at) => from.readBigInt64LE(at),
  write: (to, at, value) => void to.writeBigInt64LE(value, at),
};

/** A 64-bit field whose values here are always exact as a number: sizes of files. */
export const size64: Field<number> = {
  size: 8,
  read: (from, at) => Number(from.readBigUInt64LE(at)),
  write: (to, at, value) => void to.writeBigUInt64LE(BigInt(value), at),
};

/** A run of bytes of a fixed length; written short, the rest is zero. */
export function bytes(size: number): Field<Buffer> {
  return {
    size,
    read: (from, at) => from.subarray(at, at + size),
    write: (to, at, value) => void to.fill(0, at, at + size).set(value.subarray(0, size), at),
    filler: Buffer.alloc(0),
  };
}

/** A number that is always the same: a StructureSize. Another one is refused. */
export function constant(field: Field<number>, value: number): Field<number> {
  return {
    size: field.size,
    read: (from, at) => {
      if (field.read(from, at) !== value) throw new Refused('INVALID_PARAMETER');
      return value;
    },
    write: field.write,
    filler: value,
  };
}

export type Shape = Readonly<Record<string, Field<number> | Field<bigint> | Field<Buffer>>>;

type Named<S> = { [K in keyof S as K extends `_${string}` ? never : K]: S[K] };
export type ValueOf<S> = { [K in keyof Named<S>]: Named<S>[K] extends Field<infer T> ? T : never };

export interface Struct<T> {
  readonly size: number;
  read(from: Buffer, at?: number): T;
  write(to: Buffer, at: number, value: T): void;
  make(value: T): Buffer;
}

type Row = { name: string; at: number; field: Field<unknown>; hidden: boolean };

export function struct<S extends Shape>(shape: S): Struct<ValueOf<S>> {
  let size = 0;
  const rows: Row[] = Object.entries(shape).map(([name, field]) => {
    const row = { name, at: size, field: field as Field<unknown>, hidden: name.startsWith('_') };
    size += field.size;
    return row;
  });

  const read = (from: Buffer, at = 0) => {
    if (at + size > from.length) throw new Refused('INVALID_PARAMETER');
    const value: Record<string, unknown> = {};
    for (const row of rows) {
      if (!row.hidden) value[row.name] = row.field.read(from, at + row.at);
      else if (row.field.filler !== undefined) row.field.read(from, at + row.at);
    }
    return value as ValueOf<S>;
  };
  const write = (to: Buffer, at: number, value: ValueOf<S>) => {
    const values = value as Record<string, unknown>;
    for (const row of rows) {
      if (!row.hidden) row.field.write(to, at + row.at, values[row.name]);
      else row.field.write(to, at + row.at, row.field.filler ?? (row.field.size === 8 ? 0n : 0));
    }
  };
  const make = (value: ValueOf<S>) => {
    const to = Buffer.alloc(size);
    write(to, 0, value);
    return to;
  };
  return { size, read, write, make };
}

/** Where a body begins: offsets in bodies count from the start of the header. */
export const headerSize = 64;

type Parts<S> = Readonly<
  Record<string, Readonly<{ offset: keyof S & string; length: keyof S & string; align?: number }>>
>;
type PartNames<S, P extends Parts<S>> = P[keyof P]['offset'] | P[keyof P]['length'];
export type BodyOf<S extends Shape, P extends Parts<S>> = Omit<ValueOf<S>, PartNames<S, P>> &
  Record<keyof P, Buffer>;

export interface Body<T> {
  /** Bytes of the fixed part. */
  readonly size: number;
  /** Reads the body of a whole message, header included. */
  read(message: Buffer): T;
  /** The body alone, its parts placed one after the other behind the fixed part. */
  make(value: T): Buffer;
}

/**
 * A message body with variable parts, placed in the order given; an empty part has offset 0 unless it is
 * the first, as clients expect to see where it would be.
 */
export function body<S extends Shape, const P extends Parts<S>>(shape: S, parts: P): Body<BodyOf<S, P>> {
  const fixed = struct(shape);
  const entries = Object.entries(parts);
  const places = new Set(entries.flatMap(([, part]) => [part.offset, part.length]));
  const own = Object.keys(shape).filter((name) => !name.startsWith('_') && !places.has(name));

  const read = (message: Buffer) => {
    const fields = fixed.read(message, headerSize) as Record<string, unknown>;
    const values: Record<string, unknown> = {};
    for (const name of own) values[name] = fields[name];
    for (const [name, part] of entries) {
      values[name] = view(message, Number(fields[part.offset]), Number(fields[part.length]), fixed.size);
    }
    return values as BodyOf<S, P>;
  };
  const make = (value: BodyOf<S, P>) => {
    const values: Record<string, unknown> = { ...value };
    let end = fixed.size;
    const placed: [number, Buffer][] = [];
    for (const [index, [name, part]] of entries.entries()) {
      const bytes = values[name] as Buffer;
      const align = part.align ?? 1;
      const at = Math.ceil((headerSize + end) / align) * align - headerSize;
      values[part.offset] = bytes.length > 0 || index === 0 ? headerSize + at : 0;
      values[part.length] = bytes.length;
      if (bytes.length === 0) continue;
      placed.push([at, bytes]);
      end = at + bytes.length;
    }
    const to = Buffer.alloc(end);
    fixed.write(to, 0, values as ValueOf<S>);
    for (const [at, bytes] of placed) to.set(bytes, at);
    return to;
  };
  return { size: fixed.size, read, make };
}

function view(message: Buffer, offset: number, length: number, fixedSize: number): Buffer {
  if (length === 0) return message.subarray(0, 0);
  if (offset < headerSize + fixedSize || offset + length > message.length) {
    throw new Refused('INVALID_PARAMETER');
  }
  return message.subarray(offset, offset + length);
}

/** Rounds up to a multiple of 8, as lists and chained messages are laid out. */
export function align8(size: number): number {
  return (size + 7) & ~7;
}

/** Text in UTF-16, as names are on the wire. */
export function utf16(text: string): Buffer {
  return Buffer.from(text, 'utf16le');
}
