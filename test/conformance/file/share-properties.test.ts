// Get Share Properties, Set Share Properties, Get and Set Share Metadata, Get Share Stats.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header, leaseA } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

test('setting properties changes them, the ETag and the time', async (t) => {
  const { server, share } = await given(t);
  const before = await gives(share.get(), 200);
  server.pass(5);
  const set = await gives(
    share.put('comp=properties', { 'x-ms-share-quota': '3', 'x-ms-access-tier': 'hot' }),
    200,
  );
  const after = await gives(share.get(), 200);
  assert.equal(header(after, 'x-ms-share-quota'), '3');
  assert.equal(header(after, 'x-ms-access-tier'), 'Hot');
  assert.notEqual(header(after, 'etag'), header(before, 'etag'));
  assert.equal(header(after, 'etag'), header(set, 'etag'));
  assert.notEqual(
    header(after, 'x-ms-access-tier-change-time'),
    header(before, 'x-ms-access-tier-change-time'),
  );
  await refuses(share.put('comp=properties', { 'x-ms-share-quota': '0' }), 400, 'InvalidHeaderValue');
});

test('metadata is replaced as a whole', async (t) => {
  const { share } = await given(t);
  await gives(share.put('comp=metadata', { 'x-ms-meta-a': '1', 'x-ms-meta-b': '2' }), 200);
  await gives(share.put('comp=metadata', { 'x-ms-meta-C': '3' }), 200);
  const got = await gives(share.get('comp=metadata'), 200);
  assert.deepEqual(
    [...got.headers.keys()].filter((name) => name.startsWith('x-ms-meta-')),
    ['x-ms-meta-c'],
  );
  await refuses(share.put('comp=metadata', { 'x-ms-meta-': '1' }), 400, 'EmptyMetadataKey');
  await refuses(share.put('comp=metadata', { 'x-ms-meta-1a': '1' }), 400, 'InvalidMetadata');
  await refuses(share.put('comp=metadata', { 'x-ms-meta-a': 'x'.repeat(8192) }), 400, 'MetadataTooLarge');
});

test('usage is the lengths of all files, exactly', async (t) => {
  const { share } = await given(t);
  assert.equal(await share.usage(), 0);
  await gives(share.file('a').create(1000), 201);
  await gives(share.file('b').create(24), 201);
  assert.equal(await share.usage(), 1024);
  await gives(share.file('a').setProperties({ 'x-ms-content-length': '10' }), 200);
  assert.equal(await share.usage(), 34);
  await gives(share.file('c').copyFrom(share.file('b')), 202);
  assert.equal(await share.usage(), 58);
  await gives(share.file('b').create(1), 201);
  assert.equal(await share.usage(), 35);
  await gives(
    share.file('a').renameFrom(share.file('c'), { 'x-ms-file-rename-replace-if-exists': 'true' }),
    200,
  );
  assert.equal(await share.usage(), 25);
  await gives(share.file('a').delete(), 202);
  assert.equal(await share.usage(), 1);
  const old = await gives(share.get('comp=stats', { 'x-ms-version': '2018-03-28' }), 200);
  assert.match(old.text, /<ShareStats><ShareUsage>1<\/ShareUsage><\/ShareStats>/);
});

test('the quota is kept exactly: growth beyond it is refused, all else goes on', async (t) => {
  const { share } = await given(t);
  await gives(share.put('comp=properties', { 'x-ms-share-quota': '1' }), 200);
  const gib = 2 ** 30;
  await refuses(share.file('a').create(gib + 1), 409, 'ShareSizeLimitReached');
  await gives(share.file('a').create(gib - 10), 201);
  await gives(share.file('b').create(10), 201);
  await refuses(share.file('c').create(1), 409, 'ShareSizeLimitReached');
  await refuses(share.file('b').setProperties({ 'x-ms-content-length': '11' }), 409, 'ShareSizeLimitReached');
  await refuses(share.file('c').copyFrom(share.file('b')), 409, 'ShareSizeLimitReached');
  await gives(share.file('c').create(0), 201);
  await gives(share.directory('d').put(), 201);
  await gives(share.file('a').write('inside'), 201);
  assert.equal(await share.usage(), gib);
  await gives(share.file('b').delete(), 202);
  await gives(share.file('c').create(10), 201);
});

test('many that fill the last bytes at once never pass the quota', async (t) => {
  const { share } = await given(t);
  await gives(share.put('comp=properties', { 'x-ms-share-quota': '1' }), 200);
  const quarter = 2 ** 28;
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => share.file(`f${index}`).create(quarter)),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 4);
  assert.equal(await share.usage(), 2 ** 30);
});

test('a lease id that is sent must fit', async (t) => {
  const { share } = await given(t);
  const sent = { 'x-ms-lease-id': leaseA };
  await refuses(share.get('', sent), 412, 'LeaseNotPresentWithContainerOperation');
  await refuses(share.get('comp=stats', sent), 412, 'LeaseNotPresentWithContainerOperation');
  await refuses(share.get('', { 'x-ms-lease-id': 'no guid' }), 400, 'InvalidHeaderValue');
});

test('a snapshot is read like the share and cannot be changed', async (t) => {
  const { share } = await given(t);
  const snapshot = await share.snapshot();
  const query = `sharesnapshot=${snapshot}`;
  assert.equal(header(await gives(share.get(query), 200), 'x-ms-snapshot'), snapshot);
  await gives(share.get(`comp=metadata&${query}`), 200);
  for (const comp of ['metadata', 'properties', 'acl', 'snapshot']) {
    await refuses(share.put(`comp=${comp}&${query}`), 400, 'InvalidQueryParameterValue');
  }
  await refuses(share.get(`comp=stats&${query}`), 400, 'InvalidQueryParameterValue');
  for (const wrong of ['yesterday', '2024-01-01T00:00:00.5000000Z', '2024-13-01T00:00:00.0000000Z']) {
    await refuses(share.get(`sharesnapshot=${wrong}`), 400, 'InvalidQueryParameterValue');
  }
  await refuses(share.get('sharesnapshot=2020-01-01T00:00:00.0000000Z'), 404, 'ShareSnapshotNotFound');
});
