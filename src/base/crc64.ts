// The CRC64 of Azure Storage (x-ms-content-crc64; also known as CRC-64/NVME): reflected, initial value and
// final xor all ones. Streaming needs no object: pass the value so far along.

import type { Bytes } from './bytes.js';
import { dataAt, dataBytes, instantiate, polynomial, tables } from './crc64-module.js';

const { memory, update, multiply } = instantiate();
const data = new Uint8Array(memory.buffer, dataAt, dataBytes);
fillTables(new BigUint64Array(memory.buffer, 0, tables * 256));

/** The checksum of `bytes`, or of all bytes so far and these, given that of those so far. */
export function crc64(bytes: Bytes, soFar = 0n): bigint {
  let crc = soFar;
  if (bytes.length <= dataBytes) {
    data.set(bytes);
    return BigInt.asUintN(64, update(crc, bytes.length));
  }
  for (let at = 0; at < bytes.length; at += dataBytes) {
    const chunk = bytes.subarray(at, at + dataBytes);
    data.set(chunk);
    crc = update(crc, chunk.length);
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
