import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Container, given, header, leaseA, leaseB } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

test('properties by GET and by HEAD', async (t) => {
  const { container } = await given(t);
  for (const method of ['GET', 'HEAD']) {
    const got = await gives(container.ask(method), 200);
    const told = [
      'x-ms-lease-status',
      'x-ms-lease-state',
      'x-ms-has-immutability-policy',
      'x-ms-has-legal-hold',
      'x-ms-default-encryption-scope',
      'x-ms-deny-encryption-scope-override',
    ];
    assert.deepEqual(
      told.map((name) => header(got, name)),
      ['unlocked', 'available', 'false', 'false', '$account-encryption-key', 'false'],
    );
    assert.equal(got.headers.has('x-ms-blob-public-access'), false);
    assert.equal(got.text, '');
  }
});

test('a lease is told with its duration, and an id that is sent must fit', async (t) => {
  const { container } = await given(t, { container: 'photos', leasedSeconds: -1 });
  const got = await gives(container.head('', { 'x-ms-lease-id': leaseA }), 200);
  assert.equal(header(got, 'x-ms-lease-duration'), 'infinite');
  await refuses(
    container.head('', { 'x-ms-lease-id': leaseB }),
    412,
    'LeaseIdMismatchWithContainerOperation',
  );
});

test('a container that does not exist is not found', async (t) => {
  const { server } = await given(t);
  await refuses(new Container(server, 'none').get(), 404, 'ContainerNotFound');
});

test('blobs change nothing about their container', async (t) => {
  const { container, blob } = await given(t);
  const before = await container.etag();
  await gives(blob.upload('v1'), 201);
  await gives(blob.delete(), 202);
  assert.equal(await container.etag(), before);
});
