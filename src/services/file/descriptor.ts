// Security descriptors: who owns a file and who may do what. Stored self-relative, as SMB sends them; told in SDDL or
// as they are. Over REST, and over SMB unless told otherwise, they are kept and told and not enforced: whoever holds the
// account's key may do everything. What they say where they are enforced is in acl-rules.ts.
//
//   head   revision, control, offsets of owner, group, sacl, dacl
//   acl    revision, size, count; then entries: type, flags, size, mask, sid (or, for objects, guids before it)

import { ok, type Result, refuse } from '../../base/result.js';

export interface Ace {
  readonly type: number;
  readonly flags: number;
  readonly mask: number;
  /** What lies between mask and sid: flags and guids of entries for objects. */
  readonly object: Buffer;
  readonly sid: Buffer;
  /** What follows the sid. */
  readonly rest: Buffer;
}

/** Nothing: everybody may do everything. */
export type Acl = readonly Ace[] | undefined;

export interface Descriptor {
  readonly control: number;
  readonly owner: Buffer | undefined;
  readonly group: Buffer | undefined;
  readonly dacl: Acl;
  readonly sacl: Acl;
}

export const control = {
  daclPresent: 0x4,
  saclPresent: 0x10,
  daclAutoInheritRequired: 0x100,
  saclAutoInheritRequired: 0x200,
  daclAutoInherited: 0x400,
  saclAutoInherited: 0x800,
  daclProtected: 0x1000,
  saclProtected: 0x2000,
  selfRelative: 0x8000,
} as const;

export const aceFlag = { object: 1, container: 2, noPropagate: 4, inheritOnly: 8, inherited: 0x10 } as const;

export const longestDescriptor = 64 * 1024;
const headBytes = 20;
const objectTypes = [5, 6, 7, 8, 11, 12, 15, 16];

type Read<T> = Result<T, 'FileInvalidPermission'>;
const bad = refuse('FileInvalidPermission');

export function readDescriptor(bytes: Buffer): Read<Descriptor> {
  if (bytes.length < headBytes || bytes.length > longestDescriptor || bytes[0] !== 1) return bad;
  const bits = bytes.readUInt16LE(2);
  const [owner, group] = [4, 8].map((at) => sidAt(bytes, bytes.readUInt32LE(at)));
  const sacl = bits & control.saclPresent ? aclAt(bytes, bytes.readUInt32LE(12)) : ok(undefined);
  const dacl = bits & control.daclPresent ? aclAt(bytes, bytes.readUInt32LE(16)) : ok(undefined);
  if (!owner?.ok || !group?.ok || !sacl.ok || !dacl.ok) return bad;
  return ok({
    control: bits,
    ...{ owner: owner.value, group: group.value, sacl: sacl.value, dacl: dacl.value },
  });
}

function sidAt(bytes: Buffer, at: number): Read<Buffer | undefined> {
  if (at === 0) return ok(undefined);
  if (at < headBytes || at + 8 > bytes.length) return bad;
  const length = 8 + 4 * (bytes[at + 1] ?? 0);
  if (bytes[at] !== 1 || length > 68 || at + length > bytes.length) return bad;
  return ok(bytes.subarray(at, at + length));
}

function aclAt(bytes: Buffer, at: number): Read<Acl> {
  if (at === 0) return ok(undefined);
  if (at < headBytes || at + 8 > bytes.length) return bad;
  const end = at + bytes.readUInt16LE(at + 2);
  if (end > bytes.length) return bad;
  const aces: Ace[] = [];
  let next = at + 8;
  for (let left = bytes.readUInt16LE(at + 4); left > 0; left--) {
    const size = next + 4 <= end ? bytes.readUInt16LE(next + 2) : 0;
    const ace = size >= 16 && next + size <= end ? readAce(bytes.subarray(next, next + size)) : undefined;
    if (ace === undefined) return bad;
    aces.push(ace);
    next += size;
  }
  return ok(aces);
}

function readAce(bytes: Buffer): Ace | undefined {
  const [type = 0, flags = 0] = bytes;
  const at = 8 + (objectTypes.includes(type) ? objectBytes(bytes.readUInt32LE(8)) : 0);
  if (at + 8 > bytes.length) return undefined;
  const end = at + 8 + 4 * (bytes[at + 1] ?? 0);
  if (end > bytes.length) return undefined;
  const [object, sid, rest] = [bytes.subarray(8, at), bytes.subarray(at, end), bytes.subarray(end)];
  return { type, flags, mask: bytes.readUInt32LE(4), object, sid, rest };
}

/** Of the flags that tell which guids follow, and these. */
function objectBytes(flags: number): number {
  return 4 + (flags & 1 ? 16 : 0) + (flags & 2 ? 16 : 0);
}

/** A list tells its size in 16 bits. */
const longestAcl = 0xffff;

/** Whether it can be stored. */
export function isTooLong({ owner, group, dacl, sacl }: Descriptor): boolean {
  const lists = [dacl, sacl].map((acl) => (acl === undefined ? 0 : aclBytes(acl)));
  const sids = (owner?.length ?? 0) + (group?.length ?? 0);
  const all = lists.reduce((sum, bytes) => sum + bytes, headBytes + sids);
  return all > longestDescriptor || lists.some((bytes) => bytes > longestAcl);
}

function aclBytes(aces: readonly Ace[]): number {
  return aces.reduce((sum, { object, sid, rest }) => sum + 8 + object.length + sid.length + rest.length, 8);
}

export function makeDescriptor(descriptor: Descriptor): Buffer {
  const { owner, group, dacl, sacl } = descriptor;
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(1, 0);
  head.writeUInt16LE(descriptor.control | control.selfRelative, 2);
  const pieces: Buffer[] = [head];
  let at = headBytes;
  const place = (field: number, piece: Buffer | undefined) => {
    if (piece === undefined) return;
    head.writeUInt32LE(at, field);
    pieces.push(piece);
    at += piece.length;
  };
  place(4, owner);
  place(8, group);
  place(12, sacl && makeAcl(sacl));
  place(16, dacl && makeAcl(dacl));
  return Buffer.concat(pieces);
}

function makeAcl(aces: readonly Ace[]): Buffer {
  const bodies = aces.map(makeAce);
  const head = Buffer.alloc(8);
  head.writeUInt8(aces.some(({ type }) => objectTypes.includes(type)) ? 4 : 2, 0);
  head.writeUInt16LE(aclBytes(aces), 2);
  head.writeUInt16LE(aces.length, 4);
  return Buffer.concat([head, ...bodies]);
}

function makeAce({ type, flags, mask, object, sid, rest }: Ace): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt8(type, 0);
  head.writeUInt8(flags, 1);
  head.writeUInt16LE(8 + object.length + sid.length + rest.length, 2);
  head.writeUInt32LE(mask >>> 0, 4);
  return Buffer.concat([head, object, sid, rest]);
}

// biome-ignore format: a table
const genericRights = [
  [0x80000000, 0x00120089], [0x40000000, 0x00120116], [0x20000000, 0x001200a0], [0x10000000, 0x001f01ff],
] as const;

/** The rights that generic ones stand for on a file. */
export function mapGeneric(mask: number): number {
  let mapped = mask & 0x0fffffff;
  for (const [generic, rights] of genericRights) if (mask & generic) mapped |= rights;
  return mapped >>> 0;
}

/** `S-1-authority-sub`. */
export function sidOf(authority: number, sub: number): Buffer {
  return Buffer.from([1, 1, 0, 0, 0, 0, 0, authority, sub, 0, 0, 0]);
}

export const system = sidOf(5, 18);
export const ownerRights = sidOf(3, 4);
const creatorOwner = sidOf(3, 0);
const creatorGroup = sidOf(3, 1);

/** What something new in a directory has if nothing is said. */
export function inheritDescriptor(parent: Descriptor, directory: boolean): Descriptor {
  const inherited: Descriptor = {
    control: control.daclPresent | control.daclAutoInherited,
    owner: system,
    group: system,
    dacl: parent.dacl?.flatMap((ace) => inheritAce(ace, directory)),
    sacl: undefined,
  };
  if (!isTooLong(inherited)) return inherited;
  // Of entries that become two, one for the directory and one for what lies below it, the second is left out.
  return { ...inherited, dacl: parent.dacl?.flatMap((ace) => inheritAce(ace, directory).slice(0, 1)) };
}

function inheritAce(ace: Ace, directory: boolean): Ace[] {
  const { object, container, noPropagate, inheritOnly, inherited } = aceFlag;
  const applies = (ace.flags & (directory ? container : object)) !== 0;
  const passesOn = directory && (ace.flags & object) !== 0 && !(ace.flags & noPropagate);
  if (!applies)
    return passesOn ? [{ ...ace, flags: (ace.flags & ~inherited) | inheritOnly | inherited }] : [];
  const mine: Ace = { ...ace, flags: inherited, mask: mapGeneric(ace.mask), sid: ownerOf(ace.sid) };
  if (!directory || ace.flags & noPropagate) return [mine];
  const onward = (ace.flags & (object | container)) | inherited;
  // One that says the same for what lies below is one entry.
  if (mine.mask === ace.mask >>> 0 && mine.sid.equals(ace.sid)) return [{ ...mine, flags: onward }];
  return [mine, { ...ace, flags: onward | inheritOnly }];
}

/** Whoever creates it is the system: there is no other identity. */
function ownerOf(sid: Buffer): Buffer {
  return sid.equals(creatorOwner) || sid.equals(creatorGroup) ? system : sid;
}
