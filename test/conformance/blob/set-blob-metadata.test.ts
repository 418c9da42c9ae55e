import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

test('metadata is replaced as a whole, with a new ETag', async (t) => {
  const { blob } = await given(t, { content: 'v1', headers: { 'x-ms-meta-a': '1' } });
  const before = await blob.etag();
  const set = await gives(blob.put('comp=metadata', { 'x-ms-meta-b': '2' }), 200);
  assert.notEqual(header(set, 'etag'), before);
  const head = await gives(blob.head(), 200);
  assert.equal(head.headers.has('x-ms-meta-a'), false);
  assert.equal(header(head, 'x-ms-meta-b'), '2');
  assert.equal(header(head, 'content-length'), '2');
  await gives(blob.put('comp=metadata'), 200);
  assert.equal((await blob.head()).headers.has('x-ms-meta-b'), false);
});

test('metadata that breaks the rules is refused', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  await refuses(blob.put('comp=metadata', { 'x-ms-meta-a-b': '1' }), 400, 'InvalidMetadata');
  await refuses(blob.put('comp=metadata', { 'x-ms-meta-a': 'x'.repeat(8200) }), 400, 'MetadataTooLarge');
});

test('neither a snapshot nor what does not exist takes metadata', async (t) => {
  const { blob, container } = await given(t, { content: 'v1' });
  const snapshot = await blob.snapshot();
  await refuses(blob.put(`comp=metadata&snapshot=${snapshot}`), 400, 'InvalidOperation');
  await refuses(container.blob('none').put('comp=metadata'), 404, 'BlobNotFound');
});
