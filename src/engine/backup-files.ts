// What a backup is on disk: a file of rows and a file that says what they are. docs/formats/engine.md has the
// format.
//
//   backup.metadata        of a full one: JSON, then a line with the CRC-32 of what is before it
//   incremental.metadata   the same of an incremental one
//   rows                   'LZBK', version 1, three zeros; then blocks: length (4), CRC-32 (4), that many bytes
//
// A block holds rows: kind (1 put, 0 removed), key length (2), key, version (6), value length (4), value. Numbers
// are little-endian. The metadata is written last, when the rows are on disk: without it there is no backup.

import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { checkedText, uncheckedText } from '../base/checked-text.js';
import { type Files, type OpenFile, readWhole, replaceWhole } from '../base/files.js';
import type { BackupInfo, Key, Version } from './engine.js';
import { DamageError } from './errors.js';

export interface BackupRow {
  readonly key: Key;
  /** Nothing: removed. */
  readonly value: Uint8Array | undefined;
  readonly version: Version;
}

export interface BackupMetadata extends BackupInfo {
  /** How far stamps and the clock had come. */
  readonly stamp: number;
  readonly clock: number;
  /** Of the file of rows. */
  readonly rows: number;
  readonly bytes: number;
  readonly check: number;
}

export const metadataNames = { full: 'backup.metadata', incremental: 'incremental.metadata' } as const;
export const rowsName = 'rows';
const metadataVersion = 1;
const magic = Buffer.from('LZBK\x01\0\0\0', 'latin1');
const blockHeadBytes = 8;
const rowHeadBytes = 13;
const blockBytes = 1024 * 1024;
/** The largest block there can be: a full one, and then the largest row. */
const maxBlockBytes = 32 * 1024 * 1024;

export async function writeMetadata(files: Files, folder: string, metadata: BackupMetadata): Promise<void> {
  const text = `${JSON.stringify({ backup: metadataVersion, ...metadata }, null, 2)}\n`;
  await replaceWhole(files, join(folder, metadataNames[metadata.kind]), Buffer.from(checkedText(text)));
}

/** Nothing where there is no such file. */
export async function readMetadata(files: Files, path: string): Promise<BackupMetadata | undefined> {
  const content = (await readWhole(files, path))?.toString();
  if (content === undefined) return undefined;
  const text = uncheckedText(content);
  if (text === undefined) throw damaged(path, 'it does not match its checksum');
  const { backup, ...metadata } = JSON.parse(text) as BackupMetadata & { backup: number };
  if (backup !== metadataVersion) throw damaged(path, `it is of the unknown version ${backup}`);
  return metadata;
}

/** Writes the file of rows, a block at a time. */
export class RowWriter {
  readonly #file: OpenFile;
  #block: Buffer[] = [];
  #blockSize = 0;
  #rows = 0;
  #bytes = 0;
  #check = 0;

  private constructor(file: OpenFile) {
    this.#file = file;
  }

  static async create(files: Files, folder: string): Promise<RowWriter> {
    const writer = new RowWriter(await files.open(join(folder, rowsName), 'new'));
    await writer.#append([magic]);
    return writer;
  }

  get written(): { readonly rows: number; readonly bytes: number } {
    return { rows: this.#rows, bytes: this.#bytes };
  }

  async add(row: BackupRow): Promise<void> {
    this.#block.push(rowHead(row), Buffer.from(row.value ?? []));
    this.#blockSize += rowHeadBytes + row.key.length + (row.value?.length ?? 0);
    this.#rows++;
    if (this.#blockSize >= blockBytes) await this.#endBlock();
  }

  /** Ends when all of it is on disk. */
  async finish(): Promise<Pick<BackupMetadata, 'rows' | 'bytes' | 'check'>> {
    if (this.#blockSize > 0) await this.#endBlock();
    await this.#file.sync();
    return { ...this.written, check: this.#check };
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #endBlock(): Promise<void> {
    const content = Buffer.concat(this.#block);
    const head = Buffer.alloc(blockHeadBytes);
    head.writeUInt32LE(content.length, 0);
    head.writeUInt32LE(crc32(content), 4);
    this.#block = [];
    this.#blockSize = 0;
    await this.#append([head, content]);
  }

  async #append(pieces: Buffer[]): Promise<void> {
    await this.#file.write(pieces, this.#bytes);
    for (const piece of pieces) {
      this.#bytes += piece.length;
      this.#check = crc32(piece, this.#check);
    }
  }
}

/** The rows of a backup, in the order in which they were written. Anything that is not as written is damage. */
export async function* readRows(
  files: Files,
  folder: string,
  metadata: BackupMetadata,
): AsyncGenerator<BackupRow[]> {
  const path = join(folder, rowsName);
  if ((await files.status(path)) === undefined) throw damaged(path, 'it is missing');
  await using file = await files.open(path, 'read');
  const size = await file.size();
  if (size !== metadata.bytes) throw damaged(path, `it has ${size} bytes instead of ${metadata.bytes}`);
  const head = await bytesAt(file, 0, magic.length);
  if (!head.equals(magic)) throw damaged(path, 'it does not begin as it should');
  let check = crc32(head);
  let rows = 0;
  for (let offset = head.length; offset < size; ) {
    const blockHead = await bytesAt(file, offset, blockHeadBytes);
    const length = blockHead.length < blockHeadBytes ? 0 : blockHead.readUInt32LE(0);
    if (length === 0 || length > maxBlockBytes)
      throw damaged(path, `the block at offset ${offset} has no length`);
    const content = await bytesAt(file, offset + blockHeadBytes, length);
    if (content.length !== length || crc32(content) !== blockHead.readUInt32LE(4)) {
      throw damaged(path, `the block at offset ${offset} does not match its checksum`);
    }
    const block = rowsOf(content, path);
    rows += block.length;
    check = crc32(content, crc32(blockHead, check));
    offset += blockHeadBytes + length;
    yield block;
  }
  if (check !== metadata.check || rows !== metadata.rows)
    throw damaged(path, 'it is not the one that was written');
}

async function bytesAt(file: OpenFile, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, await file.read(bytes, offset));
}

function rowHead({ key, value, version }: BackupRow): Buffer {
  const head = Buffer.allocUnsafe(rowHeadBytes + key.length);
  head[0] = value === undefined ? 0 : 1;
  head.writeUInt16LE(key.length, 1);
  head.set(key, 3);
  head.writeUIntLE(version, 3 + key.length, 6);
  head.writeUInt32LE(value?.length ?? 0, 9 + key.length);
  return head;
}

function rowsOf(block: Buffer, path: string): BackupRow[] {
  const rows: BackupRow[] = [];
  let offset = 0;
  while (offset < block.length) {
    if (offset + rowHeadBytes > block.length) throw damaged(path, 'a row in it is cut off');
    const keyEnd = offset + 3 + block.readUInt16LE(offset + 1);
    const start = keyEnd + 10;
    if (start > block.length) throw damaged(path, 'a row in it is cut off');
    const end = start + block.readUInt32LE(keyEnd + 6);
    if (end > block.length) throw damaged(path, 'a row in it is cut off');
    const value = block[offset] === 1 ? block.subarray(start, end) : undefined;
    rows.push({ key: block.subarray(offset + 3, keyEnd), value, version: block.readUIntLE(keyEnd, 6) });
    offset = end;
  }
  return rows;
}

function damaged(path: string, what: string): DamageError {
  return new DamageError(
    `Damaged backup ${path}: ${what}. Use another copy of this backup, or an older one.`,
  );
}
