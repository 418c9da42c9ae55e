import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../../base/cells.suite.js';
import {
  formatDateTime,
  parseBase64,
  parseDateTime,
  parseDouble,
  parseGuid,
  parseHex,
  parseInt32,
  parseInt64,
  stampDateTime,
} from './edm.js';

const dateTimes = `
  text                               is                             told as
  2008-07-10T00:00:00Z               2008-07-10T00:00:00.0000000Z   2008-07-10T00:00:00Z
  2008-07-10T00:00:00                2008-07-10T00:00:00.0000000Z   2008-07-10T00:00:00Z
  2008-07-10T00:00Z                  2008-07-10T00:00:00.0000000Z   2008-07-10T00:00:00Z
  2008-02-29T23:59:59Z               2008-02-29T23:59:59.0000000Z   2008-02-29T23:59:59Z
  2000-02-29T00:00:00Z               2000-02-29T00:00:00.0000000Z   2000-02-29T00:00:00Z
  1900-02-29T00:00:00Z               -                              -
  2008-04-31T00:00:00Z               -                              -
  2008-07-10T24:00:00Z               -                              -
  2008-07-10T00:60:00Z               -                              -
  2008-07-10T00:00:60Z               -                              -
  0000-01-01T00:00:00Z               -                              -
  2008-07-00T00:00:00Z               -                              -
  2008-00-10T00:00:00Z               -                              -
  2008-07-10                         2008-07-10T00:00:00.0000000Z   2008-07-10T00:00:00Z
  2008-07-10T01:30:00+01:30          2008-07-10T00:00:00.0000000Z   2008-07-10T00:00:00Z
  2008-07-09T22:00:00-02:00          2008-07-10T00:00:00.0000000Z   2008-07-10T00:00:00Z
  2017-11-10T02:43:36.2754988Z       2017-11-10T02:43:36.2754988Z   2017-11-10T02:43:36.2754988Z
  2017-11-10T02:43:36.4496240Z       2017-11-10T02:43:36.4496240Z   2017-11-10T02:43:36.449624Z
  2017-11-10T02:43:36.123456789Z     2017-11-10T02:43:36.1234567Z   2017-11-10T02:43:36.1234567Z
  2017-11-10T02:43:36.5              2017-11-10T02:43:36.5000000Z   2017-11-10T02:43:36.5Z
  0001-01-01T00:00:00Z               0001-01-01T00:00:00.0000000Z   0001-01-01T00:00:00Z
  9999-12-31T23:59:59.9999999Z       9999-12-31T23:59:59.9999999Z   9999-12-31T23:59:59.9999999Z
  9999-12-31T23:59:59-01:00          -                              -
  0001-01-01T00:00:00+01:00          -                              -
  2008-13-10T00:00:00Z               -                              -
  2008-02-30T00:00:00Z               -                              -
  10/07/2008                         -                              -
  2008-07-10 00:00:00                -                              -
  now                                -                              -
`;

for (const { text = '', is, 'told as': told } of rows(dateTimes)) {
  test(`the time ${text} is ${is}`, () => {
    const value = parseDateTime(text);
    assert.equal(value ?? '-', is);
    assert.equal(value === undefined ? '-' : formatDateTime(value), told);
  });
}

test('a stamp as a time', () => {
  assert.equal(stampDateTime(Date.UTC(2026, 0, 1) * 1000 + 123_456), '2026-01-01T00:00:00.1234560Z');
  assert.equal(stampDateTime(Date.UTC(2026, 0, 1) * 1000), '2026-01-01T00:00:00.0000000Z');
});

const numbers = `
  text                   Int32         Int64                  Double
  0                      0             0                      0
  -0                     0             0                      0
  30                     30            30                     30
  +5                     5             5                      5
  007                    7             7                      7
  2147483647             2147483647    2147483647             2147483647
  2147483648             -             2147483648             2147483648
  -2147483648            -2147483648   -2147483648            -2147483648
  -2147483649            -             -2147483649            -2147483649
  9223372036854775807    -             9223372036854775807    9223372036854776000
  9223372036854775808    -             -                      9223372036854776000
  -9223372036854775808   -             -9223372036854775808   -9223372036854776000
  1.5                    -             -                      1.5
  1.                     -             -                      1
  .5                     -             -                      0.5
  1e3                    -             -                      1000
  -1.5E-3                -             -                      -0.0015
  NaN                    -             -                      NaN
  Infinity               -             -                      Infinity
  -INF                   -             -                      -Infinity
  0x10                   -             -                      -
  1_000                  -             -                      -
  five                   -             -                      -
`;

for (const { text = '', Int32, Int64, Double } of rows(numbers)) {
  test(`the number ${text}`, () => {
    assert.deepEqual(
      [parseInt32(text), parseInt64(text), parseDouble(text)].map((value) => String(value ?? '-')),
      [Int32, Int64, Double],
    );
  });
}

test('-0 is 0 in every type', () => {
  assert.ok(Object.is(parseInt32('-0'), 0) && Object.is(parseDouble('-0.0'), 0));
});

test('nothing is no number', () => {
  assert.deepEqual(
    [parseInt32(''), parseInt64(''), parseDouble(''), parseDouble('.')],
    Array(4).fill(undefined),
  );
});

test('guids in any case, with dashes', () => {
  assert.equal(parseGuid('C9DA6455-213D-42C9-9A79-3E9149A57833'), 'c9da6455-213d-42c9-9a79-3e9149a57833');
  for (const text of [
    '',
    'c9da6455213d42c99a793e9149a57833',
    '{c9da6455-213d-42c9-9a79-3e9149a57833}',
    'x'.repeat(36),
  ]) {
    assert.equal(parseGuid(text), undefined);
  }
});

test('bytes in hex and in Base64', () => {
  assert.deepEqual(parseHex('00fF'), new Uint8Array([0, 255]));
  assert.deepEqual(parseHex(''), new Uint8Array(0));
  assert.deepEqual([parseHex('0'), parseHex('0g')], [undefined, undefined]);
  assert.deepEqual(parseBase64('AP8='), new Uint8Array([0, 255]));
  assert.deepEqual(parseBase64(''), new Uint8Array(0));
  assert.deepEqual([parseBase64('AP8'), parseBase64('A P8='), parseBase64('AP_=')], Array(3).fill(undefined));
});
