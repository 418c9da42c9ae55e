// QUERY_INFO: one table for files, one for volumes, and the security descriptor.

import { buffer as asBuffer } from '../../base/bytes.js';
import { access } from '../../services/file/access.js';
import { type FileNode, rootId, type Volume } from '../../services/file/file-system.js';
import { type Call, needAccess, openOf, type Reply } from '../call.js';
import type { FileOpen } from '../open.js';
import { defaultDescriptor, part, selectParts } from '../security.js';
import { Refused } from '../status.js';
import { bufferResponse, queryInfoRequest } from '../wire/files.js';
import * as info from '../wire/info.js';
import { utf16 } from '../wire/struct.js';
import { checkCharge, maxSize } from './sizes.js';

interface FileState {
  readonly open: FileOpen;
  readonly node: FileNode;
  /** From the root down, with a leading separator. */
  readonly path: string;
  readonly deletePending: boolean;
}

/** How a class is made: bytes of a fixed size, then perhaps a name that may be cut. */
interface FileClass {
  readonly fixedSize: number;
  readonly rights?: number;
  make(state: FileState): Buffer;
}

const modeBits = 0x2 | 0x4 | 0x8 | 0x10 | 0x20 | 0x1000;

function u32Of(value: number): Buffer {
  return info.u32Info.make({ value });
}

function named(text: string): Buffer {
  const name = utf16(text);
  return Buffer.concat([u32Of(name.length), name]);
}

const basic = ({ node }: FileState) =>
  info.basicInfo.make({ ...node, attributes: info.wireAttributes(node) });
const standard = ({ node, deletePending }: FileState) =>
  info.standardInfo.make({
    ...{ allocated: info.allocationSize(node), length: node.length, links: deletePending ? 0 : 1 },
    ...{ deletePending: deletePending ? 1 : 0, directory: node.directory ? 1 : 0 },
  });
const internal = ({ node }: FileState) => info.u64Info.make({ value: info.wireId(node.id) });
const accessInfo = ({ open }: FileState) => u32Of(open.access);
const position = ({ open }: FileState) => info.u64Info.make({ value: open.position });
const mode = ({ open }: FileState) => u32Of(open.options & modeBits);
const zero = () => u32Of(0);
const all = (state: FileState) =>
  Buffer.concat([
    ...[basic(state), standard(state), internal(state), zero(), accessInfo(state), position(state)],
    ...[mode(state), zero(), named(state.path)],
  ]);
const networkOpen = ({ node }: FileState) =>
  info.networkOpenInfo.make({
    ...node,
    allocated: info.allocationSize(node),
    attributes: info.wireAttributes(node),
  });
const stream = ({ node }: FileState) => {
  if (node.directory) return Buffer.alloc(0);
  const name = utf16('::$DATA');
  const allocated = info.allocationSize(node);
  const head = info.streamInfo.make({ next: 0, nameLength: name.length, length: node.length, allocated });
  return Buffer.concat([head, name]);
};
const id = ({ open, node }: FileState) =>
  info.idInfo.make({ volumeId: open.volume.created, fileId: info.wireId(node.id) });
const attributeTag = ({ node }: FileState) =>
  info.attributeTagInfo.make({ attributes: info.wireAttributes(node), tag: 0 });

const readAttributes = access.readAttributes;

// biome-ignore format: a table
const fileClasses: Readonly<Record<number, FileClass>> = {
  4:  { fixedSize: 40,  make: basic,         rights: readAttributes },
  5:  { fixedSize: 24,  make: standard },
  6:  { fixedSize: 8,   make: internal },
  7:  { fixedSize: 4,   make: zero },
  8:  { fixedSize: 4,   make: accessInfo },
  9:  { fixedSize: 4,   make: ({ path }) => named(path) },
  14: { fixedSize: 8,   make: position },
  16: { fixedSize: 4,   make: mode },
  17: { fixedSize: 4,   make: zero },
  18: { fixedSize: 100, make: all,           rights: readAttributes },
  22: { fixedSize: 24,  make: stream },
  28: { fixedSize: 16,  make: ({ node }) => info.compressionInfo.make({ length: node.length }) },
  34: { fixedSize: 56,  make: networkOpen,   rights: readAttributes },
  35: { fixedSize: 8,   make: attributeTag,  rights: readAttributes },
  48: { fixedSize: 4,   make: ({ path }) => named(path.slice(1)) },
  59: { fixedSize: 24,  make: id },
};

const fullEa = 15;
const alternateName = 21;
const normalizedName = 48;

export async function queryInfo(call: Call): Promise<Reply> {
  const request = queryInfoRequest.read(call.message);
  if (request.outputLength > maxSize(call)) throw new Refused('INVALID_PARAMETER');
  checkCharge(call, Math.max(request.outputLength, request.inputLength));
  const open = openOf(call, request.fileId);
  if (open.kind === 'pipe') return queryPipe(request);
  switch (request.infoType) {
    case 1:
      return queryFile(call, open, request);
    case 2:
      return queryVolume(open.volume, request);
    case 3:
      return querySecurity(open, request);
    case 4:
      throw new Refused('NOT_SUPPORTED');
    default:
      throw new Refused('INVALID_PARAMETER');
  }
}

type Query = ReturnType<typeof queryInfoRequest.read>;

async function queryFile(call: Call, open: FileOpen, request: Query): Promise<Reply> {
  if (request.infoClass === alternateName) throw new Refused('OBJECT_NAME_NOT_FOUND');
  if (request.infoClass === fullEa) throw new Refused('NO_EAS_ON_FILE');
  const row = fileClasses[request.infoClass];
  if (!row) throw new Refused('INVALID_INFO_CLASS');
  if (request.infoClass === normalizedName && call.connection.negotiated?.dialect !== 0x0311) {
    throw new Refused('NOT_SUPPORTED');
  }
  if (row.rights) needAccess(open, row.rights);
  const node = await open.volume.node(open.file);
  if (!node) throw new Refused('FILE_CLOSED');
  const deletePending = call.connection.server.opens.isDeletePending(open.volume.id, node.id);
  const path = await pathOf(open.volume, node);
  return sized(row.make({ open, node, path, deletePending }), row.fixedSize, request.outputLength);
}

/** The path of a node now: it may have been renamed since it was opened. */
export async function pathOf(volume: Volume, node: FileNode): Promise<string> {
  const names: string[] = [];
  for (let at: FileNode | undefined = node; at && at.id !== rootId; at = await volume.node(at.parent)) {
    names.unshift(at.name);
  }
  return `\\${names.join('\\')}`;
}

/** Refuses what the fixed part does not fit into, and cuts the rest. */
function sized(bytes: Buffer, fixedSize: number, room: number): Reply {
  if (room < Math.min(fixedSize, bytes.length)) throw new Refused('INFO_LENGTH_MISMATCH');
  if (bytes.length <= room) return { body: bufferResponse.make({ buffer: bytes }) };
  return { status: 'BUFFER_OVERFLOW', body: bufferResponse.make({ buffer: bytes.subarray(0, room) }) };
}

function queryPipe(request: Query): Reply {
  if (request.infoType !== 1 || request.infoClass !== 5) throw new Refused('INVALID_DEVICE_REQUEST');
  const bytes = info.standardInfo.make({
    allocated: 4096,
    length: 0,
    links: 1,
    deletePending: 1,
    directory: 0,
  });
  return sized(bytes, bytes.length, request.outputLength);
}

const bytesPerSector = 512;
const sectorsPerUnit = 8;
const unitBytes = bytesPerSector * sectorsPerUnit;
const disk = { type: 7, characteristics: 0x20 };
/** Case kept, names in Unicode, permissions kept; nothing that clients would then try and not find. */
const volumeAttributes = 0x2 | 0x4 | 0x8;

async function units(volume: Volume): Promise<{ total: number; free: number }> {
  const { totalBytes, freeBytes } = await volume.space();
  return { total: Math.floor(totalBytes / unitBytes), free: Math.max(0, Math.floor(freeBytes / unitBytes)) };
}

interface VolumeClass {
  readonly fixedSize: number;
  make(volume: Volume): Promise<Buffer> | Buffer;
}

function volumeLabel(volume: Volume): Buffer {
  const label = utf16(volume.name);
  const serial = Number(volume.created & 0xffffffffn);
  return Buffer.concat([
    info.volumeInfo.make({ created: volume.created, serial, labelLength: label.length }),
    label,
  ]);
}

function volumeKind(): Buffer {
  const name = utf16('NTFS');
  const fixed = { attributes: volumeAttributes, longestName: 255, nameLength: name.length };
  return Buffer.concat([info.attributeInfo.make(fixed), name]);
}

const sectors = { logical: 512, physical: 4096, physicalForPerformance: 4096, effective: 4096, flags: 3 };

// biome-ignore format: a table
const volumeClasses: Readonly<Record<number, VolumeClass>> = {
  1:  { fixedSize: 18, make: volumeLabel },
  3:  { fixedSize: 24, make: async (volume) => info.sizeInfo.make({ ...(await units(volume)), sectorsPerUnit, bytesPerSector }) },
  4:  { fixedSize: 8,  make: () => info.deviceInfo.make(disk) },
  5:  { fixedSize: 12, make: volumeKind },
  7:  { fixedSize: 32, make: async (volume) => fullSize(await units(volume)) },
  8:  { fixedSize: 64, make: (volume) => info.objectIdInfo.make({ volumeId: volume.created }) },
  11: { fixedSize: 28, make: () => info.sectorInfo.make(sectors) },
};

function fullSize({ total, free }: { total: number; free: number }): Buffer {
  return info.fullSizeInfo.make({ total, free, callerFree: free, sectorsPerUnit, bytesPerSector });
}

const quotaClass = 6;

async function queryVolume(volume: Volume, request: Query): Promise<Reply> {
  if (request.infoClass === quotaClass) throw new Refused('NOT_SUPPORTED');
  const row = volumeClasses[request.infoClass];
  if (!row) throw new Refused('INVALID_INFO_CLASS');
  return sized(await row.make(volume), row.fixedSize, request.outputLength);
}

async function querySecurity(open: FileOpen, request: Query): Promise<Reply> {
  if (request.additional & part.sacl) throw new Refused('ACCESS_DENIED');
  // Nothing of it can be had without the right to read it.
  if (request.additional & (part.owner | part.group | part.dacl)) needAccess(open, access.readControl);
  const node = await open.volume.node(open.file);
  if (!node) throw new Refused('FILE_CLOSED');
  const stored = node.security ? asBuffer(node.security) : defaultDescriptor;
  const bytes = selectParts(stored, request.additional);
  if (bytes.length > request.outputLength) throw new Refused('BUFFER_TOO_SMALL', u32Of(bytes.length));
  return { body: bufferResponse.make({ buffer: bytes }) };
}
