// READ and WRITE. Bytes are handed on as they are, without being copied.

import { buffer } from '../../base/bytes.js';
import { access } from '../../services/file/access.js';
import { change } from '../../services/file/changes.js';
import { type Call, needAccess, openOf, type Reply } from '../call.js';
import { postModified } from '../file-context.js';
import type { FileOpen } from '../open.js';
import { Refused } from '../status.js';
import { readRequest, readResponse, writeRequest, writeResponse } from '../wire/files.js';
import { headerSize } from '../wire/struct.js';
import { option } from './create.js';
import { checkCharge, maxSize } from './sizes.js';

const longestFile = 2n ** 63n - 1n;
const largestFile = 4n * 2n ** 40n;
const appendOffset = 2n ** 64n - 1n;
const writeThrough = 1;
const dataAt = headerSize + readResponse.size;

export async function read(call: Call): Promise<Reply> {
  const request = readRequest.read(call.message);
  const { length, offset, minimumCount } = request;
  if (length > maxSize(call)) throw new Refused('INVALID_PARAMETER');
  checkCharge(call, length);
  const open = openOf(call, request.fileId);
  if (open.kind === 'pipe') return dataReply(open.pipe.read(length));
  if (open.directory) throw new Refused('INVALID_DEVICE_REQUEST');
  needAccess(open, access.readData | access.execute);
  if (offset > longestFile || offset + BigInt(length) > longestFile + 1n)
    throw new Refused('INVALID_PARAMETER');
  if (request.channel !== 0 || request.channelLength !== 0) throw new Refused('INVALID_PARAMETER');

  const data = await readBytes(call, open, offset, length);
  open.position = offset + BigInt(data.length);
  if (data.length < minimumCount || (data.length === 0 && length > 0)) throw new Refused('END_OF_FILE');
  return dataReply({ data, more: false });
}

/** Bytes of a file through a handle, if no lock hinders it. */
export async function readBytes(call: Call, open: FileOpen, offset: bigint, length: number): Promise<Buffer> {
  const range = { offset, length: BigInt(length) };
  const done = call.connection.server.opens.begin(open.id, 'read', range);
  if (!done) throw new Refused('FILE_LOCK_CONFLICT');
  try {
    if (offset > largestFile) return Buffer.alloc(0);
    return buffer(await open.volume.read(open.file, Number(offset), length));
  } finally {
    done();
  }
}

function dataReply({ data, more }: { data: Buffer; more: boolean }): Reply {
  const body = readResponse.make({ dataOffset: dataAt, dataLength: data.length, dataRemaining: 0 });
  return more ? { status: 'BUFFER_OVERFLOW', body, data } : { body, data };
}

export async function write(call: Call): Promise<Reply> {
  const request = writeRequest.read(call.message);
  const { data } = request;
  if (data.length > maxSize(call)) throw new Refused('INVALID_PARAMETER');
  checkCharge(call, data.length);
  const open = openOf(call, request.fileId);
  if (open.kind === 'pipe') {
    await open.pipe.write(data);
  } else {
    if (open.directory) throw new Refused('INVALID_DEVICE_REQUEST');
    if (request.channel !== 0 || request.channelLength !== 0) throw new Refused('INVALID_PARAMETER');
    needAccess(open, access.writeData | access.appendData);
    const appends = (open.access & access.writeData) === 0;
    if (data.length > 0) await (appends ? append : writeBytes)(call, open, request.offset, data);
    if (request.flags & writeThrough || open.options & option.writeThrough)
      await open.volume.flush(open.file, open.handle);
  }
  return { body: writeResponse.make({ count: data.length, remaining: 0 }) };
}

/** A handle that may only append writes at the end, or behind it; an offset of all ones is the end. */
async function append(call: Call, open: FileOpen, offset: bigint, data: Buffer): Promise<void> {
  for (let isWritten = false; !isWritten; ) {
    const end = (await open.volume.node(open.file))?.length ?? 0;
    const from = offset === appendOffset ? BigInt(end) : offset;
    if (from < end) throw new Refused('ACCESS_DENIED');
    isWritten = await writeBytes(call, open, from, data, end); // not where another has written meanwhile
  }
}

/** Writes through a handle, if no lock hinders it and the file may become so long. Whether it ended where it must. */
export async function writeBytes(
  call: Call,
  open: FileOpen,
  offset: bigint,
  data: Buffer,
  ifEndsAt?: number,
): Promise<boolean> {
  const length = BigInt(data.length);
  if (offset > longestFile || offset + length > longestFile) throw new Refused('INVALID_PARAMETER');
  if (offset + length > largestFile) throw new Refused('DISK_FULL');
  const done = call.connection.server.opens.begin(open.id, 'write', { offset, length });
  if (!done) throw new Refused('FILE_LOCK_CONFLICT');
  try {
    const options = { keepWritten: open.frozen.written, by: open.handle, ifEndsAt };
    if (!(await open.volume.write(open.file, Number(offset), data, options))) return false;
  } finally {
    done();
  }
  await postModified(call, open, change.size | change.lastWrite);
  return true;
}
