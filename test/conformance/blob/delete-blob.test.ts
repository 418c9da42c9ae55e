import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, leaseA, leaseB } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

test('a blob that is deleted is gone, and its name is free', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  await gives(blob.delete(), 202);
  await refuses(blob.get(), 404, 'BlobNotFound');
  await refuses(blob.delete(), 404, 'BlobNotFound');
  await gives(blob.upload('v2', { 'If-None-Match': '*' }), 201);
});

test('a blob with snapshots is deleted with them or not at all', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  const snapshot = await blob.snapshot();
  await refuses(blob.delete(), 409, 'SnapshotsPresent');
  assert.equal(await blob.text(), 'v1');
  await gives(blob.delete('', { 'x-ms-delete-snapshots': 'include' }), 202);
  await refuses(blob.get(), 404, 'BlobNotFound');
  await refuses(blob.get(`snapshot=${snapshot}`), 404, 'BlobNotFound');
});

test('its snapshots can be deleted alone, or one of them', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  const [first, second, third] = [await blob.snapshot(), await blob.snapshot(), await blob.snapshot()];
  await gives(blob.delete(`snapshot=${second}`), 202);
  await refuses(blob.get(`snapshot=${second}`), 404, 'BlobNotFound');
  assert.equal(await blob.text(`snapshot=${first}`), 'v1');
  await gives(blob.delete('', { 'x-ms-delete-snapshots': 'only' }), 202);
  for (const gone of [first, third]) await refuses(blob.get(`snapshot=${gone}`), 404, 'BlobNotFound');
  assert.equal(await blob.text(), 'v1');
  await gives(blob.delete('', { 'x-ms-delete-snapshots': 'only' }), 202);
});

test('what to do with snapshots is not said of a snapshot, and only in two words', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  const snapshot = await blob.snapshot();
  const header = { 'x-ms-delete-snapshots': 'include' };
  await refuses(blob.delete(`snapshot=${snapshot}`, header), 400, 'InvalidHeaderValue');
  await refuses(blob.delete('', { 'x-ms-delete-snapshots': 'all' }), 400, 'InvalidHeaderValue');
});

test('a leased blob is deleted by who holds the lease', async (t) => {
  const { blob } = await given(t, { content: 'v1', leasedSeconds: 60 });
  await refuses(blob.delete(), 412, 'LeaseIdMissing');
  await refuses(blob.delete('', { 'x-ms-lease-id': leaseB }), 412, 'LeaseIdMismatchWithBlobOperation');
  await gives(blob.delete('', { 'x-ms-lease-id': leaseA }), 202);
  await gives(blob.upload('v2'), 201);
});

test('uncommitted blocks are deleted like a blob', async (t) => {
  const { blob } = await given(t);
  await gives(blob.putBlock('a', 'one'), 201);
  await gives(blob.delete(), 202);
  await refuses(blob.get('comp=blocklist&blocklisttype=all'), 404, 'BlobNotFound');
});
