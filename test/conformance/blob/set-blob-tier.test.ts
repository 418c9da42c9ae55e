import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Blob, given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

const tier = (blob: Blob, name: string, headers = {}) =>
  blob.put('comp=tier', { 'x-ms-access-tier': name, ...headers });

test('a tier is set and told, and changes no ETag', async (t) => {
  const { blob, container } = await given(t, { content: 'v1' });
  const etag = await blob.etag();
  for (const name of ['Cool', 'Cold', 'Hot']) {
    const set = await gives(tier(blob, name), 200);
    assert.equal(set.headers.has('etag'), false);
    assert.equal(header(await blob.head(), 'x-ms-access-tier'), name);
    assert.match(
      (await container.list()).text,
      new RegExp(`<AccessTier>${name}</AccessTier><AccessTierChangeTime>`),
    );
  }
  assert.equal(await blob.etag(), etag);
});

test('an overwrite keeps the tier unless it names another', async (t) => {
  const { blob } = await given(t, { content: 'v1', headers: { 'x-ms-access-tier': 'Cool' } });
  await gives(blob.upload('v2'), 201);
  assert.equal(header(await blob.head(), 'x-ms-access-tier'), 'Cool');
  await gives(blob.upload('v3', { 'x-ms-access-tier': 'Hot' }), 201);
  assert.equal(header(await blob.head(), 'x-ms-access-tier'), 'Hot');
});

test('what is archived is neither read nor written, but told, tagged and deleted', async (t) => {
  const { blob, container } = await given(t, { content: 'v1' });
  await gives(tier(blob, 'Archive'), 200);
  await refuses(blob.get(), 409, 'BlobArchived');
  await refuses(blob.upload('v2'), 409, 'BlobArchived');
  await refuses(blob.putBlock('a', 'x'), 409, 'BlobArchived');
  await refuses(blob.commit([]), 409, 'BlobArchived');
  await refuses(blob.put('comp=snapshot'), 409, 'BlobArchived');
  await refuses(container.blob('copy').copyFrom(blob), 409, 'BlobArchived');
  await gives(container.blob('copy').copyFrom(blob, { 'x-ms-access-tier': 'Hot' }), 202);
  assert.equal(await container.blob('copy').text(), 'v1');
  await gives(blob.head(), 200);
  await gives(blob.put('comp=metadata', { 'x-ms-meta-a': '1' }), 200);
  await gives(blob.delete(), 202);
});

test('bringing a blob back takes its time', async (t) => {
  const { blob, server } = await given(t, { content: 'v1' });
  await gives(tier(blob, 'Archive'), 200);
  await gives(tier(blob, 'Archive'), 200);
  await gives(tier(blob, 'Cool'), 202);
  const pending = await gives(blob.head(), 200);
  assert.equal(header(pending, 'x-ms-access-tier'), 'Archive');
  assert.equal(header(pending, 'x-ms-archive-status'), 'rehydrate-pending-to-cool');
  assert.equal(header(pending, 'x-ms-rehydrate-priority'), 'Standard');
  await refuses(blob.get(), 409, 'BlobArchived');
  await refuses(tier(blob, 'Hot'), 409, 'BlobBeingRehydrated');
  await refuses(tier(blob, 'Archive'), 409, 'BlobBeingRehydrated');
  await gives(tier(blob, 'Cool', { 'x-ms-rehydrate-priority': 'High' }), 202);
  server.pass(2);
  assert.equal(await blob.text(), 'v1');
  const back = await gives(blob.head(), 200);
  assert.equal(header(back, 'x-ms-access-tier'), 'Cool');
  assert.equal(back.headers.has('x-ms-archive-status'), false);
});

test('a tier is one there is, and for block blobs', async (t) => {
  const { blob, container } = await given(t, { content: 'v1' });
  await refuses(tier(blob, 'Warm'), 400, 'InvalidHeaderValue');
  await refuses(blob.put('comp=tier'), 400, 'MissingRequiredHeader');
  await refuses(tier(blob, 'Cold', { 'x-ms-version': '2020-10-02' }), 400, 'InvalidHeaderValue');
  const log = container.blob('log');
  await gives(log.put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
  await refuses(tier(log, 'Cool'), 409, 'InvalidBlobType');
  await refuses(tier(container.blob('none'), 'Cool'), 404, 'BlobNotFound');
});
