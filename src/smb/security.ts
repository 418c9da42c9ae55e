// Security descriptors in their self-relative form: a head with four offsets, then owner, group and two
// lists of rights. They are stored and shown, part by part; what they say is judged elsewhere, if at all.

import { Refused } from './status.js';
import { constant, struct, u8, u16, u32 } from './wire/struct.js';

const head = struct({
  _revision: constant(u8, 1),
  _reserved: u8,
  control: u16,
  owner: u32,
  group: u32,
  sacl: u32,
  dacl: u32,
});

export const part = { owner: 1, group: 2, dacl: 4, sacl: 8 } as const;

const control = { daclPresent: 0x4, saclPresent: 0x10, selfRelative: 0x8000 } as const;
const daclBits = 0x1504 | 0x8;
const saclBits = 0x2a30;
/** Longer ones are refused: a stored descriptor is small. */
export const longestDescriptor = 64 * 1024;

interface Descriptor {
  readonly control: number;
  readonly owner: Buffer | undefined;
  readonly group: Buffer | undefined;
  /** Absent with its control bit set: everybody may do everything. */
  readonly dacl: Buffer | undefined;
  readonly sacl: Buffer | undefined;
}

/** Takes a descriptor apart; one that leaves its bounds is refused. */
export function readDescriptor(bytes: Buffer): Descriptor {
  if (bytes.length > longestDescriptor) throw new Refused('INVALID_PARAMETER');
  const { control: bits, owner, group, sacl, dacl } = head.read(bytes);
  return {
    control: bits,
    owner: owner === 0 ? undefined : sidAt(bytes, owner),
    group: group === 0 ? undefined : sidAt(bytes, group),
    dacl: dacl === 0 || !(bits & control.daclPresent) ? undefined : aclAt(bytes, dacl),
    sacl: sacl === 0 || !(bits & control.saclPresent) ? undefined : aclAt(bytes, sacl),
  };
}

function sidAt(bytes: Buffer, at: number): Buffer {
  const count = bytes[at + 1];
  return inside(bytes, at, count === undefined || count > 15 ? -1 : 8 + 4 * count);
}

function aclAt(bytes: Buffer, at: number): Buffer {
  const size = at + 8 <= bytes.length ? bytes.readUInt16LE(at + 2) : -1;
  return inside(bytes, at, size < 8 ? -1 : size);
}

function inside(bytes: Buffer, at: number, size: number): Buffer {
  if (size < 0 || at < head.size || at + size > bytes.length) throw new Refused('INVALID_PARAMETER');
  return bytes.subarray(at, at + size);
}

function makeDescriptor(descriptor: Descriptor): Buffer {
  const { owner, group, sacl, dacl } = descriptor;
  let at = head.size;
  const place = (piece: Buffer | undefined) => {
    if (!piece) return 0;
    const placed = at;
    at += piece.length;
    return placed;
  };
  const fields = { owner: place(owner), group: place(group), sacl: place(sacl), dacl: place(dacl) };
  const pieces = [owner, group, sacl, dacl].filter((piece) => piece !== undefined);
  return Buffer.concat([
    head.make({ control: descriptor.control | control.selfRelative, ...fields }),
    ...pieces,
  ]);
}

/** Only the parts asked for. */
export function selectParts(bytes: Buffer, parts: number): Buffer {
  const all = readDescriptor(bytes);
  return makeDescriptor({
    control:
      (parts & part.dacl ? all.control & daclBits : 0) | (parts & part.sacl ? all.control & saclBits : 0),
    owner: parts & part.owner ? all.owner : undefined,
    group: parts & part.group ? all.group : undefined,
    dacl: parts & part.dacl ? all.dacl : undefined,
    sacl: parts & part.sacl ? all.sacl : undefined,
  });
}

/** The stored descriptor with some of its parts replaced. */
export function mergeParts(stored: Buffer, given: Buffer, parts: number): Buffer {
  const before = readDescriptor(stored);
  const after = readDescriptor(given);
  const bits = (mask: number, taken: boolean) => (taken ? after.control : before.control) & mask;
  return makeDescriptor({
    control: bits(daclBits, (parts & part.dacl) !== 0) | bits(saclBits, (parts & part.sacl) !== 0),
    owner: parts & part.owner ? after.owner : before.owner,
    group: parts & part.group ? after.group : before.group,
    dacl: parts & part.dacl ? after.dacl : before.dacl,
    sacl: parts & part.sacl ? after.sacl : before.sacl,
  });
}

function sid(authority: number, ...subs: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 + 4 * subs.length);
  bytes.writeUInt8(1, 0);
  bytes.writeUInt8(subs.length, 1);
  bytes.writeUIntBE(authority, 2, 6);
  for (const [index, sub] of subs.entries()) bytes.writeUInt32LE(sub, 8 + 4 * index);
  return bytes;
}

function allowAll(who: Buffer): Buffer {
  const inherits = 0x3;
  const ace = Buffer.alloc(8 + who.length);
  ace.writeUInt8(0, 0);
  ace.writeUInt8(inherits, 1);
  ace.writeUInt16LE(ace.length, 2);
  ace.writeUInt32LE(0x001f01ff, 4);
  ace.set(who, 8);
  return ace;
}

/** What a file has that nobody gave one: administrators own it, all who can log on have all rights. */
export const defaultDescriptor: Buffer = (() => {
  const administrators = sid(5, 32, 544);
  const aces = [allowAll(administrators), allowAll(sid(5, 18)), allowAll(sid(5, 11))];
  const size = aces.reduce((sum, ace) => sum + ace.length, 8);
  const acl = Buffer.alloc(8);
  acl.writeUInt8(2, 0);
  acl.writeUInt16LE(size, 2);
  acl.writeUInt16LE(aces.length, 4);
  const dacl = Buffer.concat([acl, ...aces]);
  const bits = control.daclPresent;
  return makeDescriptor({ control: bits, owner: administrators, group: sid(5, 18), dacl, sacl: undefined });
})();
