import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeDescriptor, readDescriptor } from './descriptor.js';
import { formatSddl, parseSddl } from './sddl.js';

const texts = [
  'O:SYG:SYD:',
  'O:SYG:BAD:P(A;;FA;;;BA)',
  'O:SYG:SYD:NO_ACCESS_CONTROL',
  'O:S-1-5-21-1004336348-1177238915-682003330-512G:S-1-0x123456789abc-7D:PARAI(A;OICINPIOID;FA;;;WD)',
  'O:SYG:SYD:(A;;GXGR;;;BU)(D;;GA;;;AN)(A;;0x1301bf;;;AU)(A;;SD;;;CO)(A;;;;;CG)',
  'O:SYG:SYD:(OA;;FA;bf967aba-0de6-11d0-a285-00aa003049e2;;PS)(OD;CI;FR;;bf967aba-0de6-11d0-a285-00aa003049e2;OW)',
  'O:SYG:SYD:(A;;FA;;;SY)S:AI(AU;SAFA;FW;;;WD)(ML;;CC;;;HI)',
];

for (const text of texts) {
  test(`${text} becomes bytes and the same text again`, () => {
    const parsed = parseSddl(text);
    assert.ok(parsed.ok);
    const bytes = makeDescriptor(parsed.value);
    const read = readDescriptor(bytes);
    assert.ok(read.ok);
    assert.ok(makeDescriptor(read.value).equals(bytes));
    assert.deepEqual(formatSddl(read.value), { ok: true, value: text });
  });
}

test('rights in words, hex, octal and decimal are the same', () => {
  const mask = (rights: string) => {
    const parsed = parseSddl(`O:SYG:SYD:(A;;${rights};;;SY)`);
    return parsed.ok ? parsed.value.dacl?.[0]?.mask : undefined;
  };
  assert.equal(mask('FR'), 0x120089);
  for (const same of ['0x120089', '1179785', '04400211']) {
    assert.equal(mask(same), 0x120089);
  }
  assert.equal(mask('GA'), 0x10000000);
  assert.equal(mask('0x100000000'), undefined);
});

test('bytes that are no descriptor are refused, whatever they are', () => {
  const parsed = parseSddl('O:SYG:SYD:(A;;FA;;;BA)(D;;FW;;;WD)');
  assert.ok(parsed.ok);
  const bytes = makeDescriptor(parsed.value);
  for (let length = 0; length < bytes.length; length++) {
    assert.equal(readDescriptor(bytes.subarray(0, length)).ok, false, `${length} bytes`);
  }
  for (let at = 0; at < bytes.length; at++) {
    for (const value of [0, 1, 0x7f, 0xff]) {
      const damaged = Buffer.from(bytes);
      damaged[at] = value;
      const read = readDescriptor(damaged);
      if (read.ok) formatSddl(read.value);
    }
  }
});

test('an entry that text has no form for', () => {
  const parsed = parseSddl('O:SYG:SYD:(A;;FA;;;BA)');
  assert.ok(parsed.ok);
  const [ace] = parsed.value.dacl ?? [];
  assert.ok(ace);
  const custom = { ...parsed.value, dacl: [{ ...ace, type: 9, rest: Buffer.from('artx') }] };
  assert.deepEqual(formatSddl(custom), { ok: false, code: 'CannotConvertToSddlDueToCustomAce' });
});
