// What stands under a key on disk: the value, the commit that wrote it and a checksum over key and value.
//
//   bytes 0-3    CRC-32 of the key and of all that follows here, little-endian
//   byte 4       format of the record, 1
//   bytes 5-10   version of the commit, little-endian
//   bytes 11-    the value
//
// LevelDB as bound here verifies nothing it reads, so each read checks this. The key is part of the sum: a
// value that turns up under another key is damage too. Measured: 0.3 microseconds for a small record.

import { crc32 } from 'node:zlib';
import type { Key, Version } from './engine.js';
import { DamageError } from './errors.js';

const format = 1;
const sumBytes = 4;
const headerBytes = 11;

export interface Record {
  readonly value: Uint8Array;
  readonly version: Version;
}

export function encodeRecord(key: Key, value: Uint8Array, version: Version): Buffer {
  const record = Buffer.allocUnsafe(headerBytes + value.length);
  record[4] = format;
  record.writeUIntLE(version, 5, 6);
  record.set(value, headerBytes);
  record.writeUInt32LE(checksum(key, record), 0);
  return record;
}

/** The value is a view into `record`. `where` names the folder in the message. */
export function decodeRecord(key: Key, record: Buffer, where: string): Record {
  if (record.length < headerBytes) throw damage(key, where, `is ${record.length} bytes long`);
  if (record.readUInt32LE(0) !== checksum(key, record))
    throw damage(key, where, 'does not match its checksum');
  if (record[4] !== format) throw damage(key, where, `has the unknown format ${record[4]}`);
  return { value: record.subarray(headerBytes), version: record.readUIntLE(5, 6) };
}

function checksum(key: Key, record: Buffer): number {
  return crc32(record.subarray(sumBytes), crc32(key));
}

function damage(key: Key, where: string, what: string): DamageError {
  const name = Buffer.from(key.subarray(0, 64)).toString('hex') + (key.length > 64 ? '...' : '');
  return new DamageError(
    `Damaged data in ${where}: the record under key ${name} ${what}. Stop the server and restore a backup.`,
  );
}
