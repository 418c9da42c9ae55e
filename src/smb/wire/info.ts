// Information about files, directories entries and volumes: one struct for each class. Where a name
// follows, the struct is its fixed part and ends with the length of the name.

import { attribute } from '../../services/file/access.js';
import { type FileNode, rootId } from '../../services/file/file-system.js';
import { bytes, i64, size64, struct, u8, u16, u32, u64 } from './struct.js';

const unit = 4096;

/** Files take whole units; directories none. */
export function allocationSize(node: FileNode): number {
  return node.directory ? 0 : Math.ceil(node.length / unit) * unit;
}

/** The id of a node as clients see it; zero, the root's, means "no id" to some of them. */
export function wireId(id: bigint): bigint {
  return id === rootId ? 1n << 62n : id;
}

/** A file with no attribute at all is called normal. */
export function wireAttributes(node: FileNode): number {
  return node.attributes === 0 ? attribute.normal : node.attributes;
}

const times = { created: u64, accessed: u64, written: u64, changed: u64 };

export const basicInfo = struct({ ...times, attributes: u32, _reserved: u32 });
/** Setting times: 0 keeps one, -1 freezes it, -2 thaws it. */
export const basicInfoSet = struct({
  ...{ created: i64, accessed: i64, written: i64, changed: i64 },
  ...{ attributes: u32, _reserved: u32 },
});
export const standardInfo = struct({
  ...{ allocated: size64, length: size64, links: u32, deletePending: u8, directory: u8, _reserved: u16 },
});
export const networkOpenInfo = struct({
  ...{ ...times, allocated: size64, length: size64, attributes: u32, _reserved: u32 },
});
export const attributeTagInfo = struct({ attributes: u32, tag: u32 });
export const idInfo = struct({ volumeId: u64, fileId: u64, _fileIdHigh: u64 });
export const compressionInfo = struct({ length: size64, _rest: bytes(8) });
export const streamInfo = struct({ next: u32, nameLength: u32, length: size64, allocated: size64 });
export const u32Info = struct({ value: u32 });
export const u64Info = struct({ value: u64 });

const entryStart = { next: u32, index: u32 };
const entryTimes = { ...times, length: size64, allocated: size64, attributes: u32, nameLength: u32 };
const shortName = { _shortNameLength: u8, _reserved1: u8, _shortName: bytes(24) };

/** Entries of a directory, by information class. */
// biome-ignore format: a table
export const entryClasses = {
  1:  struct({ ...entryStart, ...entryTimes }),
  2:  struct({ ...entryStart, ...entryTimes, _eaSize: u32 }),
  3:  struct({ ...entryStart, ...entryTimes, _eaSize: u32, ...shortName }),
  12: struct({ ...entryStart, nameLength: u32 }),
  37: struct({ ...entryStart, ...entryTimes, _eaSize: u32, ...shortName, _reserved2: u16, fileId: u64 }),
  38: struct({ ...entryStart, ...entryTimes, _eaSize: u32, _reserved2: u32, fileId: u64 }),
  60: struct({ ...entryStart, ...entryTimes, _eaSize: u32, _reparseTag: u32, fileId: u64, _fileIdHigh: u64 }),
  63: struct({ ...entryStart, ...entryTimes, _eaSize: u32, _reparseTag: u32, fileId: u64, _fileIdHigh: u64, ...shortName }),
} as const;

export type EntryClass = keyof typeof entryClasses;

export const volumeInfo = struct({
  created: u64,
  serial: u32,
  labelLength: u32,
  _supportsObjects: u8,
  _reserved: u8,
});
export const sizeInfo = struct({ total: size64, free: size64, sectorsPerUnit: u32, bytesPerSector: u32 });
export const fullSizeInfo = struct({
  ...{ total: size64, callerFree: size64, free: size64, sectorsPerUnit: u32, bytesPerSector: u32 },
});
export const deviceInfo = struct({ type: u32, characteristics: u32 });
export const attributeInfo = struct({ attributes: u32, longestName: u32, nameLength: u32 });
export const objectIdInfo = struct({ volumeId: u64, _rest: bytes(56) });
export const sectorInfo = struct({
  ...{ logical: u32, physical: u32, physicalForPerformance: u32, effective: u32, flags: u32 },
  ...{ _byteOffsetForSector: u32, _byteOffsetForPartition: u32 },
});

export const renameInfo = struct({ replace: u8, _reserved1: bytes(7), rootDirectory: u64, nameLength: u32 });
