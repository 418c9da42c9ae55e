import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rows } from '../base/cells.suite.js';
import { callOf } from './auth/calls.suite.js';
import type { ServiceName } from './call.js';
import {
  type ByteRange,
  contentRange,
  cutRange,
  lengthOf,
  readRange,
  sourceRange,
  writeRange,
} from './ranges.js';

const path = '/devstoreaccount1/c/b';
const show = (range: ByteRange | undefined) =>
  range === undefined ? 'whole' : `${range.start} to ${range.end}`;

const forms = `
  header             blob read          file read            write
  bytes=0-9          0 to 9             0 to 9               0 to 9
  bytes=5-           5 to Infinity      5 to Infinity        InvalidHeaderValue
  bytes=7-7          7 to 7             7 to 7               7 to 7
  BYTES=0-9          0 to 9             0 to 9               0 to 9
  bytes=-5           whole              InvalidHeaderValue   InvalidHeaderValue
  bytes=9-5          whole              InvalidHeaderValue   InvalidHeaderValue
  bytes=0-1,3-4      whole              InvalidHeaderValue   InvalidHeaderValue
  bytes=a-b          whole              InvalidHeaderValue   InvalidHeaderValue
  bytes=-            whole              InvalidHeaderValue   InvalidHeaderValue
  bytes = 0-9        whole              InvalidHeaderValue   InvalidHeaderValue
  items=0-9          whole              InvalidHeaderValue   InvalidHeaderValue
`;

for (const row of rows(forms)) {
  test(`${row.header}`, () => {
    const call = (service: ServiceName) =>
      callOf(service, `GET ${path}`, { headers: { Range: row.header ?? '', 'x-ms-version': '2021-12-02' } });
    const expect = (read: () => ByteRange | undefined, outcome: string | undefined) => {
      if (outcome === 'InvalidHeaderValue') assert.throws(read, { code: outcome });
      else assert.equal(show(read()), outcome);
    };
    expect(() => readRange(call('blob')), row['blob read']);
    expect(() => readRange(call('file')), row['file read']);
    expect(() => writeRange(call('blob')), row.write);
  });
}

test('x-ms-range wins over Range, and no header is the whole', () => {
  const both = callOf('blob', `GET ${path}`, {
    headers: { Range: 'bytes=0-1', 'x-ms-range': 'bytes=2-3', 'x-ms-version': '2021-12-02' },
  });
  assert.deepEqual(readRange(both), { start: 2, end: 3 });
  assert.equal(readRange(callOf('blob', `GET ${path}`)), undefined);
  assert.throws(() => writeRange(callOf('blob', `PUT ${path}`)), {
    code: 'MissingRequiredHeader',
    details: { HeaderName: 'x-ms-range' },
  });
});

test('an open range is known since 2011-08-18', () => {
  const call = callOf('blob', `GET ${path}`, {
    headers: { Range: 'bytes=5-', 'x-ms-version': '2009-09-19' },
  });
  assert.equal(readRange(call), undefined);
});

test('the range of a source may be left out, but not be wrong', () => {
  const call = (text?: string) =>
    callOf('blob', `PUT ${path}`, text === undefined ? {} : { headers: { 'x-ms-source-range': text } });
  assert.equal(sourceRange(call()), undefined);
  assert.deepEqual(sourceRange(call('bytes=1-2')), { start: 1, end: 2 });
  assert.throws(() => sourceRange(call('bytes=2-1')), { code: 'InvalidHeaderValue' });
});

const cuts = `
  range            size   result
  0 to 9           10     bytes 0-9/10
  0 to 33554431    11     bytes 0-10/11
  5 to Infinity    10     bytes 5-9/10
  9 to 9           10     bytes 9-9/10
  10 to 20         10     416
  0 to 0           0      416
`;

for (const { range = '', size, result } of rows(cuts)) {
  test(`${range} of ${size} bytes is ${result}`, () => {
    const [start = 0, end = 0] = range.split(' to ').map(Number);
    const cut = () => cutRange({ start, end }, Number(size));
    if (result === '416') {
      assert.throws(cut, { code: 'InvalidRange', headers: ['Content-Range', `bytes */${size}`] });
    } else {
      assert.equal(contentRange(cut(), Number(size)), result);
      assert.equal(lengthOf(cut()), cut().end - start + 1);
    }
  });
}
