import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header, leaseA, leaseB } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

test('a snapshot keeps what the blob was, with its ETag, and the blob keeps its own', async (t) => {
  const { blob } = await given(t, { content: 'v1', headers: { 'x-ms-meta-a': '1', 'x-ms-tags': 'k=v' } });
  const etag = await blob.etag();
  const taken = await gives(blob.put('comp=snapshot'), 201);
  assert.equal(header(taken, 'etag'), etag);
  assert.equal(await blob.etag(), etag);
  await gives(blob.upload('v2'), 201);

  const snapshot = header(taken, 'x-ms-snapshot');
  const got = await gives(blob.get(`snapshot=${snapshot}`), 200);
  assert.equal(got.text, 'v1');
  assert.equal(header(got, 'etag'), etag);
  assert.equal(header(got, 'x-ms-meta-a'), '1');
  assert.equal(header(got, 'x-ms-tag-count'), '1');
  assert.equal(header(got, 'x-ms-snapshot'), snapshot);
  assert.equal(got.headers.has('x-ms-lease-state'), false);
  assert.match(snapshot, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/);
});

test('a snapshot with metadata of its own has an ETag of its own', async (t) => {
  const { blob } = await given(t, { content: 'v1', headers: { 'x-ms-meta-a': '1' } });
  const etag = await blob.etag();
  const taken = await gives(blob.put('comp=snapshot', { 'x-ms-meta-b': '2' }), 201);
  assert.notEqual(header(taken, 'etag'), etag);
  const got = await gives(blob.head(`snapshot=${header(taken, 'x-ms-snapshot')}`), 200);
  assert.equal(got.headers.has('x-ms-meta-a'), false);
  assert.equal(header(got, 'x-ms-meta-b'), '2');
});

test('snapshots of one blob have rising names', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  const names = [];
  for (let i = 0; i < 5; i++) names.push(await blob.snapshot());
  assert.deepEqual(names, [...names].sort());
  assert.equal(new Set(names).size, 5);
});

test('a snapshot of an append blob does not grow with it', async (t) => {
  const { blob } = await given(t, { type: 'AppendBlob', content: 'one' });
  const snapshot = await blob.snapshot();
  await gives(blob.append('two'), 201);
  assert.equal(await blob.text(), 'onetwo');
  assert.equal(await blob.text(`snapshot=${snapshot}`), 'one');
  await gives(blob.delete('', { 'x-ms-delete-snapshots': 'only' }), 202);
  await gives(blob.append('three'), 201);
  assert.equal(await blob.text(), 'onetwothree');
});

test('a snapshot needs no lease, but one that is named must be right', async (t) => {
  const { blob } = await given(t, { content: 'v1', leasedSeconds: 60 });
  await gives(blob.put('comp=snapshot'), 201);
  await gives(blob.put('comp=snapshot', { 'x-ms-lease-id': leaseA }), 201);
  const wrong = blob.put('comp=snapshot', { 'x-ms-lease-id': leaseB });
  await refuses(wrong, 412, 'LeaseIdMismatchWithBlobOperation');
});

test('what is not there, or not committed, has no snapshot', async (t) => {
  const { blob } = await given(t);
  await refuses(blob.put('comp=snapshot'), 404, 'BlobNotFound');
  await gives(blob.putBlock('a', 'one'), 201);
  await refuses(blob.put('comp=snapshot'), 404, 'BlobNotFound');
});
