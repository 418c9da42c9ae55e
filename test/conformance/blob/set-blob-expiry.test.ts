import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Blob, given, header, leaseA } from '../../support/given.js';
import { assertNothingLeft } from '../../support/leftovers.js';
import { gives, refuses } from '../../support/server.js';
import { assertUsageExact } from '../../support/usage.js';

const expire = (blob: Blob, option: string, time?: string, headers = {}) =>
  blob.put('comp=expiry', { 'x-ms-expiry-option': option, 'x-ms-expiry-time': time, ...headers });

const httpDate = (ms: number) => new Date(ms).toUTCString();

test('a blob ends when its time is over, for everybody at once', async (t) => {
  const { blob, container, server } = await given(t, { content: 'v1', headers: { 'x-ms-tags': 'a=1' } });
  const etag = await blob.etag();
  const set = await gives(expire(blob, 'RelativeToNow', '60000'), 200);
  assert.equal(header(set, 'etag'), etag);
  header(set, 'last-modified');
  server.pass(59);
  assert.equal(await blob.text(), 'v1');
  assert.equal((await server.ask({ path: "/?comp=blobs&where=a='1'" })).text.includes('cat.jpg'), true);
  server.pass(2);
  await refuses(blob.get(), 404, 'BlobNotFound');
  assert.equal((await blob.head()).status, 404);
  await refuses(blob.get('comp=blocklist'), 404, 'BlobNotFound');
  await refuses(blob.get('comp=tags'), 404, 'BlobNotFound');
  await refuses(blob.put('comp=metadata'), 404, 'BlobNotFound');
  await refuses(blob.put('comp=snapshot'), 404, 'BlobNotFound');
  await refuses(blob.delete(), 404, 'BlobNotFound');
  await refuses(blob.acquire(15), 404, 'BlobNotFound');
  await refuses(blob.put('comp=tier', { 'x-ms-access-tier': 'Cool' }), 404, 'BlobNotFound');
  await refuses(blob.put('comp=tags', {}, '<Tags><TagSet/></Tags>'), 404, 'BlobNotFound');
  await refuses(container.blob('copy').copyFrom(blob), 404, 'CannotVerifyCopySource');
  assert.deepEqual(await container.names('include=uncommittedblobs,deleted,versions'), []);
  assert.equal((await server.ask({ path: "/?comp=blobs&where=a='1'" })).text.includes('cat.jpg'), false);
});

test('the four options', async (t) => {
  const { blob, server } = await given(t, { content: 'v1' });
  const created = Date.parse(header(await blob.head(), 'x-ms-creation-time'));
  const told = async () => (await gives(blob.head(), 200)).headers.get('x-ms-expiry-time');
  assert.equal(await told(), undefined);
  server.pass(100);
  await gives(expire(blob, 'RelativeToCreation', '3600000'), 200);
  const relative = Date.parse((await told()) ?? '');
  assert.ok(Math.abs(relative - created - 3_600_000) <= 1000, `${relative} an hour after ${created}`);
  await gives(expire(blob, 'relativetonow', '3600000'), 200);
  const later = Date.parse((await told()) ?? '');
  assert.ok(
    Math.abs(later - relative - 100_000) <= 1000,
    `${later} by the time that passed after ${relative}`,
  );
  await gives(expire(blob, 'Absolute', httpDate(created + 86_400_000)), 200);
  assert.equal(await told(), httpDate(created + 86_400_000));
  assert.equal(header(await blob.get(), 'x-ms-expiry-time'), httpDate(created + 86_400_000));
  assert.match(
    (await gives(blob.server.ask({ path: '/photos?restype=container&comp=list' }), 200)).text,
    new RegExp(`<Expiry-Time>${httpDate(created + 86_400_000)}</Expiry-Time>`),
  );
  assert.equal(
    (await blob.head('', { 'x-ms-version': '2019-12-12' })).headers.has('x-ms-expiry-time'),
    false,
  );
  await gives(expire(blob, 'NeverExpire'), 200);
  assert.equal(await told(), undefined);
  server.pass(10 * 86_400);
  assert.equal(await blob.text(), 'v1');
});

test('what is wrong with an expiry is refused', async (t) => {
  const { blob, container } = await given(t, { content: 'v1' });
  await refuses(blob.put('comp=expiry'), 400, 'MissingRequiredHeader');
  await refuses(expire(blob, 'Sometimes', '1'), 400, 'InvalidHeaderValue');
  await refuses(expire(blob, 'RelativeToNow'), 400, 'MissingRequiredHeader');
  await refuses(expire(blob, 'Absolute'), 400, 'MissingRequiredHeader');
  await refuses(expire(blob, 'NeverExpire', '1000'), 400, 'InvalidHeaderValue');
  for (const time of ['-1', '1.5', 'soon', '9'.repeat(16), httpDate(Date.now() + 60_000)]) {
    await refuses(expire(blob, 'RelativeToNow', time), 400, 'InvalidHeaderValue');
  }
  await refuses(expire(blob, 'RelativeToNow', '0'), 400, 'InvalidHeaderValue');
  await refuses(expire(blob, 'RelativeToCreation', '0'), 400, 'InvalidHeaderValue');
  await refuses(expire(blob, 'Absolute', '60000'), 400, 'InvalidHeaderValue');
  await refuses(expire(blob, 'Absolute', httpDate(Date.now() - 60_000)), 400, 'InvalidHeaderValue');
  await refuses(expire(container.blob('none'), 'RelativeToNow', '1000'), 404, 'BlobNotFound');
  await refuses(blob.put('comp=expiry&snapshot=2020-01-01T00:00:00.0000000Z'), 400, 'MissingRequiredHeader');
  await refuses(
    expire(blob, 'NeverExpire', undefined, { 'x-ms-version': '2019-12-12' }),
    400,
    'InvalidQueryParameterValue',
  );
  assert.equal(await blob.text(), 'v1');
});

test('a leased blob needs its lease, and conditions hold', async (t) => {
  const { blob } = await given(t, { content: 'v1', leasedSeconds: -1 });
  await refuses(expire(blob, 'RelativeToNow', '60000'), 412, 'LeaseIdMissing');
  await refuses(
    expire(blob, 'RelativeToNow', '60000', { 'x-ms-lease-id': leaseA, 'If-Match': '"0x1"' }),
    412,
    'ConditionNotMet',
  );
  await gives(expire(blob, 'RelativeToNow', '60000', { 'x-ms-lease-id': leaseA }), 200);
});

test('a put sets it, keeps what there was, or ends it', async (t) => {
  const { blob, server } = await given(t, { content: 'v1' });
  const now = { 'x-ms-expiry-option': 'RelativeToNow', 'x-ms-expiry-time': '60000' };
  const told = async () => (await gives(blob.head(), 200)).headers.get('x-ms-expiry-time');
  await gives(blob.upload('v2', { ...now, 'x-ms-version': '2023-01-03' }), 201);
  assert.equal(await told(), undefined, 'puts of older versions know nothing of it');
  await refuses(blob.upload('v2', { 'x-ms-expiry-time': '60000' }), 400, 'MissingRequiredHeader');
  await gives(blob.upload('v2', now), 201);
  const first = await told();
  assert.ok(first);
  await gives(blob.upload('v3'), 201);
  assert.equal(await told(), first);
  await gives(blob.commit([]), 201);
  assert.equal(await told(), first);
  await gives(blob.upload('v4', { 'x-ms-expiry-option': 'NeverExpire' }), 201);
  assert.equal(await told(), undefined);
  for (const headers of [
    { 'x-ms-blob-type': 'AppendBlob' },
    { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '512' },
  ]) {
    await gives(blob.put('', { ...headers, ...now }), 201);
    assert.ok(await told());
    server.pass(61);
    await refuses(blob.get(), 404, 'BlobNotFound');
  }
  await gives(blob.commit([], now), 201);
  server.pass(61);
  await refuses(blob.get(), 404, 'BlobNotFound');
});

test('a new blob takes the place of one that has ended, swept or not, and nothing is left', async (t) => {
  const { blob, container, server } = await given(t, {
    content: 'x'.repeat(10_000),
    headers: { 'x-ms-tags': 'a=1' },
  });
  const service =
    '<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days></DeleteRetentionPolicy></StorageServiceProperties>';
  await gives(server.ask({ method: 'PUT', path: '/?restype=service&comp=properties', body: service }), 202);
  await gives(blob.putBlock('a', 'block'), 201);
  await gives(expire(blob, 'RelativeToNow', '1000'), 200);
  const swept = container.blob('swept');
  await gives(swept.upload('y'.repeat(10_000)), 201);
  await gives(expire(swept, 'RelativeToNow', '1000'), 200);
  const blocks = container.blob('blocks');
  await gives(blocks.upload('old'), 201);
  await gives(expire(blocks, 'RelativeToNow', '1000'), 200);
  server.pass(2);
  await gives(blob.upload('new', { 'If-None-Match': '*' }), 201);
  assert.equal(await blob.text(), 'new');
  assert.equal((await blob.head()).headers.has('x-ms-expiry-time'), false);
  await gives(blocks.putBlock('a', 'block'), 201);
  assert.deepEqual(await container.names('include=uncommittedblobs'), ['blocks', 'cat.jpg']);
  assert.deepEqual(await container.names('include=deleted,snapshots'), ['cat.jpg'], 'nothing is kept of it');
  await server.running.sweep();
  const usage = await assertUsageExact(server);
  assert.deepEqual(usage['devstoreaccount1/photos']?.blobs, { count: 1, bytes: 3 });
  await gives(container.delete(), 202);
  await assertNothingLeft(server);
});

test('another time in between holds: what was noted for the first one does nothing', async (t) => {
  const { blob, server } = await given(t, { content: 'v1' });
  await gives(expire(blob, 'RelativeToNow', '1000'), 200);
  await gives(expire(blob, 'RelativeToNow', '100000'), 200);
  server.pass(2);
  await server.running.sweep();
  assert.equal(await blob.text(), 'v1');
  server.pass(100);
  await server.running.sweep();
  await refuses(blob.get(), 404, 'BlobNotFound');
});

test('snapshots stay when the blob ends', async (t) => {
  const { blob, server } = await given(t, { content: 'v1' });
  await gives(expire(blob, 'RelativeToNow', '1000'), 200);
  const snapshot = await blob.snapshot();
  server.pass(2);
  await server.running.sweep();
  await refuses(blob.get(), 404, 'BlobNotFound');
  assert.equal(await blob.text(`snapshot=${snapshot}`), 'v1');
  assert.equal((await blob.head(`snapshot=${snapshot}`)).headers.has('x-ms-expiry-time'), false);
});
