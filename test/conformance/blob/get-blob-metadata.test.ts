import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives } from '../../support/server.js';

test('metadata alone, by GET and by HEAD', async (t) => {
  const { blob } = await given(t, {
    content: 'v1',
    headers: { 'x-ms-meta-one': '1', 'x-ms-meta-Two': 'zwei' },
  });
  for (const method of ['GET', 'HEAD']) {
    const got = await gives(blob.ask(method, 'comp=metadata'), 200);
    assert.equal(header(got, 'x-ms-meta-one'), '1');
    assert.equal(header(got, 'x-ms-meta-two'), 'zwei');
    assert.equal(header(got, 'etag'), await blob.etag());
    assert.equal(got.text, '');
    assert.equal(got.headers.has('x-ms-blob-type'), false);
  }
});
