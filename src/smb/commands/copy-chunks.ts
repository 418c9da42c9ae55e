// Copying on the server: a key stands for an open source, then pieces of it are written to a target.

import { access } from '../../services/file/access.js';
import { type Call, fileOf, needAccess, sessionOf } from '../call.js';
import type { FileOpen } from '../open.js';
import { statusOf } from '../refusal-status.js';
import { Refused } from '../status.js';
import { bytes, struct, u32, u64 } from '../wire/struct.js';
import type { IoctlFields, IoctlOutput } from './ioctl.js';
import { readBytes, writeBytes } from './read-write.js';

const mostChunks = 256;
const longestChunk = 1024 * 1024;
const mostBytes = 16 * 1024 * 1024;

const keyOutput = struct({ open: u64, _rest: bytes(16), contextLength: u32, _context: u32 });
const copyHead = struct({ open: u64, rest: bytes(16), count: u32, _reserved: u32 });
const chunk = struct({ source: u64, target: u64, length: u32, _reserved: u32 });
const copyOutput = struct({ chunks: u32, chunkBytes: u32, totalBytes: u32 });

export function resumeKey(call: Call, request: IoctlFields): IoctlOutput {
  const open = fileOf(call, request.fileId);
  if (request.maxOutput < keyOutput.size) throw new Refused('INVALID_PARAMETER');
  return { output: keyOutput.make({ open: open.id, contextLength: 0 }) };
}

export async function copyChunks(
  call: Call,
  request: IoctlFields,
  rights: 'needs reading' | 'writes only',
): Promise<IoctlOutput> {
  const target = fileOf(call, request.fileId);
  if (request.maxOutput < copyOutput.size) throw new Refused('INVALID_PARAMETER');
  const { open, rest, count } = copyHead.read(request.input);
  const source = sessionOf(call).opens.get(open);
  if (source?.kind !== 'file' || !rest.equals(Buffer.alloc(16))) throw new Refused('OBJECT_NAME_NOT_FOUND');
  if (source.directory || target.directory) throw new Refused('INVALID_DEVICE_REQUEST');
  const chunks = readChunks(request.input, count);
  if (!chunks) {
    const limits = { chunks: mostChunks, chunkBytes: longestChunk, totalBytes: mostBytes };
    return { status: 'INVALID_PARAMETER', output: copyOutput.make(limits) };
  }
  needAccess(target, access.writeData);
  if (rights === 'needs reading') needAccess(target, access.readData);
  needAccess(source, access.readData | access.execute);
  return copyAll(call, source, target, chunks);
}

/** What stops the copy half way is told together with what was copied. */
async function copyAll(
  call: Call,
  source: FileOpen,
  target: FileOpen,
  chunks: readonly Chunk[],
): Promise<IoctlOutput> {
  let totalBytes = 0;
  for (const [index, { source: from, target: to, length }] of chunks.entries()) {
    try {
      await copyChunk(call, { source, from }, { target, to }, length);
    } catch (error) {
      const status = statusOf(error);
      if (status === 'INTERNAL_ERROR') throw error;
      return { status, output: copyOutput.make({ chunks: index, chunkBytes: 0, totalBytes }) };
    }
    totalBytes += length;
  }
  return { output: copyOutput.make({ chunks: chunks.length, chunkBytes: 0, totalBytes }) };
}

type Chunk = ReturnType<typeof chunk.read>;

/** Nothing if the list goes beyond what one request may copy. */
function readChunks(input: Buffer, count: number): Chunk[] | undefined {
  if (count > mostChunks || copyHead.size + count * chunk.size > input.length) return undefined;
  const chunks = Array.from({ length: count }, (_, index) =>
    chunk.read(input, copyHead.size + index * chunk.size),
  );
  const total = chunks.reduce((sum, { length }) => sum + length, 0);
  const fine = chunks.every(({ length }) => length > 0 && length <= longestChunk);
  return fine && total <= mostBytes ? chunks : undefined;
}

async function copyChunk(
  call: Call,
  { source, from }: { source: FileOpen; from: bigint },
  { target, to }: { target: FileOpen; to: bigint },
  length: number,
): Promise<void> {
  const data = await readBytes(call, source, from, length);
  if (data.length < length) throw new Refused('INVALID_VIEW_SIZE');
  await writeBytes(call, target, to, data);
}
