// Security descriptors as text: `O:SYG:SYD:(A;OICI;FA;;;BA)`. Read strictly: what is not understood is refused, never
// dropped. Names of sids that need a domain (DA, DU ...) are refused, as there is no domain here.

import { ok, type Result, refuse } from '../../base/result.js';
import { type Ace, type Acl, control, type Descriptor } from './descriptor.js';

// biome-ignore format: a table
const sids: Readonly<Record<string, string>> = {
  WD: 'S-1-1-0', CO: 'S-1-3-0', CG: 'S-1-3-1', OW: 'S-1-3-4', NU: 'S-1-5-2', IU: 'S-1-5-4', SU: 'S-1-5-6',
  AN: 'S-1-5-7', PS: 'S-1-5-10', AU: 'S-1-5-11', RC: 'S-1-5-12', SY: 'S-1-5-18', LS: 'S-1-5-19',
  NS: 'S-1-5-20', WR: 'S-1-5-33', BA: 'S-1-5-32-544', BU: 'S-1-5-32-545', BG: 'S-1-5-32-546',
  PU: 'S-1-5-32-547', AO: 'S-1-5-32-548', SO: 'S-1-5-32-549', PO: 'S-1-5-32-550', BO: 'S-1-5-32-551',
  RE: 'S-1-5-32-552', RU: 'S-1-5-32-554', RD: 'S-1-5-32-555', NO: 'S-1-5-32-556', MU: 'S-1-5-32-558',
  LU: 'S-1-5-32-559', IS: 'S-1-5-32-568', CY: 'S-1-5-32-569', ER: 'S-1-5-32-573', RA: 'S-1-5-32-575',
  ES: 'S-1-5-32-576', MS: 'S-1-5-32-577', HA: 'S-1-5-32-578', AA: 'S-1-5-32-579', RM: 'S-1-5-32-580',
  AC: 'S-1-15-2-1', LW: 'S-1-16-4096', ME: 'S-1-16-8192', MP: 'S-1-16-8448', HI: 'S-1-16-12288',
  SI: 'S-1-16-16384',
};

// biome-ignore format: a table
const types: Readonly<Record<string, number>> = {
  A: 0, D: 1, AU: 2, AL: 3, OA: 5, OD: 6, OU: 7, OL: 8, ML: 0x11, SP: 0x13,
};

// biome-ignore format: a table
const flags: Readonly<Record<string, number>> = {
  OI: 0x1, CI: 0x2, NP: 0x4, IO: 0x8, ID: 0x10, SA: 0x40, FA: 0x80,
};

// biome-ignore format: a table
const rights: Readonly<Record<string, number>> = {
  GA: 0x10000000, GX: 0x20000000, GW: 0x40000000, GR: 0x80000000,
  FA: 0x1f01ff, FR: 0x120089, FW: 0x120116, FX: 0x1200a0, KA: 0xf003f, KR: 0x20019, KW: 0x20006, KX: 0x20019,
  SD: 0x10000, RC: 0x20000, WD: 0x40000, WO: 0x80000,
  CC: 0x1, DC: 0x2, LC: 0x4, SW: 0x8, RP: 0x10, WP: 0x20, DT: 0x40, LO: 0x80, CR: 0x100,
  NW: 0x1, NR: 0x2, NX: 0x4,
};

// biome-ignore format: a table
const aclFlags = {
  D: { P: control.daclProtected, AR: control.daclAutoInheritRequired, AI: control.daclAutoInherited },
  S: { P: control.saclProtected, AR: control.saclAutoInheritRequired, AI: control.saclAutoInherited },
} as const;

type Parsed<T> = Result<T, 'FileInvalidPermission'>;
const bad = refuse('FileInvalidPermission');
const form =
  /^O:(?<owner>[A-Z]{2}|S-[-0-9A-Fa-fXx]+)G:(?<group>[A-Z]{2}|S-[-0-9A-Fa-fXx]+)D:(?<dacl>[A-Z_]*(?:\([^()]*\))*)(?:S:(?<sacl>[A-Z_]*(?:\([^()]*\))*))?$/;
const longestText = 64 * 1024;

/** Owner, group and rights must all be there. */
export function parseSddl(text: string): Parsed<Descriptor> {
  if (text.length > longestText) return bad;
  const parts = form.exec(text.replace(/[\r\n\t ]/g, ''))?.groups;
  if (parts === undefined) return bad;
  const owner = parseSid(parts['owner'] ?? '');
  const group = parseSid(parts['group'] ?? '');
  const dacl = parseAcl(parts['dacl'] ?? '', 'D');
  const sacl = parts['sacl'] === undefined ? undefined : parseAcl(parts['sacl'], 'S');
  if (owner === undefined || group === undefined || !dacl.ok || (sacl && !sacl.ok)) return bad;
  return ok({
    control: control.daclPresent | dacl.value.bits | (sacl?.ok ? control.saclPresent | sacl.value.bits : 0),
    owner,
    group,
    dacl: dacl.value.acl,
    sacl: sacl?.ok ? sacl.value.acl : undefined,
  });
}

function parseAcl(text: string, kind: 'D' | 'S'): Parsed<{ bits: number; acl: Acl }> {
  const at = text.indexOf('(');
  const head = at < 0 ? text : text.slice(0, at);
  if (head === 'NO_ACCESS_CONTROL' && at < 0) return ok({ bits: 0, acl: undefined });
  const marks = /^(P|AR|AI)*$/.test(head) ? (head.match(/P|AR|AI/g) ?? []) : undefined;
  if (marks === undefined) return bad;
  const bits = marks.reduce((sum, mark) => sum | aclFlags[kind][mark as 'P' | 'AR' | 'AI'], 0);
  const aces: Ace[] = [];
  for (const inside of text
    .slice(head.length)
    .split(/[()]+/)
    .filter((part) => part !== '')) {
    const ace = parseAce(inside);
    if (ace === undefined) return bad;
    aces.push(ace);
  }
  return ok({ bits, acl: aces });
}

const none = Buffer.alloc(0);

function parseAce(text: string): Ace | undefined {
  const fields = text.split(';');
  if (fields.length !== 6) return undefined;
  const [typeText = '', flagText = '', rightText = '', guid = '', inherited = '', who = ''] = fields;
  const type = wordIn(types, typeText);
  const bits = parseWords(flagText, flags);
  const mask = parseRights(rightText);
  const sid = parseSid(who);
  if (type === undefined || bits === undefined || mask === undefined || sid === undefined) return undefined;
  const isObject = type >= 5 && type <= 8;
  const object = isObject ? parseObject(guid, inherited) : guid + inherited === '' ? none : undefined;
  return object && { type, flags: bits, mask, object, sid, rest: none };
}

/** What a word of a table stands for: its own words, not those that every object knows. */
function wordIn<Value>(table: Readonly<Record<string, Value>>, word: string): Value | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/** Words of two letters, one behind the other. */
function parseWords(text: string, words: Readonly<Record<string, number>>): number | undefined {
  let bits = 0;
  for (let at = 0; at < text.length; at += 2) {
    const word = wordIn(words, text.slice(at, at + 2));
    if (word === undefined) return undefined;
    bits |= word;
  }
  return bits >>> 0;
}

function parseRights(text: string): number | undefined {
  if (!/^\d/.test(text)) return parseWords(text, rights);
  if (!/^(\d{1,12}|0x[0-9a-f]{1,8})$/i.test(text)) return undefined;
  const value = /^0[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number(text);
  return value <= 0xffffffff ? value : undefined;
}

function parseSid(text: string): Buffer | undefined {
  const full = wordIn(sids, text) ?? text;
  const parts = /^S-1-(\d{1,10}|0x[0-9a-f]{1,12})((?:-\d{1,10}){1,15})$/i.exec(full);
  if (parts === null) return undefined;
  const authority = Number(parts[1]);
  const subs = (parts[2] ?? '').slice(1).split('-').map(Number);
  if (subs.some((sub) => sub > 0xffffffff)) return undefined;
  const sid = Buffer.alloc(8 + 4 * subs.length);
  sid.writeUInt8(1, 0);
  sid.writeUInt8(subs.length, 1);
  sid.writeUIntBE(authority, 2, 6);
  for (const [index, sub] of subs.entries()) sid.writeUInt32LE(sub, 8 + 4 * index);
  return sid;
}

function parseObject(guid: string, inherited: string): Buffer | undefined {
  const [first, second] = [parseGuid(guid), parseGuid(inherited)];
  if (first === undefined || second === undefined) return undefined;
  const which = Buffer.alloc(4);
  which.writeUInt32LE((first.length > 0 ? 1 : 0) | (second.length > 0 ? 2 : 0), 0);
  return Buffer.concat([which, first, second]);
}

function parseGuid(text: string): Buffer | undefined {
  if (text === '') return none;
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return undefined;
  return swapGuid(Buffer.from(text.replaceAll('-', ''), 'hex'));
}

/** The first three numbers of a guid are little-endian. */
function swapGuid(guid: Buffer): Buffer {
  const order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
  return Buffer.from(order.map((at) => guid[at] ?? 0));
}

/** `CannotConvertToSddlDueToCustomAce` for an entry that text has no form for. */
export function formatSddl(descriptor: Descriptor): Result<string, 'CannotConvertToSddlDueToCustomAce'> {
  const { owner, group, dacl, sacl } = descriptor;
  const aces = [...(dacl ?? []), ...(sacl ?? [])];
  if (aces.some((ace) => nameOf(types, ace.type) === undefined || ace.rest.length > 0)) {
    return refuse('CannotConvertToSddlDueToCustomAce');
  }
  let text = '';
  if (owner) text += `O:${formatSid(owner)}`;
  if (group) text += `G:${formatSid(group)}`;
  if (descriptor.control & control.daclPresent) text += `D:${formatAcl(dacl, 'D', descriptor.control)}`;
  if (descriptor.control & control.saclPresent) text += `S:${formatAcl(sacl, 'S', descriptor.control)}`;
  return ok(text);
}

function formatAcl(acl: Acl, kind: 'D' | 'S', bits: number): string {
  const marks = Object.entries(aclFlags[kind]).map(([mark, bit]) => (bits & bit ? mark : ''));
  return marks.join('') + (acl === undefined ? 'NO_ACCESS_CONTROL' : acl.map(formatAce).join(''));
}

function formatAce({ type, flags: bits, mask, object, sid }: Ace): string {
  const words = Object.entries(flags).map(([word, bit]) => (bits & bit ? word : ''));
  const fields = [nameOf(types, type), words.join(''), formatRights(mask), ...formatObject(object)];
  return `(${[...fields, formatSid(sid)].join(';')})`;
}

function formatRights(mask: number): string {
  const name = nameOf(rights, mask >>> 0);
  if (name !== undefined) return name;
  const generic = Object.entries(rights).slice(0, 4);
  if (mask !== 0 && (mask & 0x0fffffff) === 0) {
    return generic.map(([word, bit]) => (mask & bit ? word : '')).join('');
  }
  return mask === 0 ? '' : `0x${(mask >>> 0).toString(16)}`;
}

function formatObject(object: Buffer): [string, string] {
  if (object.length === 0) return ['', ''];
  const which = object.readUInt32LE(0);
  const first = which & 1 ? formatGuid(object.subarray(4, 20)) : '';
  const at = which & 1 ? 20 : 4;
  return [first, which & 2 ? formatGuid(object.subarray(at, at + 16)) : ''];
}

function formatGuid(guid: Buffer): string {
  return swapGuid(guid)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function formatSid(sid: Buffer): string {
  const authority = sid.readUIntBE(2, 6);
  const shown = authority >= 2 ** 32 ? `0x${authority.toString(16).padStart(12, '0')}` : authority;
  let text = `S-1-${shown}`;
  for (let at = 8; at < sid.length; at += 4) text += `-${sid.readUInt32LE(at)}`;
  return nameOf(sids, text) ?? text;
}

function nameOf<Value>(table: Readonly<Record<string, Value>>, value: Value): string | undefined {
  return Object.keys(table).find((name) => table[name] === value);
}
