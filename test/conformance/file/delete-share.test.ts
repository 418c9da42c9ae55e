import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, leaseA, leaseB } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

test('a share that is deleted is gone with all that is in it, and its name is free after 30 seconds', async (t) => {
  const { server, share, file } = await given(t, { file: 'a.txt' });
  await gives(share.delete(), 202);
  await refuses(share.get(), 404, 'ShareNotFound');
  await refuses(file.get(), 404, 'ShareNotFound');
  await refuses(share.root.list(), 404, 'ShareNotFound');
  await refuses(share.delete(), 404, 'ShareNotFound');
  await refuses(share.put(), 409, 'ShareBeingDeleted');
  server.pass(31);
  await gives(share.put(), 201);
  assert.deepEqual(await share.root.names(), []);
  assert.equal(await share.usage(), 0);
});

test('a share with snapshots is deleted only together with them', async (t) => {
  const { share } = await given(t);
  const snapshot = await share.snapshot();
  await refuses(share.delete(), 409, 'ShareHasSnapshots');
  const both = { 'x-ms-delete-snapshots': 'include' };
  await refuses(share.delete(`sharesnapshot=${snapshot}`, both), 400, 'InvalidQueryParameterValue');
  await refuses(share.delete('', { 'x-ms-delete-snapshots': 'only' }), 400, 'InvalidHeaderValue');
  await gives(share.delete('', both), 202);
  await refuses(share.get(`sharesnapshot=${snapshot}`), 404, 'ShareNotFound');
});

test('one snapshot is deleted, the others and the share stay', async (t) => {
  const { share, file } = await given(t, { file: 'a.txt', content: 'one' });
  const first = await share.snapshot();
  await gives(file.write('two'), 201);
  const second = await share.snapshot();
  await gives(file.write('now'), 201);
  await gives(share.delete(`sharesnapshot=${first}`), 202);
  await refuses(file.get(`sharesnapshot=${first}`), 404, 'ShareSnapshotNotFound');
  await refuses(share.delete(`sharesnapshot=${first}`), 404, 'ShareSnapshotNotFound');
  assert.equal(await file.text(`sharesnapshot=${second}`), 'two');
  assert.equal(await file.text(), 'now');
});

test('a leased share needs its lease id', async (t) => {
  const { share } = await given(t);
  await gives(share.acquire(), 201);
  await refuses(share.delete(), 412, 'LeaseIdMissing');
  await refuses(share.delete('', { 'x-ms-lease-id': leaseB }), 412, 'LeaseIdMismatchWithContainerOperation');
  await gives(share.delete('', { 'x-ms-lease-id': leaseA }), 202);
});

test('a leased snapshot hinders, unless leased ones are included', async (t) => {
  const { share } = await given(t);
  const snapshot = await share.snapshot();
  const query = `comp=lease&sharesnapshot=${snapshot}`;
  await gives(share.put(query, { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1' }), 201);
  await refuses(
    share.delete('', { 'x-ms-delete-snapshots': 'include' }),
    409,
    'DeleteShareWhenSnapshotLeased',
  );
  await gives(share.delete('', { 'x-ms-delete-snapshots': 'include-leased' }), 202);
});

test('file leases and open handles do not hinder; the handles are closed', async (t) => {
  const { share, file, clients, service } = await given(t, { file: 'a.txt' });
  const client = await clients.open(await file.id(), { access: 1 });
  await gives(file.acquire(), 201);
  await gives(share.delete(), 202);
  assert.deepEqual(client.closed, [client.id]);
  assert.equal(service.opens.counters.handles, 0);
});
