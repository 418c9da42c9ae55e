import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockId, given, header, leaseA } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

test('a block is stored and tells its checksum, but no ETag', async (t) => {
  const { blob } = await given(t);
  const put = await gives(blob.putBlock('a', 'hello'), 201);
  assert.equal(put.headers.has('etag'), false);
  assert.equal(put.headers.has('last-modified'), false);
  assert.equal(put.headers.has('content-md5'), false);
  assert.equal(header(put, 'x-ms-content-crc64').length, 12);
  const md5 = { 'Content-MD5': 'XUFAKrxLKna5cZ2REBfFkg==' };
  const summed = await gives(blob.putBlock('a', 'hello', md5), 201);
  assert.equal(header(summed, 'content-md5'), md5['Content-MD5']);
  const old = await gives(blob.putBlock('a', 'hello', { 'x-ms-version': '2018-11-09' }), 201);
  assert.equal(header(old, 'content-md5'), md5['Content-MD5']);
});

test('a committed blob stays as it is while blocks come', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  const etag = await blob.etag();
  await gives(blob.putBlock('a', 'v2'), 201);
  assert.equal(await blob.text(), 'v1');
  assert.equal(await blob.etag(), etag);
});

test('all block ids of a blob have one length', async (t) => {
  const { blob } = await given(t);
  await gives(blob.putBlock('aaa', 'one'), 201);
  await refuses(blob.putBlock('aaaaaa', 'two'), 400, 'InvalidBlobOrBlock');
});

test('a block has an id in Base64, of 64 bytes at most, and bytes', async (t) => {
  const { blob } = await given(t);
  await refuses(blob.put('comp=block&blockid=*', {}, 'x'), 400, 'InvalidQueryParameterValue');
  await refuses(blob.put('comp=block', {}, 'x'), 400, 'MissingRequiredQueryParameter');
  await refuses(blob.putBlock('x'.repeat(65), 'x'), 400, 'InvalidQueryParameterValue');
  await gives(blob.putBlock('x'.repeat(64), 'x'), 201);
  await refuses(blob.putBlock('a', ''), 400, 'InvalidHeaderValue');
});

test('a block goes to block blobs only', async (t) => {
  const { blob } = await given(t, { type: 'AppendBlob' });
  await refuses(blob.putBlock('a', 'one'), 409, 'InvalidBlobType');
});

test('a block of a leased blob needs the lease, and takes no conditions', async (t) => {
  const { blob } = await given(t, { content: 'v1', leasedSeconds: 60 });
  await refuses(blob.putBlock('a', 'one'), 412, 'LeaseIdMissing');
  await gives(blob.putBlock('a', 'one', { 'x-ms-lease-id': leaseA }), 201);
  const guarded = { 'x-ms-lease-id': leaseA, 'If-Match': '*' };
  await refuses(blob.putBlock('a', 'one', guarded), 400, 'ConditionHeadersNotSupported');
});

test('a block sent again replaces the first', async (t) => {
  const { blob } = await given(t);
  await gives(blob.putBlock('a', 'first'), 201);
  await gives(blob.putBlock('a', 'second'), 201);
  await gives(blob.commit(['Latest a']), 201);
  assert.equal(await blob.text(), 'second');
});

test('uncommitted blocks are gone a week after the last one came', async (t) => {
  const { blob, server } = await given(t);
  const day = 24 * 3600;
  await gives(blob.putBlock('a', 'one'), 201);
  server.pass(6 * day);
  await gives(blob.putBlock('b', 'two'), 201);
  server.pass(6 * day);
  const list = await gives(blob.get('comp=blocklist&blocklisttype=all'), 200);
  assert.match(list.text, new RegExp(blockId('a')));
  server.pass(2 * day);
  await refuses(blob.commit(['Latest a']), 400, 'InvalidBlockList');
});
