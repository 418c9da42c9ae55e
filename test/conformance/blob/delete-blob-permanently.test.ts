import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives, refuses, type TestServer } from '../../support/server.js';
import { assertUsageExact } from '../../support/usage.js';

function retain(server: TestServer, allow: boolean) {
  const policy = `<Enabled>true</Enabled><Days>7</Days><AllowPermanentDelete>${allow}</AllowPermanentDelete>`;
  const body = `<StorageServiceProperties><DeleteRetentionPolicy>${policy}</DeleteRetentionPolicy></StorageServiceProperties>`;
  return gives(server.ask({ method: 'PUT', path: '/?restype=service&comp=properties', body }), 202);
}

test('a soft-deleted snapshot goes for good', async (t) => {
  const { blob, container, server } = await given(t, { content: 'v1' });
  await retain(server, true);
  const snapshot = await blob.snapshot();
  const forGood = () => blob.delete(`snapshot=${snapshot}&deletetype=permanent`);
  await refuses(forGood(), 409, 'InvalidOperation');
  await gives(blob.delete(`snapshot=${snapshot}`), 202);
  const { headers } = await gives(forGood(), 202);
  assert.equal(headers.get('x-ms-delete-type-permanent'), 'true');
  await refuses(forGood(), 404, 'BlobNotFound');
  await gives(blob.put('comp=undelete'), 200);
  assert.doesNotMatch((await container.list('include=deleted,snapshots')).text, /<Snapshot>/);
  const usage = await assertUsageExact(server);
  assert.deepEqual(usage['devstoreaccount1/photos']?.deleted, { count: 0, bytes: 0 });
});

test('a soft-deleted version goes for good', async (t) => {
  const { blob, server } = await given(t, { content: 'v1', settings: { versioning: true } });
  await retain(server, true);
  const version = header(await blob.head(), 'x-ms-version-id');
  await gives(blob.upload('v2'), 201);
  await refuses(blob.delete(`versionid=${version}&deletetype=permanent`), 409, 'InvalidOperation');
  await gives(blob.delete(`versionid=${version}`), 202);
  await gives(blob.delete(`versionid=${version}&deletetype=Permanent`), 202);
  await gives(blob.put('comp=undelete'), 200);
  await refuses(blob.get(`versionid=${version}`), 404, 'BlobNotFound');
});

test('only where the account allows it, and never the blob itself', async (t) => {
  const { blob, server } = await given(t, { content: 'v1' });
  await retain(server, false);
  const snapshot = await blob.snapshot();
  await gives(blob.delete(`snapshot=${snapshot}`), 202);
  await refuses(blob.delete(`snapshot=${snapshot}&deletetype=permanent`), 409, 'InvalidOperation');
  await refuses(blob.delete('deletetype=permanent'), 400, 'InvalidQueryParameterValue');
  await refuses(blob.delete('deletetype=temporary'), 400, 'InvalidQueryParameterValue');
  await retain(server, true);
  await refuses(
    server.ask({
      method: 'DELETE',
      path: `${blob.path}?snapshot=${snapshot}&deletetype=permanent`,
      headers: { 'x-ms-delete-snapshots': 'include' },
    }),
    400,
    'InvalidHeaderValue',
  );
  server.pass(8 * 24 * 3600);
  await refuses(blob.delete(`snapshot=${snapshot}&deletetype=permanent`), 404, 'BlobNotFound');
  assert.equal(await blob.text(), 'v1');
});
