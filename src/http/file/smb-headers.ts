// Attributes, times and permissions in the headers of a request. Which words may stand for a value depends on the
// operation:
//
//               attributes            times             permission
//   create      None                  now               inherit
//   set         None, preserve        preserve, now     preserve
//   rename      None, preserve        preserve, now     preserve
//   copy        None, source          source, now       inherit
//
// From 2019-02-02 to before 2021-06-08 creating and setting needs all of them.

import { parseIsoTime } from '../../base/times.js';
import { invalidHeader, missingHeader, orThrow, StorageError } from '../../services/common/errors.js';
import { attribute } from '../../services/file/access.js';
import {
  type Descriptor,
  isTooLong,
  makeDescriptor,
  readDescriptor,
} from '../../services/file/descriptor.js';
import { type Ticks, ticksPerMs } from '../../services/file/file-system.js';
import { parseSddl } from '../../services/file/sddl.js';
import { noWishes, type PermissionWish, type SmbWishes } from '../../services/file/smb-properties.js';
import type { Call } from '../call.js';
import { wordHeader } from '../headers.js';
import { refuseNfs } from './requests.js';

export type SmbUse = 'create' | 'set' | 'rename' | 'copy';

const since = '2019-02-02';
const optionalSince = '2021-06-08';

// biome-ignore format: a table
const attributeNames = [
  ['ReadOnly', attribute.readOnly], ['Hidden', attribute.hidden], ['System', attribute.system],
  ['Directory', attribute.directory], ['Archive', attribute.archive], ['Temporary', attribute.temporary],
  ['Offline', attribute.offline], ['NotContentIndexed', attribute.notContentIndexed],
  ['NoScrubData', attribute.noScrubData],
] as const;

/** `ReadOnly | Archive`. */
export function attributesText(attributes: number): string {
  const names = attributeNames.filter(([, bit]) => attributes & bit).map(([name]) => name);
  return names.length === 0 ? 'None' : names.join(' | ');
}

/** What a copy takes from its source. */
export interface FromSource {
  readonly attributes: boolean;
  readonly created: boolean;
  readonly written: boolean;
  readonly changed: boolean;
}

export interface SmbRequest {
  readonly wishes: SmbWishes;
  readonly fromSource: FromSource;
}

const header = {
  attributes: 'x-ms-file-attributes',
  created: 'x-ms-file-creation-time',
  written: 'x-ms-file-last-write-time',
  changed: 'x-ms-file-change-time',
  permission: 'x-ms-file-permission',
  key: 'x-ms-file-permission-key',
} as const;

export function smbRequest(call: Call, use: SmbUse, directory: boolean): SmbRequest {
  refuseNfs(call);
  if (call.version < since) return { wishes: noWishes, fromSource: nothingFromSource };
  if (call.version < optionalSince && (use === 'create' || use === 'set')) requireAll(call);
  const changed = call.version >= optionalSince ? timeHeader(call, header.changed, use) : undefined;
  const created = timeHeader(call, header.created, use);
  const written = timeHeader(call, header.written, use);
  const attributes = attributesHeader(call, use, directory);
  const known = <T>(value: T | 'source') => (value === 'source' ? undefined : value);
  return {
    wishes: {
      attributes: known(attributes),
      created: known(created),
      written: known(written),
      changed: known(changed),
      permission: permissionHeader(call, use),
      verbatim: wordHeader(call, 'x-ms-file-property-semantics', ['New', 'Restore']) === 'Restore',
    },
    fromSource: {
      attributes: attributes === 'source',
      created: created === 'source',
      written: written === 'source',
      changed: changed === 'source',
    },
  };
}

const nothingFromSource: FromSource = { attributes: false, created: false, written: false, changed: false };

function requireAll(call: Call): void {
  for (const name of [header.attributes, header.created, header.written]) {
    if (call.header(name) === undefined) throw missingHeader(name);
  }
  if (call.header(header.permission) === undefined && call.header(header.key) === undefined) {
    throw missingHeader(header.permission);
  }
}

function attributesHeader(call: Call, use: SmbUse, directory: boolean): number | 'source' | undefined {
  const text = call.header(header.attributes);
  if (text === undefined) return undefined;
  const word = text.trim().toLowerCase();
  if (word === 'none') return attribute.normal;
  if (word === 'preserve' && (use === 'set' || use === 'rename')) return undefined;
  if (word === 'source' && use === 'copy') return 'source';
  const bits = parseAttributes(text);
  if (bits === undefined || (!directory && bits & attribute.directory)) {
    throw invalidHeader(header.attributes, text);
  }
  return bits;
}

/** Of `ReadOnly | Archive`; nothing if it is no such list. */
export function parseAttributes(text: string): number | undefined {
  let bits = 0;
  for (const part of text.split('|')) {
    const wanted = part.trim().toLowerCase();
    const found = attributeNames.find(([name]) => name.toLowerCase() === wanted);
    if (found === undefined) return undefined;
    bits |= found[1];
  }
  return bits;
}

const ticksTo1970 = 116_444_736_000_000_000n;

function timeHeader(call: Call, name: string, use: SmbUse): Ticks | 'now' | 'source' | undefined {
  const text = call.header(name);
  if (text === undefined) return undefined;
  const word = text.trim().toLowerCase();
  if (word === 'now') return 'now';
  if (word === 'preserve' && (use === 'set' || use === 'rename')) return undefined;
  if (word === 'source' && use === 'copy') return 'source';
  const ticks = parseTime(text);
  if (ticks === undefined) throw invalidHeader(name, text);
  return ticks;
}

/** Of `2021-07-05T01:36:57.0788027Z`; nothing if it is none, or before 1601. */
export function parseTime(text: string): Ticks | undefined {
  const time = parseIsoTime(text.trim());
  const ticks = time && BigInt(time.ms) * ticksPerMs + BigInt(time.ticks) + ticksTo1970;
  return ticks !== undefined && ticks >= 0n ? ticks : undefined;
}

const longestSddl = 8 * 1024;

function permissionHeader(call: Call, use: SmbUse): PermissionWish {
  const text = call.header(header.permission);
  const key = call.header(header.key);
  if (text !== undefined && key !== undefined) throw invalidHeader(header.key, key);
  if (key !== undefined) return { kind: 'key', key };
  if (text === undefined) return { kind: 'default' };
  const word = text.trim().toLowerCase();
  if (word === 'inherit' && (use === 'create' || use === 'copy')) return { kind: 'inherit' };
  if (word === 'preserve' && (use === 'set' || use === 'rename')) return { kind: 'default' };
  if (text.length > longestSddl) throw invalidHeader(header.permission, text.slice(0, 100));
  return { kind: 'descriptor', descriptor: readPermission(text, permissionFormat(call)) };
}

export type PermissionFormat = 'Sddl' | 'Binary';

export function permissionFormat(call: Call): PermissionFormat {
  return wordHeader(call, 'x-ms-file-permission-format', ['Sddl', 'Binary']) ?? 'Sddl';
}

/** The descriptor as it is stored; 400 `FileInvalidPermission` if it is none. */
export function readPermission(text: string, format: PermissionFormat): Buffer {
  if (format === 'Sddl') return storedForm(orThrow(parseSddl(text)));
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text.trim()) throw new StorageError('FileInvalidPermission');
  const descriptor = orThrow(readDescriptor(bytes));
  if (!descriptor.owner || !descriptor.group) throw new StorageError('FileInvalidPermission');
  return storedForm(descriptor);
}

function storedForm(descriptor: Descriptor): Buffer {
  if (isTooLong(descriptor)) throw new StorageError('RequestBodyTooLarge');
  return makeDescriptor(descriptor);
}
