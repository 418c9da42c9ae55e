// What stands under a key on disk: the value, the commit that wrote it and a checksum over key and value.
//
//   byte 0       format of the record, 1
//   bytes 1-6    version of the commit, little-endian
//   bytes 7-10   CRC-32 of key, bytes 0-6 and value, little-endian
//   bytes 11-    the value
//
// LevelDB as bound here verifies nothing it reads, so each read checks this. The key is part of the sum: a
// value that turns up under another key is damage too.

import { crc32 } from 'node:zlib';
import type { Key, Version } from './engine.js';
import { DamageError } from './errors.js';

const format = 1;
const sumOffset = 7;
export const recordHeaderBytes = 11;

export interface Record {
  readonly value: Uint8Array;
  readonly version: Version;
}

export function encodeRecord(key: Key, value: Uint8Array, version: Version): Buffer {
  const record = Buffer.allocUnsafe(recordHeaderBytes + value.length);
  record[0] = format;
  record.writeUIntLE(version, 1, 6);
  record.set(value, recordHeaderBytes);
  record.writeUInt32LE(checksum(key, record), sumOffset);
  return record;
}

/** The value is a view into `record`. `where` names the folder in the message. */
export function decodeRecord(key: Key, record: Buffer, where: string): Record {
  if (record.length < recordHeaderBytes) throw damage(key, where, `is ${record.length} bytes long`);
  if (record[0] !== format) throw damage(key, where, `has the unknown format ${record[0]}`);
  if (record.readUInt32LE(sumOffset) !== checksum(key, record)) {
    throw damage(key, where, 'does not match its checksum');
  }
  return { value: record.subarray(recordHeaderBytes), version: record.readUIntLE(1, 6) };
}

function checksum(key: Key, record: Buffer): number {
  const head = crc32(record.subarray(0, sumOffset), crc32(key));
  return record.length === recordHeaderBytes ? head : crc32(record.subarray(recordHeaderBytes), head);
}

function damage(key: Key, where: string, what: string): DamageError {
  const name = Buffer.from(key.subarray(0, 64)).toString('hex') + (key.length > 64 ? '...' : '');
  return new DamageError(
    `Damaged data in ${where}: the record under key ${name} ${what}. Stop the server and restore a backup.`,
  );
}
