import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHttpDate, parseIsoTime } from './times.js';

const httpDates: [text: string, iso: string | undefined][] = [
  ['Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
  ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
  ['Friday, 01-Jan-27 00:00:00 GMT', '2027-01-01T00:00:00.000Z'],
  ['Sun, 6 Nov 1994 08:49:37 GMT', undefined], // Azure wants two digits
  ['Sun, 31 Feb 2026 08:49:37 GMT', undefined],
  ['Sun, 06 Xyz 1994 08:49:37 GMT', undefined],
  ['Sun, 06 anF 1994 08:49:37 GMT', undefined],
  ['Sun, 06 Nov 1994 24:00:00 GMT', undefined],
  ['Sun, 06 Nov 1994 08:49:37', undefined],
  ['1994-11-06T08:49:37Z', undefined],
  ['', undefined],
];

for (const [text, expected] of httpDates) {
  test(`the HTTP date '${text}' is ${expected ?? 'refused'}`, () => {
    const ms = parseHttpDate(text);
    assert.equal(ms === undefined ? undefined : new Date(ms).toISOString(), expected);
  });
}

const isoTimes: [text: string, iso: string | undefined][] = [
  ['2030-01-01', '2030-01-01T00:00:00.000Z'],
  ['2030-01-01T12:30Z', '2030-01-01T12:30:00.000Z'],
  ['2030-01-01T12:30:15Z', '2030-01-01T12:30:15.000Z'],
  ['2030-01-01T12:30:15.5Z', '2030-01-01T12:30:15.500Z'],
  ['2030-01-01T12:30:15.1230000Z', '2030-01-01T12:30:15.123Z'],
  ['2030-01-01T12:30:15+02:00', '2030-01-01T10:30:15.000Z'],
  ['2030-01-01T12:30-05:30', '2030-01-01T18:00:00.000Z'],
  ['2030-01-01T12:30:15', undefined], // no zone
  ['2030-01-01T12Z', undefined],
  ['2030-01-01T12:30:15.12345678Z', undefined],
  ['2030-13-01', undefined],
  ['2030-02-30', undefined],
  ['2030-1-1', undefined],
  ['2030-01-01T12:30:15+15:00', undefined],
  ['0001-01-01', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.9999999Z', '9999-12-31T23:59:59.999Z'],
  [' 2030-01-01', undefined],
  ['', undefined],
];

for (const [text, expected] of isoTimes) {
  test(`the time '${text}' is ${expected ?? 'refused'}`, () => {
    const ms = parseIsoTime(text);
    assert.equal(ms === undefined ? undefined : new Date(ms).toISOString(), expected);
  });
}
