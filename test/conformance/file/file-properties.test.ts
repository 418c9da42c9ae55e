// Get and Set File Properties, Get and Set File Metadata, Delete File.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header, leaseA } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

test('one HTTP property replaces all six; a length alone leaves them', async (t) => {
  const { file } = await given(t, {
    file: 'a.txt',
    headers: { 'x-ms-content-type': 'text/plain', 'x-ms-cache-control': 'no-store' },
  });
  await gives(file.setProperties({ 'x-ms-content-length': '5' }), 200);
  const kept = await gives(file.head(), 200);
  assert.equal(header(kept, 'content-type'), 'text/plain');
  assert.equal(header(kept, 'cache-control'), 'no-store');
  assert.equal(header(kept, 'content-length'), '5');
  await gives(file.setProperties({ 'x-ms-content-language': 'de' }), 200);
  const replaced = await gives(file.head(), 200);
  assert.equal(header(replaced, 'content-type'), 'application/octet-stream');
  assert.equal(replaced.headers.get('cache-control'), undefined);
  assert.equal(header(replaced, 'content-language'), 'de');
});

test('shrinking drops what lies beyond, growing adds a hole', async (t) => {
  const { file } = await given(t, { file: 'a.txt', content: Buffer.alloc(2000, 1) });
  await gives(file.setProperties({ 'x-ms-content-length': '600' }), 200);
  await gives(file.setProperties({ 'x-ms-content-length': '2000' }), 200);
  const { body } = await gives(file.get(), 200);
  assert.ok(body.equals(Buffer.concat([Buffer.alloc(600, 1), Buffer.alloc(1400)])));
  assert.deepEqual(await file.ranges(), ['0-1023']);
  await gives(file.setProperties({ 'x-ms-content-length': '0' }), 200);
  await gives(file.setProperties({ 'x-ms-content-length': '10' }), 200);
  assert.deepEqual([...(await file.get()).body], Array(10).fill(0));
  assert.deepEqual(await file.ranges(), []);
  await refuses(file.setProperties({ 'x-ms-content-length': '4398046511105' }), 400, 'OutOfRangeInput');
});

test('times and attributes: what is given, what stays, what is now', async (t) => {
  const { server, file } = await given(t, { file: 'a.txt' });
  const before = await gives(file.head(), 200);
  server.pass(10);
  const when = '2010-01-01T00:00:00.0000001Z';
  const set = await gives(
    file.setProperties({ 'x-ms-file-creation-time': when, 'x-ms-file-attributes': 'System|Hidden' }),
    200,
  );
  assert.equal(header(set, 'x-ms-file-creation-time'), when);
  assert.equal(header(set, 'x-ms-file-attributes'), 'Hidden | System');
  assert.equal(header(set, 'x-ms-file-last-write-time'), header(before, 'x-ms-file-last-write-time'));
  assert.notEqual(header(set, 'x-ms-file-change-time'), header(before, 'x-ms-file-change-time'));
  const resized = await gives(file.setProperties({ 'x-ms-content-length': '5' }), 200);
  assert.notEqual(header(resized, 'x-ms-file-last-write-time'), header(before, 'x-ms-file-last-write-time'));
  const kept = await gives(
    file.setProperties({ 'x-ms-content-length': '6', 'x-ms-file-last-write-time': when }),
    200,
  );
  assert.equal(header(kept, 'x-ms-file-last-write-time'), when);
});

test('metadata is replaced as a whole, and none clears it', async (t) => {
  const { file } = await given(t, { file: 'a.txt' });
  await gives(file.setMetadata({ 'x-ms-meta-a': '1', 'x-ms-meta-B': '2' }), 200);
  const got = await gives(file.get('comp=metadata'), 200);
  assert.equal(header(got, 'x-ms-meta-b'), '2');
  await gives(file.setMetadata({}), 200);
  const none = await gives(file.head('comp=metadata'), 200);
  assert.ok(![...none.headers.keys()].some((name) => name.startsWith('x-ms-meta-')));
});

test('every change gives a new ETag; a read gives none', async (t) => {
  const { file } = await given(t, { file: 'a.txt' });
  const etag = async () => header(await gives(file.head(), 200), 'etag');
  const seen = new Set([await etag(), await etag()]);
  assert.equal(seen.size, 1);
  await gives(file.setMetadata({ 'x-ms-meta-a': '1' }), 200);
  seen.add(await etag());
  await gives(file.setProperties({ 'x-ms-content-type': 'a/b' }), 200);
  seen.add(await etag());
  await gives(file.write('x'), 201);
  seen.add(await etag());
  await gives(file.clear(0, 0), 201);
  seen.add(await etag());
  await gives(file.create(1), 201);
  seen.add(await etag());
  assert.equal(seen.size, 6);
});

test('a deleted file is gone at once, and its space is given back', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt' });
  await gives(file.delete(), 202);
  await refuses(file.get(), 404, 'ResourceNotFound');
  await refuses(file.delete(), 404, 'ResourceNotFound');
  assert.equal(await share.usage(), 0);
});

test('a leased file is changed and deleted only with its id', async (t) => {
  const { file } = await given(t, { file: 'a.txt', leased: true });
  const lease = { 'x-ms-lease-id': leaseA };
  await refuses(file.setMetadata({}), 412, 'LeaseIdMissing');
  await refuses(file.setProperties({ 'x-ms-content-type': 'a/b' }), 412, 'LeaseIdMissing');
  await refuses(file.delete(), 412, 'LeaseIdMissing');
  await gives(file.setMetadata(lease), 200);
  await gives(file.delete('', lease), 202);
});

test('a snapshot cannot be changed', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt' });
  const query = `sharesnapshot=${await share.snapshot()}`;
  await refuses(file.delete(query), 400, 'InvalidQueryParameterValue');
  await refuses(file.put(`comp=metadata&${query}`), 400, 'InvalidQueryParameterValue');
  await refuses(file.put(`comp=properties&${query}`), 400, 'InvalidQueryParameterValue');
  await refuses(file.put(`comp=lease&${query}`), 400, 'InvalidQueryParameterValue');
});

for (const time of [
  '1601-01-01T00:00:00.0000000Z',
  '1601-01-01T00:00:00.0000001Z',
  '1969-12-31T23:59:59.9999999Z',
  '1969-12-31T23:59:59.9990000Z',
  '1970-01-01T00:00:00.0000001Z',
  '2021-07-05T01:36:57.0788027Z',
  '9999-12-31T23:59:59.9999999Z',
]) {
  test(`the time ${time} is kept to 100 ns`, async (t) => {
    const { file } = await given(t, { file: 'a.txt' });
    await gives(file.setProperties({ 'x-ms-file-creation-time': time }), 200);
    assert.equal(header(await gives(file.head(), 200), 'x-ms-file-creation-time'), time);
  });
}
