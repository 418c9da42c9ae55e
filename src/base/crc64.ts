// The CRC64 of Azure Storage (x-ms-content-crc64; also known as CRC-64/NVME): reflected, initial value and
// final xor all ones. Streaming needs no object: pass the value so far along. A small WebAssembly module does
// the work:
//
//   update      the checksum after `length` more bytes, which lie in the window
//   multiply    the product of two polynomials modulo the generator
//   memory      0 .. 32 KiB    the tables: table[k][b] is what byte b adds when k more bytes follow it, so that
//                              16 bytes are taken at a time, one look-up each, none waiting for another
//               64 KiB ..      the window
//
// Measured at 1,700 MB/s for 4 MiB, 0.5 microseconds for 1 KiB, 0.13 to combine two checksums.

import type { Bytes } from './bytes.js';
import {
  type Code,
  constant,
  constant64,
  get,
  i32,
  i64,
  instantiate,
  load8as64,
  load64,
  op,
  set,
  until,
  type WasmFunction,
} from './wasm.js';

/** The generator with its bits reversed: the lowest bit of a value is its highest power. */
const polynomial = 0x9a6c9329ac4bc9b5n;
const tableCount = 16;
const tableBytes = 256 * 8;
const windowStart = 64 * 1024;
const windowBytes = 64 * 1024;

/** The checksum of `bytes`, or of all bytes so far and these, given that of those so far. */
export function crc64(bytes: Bytes, soFar = 0n): bigint {
  let crc = soFar;
  if (bytes.length <= windowBytes) {
    window.set(bytes);
    return BigInt.asUintN(64, update(crc, bytes.length));
  }
  for (let at = 0; at < bytes.length; at += windowBytes) {
    const piece = bytes.subarray(at, at + windowBytes);
    window.set(piece);
    crc = update(crc, piece.length);
  }
  return BigInt.asUintN(64, crc);
}

/** The checksum of two runs of bytes in a row from those of each, and the length of the second. */
export function combineCrc64(first: bigint, second: bigint, secondLength: number): bigint {
  return BigInt.asUintN(64, multiply(powerOfX(secondLength), first) ^ second);
}

/** As it stands in a header (in Base64) and in a structured body: little-endian. */
export function crc64Bytes(crc: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64LE(crc);
  return bytes;
}

/** The polynomial 1; x is the bit below. */
const one = 1n << 63n;
/** x to the 8 times 2 to the k: what moves a checksum on by 2 to the k bytes. */
const powers: bigint[] = [];
let lastLength = 0;
let lastPower = one;

/** x to the 8 times `length`; the last one is remembered, as lengths are mostly the same. */
function powerOfX(length: number): bigint {
  if (length === lastLength) return lastPower;
  let power = one;
  for (let k = 0, rest = length; rest > 0; k++, rest = Math.floor(rest / 2)) {
    const before = powers[k - 1];
    powers[k] ??= before === undefined ? one >> 8n : multiply(before, before);
    if (rest % 2 === 1) power = multiply(powers[k] as bigint, power);
  }
  lastLength = length;
  return (lastPower = power);
}

function fillTables(table: BigUint64Array): void {
  for (let byte = 0; byte < 256; byte++) {
    let crc = BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ polynomial : crc >> 1n;
    table[byte] = crc;
  }
  for (let i = 256; i < table.length; i++) {
    const before = table[i - 256] as bigint;
    table[i] = (before >> 8n) ^ (table[Number(before & 0xffn)] as bigint);
  }
}

/** What the byte at `bit` of a local adds to the checksum, by the given table. */
function lookUp(local: number, bit: number, table: number): Code {
  const shift =
    bit === 0 ? [...constant64(3), ...op.shiftLeft64] : [...constant64(bit - 3), ...op.shiftRight64];
  const offset = [...get(local), ...shift, ...op.wrap, ...constant(0xff << 3), ...op.and];
  return [...offset, ...load64(table * tableBytes)];
}

function updateFunction(): WasmFunction {
  const [crc, length, at, end, low, high] = [0, 1, 2, 3, 4, 5] as const;
  const step = (bytes: number) => [...get(at), ...constant(bytes), ...op.add, ...set(at)];
  const atEnd = [...get(at), ...get(end), ...op.equal];
  const endAt = (mask: number) => [...get(length), ...constant(mask), ...op.and, ...set(end)];
  const sixteen = [
    ...[...get(at), ...load64(windowStart), ...get(crc), ...op.xor64, ...set(low)],
    ...[...get(at), ...load64(windowStart + 8), ...set(high)],
    ...Array.from({ length: 16 }, (_, index) => [
      ...lookUp(index < 8 ? low : high, 8 * (index % 8), 15 - index),
      ...(index === 0 ? [] : op.xor64),
    ]).flat(),
    ...set(crc),
    ...step(16),
  ];
  const single = [
    ...[...get(crc), ...get(at), ...load8as64(windowStart), ...op.xor64, ...set(low)],
    ...[...lookUp(low, 0, 0), ...get(crc), ...constant64(8), ...op.shiftRight64, ...op.xor64, ...set(crc)],
    ...step(1),
  ];
  const inverted = [...get(crc), ...constant64(-1), ...op.xor64];
  return {
    parameters: [i64, i32],
    result: i64,
    locals: [i32, i32, i64, i64],
    code: [
      ...[...inverted, ...set(crc)],
      ...[...endAt(-16), ...until(atEnd, sixteen)],
      ...[...endAt(-1), ...until(atEnd, single)],
      ...inverted,
    ],
  };
}

/** For each bit of `a` from the lowest power's on: add `b`, and go on with `b` times x. */
function multiplyFunction(): WasmFunction {
  const [a, b, product] = [0, 1, 2] as const;
  /** All ones if the bit is set, else zero: minus the bit. */
  const spread = (bit: Code): Code => [...constant64(0), ...bit, ...op.subtract64];
  const highBit = [...get(a), ...constant64(63), ...op.shiftRight64];
  const lowBit = [...get(b), ...constant64(1), ...op.and64];
  const step = [
    ...[...get(product), ...spread(highBit), ...get(b), ...op.and64, ...op.xor64, ...set(product)],
    ...[...get(a), ...constant64(1), ...op.shiftLeft64, ...set(a)],
    ...[...get(b), ...constant64(1), ...op.shiftRight64],
    ...[...spread(lowBit), ...constant64(polynomial), ...op.and64, ...op.xor64, ...set(b)],
  ];
  return {
    parameters: [i64, i64],
    result: i64,
    locals: [i64],
    code: [...until([...get(a), ...op.isZero64], step), ...get(product)],
  };
}

interface Functions {
  update(crc: bigint, length: number): bigint;
  multiply(a: bigint, b: bigint): bigint;
}

const { functions, memory } = instantiate<Functions>(
  { update: updateFunction(), multiply: multiplyFunction() },
  windowStart + windowBytes,
);
const { update, multiply } = functions;
const window = new Uint8Array(memory, windowStart, windowBytes);
fillTables(new BigUint64Array(memory, 0, tableCount * 256));
