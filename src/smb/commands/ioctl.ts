// IOCTL: the requests beyond reading and writing, by their codes.

import { type Call, fileOf, openOf, type Reply } from '../call.js';
import type { Negotiated } from '../connection.js';
import { allOnesFileId } from '../open.js';
import { knownPipe } from '../pipes/pipe.js';
import { Hangup, Refused, type Status } from '../status.js';
import { ioctlRequest, ioctlResponse } from '../wire/files.js';
import { bytes, struct, u16, u32, u64 } from '../wire/struct.js';
import { copyChunks, resumeKey } from './copy-chunks.js';
import { allocatedRanges, objectId, setCompression, setZeroData, snapshots } from './file-controls.js';
import { chooseDialect } from './negotiate.js';
import { checkCharge, maxSize } from './sizes.js';

export type IoctlFields = ReturnType<typeof ioctlRequest.read>;
export type IoctlOutput = Readonly<{ output: Buffer; status?: Status }>;
type Control = (call: Call, request: IoctlFields) => Promise<IoctlOutput> | IoctlOutput;

/** Answered with this status, on any file. */
const refuse =
  (status: Status): Control =>
  (call, request) => {
    if (!request.fileId.equals(allOnesFileId)) openOf(call, request.fileId);
    throw new Refused(status);
  };

// biome-ignore format: a table
const controls: ReadonlyMap<number, Control> = new Map<number, Control>([
  [0x00140204, validateNegotiate],
  [0x001401fc, networkInterfaces],
  [0x00060194, refuse('NOT_FOUND')],             // DFS referrals: there is no DFS
  [0x000601b0, refuse('NOT_FOUND')],
  [0x00140078, resumeKey],
  [0x001440f2, (call, request) => copyChunks(call, request, 'needs reading')],
  [0x001480f2, (call, request) => copyChunks(call, request, 'writes only')],
  [0x00144064, snapshots],
  [0x0011c017, transceive],
  [0x0011400c, peek],
  [0x00110018, waitForPipe],
  [0x000900c0, objectId],
  [0x0009009c, objectId],
  [0x000940cf, allocatedRanges],
  [0x000980c8, setZeroData],
  [0x0009003c, (call, request) => { fileOf(call, request.fileId); return { output: Buffer.alloc(2) }; }],
  [0x0009c040, setCompression],
  [0x000900a8, refuse('NOT_A_REPARSE_POINT')],
  [0x000900a4, refuse('NOT_SUPPORTED')],         // set, delete reparse point
  [0x000900ac, refuse('NOT_SUPPORTED')],
  [0x000900c4, refuse('NOT_SUPPORTED')],         // sparse files are not told apart
  [0x001401d4, refuse('NOT_SUPPORTED')],         // resiliency
  [0x001441bb, refuse('NOT_SUPPORTED')],         // content hashes
  [0x00098344, refuse('NOT_SUPPORTED')],         // duplicate extents, offload, trim, integrity, regions, journal
  [0x00094264, refuse('NOT_SUPPORTED')],
  [0x00098268, refuse('NOT_SUPPORTED')],
  [0x00098208, refuse('NOT_SUPPORTED')],
  [0x0009027c, refuse('NOT_SUPPORTED')],
  [0x00090284, refuse('NOT_SUPPORTED')],
  [0x000900eb, refuse('NOT_SUPPORTED')],
]);
const isControl = 1;

export async function ioctl(call: Call): Promise<Reply> {
  const request = ioctlRequest.read(call.message);
  if (request.flags !== isControl) throw new Refused('NOT_SUPPORTED');
  if (request.maxOutput > maxSize(call)) throw new Refused('INVALID_PARAMETER');
  checkCharge(call, Math.max(request.maxOutput, request.input.length));
  const control = controls.get(request.code);
  if (!control) throw unknown(call, request);
  const { output, status } = await control(call, request);
  const fileId = call.chain.fileId ?? request.fileId;
  const body = ioctlResponse.make({
    ...{ code: request.code, fileId, inputOffset: 112, inputLength: 0, output, flags: 0 },
  });
  return status ? { status, body } : { body };
}

function unknown(call: Call, request: IoctlFields): Refused {
  if (request.fileId.equals(allOnesFileId) && !call.chain.fileId) return new Refused('FS_DRIVER_REQUIRED');
  openOf(call, request.fileId);
  return new Refused('INVALID_DEVICE_REQUEST');
}

const validateRequest = struct({ capabilities: u32, guid: bytes(16), securityMode: u16, count: u16 });
const validateResponse = struct({ capabilities: u32, guid: bytes(16), securityMode: u16, dialect: u16 });

/** Both sides compare what they negotiated, now that messages are signed. A difference is an attack. */
function validateNegotiate(call: Call, request: IoctlFields): IoctlOutput {
  const agreed = call.connection.negotiated as Negotiated;
  if (agreed.dialect === 0x0311) throw new Hangup('validated where the hash does that');
  const told = validateRequest.read(request.input);
  const list = request.input.subarray(validateRequest.size);
  if (list.length < told.count * 2) throw new Hangup('short list of dialects');
  const offered = Array.from({ length: told.count }, (_, index) => list.readUInt16LE(index * 2));
  const same =
    told.capabilities === agreed.clientCapabilities &&
    told.guid.equals(agreed.clientGuid) &&
    told.securityMode === agreed.clientSecurityMode &&
    chooseDialect(call.connection, offered) === agreed.dialect;
  if (!same) throw new Hangup('negotiation was tampered with');
  const { capabilities, securityMode, dialect } = agreed;
  if (request.maxOutput < validateResponse.size) throw new Refused('INVALID_PARAMETER');
  const { guid } = call.connection.server;
  return { output: validateResponse.make({ capabilities, guid, securityMode, dialect }) };
}

const interfaceInfo = struct({
  ...{ next: u32, index: u32, capability: u32, _reserved: u32, speed: u64, family: u16, port: u16 },
  ...{ address: bytes(4), _rest: bytes(120) },
});
const ipv4 = 2;

/** The one address that the client is connected to. */
function networkInterfaces(call: Call, request: IoctlFields): IoctlOutput {
  const local = call.connection.socket.localAddress?.match(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/);
  const address = Buffer.from(local ? local.slice(1).map(Number) : [127, 0, 0, 1]);
  if (request.maxOutput < interfaceInfo.size) throw new Refused('INVALID_PARAMETER');
  const one = { next: 0, index: 1, capability: 0, speed: 1_000_000_000n, family: ipv4, port: 0, address };
  return { output: interfaceInfo.make(one) };
}

async function transceive(call: Call, request: IoctlFields): Promise<IoctlOutput> {
  const open = openOf(call, request.fileId);
  if (open.kind !== 'pipe') throw new Refused('INVALID_DEVICE_REQUEST');
  await open.pipe.write(request.input);
  const { data, more } = open.pipe.read(request.maxOutput);
  return more ? { output: data, status: 'BUFFER_OVERFLOW' } : { output: data };
}

const peekInfo = struct({ state: u32, available: u32, messages: u32, messageLength: u32 });
const connected = 3;

function peek(call: Call, request: IoctlFields): IoctlOutput {
  const open = openOf(call, request.fileId);
  if (open.kind !== 'pipe') throw new Refused('INVALID_DEVICE_REQUEST');
  const { bytes: available, messages } = open.pipe.waiting;
  return { output: peekInfo.make({ state: connected, available, messages, messageLength: 0 }) };
}

const waitRequest = struct({ _timeout: u64, nameLength: u32, _timeoutGiven: bytes(2) });

/** A pipe that is known is there at once. */
function waitForPipe(_call: Call, request: IoctlFields): IoctlOutput {
  const { nameLength } = waitRequest.read(request.input);
  const name = request.input.toString('utf16le', waitRequest.size, waitRequest.size + nameLength);
  if (!knownPipe(name)) throw new Refused('OBJECT_NAME_NOT_FOUND');
  return { output: Buffer.alloc(0) };
}
