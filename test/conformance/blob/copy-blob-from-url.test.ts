import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

const sync = { 'x-ms-requires-sync': 'true' };

test('a synchronous copy is done when it is answered, and tells the MD5', async (t) => {
  const { blob, container } = await given(t, { content: 'hello', headers: { 'x-ms-tags': 'k=v' } });
  const target = container.blob('target');
  const copied = await gives(target.copyFrom(blob, sync), 202);
  assert.equal(header(copied, 'x-ms-copy-status'), 'success');
  assert.equal(header(copied, 'content-md5'), 'XUFAKrxLKna5cZ2REBfFkg==');
  assert.equal(await target.text(), 'hello');
  assert.equal((await target.head()).headers.has('x-ms-tag-count'), false);
  await gives(target.copyFrom(blob, { ...sync, 'x-ms-copy-source-tag-option': 'COPY' }), 202);
  assert.equal(header(await target.head(), 'x-ms-tag-count'), '1');
});

test('it copies block blobs alone', async (t) => {
  const { blob, container } = await given(t, { type: 'AppendBlob', content: 'x' });
  await refuses(container.blob('target').copyFrom(blob, sync), 409, 'InvalidSourceBlobType');
});

test('a checksum of the source is held against its bytes, also of a source of this server', async (t) => {
  const { blob, container } = await given(t, { content: 'v1' });
  const copy = container.blob('copy');
  const sync = (md5: string) =>
    copy.copyFrom(blob, { 'x-ms-requires-sync': 'true', 'x-ms-source-content-md5': md5 });
  await refuses(sync(createHash('md5').update('other').digest('base64')), 400, 'Md5Mismatch');
  assert.equal((await copy.head()).status, 404);
  await gives(sync(createHash('md5').update('v1').digest('base64')), 202);
  assert.equal(await copy.text(), 'v1');
});
