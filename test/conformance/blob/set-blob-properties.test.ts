import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives } from '../../support/server.js';

test('one property that is named clears the others', async (t) => {
  const { blob } = await given(t, {
    content: 'v1',
    headers: { 'x-ms-blob-content-type': 'text/plain', 'x-ms-blob-cache-control': 'no-store' },
  });
  const before = await blob.etag();
  await gives(blob.put('comp=properties', { 'x-ms-blob-content-language': 'de' }), 200);
  const head = await gives(blob.head(), 200);
  assert.equal(header(head, 'content-language'), 'de');
  for (const name of ['content-type', 'cache-control', 'content-md5']) {
    assert.equal(head.headers.has(name), false, name);
  }
  assert.notEqual(header(head, 'etag'), before);
});

test('a request that names none leaves them and changes the ETag', async (t) => {
  const { blob } = await given(t, { content: 'v1', headers: { 'x-ms-blob-content-type': 'text/plain' } });
  const before = await blob.etag();
  await gives(blob.put('comp=properties'), 200);
  const head = await gives(blob.head(), 200);
  assert.equal(header(head, 'content-type'), 'text/plain');
  assert.notEqual(header(head, 'etag'), before);
});

test('the copy that a blob came from is forgotten', async (t) => {
  const { blob, container } = await given(t, { content: 'v1' });
  const target = container.blob('copy');
  await gives(target.copyFrom(blob), 202);
  assert.ok((await target.head()).headers.has('x-ms-copy-id'));
  await gives(target.put('comp=properties'), 200);
  assert.equal((await target.head()).headers.has('x-ms-copy-id'), false);
});
