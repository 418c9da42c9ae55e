// How far the log was on disk: the file `durable`, which tells a torn end from an end that was damaged.
//
// A log that breaks off in its last record may have been cut off while that record was written, before
// anybody was told of it, or may have been damaged later. The bytes alone cannot say. So after each synced
// write the log's number and length are noted here, over the old ones and without a sync of its own: what is
// found here was true when it was written, whichever of the notes reached the disk. A process that is killed
// loses none of them, a power cut the last ones, and then the log's own records decide (log-check.ts).
//
//   bytes 0-3    'LZDM'
//   bytes 4-9    number of the log file, little-endian
//   bytes 10-15  its length in bytes, little-endian
//   bytes 16-19  CRC-32 of the bytes before
//
// A mark that does not match its checksum is as good as none.

import { closeSync, constants, fstatSync, fsyncSync, openSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Files, readWhole } from '../base/files.js';

export interface DurableMark {
  readonly logNumber: number;
  readonly size: number;
}

const magic = Buffer.from('LZDM');
const markBytes = 20;

export function encodeMark({ logNumber, size }: DurableMark): Buffer {
  const bytes = Buffer.alloc(markBytes);
  magic.copy(bytes);
  bytes.writeUIntLE(logNumber, 4, 6);
  bytes.writeUIntLE(size, 10, 6);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 16)), 16);
  return bytes;
}

export function decodeMark(bytes: Buffer): DurableMark | undefined {
  if (bytes.length !== markBytes || !bytes.subarray(0, 4).equals(magic)) return undefined;
  if (bytes.readUInt32LE(16) !== crc32(bytes.subarray(0, 16))) return undefined;
  return { logNumber: bytes.readUIntLE(4, 6), size: bytes.readUIntLE(10, 6) };
}

export async function readMark(files: Files, location: string): Promise<DurableMark | undefined> {
  const bytes = await readWhole(files, join(location, 'durable'));
  return bytes === undefined ? undefined : decodeMark(bytes);
}

/**
 * Follows the log that LevelDB is writing. Synchronous, as it stands between a flush and its answer: an fstat
 * and a write of 20 bytes to the page cache, 4 microseconds together.
 */
export class MarkWriter {
  readonly #files: Files;
  readonly #records: string;
  readonly #mark: number;
  #log: { readonly number: number; readonly file: number; size: number } | undefined;

  /** Of the LevelDB in `records`, which is about to be opened. */
  constructor(files: Files, location: string, records: string) {
    this.#files = files;
    this.#records = records;
    this.#mark = openSync(join(location, 'durable'), constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  /** After each synced write. Waits only where LevelDB has begun a new log: its name must be on disk as well. */
  note(): Promise<void> | undefined {
    const size = this.#log === undefined ? 0 : fstatSync(this.#log.file).size;
    if (this.#log === undefined || size === this.#log.size) return this.#follow();
    this.#log.size = size;
    this.#write();
    return undefined;
  }

  close(): void {
    unlessFailing(() => fsyncSync(this.#mark));
    closeSync(this.#mark);
    if (this.#log !== undefined) closeSync(this.#log.file);
  }

  async #follow(): Promise<void> {
    const number = newestLog(readdirSync(this.#records));
    if (number === undefined || number === this.#log?.number) return;
    if (this.#log !== undefined) closeSync(this.#log.file);
    const file = openSync(join(this.#records, logName(number)), 'r');
    this.#log = { number, file, size: fstatSync(file).size };
    await this.#files.syncFolder(this.#records);
    this.#write();
  }

  #write(): void {
    if (this.#log === undefined) return;
    const { number, size } = this.#log;
    const bytes = encodeMark({ logNumber: number, size });
    unlessFailing(() => writeSync(this.#mark, bytes, 0, markBytes, 0));
  }
}

/** A mark that cannot be written is an older one, which is as true: no reason to refuse a write. */
function unlessFailing(write: () => unknown): void {
  try {
    write();
  } catch {}
}

export function logName(number: number): string {
  return `${String(number).padStart(6, '0')}.log`;
}

/** The numbers of the log files among `names`, in order. */
export function logNumbers(names: readonly string[]): number[] {
  const numbers = names.flatMap((name) => /^(\d+)\.log$/.exec(name)?.[1] ?? []);
  return numbers.map(Number).sort((a, b) => a - b);
}

function newestLog(names: readonly string[]): number | undefined {
  return logNumbers(names).at(-1);
}
