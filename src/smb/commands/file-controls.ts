// The IOCTLs on files: ids, ranges that take space, zeroing, compression, snapshots.

import { access } from '../../services/file/access.js';
import { change } from '../../services/file/changes.js';
import { type Call, fileOf, needAccess } from '../call.js';
import { postModified } from '../file-context.js';
import { snapshotName } from '../previous-versions.js';
import { Refused } from '../status.js';
import { wireId } from '../wire/info.js';
import { bytes, size64, struct, u16, u32, u64, utf16 } from '../wire/struct.js';
import type { IoctlFields, IoctlOutput } from './ioctl.js';

const objectIdOutput = struct({ file: u64, volume: u64, _rest: bytes(48) });

/** A stable id of a file: nobody can set one, so it is made of what the file has anyway. */
export function objectId(call: Call, request: IoctlFields): IoctlOutput {
  const open = fileOf(call, request.fileId);
  if (request.maxOutput < objectIdOutput.size) throw new Refused('INVALID_PARAMETER');
  return { output: objectIdOutput.make({ file: wireId(open.file), volume: open.volume.created }) };
}

const wireRange = struct({ offset: u64, length: u64 });
const madeRange = struct({ offset: size64, length: size64 });
const longestFile = 2n ** 63n;

export async function allocatedRanges(call: Call, request: IoctlFields): Promise<IoctlOutput> {
  const open = fileOf(call, request.fileId);
  if (open.directory || request.input.length < wireRange.size) throw new Refused('INVALID_PARAMETER');
  needAccess(open, access.readData);
  const { offset, length } = wireRange.read(request.input);
  if (offset >= longestFile || length >= longestFile || offset + length >= longestFile) {
    throw new Refused('INVALID_PARAMETER');
  }
  const ranges = await open.volume.ranges(open.file, Number(offset), Number(length));
  const fit = Math.floor(request.maxOutput / madeRange.size);
  const output = Buffer.concat(ranges.slice(0, fit).map((range) => madeRange.make(range)));
  if (fit === 0 && ranges.length > 0) throw new Refused('BUFFER_TOO_SMALL');
  return ranges.length > fit ? { output, status: 'BUFFER_OVERFLOW' } : { output };
}

const zeroRange = struct({ start: u64, beyond: u64 });

export async function setZeroData(call: Call, request: IoctlFields): Promise<IoctlOutput> {
  const open = fileOf(call, request.fileId);
  needAccess(open, access.writeData);
  if (open.directory || request.input.length < zeroRange.size) throw new Refused('INVALID_PARAMETER');
  const { start, beyond } = zeroRange.read(request.input);
  if (start > beyond || beyond >= longestFile) throw new Refused('INVALID_PARAMETER');
  const range = { offset: start, length: beyond - start };
  const done = call.connection.server.opens.begin(open.id, 'write', range);
  if (!done) throw new Refused('FILE_LOCK_CONFLICT');
  try {
    const options = { keepWritten: open.frozen.written, by: open.handle };
    await open.volume.zero(open.file, Number(start), Number(beyond), options);
  } finally {
    done();
  }
  await postModified(call, open, change.lastWrite);
  return { output: Buffer.alloc(0) };
}

const compressionFormat = struct({ format: u16 });

export function setCompression(call: Call, request: IoctlFields): IoctlOutput {
  fileOf(call, request.fileId);
  if (compressionFormat.read(request.input).format !== 0) throw new Refused('NOT_SUPPORTED');
  return { output: Buffer.alloc(0) };
}

const snapshotHead = struct({ count: u32, returned: u32, size: u32 });

/** The snapshots of the share, newest first; the numbers alone if there is no room for the names. */
export async function snapshots(call: Call, request: IoctlFields): Promise<IoctlOutput> {
  fileOf(call, request.fileId);
  const { tree, session } = call;
  if (request.maxOutput < 16) throw new Refused('INVALID_PARAMETER');
  if (tree?.kind !== 'disk') throw new Refused('INVALID_DEVICE_REQUEST');
  const account = session?.secured?.user.account ?? '';
  const times = await call.connection.server.volumes.snapshots(account, tree.share);
  const names = utf16(`${times.map((time) => `${snapshotName(time)}\0`).join('')}\0`);
  const fits = times.length > 0 && snapshotHead.size + names.length <= request.maxOutput;
  const returned = fits ? times.length : 0;
  const head = snapshotHead.make({ count: times.length, returned, size: names.length });
  return { output: Buffer.concat([head, fits ? names : Buffer.alloc(4)]) };
}
