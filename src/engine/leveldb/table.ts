// LevelDB's tables (.ldb): sorted keys and values that never change once written.
//
//   data blocks | filter block | metaindex block | index block | footer
//   block     bytes, type (0 as they are, 1 snappy), masked CRC-32C of both
//   footer    handles (offset and size) of metaindex and index, zeros up to 40 bytes, magic number (8)
//   index     the handle of each data block under a key that ends it
//
// The blocks lie one behind the other and fill the file, so the footer, which has no checksum, is checked by
// what it says: nothing else fits.

import { crc32c, maskCrc } from '../../base/crc32c.js';
import { Cursor, MalformedError } from './cursor.js';
import { unsnappy } from './snappy.js';

/** `length` bytes of the file from `offset` on. */
export type ReadAt = (offset: number, length: number) => Buffer;

interface Handle {
  readonly offset: number;
  readonly size: number;
}

export interface TableEntry {
  /** With the eight bytes of sequence and kind at its end. */
  readonly internalKey: Buffer;
  readonly value: Buffer;
}

/** What all but the data blocks say. */
export interface TableFrame {
  readonly dataBlocks: readonly Handle[];
}

const footerBytes = 48;
const trailerBytes = 5;
const magic = Buffer.from('57fb808b247547db', 'hex');

/** Checks footer, index, metaindex and filter: what LevelDB reads when it opens a table. */
export function checkFrame(read: ReadAt, size: number): TableFrame {
  if (size < footerBytes) throw new MalformedError('it is too short for a table');
  const footer = read(size - footerBytes, footerBytes);
  if (!footer.subarray(footerBytes - magic.length).equals(magic))
    throw new MalformedError('its end is not a table’s');
  const cursor = new Cursor(footer);
  const metaindex = readHandle(cursor);
  const index = readHandle(cursor);
  if (footer.subarray(cursor.offset, 40).some((byte) => byte !== 0))
    throw new MalformedError('its footer is not empty');
  const dataBlocks = handlesIn(readBlock(read, index, size));
  const filters = handlesIn(readBlock(read, metaindex, size));
  for (const filter of filters) readBlock(read, filter, size);
  checkTiling([...dataBlocks, ...filters, metaindex, index], size - footerBytes);
  return { dataBlocks };
}

/** Checks the data blocks in which LevelDB looks for a key, and the index that leads to them. */
export function checkBlocksOf(read: ReadAt, size: number, key: Buffer): void {
  const footer = new Cursor(read(size - footerBytes, footerBytes));
  readHandle(footer);
  for (const entry of blockEntries(readBlock(read, readHandle(footer), size))) {
    const order = userKey(entry.key).compare(key);
    if (order < 0) continue;
    checkedBytes(read, readHandle(new Cursor(entry.value)), size);
    // Older versions of the key may be in the blocks that follow.
    if (order > 0) return;
  }
}

/** Checks the data blocks that the frame names, one with each step, which gives its size. */
export function* checkDataBlocks(read: ReadAt, size: number, { dataBlocks }: TableFrame): Generator<number> {
  for (const handle of dataBlocks) {
    checkedBytes(read, handle, size);
    yield handle.size;
  }
}

/** All there is in the table, in order, each block checked before. */
export function* tableEntries(read: ReadAt, size: number, frame: TableFrame): Generator<TableEntry> {
  for (const handle of frame.dataBlocks) {
    for (const { key, value } of blockEntries(readBlock(read, handle, size)))
      yield { internalKey: key, value };
  }
}

function checkTiling(blocks: readonly Handle[], end: number): void {
  let offset = 0;
  for (const block of blocks) {
    if (block.offset !== offset) throw new MalformedError(`no block begins at offset ${offset}`);
    offset += block.size + trailerBytes;
  }
  if (offset !== end) throw new MalformedError(`no block begins at offset ${offset}`);
}

function readHandle(cursor: Cursor): Handle {
  return { offset: cursor.varint(), size: cursor.varint() };
}

function handlesIn(block: Buffer): Handle[] {
  return Array.from(blockEntries(block), ({ value }) => readHandle(new Cursor(value)));
}

/** A key in a table ends with eight bytes of its own: sequence and kind. */
export function userKey(internal: Buffer): Buffer {
  if (internal.length < 8) throw new MalformedError('a key in it is too short');
  return internal.subarray(0, internal.length - 8);
}

/** The stored bytes of a block and its type, in one piece. */
function checkedBytes(read: ReadAt, { offset, size }: Handle, fileSize: number): Buffer {
  if (offset + size + trailerBytes > fileSize) throw new MalformedError('a block lies beyond its end');
  const stored = read(offset, size + trailerBytes);
  if (maskCrc(crc32c(stored.subarray(0, size + 1))) !== stored.readUInt32LE(size + 1)) {
    throw new MalformedError(`the block at offset ${offset} does not match its checksum`);
  }
  return stored.subarray(0, size + 1);
}

function readBlock(read: ReadAt, handle: Handle, fileSize: number): Buffer {
  const bytes = checkedBytes(read, handle, fileSize);
  const content = bytes.subarray(0, handle.size);
  const type = bytes[handle.size];
  if (type === 0) return content;
  if (type === 1) return unsnappy(content);
  throw new MalformedError(`the block at offset ${handle.offset} has the unknown type ${type}`);
}

/** Each key is stored as what differs from the one before; the offsets of whole keys stand at the end. */
function* blockEntries(block: Buffer): Generator<{ key: Buffer; value: Buffer }> {
  if (block.length < 4) throw new MalformedError('a block is too short');
  const end = block.length - 4 * (1 + block.readUInt32LE(block.length - 4));
  if (end < 0) throw new MalformedError('a block is too short');
  const cursor = new Cursor(block.subarray(0, end));
  let key: Buffer = Buffer.alloc(0);
  while (!cursor.atEnd) {
    const shared = cursor.varint();
    const added = cursor.varint();
    const valueLength = cursor.varint();
    if (shared > key.length) throw new MalformedError('a key in a block is too short');
    const suffix = cursor.take(added);
    key = shared === 0 ? suffix : Buffer.concat([key.subarray(0, shared), suffix]);
    yield { key, value: cursor.take(valueLength) };
  }
}
