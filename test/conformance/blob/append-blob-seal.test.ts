import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

test('a sealed blob is not appended to, and keeps its ETag', async (t) => {
  const { blob } = await given(t, { type: 'AppendBlob', content: 'one' });
  const etag = await blob.etag();
  const sealed = await gives(blob.put('comp=seal'), 200);
  assert.equal(header(sealed, 'x-ms-blob-sealed'), 'true');
  assert.equal(header(sealed, 'etag'), etag);
  await gives(blob.put('comp=seal'), 200);
  await refuses(blob.append('two'), 409, 'BlobIsSealed');
  assert.equal(header(await blob.head(), 'x-ms-blob-sealed'), 'true');
  await gives(blob.put('comp=metadata', { 'x-ms-meta-a': '1' }), 200);
  await gives(blob.delete(), 202);
});

test('sealing takes a position, and an append blob', async (t) => {
  const { blob, container } = await given(t, { type: 'AppendBlob', content: 'one' });
  const at = (position: string) => blob.put('comp=seal', { 'x-ms-blob-condition-appendpos': position });
  await refuses(at('2'), 412, 'AppendPositionConditionNotMet');
  await gives(at('3'), 200);
  const block = container.blob('block');
  await gives(block.upload('x'), 201);
  await refuses(block.put('comp=seal'), 409, 'InvalidBlobType');
});
