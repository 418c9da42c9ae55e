import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finished } from '../http/exchange.js';
import { AccessLog, accessLine, shownUrl } from './access-log.js';

const now = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

function finished(url: string, more: object = {}): Finished {
  const reply = { status: 201, operation: 'Put Blob', errorCode: undefined, ...more };
  const head = { method: 'PUT', url, headers: { 'x-ms-client-request-id': 'mine' } };
  return {
    reply,
    head,
    ms: 1.25,
    isComplete: true,
    service: 'blob',
    bytesIn: 0,
    bytesOut: 0,
  } as unknown as Finished;
}

test('time, method, path, status, milliseconds, operation, id', () => {
  assert.equal(accessLine(finished('/acct/c/b'), now), '03:04:05.678 PUT /acct/c/b 201 1.3 ms Put Blob mine');
  const refused = finished('/acct/c/b', { status: 409, errorCode: 'BlobAlreadyExists' });
  assert.equal(
    accessLine(refused, now),
    '03:04:05.678 PUT /acct/c/b 409 BlobAlreadyExists 1.3 ms Put Blob mine',
  );
  const cut = { ...finished('/acct/c/b'), isComplete: false };
  assert.equal(accessLine(cut, now), '03:04:05.678 PUT /acct/c/b 201 cut off 1.3 ms Put Blob mine');
});

// biome-ignore format: a table
const urls: readonly (readonly [url: string, shown: string])[] = [
  ['/a/c/b',                         '/a/c/b'],
  ['/a/c/b?sig=abc&x=1',             '/a/c/b?sig=REDACTED&x=1'],
  ['/a/c/b?x=1&%73ig=abc',           '/a/c/b?x=1&%73ig=REDACTED'],
  ['/a/c\x1b[31m\u00e9',             '/a/c%1b[31m%e9'],
  [`/a/${'x'.repeat(3000)}`,         `/a/${'x'.repeat(2045)}...`],
];
for (const [url, shown] of urls)
  test(`${url.slice(0, 30)} is shown as ${shown.slice(0, 40)}`, () => assert.equal(shownUrl(url), shown));

test('lines are written together, and what is left at the end is written then', () => {
  const written: string[] = [];
  const log = new AccessLog((text) => written.push(text));
  log.add(finished('/a/1'));
  log.add(finished('/a/2'));
  assert.equal(written.length, 0);
  log.flush();
  assert.deepEqual(
    written.map((text) => text.split('\n').length),
    [3],
  );
});
