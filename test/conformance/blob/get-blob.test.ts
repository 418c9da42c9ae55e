import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';
import { Wire } from '../../support/wire.js';

const digits = '0123456789';

const ranges = [
  // header              status  content       Content-Range
  ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
  ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
  ['bytes=0-99', 206, digits, 'bytes 0-9/10'],
  ['bytes=9-9', 206, '9', 'bytes 9-9/10'],
  ['bytes=-3', 200, digits, undefined],
  ['bytes=5-2', 200, digits, undefined],
  ['bytes=0-1,4-5', 200, digits, undefined],
  ['pages=0-3', 200, digits, undefined],
] as const;

for (const [range, status, content, contentRange] of ranges) {
  test(`${range} of ten bytes gives ${status} ${content}`, async (t) => {
    const { blob } = await given(t, { content: digits });
    for (const name of ['Range', 'x-ms-range']) {
      const got = await gives(blob.get('', { [name]: range }), status);
      assert.equal(got.text, content);
      assert.equal(got.headers.get('content-range'), contentRange);
    }
  });
}

test('a range behind the end is not satisfiable, also of an empty blob', async (t) => {
  const { blob, container } = await given(t, { content: digits });
  const refused = await refuses(blob.get('', { Range: 'bytes=10-' }), 416, 'InvalidRange');
  assert.equal(header(refused, 'content-range'), 'bytes */10');
  const empty = container.blob('empty');
  await gives(empty.upload(''), 201);
  await refuses(empty.get('', { Range: 'bytes=0-' }), 416, 'InvalidRange');
  assert.equal(await empty.text(), '');
});

test('x-ms-range counts where both are sent', async (t) => {
  const { blob } = await given(t, { content: digits });
  const got = await gives(blob.get('', { Range: 'bytes=0-0', 'x-ms-range': 'bytes=1-2' }), 206);
  assert.equal(got.text, '12');
});

const ifRanges = [
  // If-Range                                       status
  [(etag: string) => etag, 206],
  [(etag: string) => etag.slice(1, -1), 206],
  [(_: string, modified: string) => modified, 206],
  [(etag: string) => `W/${etag}`, 200],
  [() => '"0x1"', 200],
  [() => 'Sat, 01 Jan 2000 00:00:00 GMT', 200],
  [() => 'Sat, 01 Jan 2050 00:00:00 GMT', 200],
  [() => 'newest', 200],
  [() => '*', 200],
] as const;

test('If-Range: the range of the same content, else the whole', async (t) => {
  const { blob } = await given(t, { content: digits });
  const head = await blob.head();
  const [etag, modified] = [header(head, 'etag'), header(head, 'last-modified')];
  for (const [value, status] of ifRanges) {
    const headers = { Range: 'bytes=2-3', 'If-Range': value(etag, modified) };
    const got = await gives(blob.get('', headers), status);
    assert.equal(got.text, status === 206 ? '23' : digits, headers['If-Range']);
    assert.equal(got.headers.has('content-range'), status === 206);
  }
  const behind = { Range: 'bytes=50-', 'If-Range': '"0x1"' };
  assert.equal((await gives(blob.get('', behind), 200)).text, digits, 'the content was longer once');
  await refuses(blob.get('', { ...behind, 'If-Range': etag }), 416, 'InvalidRange');
  assert.equal((await gives(blob.get('', { 'If-Range': etag }), 200)).text, digits);
});

test('a range has a checksum of its own on request', async (t) => {
  const { blob } = await given(t, { content: digits });
  const md5 = await gives(blob.get('', { Range: 'bytes=0-3', 'x-ms-range-get-content-md5': 'true' }), 206);
  assert.equal(header(md5, 'content-md5'), '62L2uTBttXXC1ZaxJ5YnpA==');
  assert.equal(header(md5, 'x-ms-blob-content-md5'), header(await blob.head(), 'content-md5'));
  const crc = await gives(blob.get('', { Range: 'bytes=0-3', 'x-ms-range-get-content-crc64': 'true' }), 206);
  assert.equal(header(crc, 'x-ms-content-crc64').length, 12);
  assert.equal(crc.headers.has('content-md5'), false);
});

test('a checksum of a range needs a range of 4 MiB at most, and is one of two', async (t) => {
  const { blob } = await given(t, { content: Buffer.alloc(4 * 1024 * 1024 + 1) });
  const md5 = { 'x-ms-range-get-content-md5': 'true' };
  await refuses(blob.get('', md5), 400, 'InvalidHeaderValue');
  await refuses(blob.get('', { ...md5, Range: 'bytes=0-4194304' }), 400, 'InvalidHeaderValue');
  const both = { ...md5, 'x-ms-range-get-content-crc64': 'true', Range: 'bytes=0-1' };
  await refuses(blob.get('', both), 400, 'InvalidHeaderValue');
  await gives(blob.get('', { ...md5, Range: 'bytes=0-4194303' }), 206);
});

test('ranges of a blob of many blocks are what they are of the whole', async (t) => {
  const { blob } = await given(t);
  const sizes = [1, 5000, 300_000, 17, 4096, 262_144];
  const parts = sizes.map((size, index) => Buffer.alloc(size, `${index}abc`));
  for (const [index, part] of parts.entries()) await gives(blob.putBlock(`block${index}`, part), 201);
  await gives(blob.commit(parts.map((_, index) => `Latest block${index}`)), 201);
  const whole = Buffer.concat(parts);
  assert.deepEqual((await gives(blob.get(), 200)).body, whole);
  const starts = [0, 1, 2, 5000, 5001, 305_000, 305_017, 309_114, whole.length - 1];
  for (const start of starts) {
    for (const length of [1, 100, 299_999]) {
      const end = Math.min(start + length, whole.length);
      const got = await gives(blob.get('', { Range: `bytes=${start}-${start + length - 1}` }), 206);
      assert.ok(got.body.equals(whole.subarray(start, end)), `${length} bytes from ${start}`);
    }
  }
});

test('a blob, a container, a snapshot or a version that does not exist is not found', async (t) => {
  const { blob, server } = await given(t);
  await refuses(blob.get(), 404, 'BlobNotFound');
  await refuses(blob.head(), 404, 'BlobNotFound');
  await refuses(server.ask({ path: '/none/x' }), 404, 'ContainerNotFound');
  await gives(blob.upload('v1'), 201);
  await refuses(blob.get('snapshot=2020-01-01T00:00:00.0000000Z'), 404, 'BlobNotFound');
  await refuses(blob.get('versionid=2020-01-01T00:00:00.0000000Z'), 404, 'BlobNotFound');
  await refuses(blob.get('snapshot=yesterday'), 400, 'InvalidQueryParameterValue');
  await refuses(
    blob.get('snapshot=2020-01-01T00:00:00.0000000Z&versionid=2020-01-01T00:00:00.0000000Z'),
    400,
    'MutuallyExclusiveQueryParameters',
  );
});

test('a blob that has only uncommitted blocks is not found', async (t) => {
  const { blob } = await given(t);
  await gives(blob.putBlock('a', 'one'), 201);
  await refuses(blob.get(), 404, 'BlobNotFound');
  await refuses(blob.head(), 404, 'BlobNotFound');
});

test('what an answer tells depends on the version that is asked for', async (t) => {
  const { blob } = await given(t, { content: 'v1', headers: { 'x-ms-tags': 'a=b' } });
  const old = await gives(blob.head('', { 'x-ms-version': '2015-02-21' }), 200);
  for (const name of ['x-ms-creation-time', 'x-ms-tag-count', 'x-ms-access-tier']) {
    assert.equal(old.headers.has(name), false, name);
  }
  const now = await gives(blob.head(), 200);
  assert.equal(header(now, 'x-ms-tag-count'), '1');
  assert.equal(header(now, 'x-ms-access-tier-inferred'), 'true');
});

test('a public container can be read by anybody, a private one cannot', async (t) => {
  const { blob, container, server } = await given(t, { content: 'v1' });
  const anonymous = (version: string) =>
    server.ask({ path: blob.path, as: 'anybody', headers: { 'x-ms-version': version } });
  await refuses(anonymous('2021-12-02'), 401, 'NoAuthenticationInformation');
  await refuses(anonymous('2018-11-09'), 404, 'ResourceNotFound');
  await gives(container.put('comp=acl', { 'x-ms-blob-public-access': 'blob' }), 200);
  assert.equal((await gives(anonymous('2021-12-02'), 200)).text, 'v1');
});

test('an overwrite during a download leaves the download whole', async (t) => {
  const { blob, server } = await given(t);
  const first = Buffer.alloc(6 * 1024 * 1024, 'first');
  await gives(blob.upload(first), 201);
  await gives(
    server.ask({
      method: 'PUT',
      path: '/photos?restype=container&comp=acl',
      headers: { 'x-ms-blob-public-access': 'blob' },
    }),
    200,
  );
  const wire = await Wire.open(server.address);
  wire.pause().request({ target: `/${server.account.name}${blob.path}` });
  await gives(blob.upload('second'), 201);
  await gives(blob.delete(), 202);
  wire.resume();
  const got = await wire.answer();
  wire.close();
  assert.equal(got.status, 200);
  assert.ok(got.body.equals(first));
});
