// Get Container Metadata, Set Container Metadata.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

test('metadata is replaced as a whole, with a new ETag', async (t) => {
  const { container } = await given(t);
  const before = await container.etag();
  const set = await gives(container.put('comp=metadata', { 'x-ms-meta-One': '1' }), 200);
  assert.notEqual(header(set, 'etag'), before);
  const got = await gives(container.get('comp=metadata'), 200);
  assert.equal(header(got, 'x-ms-meta-one'), '1');
  assert.equal(header(got, 'etag'), header(set, 'etag'));
  await gives(container.put('comp=metadata'), 200);
  assert.equal((await container.head('comp=metadata')).headers.has('x-ms-meta-one'), false);
});

test('If-Modified-Since is the one condition it takes', async (t) => {
  const { container } = await given(t);
  const set = (headers: Record<string, string>) => container.put('comp=metadata', headers);
  await gives(set({ 'If-Modified-Since': 'Sat, 01 Jan 2000 00:00:00 GMT' }), 200);
  await refuses(set({ 'If-Modified-Since': 'Fri, 01 Jan 2100 00:00:00 GMT' }), 412, 'ConditionNotMet');
  for (const name of ['If-Match', 'If-None-Match']) {
    await refuses(set({ [name]: '*' }), 400, 'ConditionHeadersNotSupported');
  }
});
