// Where permissions are enforced: what the descriptors of files allow to who is judged, and what is written into those of
// new ones. Where nobody is judged everything is allowed, and descriptors are kept as they are given.

import { buffer } from '../../base/bytes.js';
import { access, allAccess } from './access.js';
import { allowedAccess, type Identity } from './acl-rules.js';
import {
  type Ace,
  aceFlag,
  control,
  type Descriptor,
  inheritDescriptor,
  isTooLong,
  makeDescriptor,
  mapGeneric,
  readDescriptor,
} from './descriptor.js';
import type { FileNode } from './file-system.js';
import { FileRefused } from './refusals.js';

/** All that may be done with a file by its descriptor and that of the directory it is in; the root is in none. */
export function allowedOn(judged: Identity | undefined, node: FileNode, parent: FileNode): number {
  if (judged === undefined) return allAccess;
  return allowedAccess(judged, securityOf(node), node.id === parent.id ? undefined : securityOf(parent));
}

/** Something new of this kind comes into the directory. */
export function checkAdding(judged: Identity | undefined, parent: FileNode, directory: boolean): void {
  if (judged === undefined) return;
  const needed = directory ? access.appendData : access.writeData;
  if (!(allowedAccess(judged, securityOf(parent), undefined) & needed)) throw new FileRefused('AccessDenied');
}

/** The descriptor of something new: what is given, and what the directory hands down. */
export function newSecurity(
  judged: Identity | undefined,
  parent: FileNode,
  given: Uint8Array | undefined,
  directory: boolean,
): Uint8Array | undefined {
  if (judged === undefined) return given;
  const asked = given && readOrRefuse(given);
  const inherited = inheritFrom(securityOf(parent), judged, directory);
  const rights = asked && asked.control & control.daclPresent ? settled(asked) : inherited;
  const made: Descriptor = {
    control: (rights.control & ofDacl) | ((asked?.control ?? 0) & ofSacl),
    owner: asked?.owner ?? inherited.owner,
    group: asked?.group ?? inherited.group,
    dacl: rights.dacl,
    sacl: asked?.sacl,
  };
  if (isTooLong(made)) throw new FileRefused('InvalidParameter');
  return makeDescriptor(made);
}

/** A descriptor as it is stored when it is set: rights are those of files, and marks of its making are gone. */
export function settledSecurity(judged: Identity | undefined, bytes: Uint8Array): Uint8Array {
  return judged === undefined ? bytes : makeDescriptor(settled(readOrRefuse(bytes)));
}

const ofDacl = 0x8 | control.daclPresent | control.daclAutoInherited | control.daclProtected;
const ofSacl = 0x20 | control.saclPresent | control.saclAutoInherited | control.saclProtected;

/** Who sets a DACL and gives none sets one that allows everything. That its entries were inherited is believed only of
 *  who has asked for that. */
function settled(descriptor: Descriptor): Descriptor {
  const { control: bits, dacl } = descriptor;
  const asked = control.daclAutoInherited | control.daclAutoInheritRequired;
  const lost = (bits & asked) === asked ? control.daclAutoInheritRequired : asked;
  return { ...descriptor, control: (bits & ~lost) | control.daclPresent, dacl: dacl?.map(withFileRights) };
}

/** Of an entry that is only handed on, what it means is known where it arrives. */
function withFileRights(entry: Ace): Ace {
  return entry.flags & aceFlag.inheritOnly ? entry : { ...entry, mask: mapGeneric(entry.mask) };
}

/** Marked as inherited if the directory's are. Where nothing is handed down the creator may do everything. */
function inheritFrom(parent: Descriptor, { user }: Identity, directory: boolean): Descriptor {
  const inherited = inheritDescriptor(parent, directory);
  const marked = (parent.control & control.daclAutoInherited) !== 0;
  const dacl = marked ? inherited.dacl : inherited.dacl?.map(unmarked);
  if (dacl === undefined || dacl.length === 0) {
    return { ...inherited, control: control.daclPresent, dacl: [everythingTo(user)] };
  }
  return { ...inherited, control: control.daclPresent | (marked ? control.daclAutoInherited : 0), dacl };
}

function unmarked(entry: Ace): Ace {
  return { ...entry, flags: entry.flags & ~aceFlag.inherited };
}

function everythingTo(sid: Buffer): Ace {
  const none = Buffer.alloc(0);
  return { type: 0, flags: 0, mask: allAccess, object: none, sid, rest: none };
}

/** One that cannot be read allows nothing. */
const locked: Descriptor = { control: 0, owner: undefined, group: undefined, dacl: [], sacl: undefined };
/** What has none allows everything. */
const open: Descriptor = { ...locked, dacl: undefined };

function securityOf({ security }: FileNode): Descriptor {
  if (security === undefined) return open;
  const read = readDescriptor(buffer(security));
  return read.ok ? read.value : locked;
}

function readOrRefuse(bytes: Uint8Array): Descriptor {
  const read = readDescriptor(buffer(bytes));
  if (!read.ok) throw new FileRefused('InvalidParameter');
  return read.value;
}
