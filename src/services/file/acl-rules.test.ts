import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { access, allAccess } from './access.js';
import { allowedAccess, grantAccess, type Identity, keyHolder } from './acl-rules.js';
import {
  type Ace,
  type Acl,
  type Descriptor,
  makeDescriptor,
  mapGeneric,
  readDescriptor,
  sidOf,
} from './descriptor.js';
import { parseSddl } from './sddl.js';

function descriptor(text: string): Descriptor {
  const parsed = parseSddl(text);
  assert.ok(parsed.ok, text);
  return parsed.value;
}

const { readData: r, writeData: w, execute: x } = access;
const { delete: del, deleteChild: child, readAttributes: attrs } = access;
const owners = access.readControl | access.writeDac;
const guid = 'bf967aba-0de6-11d0-a285-00aa003049e2';

// The user is SY, and with it WD and AU; BA, BU and the rest are others.
// biome-ignore format: a table
const cells: readonly (readonly [what: string, owner: string, dacl: string, allowed: number])[] = [
  ['no DACL',                                     'BA', 'NO_ACCESS_CONTROL',                   allAccess],
  ['an empty one',                                'BA', '',                                    0],
  ['an empty one of the owner',                   'SY', '',                                    owners],
  ['allowed to the user',                         'BA', '(A;;0x1;;;SY)',                       r],
  ['allowed to everyone',                         'BA', '(A;;0x1;;;WD)',                       r],
  ['allowed to who has logged on',                'BA', '(A;;0x1;;;AU)',                       r],
  ['allowed to others',                           'BA', '(A;;0x1;;;BA)(A;;FA;;;BU)',           0],
  ['allowed in several entries',                  'BA', '(A;;0x1;;;SY)(A;;0x2;;;WD)',          r | w],
  ['denied, then allowed',                        'BA', '(D;;0x2;;;SY)(A;;0x3;;;SY)',          r],
  ['allowed, then denied',                        'BA', '(A;;0x3;;;SY)(D;;0x2;;;SY)',          r | w],
  ['denied to everyone, allowed to the user',     'BA', '(D;;0x2;;;WD)(A;;0x3;;;SY)',          r],
  ['denied to others, allowed to the user',       'BA', '(D;;0x2;;;BU)(A;;0x3;;;SY)',          r | w],
  ['denied alone',                                'BA', '(D;;0x2;;;SY)',                       0],
  ['allowed, denied, allowed again',              'BA', '(A;;0x1;;;SY)(D;;0x3;;;WD)(A;;0x23;;;AU)', r | x],
  ['inherit-only, allows',                        'BA', '(A;OICIIO;FA;;;SY)',                  0],
  ['inherit-only, denies',                        'BA', '(D;OIIO;FA;;;SY)(A;;0x1;;;SY)',       r],
  ['inheritable and here',                        'BA', '(A;OICI;0x1;;;SY)',                   r],
  ['generic read',                                'BA', '(A;;GR;;;SY)',                        0x120089],
  ['generic write',                               'BA', '(A;;GW;;;SY)',                        0x120116],
  ['generic execute',                             'BA', '(A;;GX;;;SY)',                        0x1200a0],
  ['generic all',                                 'BA', '(A;;GA;;;SY)',                        allAccess],
  ['generic write denied, all allowed',           'BA', '(D;;GW;;;SY)(A;;GA;;;SY)',            allAccess & ~0x120116],
  ['rights of no file',                           'BA', '(A;;0xffe00000;;;BU)(A;;0xe0fe01;;;SY)', r],
  ['the owner is denied all',                     'SY', '(D;;FA;;;SY)',                        owners],
  ['the owner is one of the groups',              'AU', '(A;;0x1;;;SY)',                       r | owners],
  ['OWNER RIGHTS allow the owner',                'SY', '(A;;0x1;;;OW)',                       r],
  ['OWNER RIGHTS beside what the owner has',      'SY', '(A;;0x1;;;SY)(A;;0x2;;;OW)',          r | w],
  ['OWNER RIGHTS deny the owner',                 'SY', '(D;;0x1;;;OW)(A;;0x3;;;SY)',          w],
  ['OWNER RIGHTS of nothing take away',           'SY', '(A;;0x0;;;OW)',                       0],
  ['OWNER RIGHTS of another owner',               'BA', '(A;;0x1;;;OW)(A;;0x2;;;SY)',          w],
  ['OWNER RIGHTS that are inherit-only',          'SY', '(A;CIIO;0x1;;;OW)',                   owners],
  ['CREATOR OWNER is nobody here',                'SY', '(A;;FA;;;CO)',                        owners],
  ['allow of objects, of none',                   'BA', '(OA;;0x1;;;SY)',                      r],
  ['allow of objects, of one kind',               'BA', `(OA;;0x1;${guid};;SY)`,               0],
  ['allow of objects, inherited by one kind',     'BA', `(OA;;0x1;;${guid};SY)`,               r],
  ['deny of objects, of none',                    'BA', '(OD;;0x1;;;SY)(A;;0x3;;;SY)',         w],
  ['deny of objects, of one kind',                'BA', `(OD;;0x1;${guid};;SY)(A;;0x3;;;SY)`,  w],
  ['audits and alarms',                           'BA', '(AU;;FA;;;SY)(AL;;FA;;;SY)',          0],
  ['a label of integrity',                        'BA', '(ML;;FA;;;SY)',                       0],
];
for (const [what, owner, dacl, allowed] of cells) {
  test(`${what}: O:${owner} ${dacl} allows 0x${allowed.toString(16)}`, () => {
    const file = descriptor(`O:${owner}G:SYD:${dacl}`);
    assert.equal(allowedAccess(keyHolder, file, undefined), allowed);
  });
}

test('whom nobody owns allows by its entries', () => {
  const file = { ...descriptor('O:SYG:SYD:(A;;0x1;;;SY)'), owner: undefined };
  assert.equal(allowedAccess(keyHolder, file, undefined), r);
});

// biome-ignore format: a table
const conditional: readonly (readonly [type: number, allowed: number])[] = [
  // type: with an allow of reading and writing behind it
  [4, r | w], [9, r | w], [10, w], [11, r | w], [12, w], [13, r | w], [15, r | w], [16, r | w], [99, r | w],
];
for (const [type, allowed] of conditional) {
  test(`an entry of type ${type} about reading, then an allow: 0x${allowed.toString(16)}`, () => {
    const object = [11, 12, 15, 16].includes(type) ? Buffer.alloc(4) : Buffer.alloc(0);
    const entry: Ace = {
      ...{ type, flags: 0, mask: r, object, sid: keyHolder.user },
      rest: Buffer.from('artx'),
    };
    const { dacl = [], ...rest } = descriptor('O:BAG:SYD:(A;;0x3;;;SY)');
    const stored = readDescriptor(makeDescriptor({ ...rest, dacl: [entry, ...dacl] }));
    assert.ok(stored.ok);
    assert.equal(allowedAccess(keyHolder, stored.value, undefined), allowed);
    const alone = readDescriptor(makeDescriptor({ ...rest, dacl: [entry] }));
    assert.ok(alone.ok);
    assert.equal(allowedAccess(keyHolder, alone.value, undefined), 0);
  });
}

// biome-ignore format: a table
const parents: readonly (readonly [what: string, file: string, parent: string, allowed: number])[] = [
  ['DELETE_CHILD deletes',                     '(A;;0x1;;;SY)',       '(A;;0x40;;;SY)',              r | del],
  ['even what denies it',                      '(D;;SD;;;SY)',        '(A;;0x40;;;SY)',              del],
  ['denied DELETE_CHILD does not',             '(A;;0x1;;;SY)',       '(D;;0x40;;;SY)(A;;0x40;;;SY)', r],
  ['nor DELETE of the directory',              '(A;;0x1;;;SY)',       '(A;;SD;;;SY)',                r],
  ['DELETE_CHILD is not handed on',            '(A;;0x40;;;SY)',      '(A;;0x0;;;SY)',               child],
  ['listing shows attributes',                 '(A;;0x2;;;SY)',       '(A;;0x1;;;SY)',               w | attrs],
  ['other rights are of the directory alone',  '(A;;0x1;;;SY)',       '(A;;0x1f01be;;;SY)',          r],
  ['a directory without DACL',                 '',                    'NO_ACCESS_CONTROL',           del | attrs],
  ['inherit-only there',                       '',                    '(A;OICIIO;FA;;;SY)',          0],
];
for (const [what, file, parent, allowed] of parents) {
  test(`${what}: ${file} in ${parent} allows 0x${allowed.toString(16)}`, () => {
    const of = (dacl: string) => descriptor(`O:BAG:SYD:${dacl}`);
    assert.equal(allowedAccess(keyHolder, of(file), of(parent)), allowed);
  });
}

// biome-ignore format: a table
const grants: readonly (readonly [asked: number, maximum: boolean, allowed: number, granted: number | undefined])[] = [
  [r,     false, r | w, r],
  [r | w, false, r | w, r | w],
  [r | x, false, r | w, undefined],
  [r,     false, 0,     undefined],
  [0,     true,  r | w, r | w],
  [r,     true,  r | w, r | w],
  [x,     true,  r | w, undefined],
  [0,     true,  0,     undefined],
];
for (const [asked, maximum, allowed, granted] of grants) {
  const most = maximum ? ' and all there is' : '';
  test(`0x${asked.toString(16)}${most} of 0x${allowed.toString(16)}: ${granted ?? 'refused'}`, () => {
    const outcome = grantAccess({ access: asked, maximum }, allowed);
    const refused = { ok: false, code: 'AccessDenied' };
    assert.deepEqual(outcome, granted === undefined ? refused : { ok: true, value: granted });
  });
}

/** One right at a time: the first entry that is about the user and names it decides. */
function naively(who: Identity, owner: Buffer, dacl: Acl): number {
  if (dacl === undefined) return allAccess;
  const mine = [who.user, ...who.groups].map((sid) => sid.toString('hex'));
  const owns = mine.includes(owner.toString('hex'));
  const forOwner = sidOf(3, 4).toString('hex');
  const here = dacl.filter((ace) => (ace.flags & 8) === 0);
  const special = here.some((ace) => ace.sid.toString('hex') === forOwner);
  let allowed = 0;
  for (let bit = 1; bit <= allAccess; bit *= 2) {
    if (!(bit & allAccess)) continue;
    if (owns && !special && (bit === access.readControl || bit === access.writeDac)) {
      allowed |= bit;
      continue;
    }
    const first = here.find((ace) => {
      const sid = ace.sid.toString('hex');
      const about = mine.includes(sid) || (owns && sid === forOwner);
      return about && [0, 1].includes(ace.type) && (mapGeneric(ace.mask) & bit) !== 0;
    });
    if (first?.type === 0) allowed |= bit;
  }
  return allowed;
}

test('the same as asking right by right', () => {
  const seed = 20_260_407;
  const sid = fc.constantFrom(sidOf(5, 18), sidOf(1, 0), sidOf(5, 11), sidOf(5, 7), sidOf(3, 4), sidOf(3, 0));
  const bits = fc.constantFrom(0x1, 0x2, 0x40, 0x80, 0x10000, 0x20000, 0x40000, 0x80000000, 0x10000000);
  const mask = fc.array(bits, { maxLength: 4 }).map((all) => all.reduce((sum, bit) => (sum | bit) >>> 0, 0));
  const entry = fc.record({
    type: fc.constantFrom(0, 0, 1, 1, 2, 9),
    flags: fc.constantFrom(0, 0, 0, 3, 8, 0x10),
    ...{ mask, sid, object: fc.constant(Buffer.alloc(0)), rest: fc.constant(Buffer.alloc(0)) },
  });
  const dacl = fc.option(fc.array(entry, { maxLength: 6 }), { nil: undefined });
  fc.assert(
    fc.property(sid, dacl, (owner, aces) => {
      const file: Descriptor = { control: 4, owner, group: undefined, dacl: aces, sacl: undefined };
      assert.equal(allowedAccess(keyHolder, file, undefined), naively(keyHolder, owner, aces));
    }),
    { seed, numRuns: 2000 },
  );
});
