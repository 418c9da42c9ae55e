import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Container, given, header, leaseA, leaseB } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

test('a container goes with all that is in it, leased blobs too', async (t) => {
  const { container, blob, server } = await given(t, { content: 'x'.repeat(10_000), leasedSeconds: -1 });
  await blob.snapshot();
  await gives(container.blob('blocks').putBlock('a', 'x'.repeat(5000)), 201);
  const deleted = await gives(container.delete(), 202);
  assert.equal(deleted.headers.has('etag'), false);
  await refuses(container.get(), 404, 'ContainerNotFound');
  await refuses(blob.get(), 404, 'ContainerNotFound');
  await refuses(blob.upload('v2'), 404, 'ContainerNotFound');
  await refuses(container.delete(), 404, 'ContainerNotFound');
  await server.running.sweep();
});

test('conditions on the time are kept', async (t) => {
  const { container } = await given(t);
  const past = 'Sat, 01 Jan 2000 00:00:00 GMT';
  await refuses(container.delete('', { 'If-Unmodified-Since': past }), 412, 'ConditionNotMet');
  await refuses(container.delete('', { 'If-Match': '*' }), 400, 'ConditionHeadersNotSupported');
  await gives(container.delete('', { 'If-Modified-Since': past }), 202);
});

test('the containers of the service are not deleted by clients', async (t) => {
  const { server } = await given(t);
  await refuses(new Container(server, '$logs').delete(), 400, 'InvalidResourceName');
});

test('the lease is told of by name', async (t) => {
  const { container } = await given(t, { container: 'photos', leasedSeconds: 15 });
  const refused = await refuses(container.delete(), 412, 'LeaseIdMissing');
  assert.match(refused.text, /lease on the container/);
  await refuses(
    container.delete('', { 'x-ms-lease-id': leaseB }),
    412,
    'LeaseIdMismatchWithContainerOperation',
  );
  assert.equal(header(await container.head(), 'x-ms-lease-state'), 'leased');
  await gives(container.delete('', { 'x-ms-lease-id': leaseA }), 202);
});
