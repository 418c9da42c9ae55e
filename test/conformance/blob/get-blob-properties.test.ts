import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives } from '../../support/server.js';

test('properties are those of Get Blob, and the tier', async (t) => {
  const { blob } = await given(t, {
    content: 'hello',
    headers: {
      'x-ms-blob-content-type': 'text/plain',
      'x-ms-blob-content-encoding': 'gzip',
      'x-ms-blob-content-language': 'en',
      'x-ms-blob-content-disposition': 'attachment',
      'x-ms-blob-cache-control': 'no-cache',
      'x-ms-access-tier': 'Cool',
    },
  });
  const head = await gives(blob.head(), 200);
  const told = Object.fromEntries(
    [
      'content-length',
      'content-type',
      'content-encoding',
      'content-language',
      'content-disposition',
      'cache-control',
    ]
      .concat([
        'x-ms-access-tier',
        'x-ms-lease-state',
        'x-ms-lease-status',
        'accept-ranges',
        'x-ms-server-encrypted',
      ])
      .map((name) => [name, header(head, name)]),
  );
  assert.deepEqual(told, {
    'content-length': '5',
    'content-type': 'text/plain',
    'content-encoding': 'gzip',
    'content-language': 'en',
    'content-disposition': 'attachment',
    'cache-control': 'no-cache',
    'x-ms-access-tier': 'Cool',
    'x-ms-lease-state': 'available',
    'x-ms-lease-status': 'unlocked',
    'accept-ranges': 'bytes',
    'x-ms-server-encrypted': 'true',
  });
  assert.ok(head.headers.has('x-ms-access-tier-change-time'));
  assert.equal(head.headers.has('x-ms-access-tier-inferred'), false);
});

test('an append blob tells how often it was appended to', async (t) => {
  const { blob } = await given(t, { type: 'AppendBlob', content: 'a' });
  await gives(blob.append('b'), 201);
  const head = await gives(blob.head(), 200);
  assert.equal(header(head, 'x-ms-blob-committed-block-count'), '2');
  assert.equal(head.headers.has('x-ms-access-tier'), false);
});
