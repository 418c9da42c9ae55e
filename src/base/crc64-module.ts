// The WebAssembly behind crc64.ts, assembled here at start from its instructions: a few microseconds, no
// binary in the repository and no tool to build one.
//
//   update(crc: i64, length: i32): i64     the checksum after `length` more bytes, which lie at `dataAt`
//   multiply(a: i64, b: i64): i64          the product of two polynomials modulo the generator
//
// Memory: 16 tables of 256 values of 8 bytes, then the data. Table k holds what a byte adds to the checksum
// when k more bytes follow it, so that 16 bytes are taken at a time: one look-up each, none waiting for another.

/** The generator polynomial with its bits reversed: the lowest bit of a value is its highest power. */
export const polynomial = 0x9a6c9329ac4bc9b5n;
export const tables = 16;
export const tableBytes = 256 * 8;
export const dataAt = 65_536;
export const dataBytes = 65_536;

/** What is used of it; the types of Node.js leave it out. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

export interface Crc64Module {
  readonly memory: { readonly buffer: ArrayBuffer };
  update(crc: bigint, length: number): bigint;
  multiply(a: bigint, b: bigint): bigint;
}

export function instantiate(): Crc64Module {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(assemble()));
  return exports as Crc64Module;
}

type Code = readonly number[];

const i32 = 0x7f;
const i64 = 0x7e;

/** Signed LEB128. */
function signed(value: bigint): Code {
  const low = Number(value & 0x7fn);
  const rest = value >> 7n;
  const last = (rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0);
  return last ? [low] : [low | 0x80, ...signed(rest)];
}

/** Unsigned LEB128. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];
const i32Const = (value: number): Code => [0x41, ...signed(BigInt(value))];
const i64Const = (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))];
const i64Load = (offset: number): Code => [0x29, 0, ...unsigned(offset)];
const i64Load8 = (offset: number): Code => [0x31, 0, ...unsigned(offset)];
const i32Add = 0x6a;
const i32And = 0x71;
const i32LessUnsigned = 0x49;
const i32EqualsZero = 0x45;
const i64And = 0x83;
const i64Xor = 0x85;
const i64Shl = 0x86;
const i64ShrUnsigned = 0x88;
const i64Sub = 0x7d;
const i64EqualsZero = 0x50;
const i32Wrap = 0xa7;

/** Runs the body as long as the condition holds: a block that is left, around a loop that is gone on with. */
function loop(condition: Code, body: Code): Code {
  return [0x02, 0x40, 0x03, 0x40, ...condition, i32EqualsZero, 0x0d, 1, ...body, 0x0c, 0, 0x0b, 0x0b];
}

/** What the byte at `bit` of a local adds to the checksum, by the given table. */
function lookUp(local: number, bit: number, table: number): Code {
  const shifted =
    bit === 0
      ? [...get(local), ...i64Const(3n), i64Shl]
      : [...get(local), ...i64Const(BigInt(bit - 3)), i64ShrUnsigned];
  return [...shifted, i32Wrap, ...i32Const(0xff << 3), i32And, ...i64Load(table * tableBytes)];
}

function update(): Code {
  const [crc, length, at, a, b] = [0, 1, 2, 3, 4];
  const eight = (local: number, firstTable: number) =>
    Array.from({ length: 8 }, (_, i) => lookUp(local, 8 * i, firstTable - i));
  const sum = [...eight(a, 15), ...eight(b, 7)].flatMap((term, i) => (i === 0 ? term : [...term, i64Xor]));
  const sixteenBytes: Code = [
    ...[...get(at), ...i64Load(dataAt), ...get(crc), i64Xor, ...set(a)],
    ...[...get(at), ...i64Load(dataAt + 8), ...set(b)],
    ...[...sum, ...set(crc)],
    ...[...get(at), ...i32Const(16), i32Add, ...set(at)],
  ];
  const oneByte: Code = [
    ...[...get(crc), ...get(at), ...i64Load8(dataAt), i64Xor, ...set(a)],
    ...[...lookUp(a, 0, 0), ...get(crc), ...i64Const(8n), i64ShrUnsigned, i64Xor, ...set(crc)],
    ...[...get(at), ...i32Const(1), i32Add, ...set(at)],
  ];
  const invert = [...get(crc), ...i64Const(-1n), i64Xor];
  return [
    ...[...invert, ...set(crc)],
    ...loop([...get(at), ...get(length), ...i32Const(-16), i32And, i32LessUnsigned], sixteenBytes),
    ...loop([...get(at), ...get(length), i32LessUnsigned], oneByte),
    ...invert,
  ];
}

/** Schoolbook: for each bit of `a` from the highest power's on, add `b`, and `b` times x for the next. */
function multiply(): Code {
  const [a, b, product] = [0, 1, 2];
  /** All ones if the bit is set, else zero: minus the bit. */
  const spread = (bit: Code): Code => [...i64Const(0n), ...bit, i64Sub];
  const highBit = [...get(a), ...i64Const(63n), i64ShrUnsigned];
  const lowBit = [...get(b), ...i64Const(1n), i64And];
  const step: Code = [
    ...[...get(product), ...spread(highBit), ...get(b), i64And, i64Xor, ...set(product)],
    ...[...get(a), ...i64Const(1n), i64Shl, ...set(a)],
    ...[...get(b), ...i64Const(1n), i64ShrUnsigned],
    ...[...spread(lowBit), ...i64Const(polynomial), i64And, i64Xor, ...set(b)],
  ];
  return [...loop([...get(a), i64EqualsZero, i32EqualsZero], step), ...get(product)];
}

function assemble(): Uint8Array {
  const vector = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
  const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content];
  const name = (text: string): Code => vector(Array.from(text, (character) => [character.charCodeAt(0)]));
  const body = (locals: readonly Code[], code: Code): Code => {
    const content = [...vector(locals), ...code, 0x0b];
    return [...unsigned(content.length), ...content];
  };
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(
      1,
      vector([
        [0x60, 2, i64, i32, 1, i64],
        [0x60, 2, i64, i64, 1, i64],
      ]),
    ), // types
    ...section(3, vector([[0], [1]])), // functions and their types
    ...section(5, vector([[0x01, 2, 2]])), // memory: two pages of 64 KiB
    ...section(
      7,
      vector([
        [...name('memory'), 2, 0],
        [...name('update'), 0, 0],
        [...name('multiply'), 0, 1],
      ]),
    ),
    ...section(
      10,
      vector([
        body(
          [
            [1, i32],
            [2, i64],
          ],
          update(),
        ),
        body([[1, i64]], multiply()),
      ]),
    ),
  ]);
}
