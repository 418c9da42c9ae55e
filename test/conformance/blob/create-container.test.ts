import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Container, given, header } from '../../support/given.js';
import { gives, refuses, startServer } from '../../support/server.js';

test('a container is made once, with an ETag', async (t) => {
  const server = await startServer(t, 'blob');
  const container = new Container(server, 'photos');
  const made = await gives(container.create({ 'x-ms-meta-a': '1' }), 201);
  await refuses(container.create(), 409, 'ContainerAlreadyExists');
  const got = await gives(container.head(), 200);
  assert.equal(header(got, 'etag'), header(made, 'etag'));
  assert.equal(header(got, 'x-ms-meta-a'), '1');
});

const names = [
  // name                code
  ['ab', 'OutOfRangeInput'],
  ['a'.repeat(64), 'OutOfRangeInput'],
  ['Upper', 'InvalidResourceName'],
  ['two--dashes', 'InvalidResourceName'],
  ['-dash', 'InvalidResourceName'],
  ['dash-', 'InvalidResourceName'],
  ['under_score', 'InvalidResourceName'],
  ['$logs', 'InvalidResourceName'],
] as const;

for (const [name, code] of names) {
  test(`no container is called ${name}`, async (t) => {
    const server = await startServer(t, 'blob');
    await refuses(new Container(server, name).create(), 400, code);
  });
}

test('the containers of the service itself, and names of any allowed length', async (t) => {
  const server = await startServer(t, 'blob');
  for (const name of ['$root', '$web', 'abc', 'a-1-b', 'a'.repeat(63)]) {
    await gives(new Container(server, name).create(), 201);
  }
  await gives(
    server.ask({ method: 'PUT', path: '/top', headers: { 'x-ms-blob-type': 'BlockBlob' }, body: 'x' }),
    201,
  );
  assert.equal((await gives(server.ask({ path: '/$root/top' }), 200)).text, 'x');
});

test('public access must be allowed by the account', async (t) => {
  const { container } = await given(t, { settings: { publicAccess: false } });
  const other = new Container(container.server, 'other');
  await refuses(other.create({ 'x-ms-blob-public-access': 'blob' }), 409, 'PublicAccessNotPermitted');
  await refuses(
    container.put('comp=acl', { 'x-ms-blob-public-access': 'container' }),
    409,
    'PublicAccessNotPermitted',
  );
  await refuses(other.create({ 'x-ms-blob-public-access': 'everything' }), 400, 'InvalidHeaderValue');
});

test('a name is free again as soon as its container is deleted, and nothing of it comes back', async (t) => {
  const { container, blob } = await given(t, { content: 'v1' });
  const before = await container.etag();
  await gives(container.delete(), 202);
  await gives(container.create(), 201);
  assert.deepEqual(await container.names(), []);
  await refuses(blob.get(), 404, 'BlobNotFound');
  assert.notEqual(await container.etag(), before);
});
