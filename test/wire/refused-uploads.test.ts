// A long upload that will be refused is refused by its head: not a byte of its body is asked for. What binds is still
// decided when it is stored.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Blob, type Given, given } from '../support/given.js';
import { gives } from '../support/server.js';

const GiB = 1024 ** 3;

interface Refused {
  readonly what: string;
  readonly path: (blob: Blob) => string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes?: number;
  readonly gives: string;
  readonly before?: (state: Given) => Promise<unknown>;
}

const block = { 'x-ms-blob-type': 'BlockBlob' };
const append = { 'x-ms-blob-type': 'AppendBlob' };
const own = (query: string) => (blob: Blob) => `${blob.path}${query}`;
const blockQuery = '?comp=block&blockid=YQ%3D%3D';

const cases: readonly Refused[] = [
  {
    what: 'Put Blob into a container that is not there',
    path: () => '/none/blob',
    headers: block,
    gives: '404 ContainerNotFound',
  },
  {
    what: 'Put Blob of what must be new',
    path: own(''),
    headers: { ...block, 'If-None-Match': '*' },
    gives: '409 BlobAlreadyExists',
  },
  {
    what: 'Put Blob under a condition',
    path: own(''),
    headers: { ...block, 'If-Match': '"0x1"' },
    gives: '412 ConditionNotMet',
  },
  {
    what: 'Put Blob over a lease',
    path: own(''),
    headers: block,
    gives: '412 LeaseIdMissing',
    before: ({ blob }) => gives(blob.acquire(-1), 201),
  },
  {
    what: 'Put Block over a lease',
    path: own(blockQuery),
    headers: {},
    gives: '412 LeaseIdMissing',
    before: ({ blob }) => gives(blob.acquire(-1), 201),
  },
  {
    what: 'Put Block into an append blob',
    path: own(blockQuery),
    headers: {},
    gives: '409 InvalidBlobType',
    before: ({ blob }) => gives(blob.put('', append), 201),
  },
  {
    what: 'Append Block at another position',
    path: own('?comp=appendblock'),
    headers: { 'x-ms-blob-condition-appendpos': '7' },
    bytes: 50 * 1024 * 1024,
    gives: '412 AppendPositionConditionNotMet',
    before: ({ blob }) => gives(blob.put('', append), 201),
  },
  {
    what: 'Append Block beyond a size',
    path: own('?comp=appendblock'),
    headers: { 'x-ms-blob-condition-maxsize': '1000' },
    bytes: 50 * 1024 * 1024,
    gives: '412 MaxBlobSizeConditionNotMet',
    before: ({ blob }) => gives(blob.put('', append), 201),
  },
  {
    what: 'Put Page to a blob that is not there',
    path: (blob) => `${blob.path}2?comp=page`,
    headers: { 'x-ms-page-write': 'update', Range: 'bytes=0-4194303' },
    bytes: 4 * 1024 * 1024,
    gives: '404 BlobNotFound',
  },
];

for (const { what, path, headers, bytes = GiB, gives: expected, before } of cases) {
  test(`${what} gives ${expected} before its body`, async (t) => {
    const state = await given(t, { content: 'v1' });
    await before?.(state);
    const { server, blob } = state;
    const wire = await server.begin({
      method: 'PUT',
      path: path(blob),
      headers: { ...headers, 'Content-Length': String(bytes) },
    });
    const answer = await wire.answer();
    assert.equal(`${answer.status} ${answer.headers.get('x-ms-error-code')}`, expected);
    assert.equal(answer.headers.get('connection'), 'close');
    wire.close();
  });
}

test('who waits to be told to go on is refused without a byte, also with a short body', async (t) => {
  const { server, blob } = await given(t, { content: 'v1', leasedSeconds: -1 });
  const wire = await server.begin({
    method: 'PUT',
    path: blob.path,
    headers: { ...block, Expect: '100-continue', 'Content-Length': '10' },
  });
  const answer = await wire.answer();
  assert.equal(`${answer.status} ${answer.headers.get('x-ms-error-code')}`, '412 LeaseIdMissing');
  wire.close();
});

test('who waits to be told to go on is told, and stored', async (t) => {
  const { server, blob } = await given(t);
  const wire = await server.begin({
    method: 'PUT',
    path: blob.path,
    headers: { ...block, Expect: '100-continue', 'Content-Length': '10' },
  });
  assert.equal((await wire.answer()).status, 100);
  assert.equal((await wire.send('0123456789').answer()).status, 201);
  assert.equal(await blob.text(), '0123456789');
  wire.close();
});

test('what changes while the body comes still binds', async (t) => {
  const { server, blob } = await given(t, { content: 'v1' });
  const bytes = 200_000;
  const wire = await server.begin({
    method: 'PUT',
    path: blob.path,
    headers: { ...block, Expect: '100-continue', 'Content-Length': String(bytes) },
  });
  assert.equal((await wire.answer()).status, 100, 'the first look lets it through');
  await gives(blob.acquire(-1), 201);
  const answer = await wire.send(Buffer.alloc(bytes, 'x')).answer();
  assert.equal(`${answer.status} ${answer.headers.get('x-ms-error-code')}`, '412 LeaseIdMissing');
  assert.equal(await blob.text(), 'v1');
  wire.close();
});
