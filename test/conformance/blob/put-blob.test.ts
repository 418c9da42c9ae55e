import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, header, leaseA } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

test('a blob that is put can be read, with its properties', async (t) => {
  const { blob } = await given(t);

  const put = await gives(
    blob.upload('hello', { 'Content-Type': 'text/plain', 'x-ms-meta-Color': 'red' }),
    201,
  );
  assert.equal(header(put, 'content-md5'), 'XUFAKrxLKna5cZ2REBfFkg==');
  assert.equal(header(put, 'x-ms-request-server-encrypted'), 'true');

  const got = await gives(blob.get(), 200);
  assert.equal(got.text, 'hello');
  assert.equal(header(got, 'etag'), header(put, 'etag'));
  assert.equal(header(got, 'content-type'), 'text/plain');
  assert.equal(header(got, 'x-ms-meta-color'), 'red');
  assert.equal(header(got, 'content-md5'), 'XUFAKrxLKna5cZ2REBfFkg==');
  assert.equal(header(got, 'x-ms-blob-type'), 'BlockBlob');
});

test('an overwrite replaces content, properties, metadata and tags, and keeps the creation time', async (t) => {
  const { blob, server } = await given(t, {
    content: 'v1',
    headers: { 'x-ms-blob-cache-control': 'no-store', 'x-ms-meta-a': '1', 'x-ms-tags': 'k=v' },
  });
  const before = await gives(blob.head(), 200);
  server.pass(10);

  await gives(blob.upload('v2'), 201);

  const after = await gives(blob.head(), 200);
  assert.equal(after.headers.has('cache-control'), false);
  assert.equal(after.headers.has('x-ms-meta-a'), false);
  assert.equal(after.headers.has('x-ms-tag-count'), false);
  assert.equal(header(after, 'x-ms-creation-time'), header(before, 'x-ms-creation-time'));
  assert.notEqual(header(after, 'last-modified'), header(before, 'last-modified'));
});

for (const size of [0, 1, 4096, 4097, 300_000]) {
  test(`a blob of ${size} bytes comes back as it was put`, async (t) => {
    const { blob } = await given(t);
    const content = Buffer.alloc(size, 'Lazuli');
    await gives(blob.upload(content), 201);
    assert.deepEqual((await gives(blob.get(), 200)).body, content);
  });
}

test('a body whose MD5 is another is refused and changes nothing', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  const wrong = { 'Content-MD5': 'XUFAKrxLKna5cZ2REBfFkg==' };

  await refuses(blob.upload('v2', wrong), 400, 'Md5Mismatch');
  await refuses(blob.upload('v2', { 'x-ms-blob-content-md5': wrong['Content-MD5'] }), 400, 'Md5Mismatch');
  await refuses(blob.upload('v2', { 'Content-MD5': 'short' }), 400, 'InvalidMd5');
  await refuses(blob.upload('v2', { 'x-ms-content-crc64': 'AAAAAAAAAAA=' }), 400, 'Crc64Mismatch');

  assert.equal(await blob.text(), 'v1');
});

test('a blob needs a container, a type and a length', async (t) => {
  const { blob, server, container } = await given(t);
  await refuses(
    server.ask({ method: 'PUT', path: '/none/x', headers: { 'x-ms-blob-type': 'BlockBlob' } }),
    404,
    'ContainerNotFound',
  );
  await refuses(blob.put('', {}, 'x'), 400, 'MissingRequiredHeader');
  await refuses(blob.put('', { 'x-ms-blob-type': 'Rock' }, 'x'), 400, 'InvalidHeaderValue');
  await refuses(blob.put('', { 'x-ms-blob-type': 'AppendBlob' }, 'x'), 400, 'InvalidHeaderValue');
  await refuses(blob.upload('x', { 'x-ms-blob-content-length': '512' }), 400, 'InvalidHeaderValue');
  assert.deepEqual(await container.names(), []);
});

test('a write that names a lease of a blob that does not exist is refused', async (t) => {
  const { blob } = await given(t);
  await refuses(blob.upload('v1', { 'x-ms-lease-id': leaseA }), 412, 'LeaseNotPresentWithBlobOperation');
});

test('an overwrite under its lease keeps the lease', async (t) => {
  const { blob } = await given(t, { content: 'v1', leasedSeconds: 60 });
  await gives(blob.upload('v2', { 'x-ms-lease-id': leaseA }), 201);
  assert.equal(header(await blob.head(), 'x-ms-lease-state'), 'leased');
});

test('putting a blob discards the blocks that were not committed', async (t) => {
  const { blob } = await given(t);
  await gives(blob.putBlock('a', 'one'), 201);
  await gives(blob.upload('whole'), 201);
  await refuses(blob.commit(['Latest a']), 400, 'InvalidBlockList');
  assert.equal(await blob.text(), 'whole');
});

test('a name keeps its type while there are snapshots of it', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  await blob.snapshot();
  await refuses(blob.put('', { 'x-ms-blob-type': 'AppendBlob' }), 409, 'SnapshotsPresent');
  await gives(blob.delete('', { 'x-ms-delete-snapshots': 'only' }), 202);
  await gives(blob.put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
  assert.equal(header(await blob.head(), 'x-ms-blob-type'), 'AppendBlob');
});

test('names with any characters are kept as they are', async (t) => {
  const { container } = await given(t);
  const names = ['a b', 'a%b', 'ü/ñ', '..', './x', 'a//b', 'a\\b', 'Ω𝄞', 'trailing/', 'q?x#y', "it's"];
  for (const name of names) await gives(container.blob(name).upload(name), 201);
  for (const name of names) assert.equal(await container.blob(name).text(), name);
  assert.equal((await container.names()).length, names.length);
});

test('a name that is too long, or too deep, is refused', async (t) => {
  const { container } = await given(t);
  await gives(container.blob('x'.repeat(1024)).upload('x'), 201);
  await refuses(container.blob('x'.repeat(1025)).upload('x'), 400, 'InvalidUri');
  await refuses(container.blob(`${'x/'.repeat(254)}x`).upload('x'), 400, 'InvalidUri');
  await refuses(container.blob('x'.repeat(5000)).get(), 400, 'InvalidUri');
});

test('a structured body is refused: its frames would be stored', async (t) => {
  const { blob } = await given(t);
  const headers = { 'x-ms-structured-body': 'XSM/1.0; properties=crc64' };
  await refuses(blob.upload('frames', headers), 400, 'UnsupportedHeader');
  await refuses(blob.putBlock('a', 'frames', headers), 400, 'UnsupportedHeader');
});
