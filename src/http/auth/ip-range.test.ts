import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inRange, parseIpRange } from './ip-range.js';

const cases: [range: string, address: string, within: boolean][] = [
  ['168.1.5.65', '168.1.5.65', true],
  ['168.1.5.65', '168.1.5.66', false],
  ['168.1.5.65', '::ffff:168.1.5.65', true],
  ['168.1.5.65', '::FFFF:a801:541', true],
  ['::ffff:168.1.5.65', '168.1.5.65', true],
  ['168.1.5.60-168.1.5.70', '168.1.5.60', true],
  ['168.1.5.60-168.1.5.70', '168.1.5.70', true],
  ['168.1.5.60-168.1.5.70', '168.1.5.71', false],
  ['168.1.5.60-168.1.5.70', '168.1.5.59', false],
  ['9.0.0.0-10.0.0.0', '9.255.0.1', true],
  ['::1', '::1', true],
  ['::1', '0:0:0:0:0:0:0:1', true],
  ['::1', '127.0.0.1', false],
  ['2001:db8::-2001:db8::ffff', '2001:DB8:0:0::10', true],
  ['2001:db8::-2001:db8::ffff', '2001:db8::1:0', false],
  ['fe80::1', 'fe80::1%eth0', true],
  ['0.0.0.0-255.255.255.255', '::1', false],
  ['0.0.0.0-255.255.255.255', '203.0.113.9', true],
  ['168.1.5.65', '', false],
  ['168.1.5.65', 'nonsense', false],
];

for (const [text, address, within] of cases) {
  test(`${address || 'no address'} is ${within ? 'in' : 'outside'} ${text}`, () => {
    const range = parseIpRange(text);
    assert.ok(range);
    assert.equal(inRange(range, address), within);
  });
}

for (const text of [
  '',
  '-',
  '1.2.3',
  '1.2.3.4-',
  '1.2.3.4-1.2.3.3',
  '1.2.3.4-1.2.3.5-1.2.3.6',
  'host',
  '1.2.3.400',
]) {
  test(`'${text}' is no range`, () => assert.equal(parseIpRange(text), undefined));
}
