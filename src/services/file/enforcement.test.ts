import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyHolder } from './acl-rules.js';
import { control, type Descriptor, makeDescriptor, readDescriptor } from './descriptor.js';
import { allowedOn, newSecurity, settledSecurity } from './enforcement.js';
import type { FileNode } from './file-system.js';
import { FileRefused } from './refusals.js';
import { formatSddl, parseSddl } from './sddl.js';

function parsed(text: string): Descriptor {
  const outcome = parseSddl(text);
  assert.ok(outcome.ok, text);
  return outcome.value;
}

const bytes = (text: string) => makeDescriptor(parsed(text));

function told(security: Uint8Array | undefined): string {
  const read = readDescriptor(Buffer.from(security ?? []));
  assert.ok(read.ok);
  const text = formatSddl(read.value);
  assert.ok(text.ok);
  return text.value;
}

const node = (security: Uint8Array | undefined, id = 1n): FileNode => ({
  ...{ id, parent: 0n, name: 'x', directory: true, attributes: 0x10, length: 0, leased: false },
  ...{ created: 0n, accessed: 0n, written: 0n, changed: 0n, security },
});

const given = 'O:BAG:BUD:(A;;FR;;;WD)';
// biome-ignore format: a table
const news: readonly (readonly [parent: string, given: string | undefined, file: string, directory: string])[] = [
  // of the directory it is in            given               a new file                    a new directory
  ['(A;OICI;FA;;;SY)',                    undefined,          '(A;;FA;;;SY)',               '(A;OICI;FA;;;SY)'],
  ['AI(A;OICI;FA;;;SY)',                  undefined,          'AI(A;ID;FA;;;SY)',           'AI(A;OICIID;FA;;;SY)'],
  ['(A;OI;FR;;;WD)',                      undefined,          '(A;;FR;;;WD)',               '(A;OIIO;FR;;;WD)'],
  ['(A;CI;FR;;;WD)',                      undefined,          '(A;;FA;;;SY)',               '(A;CI;FR;;;WD)'],
  ['(A;OICINP;FR;;;WD)',                  undefined,          '(A;;FR;;;WD)',               '(A;;FR;;;WD)'],
  ['(A;OICI;GR;;;CO)',                    undefined,          '(A;;FR;;;SY)',               '(A;;FR;;;SY)(A;OICIIO;GR;;;CO)'],
  ['(D;OICI;FW;;;AN)(A;;FA;;;WD)',        undefined,          '(D;;FW;;;AN)',               '(D;OICI;FW;;;AN)'],
  ['(A;;FA;;;WD)',                        undefined,          '(A;;FA;;;SY)',               '(A;;FA;;;SY)'],
  ['',                                    undefined,          '(A;;FA;;;SY)',               '(A;;FA;;;SY)'],
  ['NO_ACCESS_CONTROL',                   undefined,          '(A;;FA;;;SY)',               '(A;;FA;;;SY)'],
  ['(A;OICI;FA;;;SY)',                    '(A;;FR;;;WD)',     '(A;;FR;;;WD)',               '(A;;FR;;;WD)'],
  ['(A;OICI;FA;;;SY)',                    '(A;;GRGW;;;WD)',   '(A;;0x12019f;;;WD)',         '(A;;0x12019f;;;WD)'],
  ['(A;OICI;FA;;;SY)',                    '(A;CIIO;GR;;;WD)', '(A;CIIO;GR;;;WD)',           '(A;CIIO;GR;;;WD)'],
  ['(A;OICI;FA;;;SY)',                    '',                 '',                           ''],
  ['(A;OICI;FA;;;SY)',                    'NO_ACCESS_CONTROL', 'NO_ACCESS_CONTROL',         'NO_ACCESS_CONTROL'],
  ['(A;OICI;FA;;;SY)',                    'P(A;;FR;;;WD)',    'P(A;;FR;;;WD)',              'P(A;;FR;;;WD)'],
  ['AI(A;OICI;FA;;;SY)',                  'AI(A;;FR;;;WD)',   '(A;;FR;;;WD)',               '(A;;FR;;;WD)'],
  ['AI(A;OICI;FA;;;SY)',                  'ARAI(A;;FR;;;WD)', 'AI(A;;FR;;;WD)',             'AI(A;;FR;;;WD)'],
];
for (const [parent, dacl, file, directory] of news) {
  test(`in ${parent}, ${dacl === undefined ? 'nothing' : `'${dacl}'`} given: ${file}, ${directory}`, () => {
    const within = node(bytes(`O:BAG:BAD:${parent}`));
    const asked = dacl === undefined ? undefined : bytes(`O:SYG:SYD:${dacl}`);
    assert.equal(told(newSecurity(keyHolder, within, asked, false)), `O:SYG:SYD:${file}`);
    assert.equal(told(newSecurity(keyHolder, within, asked, true)), `O:SYG:SYD:${directory}`);
  });
}

test('what a given descriptor leaves out comes from the creator and from the directory', () => {
  const within = node(bytes('O:BAG:BAD:(A;OI;FR;;;WD)'));
  const only = (parts: Partial<Descriptor>) =>
    makeDescriptor({
      control: 0,
      owner: undefined,
      group: undefined,
      dacl: undefined,
      sacl: undefined,
      ...parts,
    });
  const { owner, dacl } = parsed(given);
  const made = (parts: Partial<Descriptor>) => told(newSecurity(keyHolder, within, only(parts), false));
  assert.equal(made({}), 'O:SYG:SYD:(A;;FR;;;WD)');
  assert.equal(made({ owner }), 'O:BAG:SYD:(A;;FR;;;WD)');
  assert.equal(made({ control: control.daclPresent, dacl: [] }), 'O:SYG:SYD:');
  assert.equal(made({ control: control.daclPresent, dacl }), 'O:SYG:SYD:(A;;FR;;;WD)');
});

test('what is given about auditing is kept', () => {
  const text = 'O:SYG:SYD:(A;;FR;;;WD)S:P(AU;SAFA;FW;;;WD)';
  const within = node(bytes('O:BAG:BAD:(A;OI;FR;;;WD)'));
  assert.equal(told(newSecurity(keyHolder, within, bytes(text), false)), text);
});

test('where nobody is judged descriptors are kept as they are given', () => {
  const generic = bytes('O:SYG:SYD:ARAI(A;;GR;;;WD)');
  const within = node(bytes('O:BAG:BAD:'));
  assert.equal(newSecurity(undefined, within, generic, false), generic);
  assert.equal(newSecurity(undefined, within, undefined, false), undefined);
  assert.equal(settledSecurity(undefined, generic), generic);
});

// biome-ignore format: a table
const settles: readonly (readonly [given: string, stored: string])[] = [
  ['(A;;GR;;;WD)',              '(A;;FR;;;WD)'],
  ['(A;;GA;;;WD)(D;;GX;;;WD)',  '(A;;FA;;;WD)(D;;FX;;;WD)'],
  ['(A;OICIIO;GA;;;CO)',        '(A;OICIIO;GA;;;CO)'],
  ['(A;ID;FR;;;WD)',            '(A;ID;FR;;;WD)'],
  ['AI(A;;FR;;;WD)',            '(A;;FR;;;WD)'],
  ['AR(A;;FR;;;WD)',            '(A;;FR;;;WD)'],
  ['ARAI(A;;FR;;;WD)',          'AI(A;;FR;;;WD)'],
  ['PARAI(A;;FR;;;WD)',         'PAI(A;;FR;;;WD)'],
  ['',                          ''],
  ['NO_ACCESS_CONTROL',         'NO_ACCESS_CONTROL'],
];
for (const [dacl, stored] of settles) {
  test(`'${dacl}' is stored as '${stored}'`, () => {
    assert.equal(told(settledSecurity(keyHolder, bytes(`O:SYG:SYD:${dacl}`))), `O:SYG:SYD:${stored}`);
  });
}

test('a DACL that is set and not given is one that allows everything', () => {
  const { dacl: _, ...rest } = parsed('O:BAG:SYD:');
  const without = makeDescriptor({ ...rest, control: 0, dacl: undefined });
  const stored = readDescriptor(Buffer.from(settledSecurity(keyHolder, without)));
  assert.ok(stored.ok);
  assert.equal(stored.value.control & control.daclPresent, control.daclPresent);
  assert.equal(stored.value.dacl, undefined);
});

test('what cannot be read is refused when given, and allows nothing when stored', () => {
  const broken = Buffer.alloc(7);
  const within = node(bytes('O:BAG:BAD:'), 0n);
  for (const attempt of [
    () => newSecurity(keyHolder, within, broken, false),
    () => settledSecurity(keyHolder, broken),
  ]) {
    assert.throws(
      attempt,
      (error: unknown) => error instanceof FileRefused && error.code === 'InvalidParameter',
    );
  }
  assert.equal(allowedOn(keyHolder, node(broken), within), 0);
  assert.equal(allowedOn(undefined, node(broken), within), 0x1f01ff);
});

test('the root is in no directory: what it allows within it does not allow itself to be deleted', () => {
  const root = node(bytes('O:BAG:BAD:(A;;0x41;;;SY)'), 0n);
  assert.equal(allowedOn(keyHolder, root, root), 0x41);
});
