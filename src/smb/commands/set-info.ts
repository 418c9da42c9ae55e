// SET_INFO: times and attributes, size, name, deletion, security.

import { buffer as asBuffer } from '../../base/bytes.js';
import { access, attribute } from '../../services/file/access.js';
import { change, renameChanges } from '../../services/file/changes.js';
import { setDisposition } from '../../services/file/close-file.js';
import { settledSecurity } from '../../services/file/enforcement.js';
import type { FileNode, NodeChange } from '../../services/file/file-system.js';
import { renameFile } from '../../services/file/rename-file.js';
import { type Call, fileOf, needAccess, type Reply } from '../call.js';
import { fileContext, judgedOf, postModified } from '../file-context.js';
import { isReservedName, parsePath, readName } from '../names.js';
import type { FileOpen } from '../open.js';
import { defaultDescriptor, longestDescriptor, mergeParts, part } from '../security.js';
import { Refused } from '../status.js';
import { setInfoRequest, setInfoResponse } from '../wire/files.js';
import { basicInfoSet, renameInfo, u32Info, u64Info } from '../wire/info.js';
import { checkCharge } from './sizes.js';

interface SetClass {
  readonly size: number;
  readonly rights?: number;
  set(call: Call, open: FileOpen, bytes: Buffer): Promise<void>;
}

// biome-ignore format: a table
const fileClasses: Readonly<Record<number, SetClass>> = {
  4:  { size: 40, rights: access.writeAttributes, set: setBasic },
  10: { size: 20, rights: access.delete,          set: rename },
  13: { size: 1,  rights: access.delete,          set: (call, open, bytes) => dispose(call, open, bytes[0] !== 0 ? 1 : 0) },
  14: { size: 8,                                  set: setPosition },
  16: { size: 4,                                  set: async () => {} },
  19: { size: 8,  rights: access.writeData,       set: setAllocation },
  20: { size: 8,  rights: access.writeData,       set: setEndOfFile },
  39: { size: 8,                                  set: async () => {} },
  64: { size: 4,  rights: access.delete,          set: (call, open, bytes) => dispose(call, open, u32Info.read(bytes).value) },
  65: { size: 20, rights: access.delete,          set: rename },
};
const fullEa = 15;

export async function setInfo(call: Call): Promise<Reply> {
  const request = setInfoRequest.read(call.message);
  checkCharge(call, request.buffer.length);
  const open = fileOf(call, request.fileId);
  switch (request.infoType) {
    case 1:
      await setFile(call, open, request.infoClass, request.buffer);
      break;
    case 2:
      throw new Refused('ACCESS_DENIED');
    case 3:
      await setSecurity(call, open, request.additional, request.buffer);
      break;
    case 4:
      throw new Refused('NOT_SUPPORTED');
    default:
      throw new Refused('INVALID_PARAMETER');
  }
  return { body: setInfoResponse.make({}) };
}

async function setFile(call: Call, open: FileOpen, infoClass: number, bytes: Buffer): Promise<void> {
  if (infoClass === fullEa) throw new Refused('EAS_NOT_SUPPORTED');
  const row = fileClasses[infoClass];
  if (!row) throw new Refused('NOT_SUPPORTED');
  if (bytes.length < row.size) throw new Refused('INFO_LENGTH_MISMATCH');
  if (row.rights) needAccess(open, row.rights);
  await row.set(call, open, bytes);
}

const freeze = -1n;
const thaw = -2n;
const settable = 0x00003127;

async function setBasic(call: Call, open: FileOpen, bytes: Buffer): Promise<void> {
  const wanted = basicInfoSet.read(bytes);
  for (const time of [wanted.created, wanted.accessed, wanted.written, wanted.changed]) {
    if (time < thaw) throw new Refused('INVALID_PARAMETER');
  }
  if (wanted.attributes & attribute.directory && !open.directory) throw new Refused('INVALID_PARAMETER');
  if (wanted.attributes & attribute.temporary && open.directory) throw new Refused('INVALID_PARAMETER');
  for (const name of ['written', 'changed'] as const) {
    if (wanted[name] === freeze || wanted[name] > 0n) open.frozen[name] = true;
    else if (wanted[name] === thaw) open.frozen[name] = false;
  }
  await open.volume.transaction(async (tx) => {
    const node = await tx.get(open.file);
    if (!node) throw new Refused('FILE_CLOSED');
    const fields: NodeChange = {
      ...(wanted.created > 0n ? { created: wanted.created } : {}),
      ...(wanted.accessed > 0n ? { accessed: wanted.accessed } : {}),
      ...(wanted.written > 0n ? { written: wanted.written } : {}),
      ...(wanted.attributes === 0 ? {} : { attributes: newAttributes(node, wanted.attributes) }),
    };
    const keeps = open.frozen.changed || wanted.changed === thaw;
    const changed = wanted.changed > 0n ? wanted.changed : keeps ? node.changed : tx.now;
    await tx.update(open.file, { ...fields, changed });
  });
  await postModified(call, open, basicKinds(wanted));
}

function basicKinds(wanted: ReturnType<typeof basicInfoSet.read>): number {
  return (
    (wanted.attributes === 0 ? 0 : change.attributes) |
    (wanted.created > 0n ? change.creation : 0) |
    (wanted.accessed > 0n ? change.lastAccess : 0) |
    (wanted.written > 0n ? change.lastWrite : 0)
  );
}

function newAttributes(node: FileNode, wanted: number): number {
  return (wanted & settable) | (node.directory ? attribute.directory : 0);
}

async function setPosition(_call: Call, open: FileOpen, bytes: Buffer): Promise<void> {
  open.position = u64Info.read(bytes).value;
}

const largestFile = 4n * 2n ** 40n;
const longestFile = 2n ** 63n;

function newLength(open: FileOpen, bytes: Buffer): number {
  const { value } = u64Info.read(bytes);
  if (open.directory || value >= longestFile) throw new Refused('INVALID_PARAMETER');
  if (value > largestFile) throw new Refused('DISK_FULL');
  return Number(value);
}

async function setEndOfFile(call: Call, open: FileOpen, bytes: Buffer): Promise<void> {
  await resize(call, open, newLength(open, bytes), false);
}

/** Space is not set aside: only an allocation below the length has an effect. */
async function setAllocation(call: Call, open: FileOpen, bytes: Buffer): Promise<void> {
  await resize(call, open, newLength(open, bytes), true);
}

async function resize(call: Call, open: FileOpen, length: number, onlyShrink: boolean): Promise<void> {
  const { opens } = call.connection.server;
  await opens.break(open.volume.id, open.file, 'write', open.id);
  await open.volume.transaction(async (tx) => {
    const node = await tx.get(open.file);
    if (!node) throw new Refused('FILE_CLOSED');
    if (onlyShrink && node.length <= length) return;
    await tx.resize(open.file, length);
    const written = open.frozen.written ? node.written : tx.now;
    await tx.update(open.file, { written, changed: tx.now });
  });
  await postModified(call, open, change.size | change.lastWrite);
}

async function rename(call: Call, open: FileOpen, bytes: Buffer): Promise<void> {
  const request = renameInfo.read(bytes);
  const end = renameInfo.size + request.nameLength;
  if (request.rootDirectory !== 0n || end > bytes.length) throw new Refused('INVALID_PARAMETER');
  const name = readName(bytes.subarray(renameInfo.size, end));
  const { path } = parsePath(name.startsWith('\\') ? name.slice(1) : name);
  if (isReservedName(path.at(-1) ?? '')) throw new Refused('OBJECT_NAME_INVALID');
  const target = { path, replace: (request.replace & 1) !== 0 };
  const { before, after, replaced } = await renameFile(fileContext(call, open.volume), open.handle, target);
  await call.connection.server.watches.post(open.volume, renameChanges(before, after, replaced));
}

const disposition = { delete: 1, posix: 2, onClose: 8, ignoreReadOnly: 0x10 } as const;

async function dispose(call: Call, open: FileOpen, flags: number): Promise<void> {
  if (flags & disposition.posix) throw new Refused('NOT_SUPPORTED');
  const deletes = (flags & disposition.delete) !== 0;
  if (flags & disposition.onClose) {
    return call.connection.server.opens.setDeleteOnClose(open.id, deletes);
  }
  const ignoreReadOnly = (flags & disposition.ignoreReadOnly) !== 0;
  await setDisposition(fileContext(call, open.volume), open.handle, { deletes, ignoreReadOnly });
  if (deletes && open.directory) call.connection.server.watches.endDirectory(open.volume.id, open.file);
}

async function setSecurity(call: Call, open: FileOpen, parts: number, bytes: Buffer): Promise<void> {
  if (parts & part.sacl) throw new Refused('ACCESS_DENIED');
  if (parts & part.dacl) needAccess(open, access.writeDac);
  if (parts & (part.owner | part.group)) needAccess(open, access.writeOwner);
  if (bytes.length > longestDescriptor) throw new Refused('INVALID_PARAMETER');
  const given = Buffer.from(bytes);
  await open.volume.transaction(async (tx) => {
    const node = await tx.get(open.file);
    if (!node) throw new Refused('FILE_CLOSED');
    const stored = node.security ? asBuffer(node.security) : defaultDescriptor;
    const merged = mergeParts(stored, given, parts);
    const security = parts & part.dacl ? settledSecurity(judgedOf(call), merged) : merged;
    await tx.update(open.file, { security, changed: tx.now });
  });
  await postModified(call, open, change.security);
}
