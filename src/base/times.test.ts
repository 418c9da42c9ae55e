import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from './cells.suite.js';
import { formatHttpDate, formatIsoTime, parseHttpDate, parseIsoTime } from './times.js';

const httpDates = `
  text                              is
  Sun, 06 Nov 1994 08:49:37 GMT     1994-11-06T08:49:37.000Z
  Sunday, 06-Nov-94 08:49:37 GMT    1994-11-06T08:49:37.000Z
  Tuesday, 06-Jan-26 08:49:37 GMT   2026-01-06T08:49:37.000Z
  Sun Nov 16 08:49:37 1994          1994-11-16T08:49:37.000Z
  Thu, 29 Feb 2024 00:00:00 GMT     2024-02-29T00:00:00.000Z
  Wed, 29 Feb 2023 00:00:00 GMT     -
  Sun, 06 Nov 1994 23:59:59 GMT     1994-11-06T23:59:59.000Z
  Sun, 06 Nov 1994 24:00:00 GMT     -
  Sun, 06 Nov 1994 08:60:00 GMT     -
  Sun, 06 Nov 1994 08:59:60 GMT     -
  Tuesday, 06-Jan-69 08:49:37 GMT   2069-01-06T08:49:37.000Z
  Tuesday, 06-Jan-70 08:49:37 GMT   1970-01-06T08:49:37.000Z
  Sun, 06 Nov 1994 08:49:37 UTC     -
  Sun, 06 Foo 1994 08:49:37 GMT     -
  Sun, 00 Nov 1994 08:49:37 GMT     -
  1994-11-06T08:49:37Z              -
  null                              -
`;

for (const { text = '', is } of rows(httpDates)) {
  test(`HTTP date ${text} is ${is}`, () => {
    const ms = parseHttpDate(text);
    assert.equal(ms === undefined ? '-' : new Date(ms).toISOString(), is);
  });
}

test('the old form pads the day with a blank', () => {
  assert.equal(parseHttpDate('Sun Nov  6 08:49:37 1994'), Date.UTC(1994, 10, 6, 8, 49, 37));
});

test('an HTTP date written is read back', () => {
  const ms = Date.UTC(1994, 10, 6, 8, 49, 37);
  assert.equal(formatHttpDate(ms), 'Sun, 06 Nov 1994 08:49:37 GMT');
  assert.equal(formatHttpDate(ms + 999), formatHttpDate(ms));
  assert.equal(parseHttpDate(formatHttpDate(ms)), ms);
});

const isoTimes = `
  text                                is
  2030-01-02                          2030-01-02T00:00:00.0000000Z
  2030-01-02T12:30Z                   2030-01-02T12:30:00.0000000Z
  2030-01-02T12:30:59Z                2030-01-02T12:30:59.0000000Z
  2030-01-02T12:30:59.1Z              2030-01-02T12:30:59.1000000Z
  2030-01-02T12:30:59.1234567Z        2030-01-02T12:30:59.1234567Z
  2030-01-02T12:30:59.0000001+01:00   2030-01-02T11:30:59.0000001Z
  2030-01-02T00:30-05:30              2030-01-02T06:00:00.0000000Z
  0001-01-01T00:00:00Z                0001-01-01T00:00:00.0000000Z
  2030-01-02T12:30:59.12345678Z       -
  2030-01-02T12:30:59                 -
  2030-01-02T12Z                      -
  2030-02-30                          -
  2030-13-01                          -
  2030-01-02T24:00Z                   -
  2030-01-02T15:00+14:59              2030-01-02T00:01:00.0000000Z
  2030-01-02T12:30+15:00              -
  2030-01-02T12:30+14:60              -
  2030-1-2                            -
  tomorrow                            -
`;

for (const { text = '', is } of rows(isoTimes)) {
  test(`ISO time ${text} is ${is}`, () => {
    const time = parseIsoTime(text);
    assert.equal(time ? formatIsoTime(time) : '-', is);
  });
}
