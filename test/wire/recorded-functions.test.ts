// What the host of Azure Functions sends: the lock of the primary host, singleton locks and receipts are leases on
// blobs in azure-webjobs-hosts; keys are blobs that are made once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { header } from '../support/given.js';
import { program } from '../support/replay.js';
import { startServer, type TestServer } from '../support/server.js';

const usual = {
  'x-ms-version': '2021-08-06',
  'User-Agent': 'azsdk-net-Storage.Blobs/12.13.0 (.NET 6.0.16; Linux)',
  'x-ms-return-client-request-id': 'true',
  'x-ms-client-request-id': '0b7e3e3c-59a7-4c0e-8a5b-6a0c1f0f1f10',
  Accept: 'application/xml',
};
const first = '11111111-1111-4111-8111-111111111111';
const second = '22222222-2222-4222-8222-222222222222';
const lock = '/azure-webjobs-hosts/locks/myapp/host';
const empty = { 'x-ms-blob-type': 'BlockBlob', 'Content-Type': 'text/plain; charset=utf-8' };
const acquire = (id: string) => ({
  'x-ms-lease-action': 'acquire',
  'x-ms-lease-duration': '15',
  'x-ms-proposed-lease-id': id,
});
const renew = (id: string) => ({ 'x-ms-lease-action': 'renew', 'x-ms-lease-id': id });
const release = (id: string) => ({ 'x-ms-lease-action': 'release', 'x-ms-lease-id': id });

async function primary(server: TestServer) {
  const host = program(server, usual);
  await host(`PUT ${lock}?comp=lease`, acquire(first), '404 ContainerNotFound');
  await host(`PUT ${lock}`, empty, '404 ContainerNotFound', '');
  await host('PUT /azure-webjobs-hosts?restype=container', {}, '201');
  await host(`PUT ${lock}`, empty, '201', '');
  const leased = await host(`PUT ${lock}?comp=lease`, acquire(first), '201');
  assert.equal(header(leased, 'x-ms-lease-id'), first);
  assert.equal(header(leased, 'x-ms-client-request-id'), usual['x-ms-client-request-id']);
  await host(
    `PUT ${lock}?comp=metadata`,
    { 'x-ms-lease-id': first, 'x-ms-meta-FunctionInstance': 'instance-1' },
    '200',
  );
  return host;
}

test('the first host becomes the primary one and stays it as long as it renews', async (t) => {
  const server = await startServer(t, 'blob');
  const one = await primary(server);
  const other = program(server, usual);
  for (let round = 0; round < 5; round++) {
    server.pass(10);
    await one(`PUT ${lock}?comp=lease`, renew(first), '200');
    await other(`PUT ${lock}?comp=lease`, acquire(second), '409 LeaseAlreadyPresent');
  }
  const owner = await other(`HEAD ${lock}`, {}, '200');
  assert.equal(header(owner, 'x-ms-lease-state'), 'leased');
  assert.equal(header(owner, 'x-ms-lease-status'), 'locked');
  assert.equal(header(owner, 'x-ms-lease-duration'), 'fixed');
  assert.equal(header(owner, 'x-ms-meta-functioninstance'), 'instance-1');
  await other('PUT /azure-webjobs-hosts?restype=container', {}, '409 ContainerAlreadyExists');
  await other(`PUT ${lock}`, empty, '412 LeaseIdMissing', '');
});

test('a host that is gone is replaced after its lease, and learns it when it comes back', async (t) => {
  const server = await startServer(t, 'blob');
  const one = await primary(server);
  const other = program(server, usual);
  server.pass(16);
  await other(`PUT ${lock}?comp=lease`, acquire(second), '201');
  await other(
    `PUT ${lock}?comp=metadata`,
    { 'x-ms-lease-id': second, 'x-ms-meta-FunctionInstance': 'instance-2' },
    '200',
  );
  await one(`PUT ${lock}?comp=lease`, renew(first), '409 LeaseIdMismatchWithLeaseOperation');
  await one(`PUT ${lock}?comp=lease`, release(first), '409 LeaseIdMismatchWithLeaseOperation');
  await other(`PUT ${lock}?comp=lease`, release(second), '200');
  const free = await one(`HEAD ${lock}`, {}, '200');
  assert.equal(header(free, 'x-ms-lease-state'), 'available');
  assert.equal(header(free, 'x-ms-lease-status'), 'unlocked');
});

test('an expired lease is renewed by who had it, and released without a word', async (t) => {
  const server = await startServer(t, 'blob');
  const one = await primary(server);
  server.pass(16);
  await one(`PUT ${lock}?comp=lease`, renew(first), '200');
  server.pass(16);
  await one(`PUT ${lock}?comp=lease`, release(first), '200');
});

test('keys of the host are made once; who comes second reads them', async (t) => {
  const server = await startServer(t, 'blob');
  const one = program(server, usual);
  const other = program(server, usual);
  const secrets = '/azure-webjobs-secrets/myapp/host.json';
  await one(`HEAD ${secrets}`, {}, '404 ContainerNotFound');
  await one('PUT /azure-webjobs-secrets?restype=container', {}, '201');
  await other('PUT /azure-webjobs-secrets?restype=container', {}, '409 ContainerAlreadyExists');
  await one(`GET ${secrets}`, {}, '404 BlobNotFound');
  const make = { ...empty, 'If-None-Match': '*' };
  await one(`PUT ${secrets}`, make, '201', '{"masterKey":"one"}');
  await other(`PUT ${secrets}`, make, '409 BlobAlreadyExists', '{"masterKey":"other"}');
  const read = await other(`GET ${secrets}`, {}, '200');
  assert.equal(read.text, '{"masterKey":"one"}');
  await other(`PUT ${secrets}`, { ...empty, 'If-Match': header(read, 'etag') }, '201', '{"masterKey":"two"}');
  await one(
    `PUT ${secrets}`,
    { ...empty, 'If-Match': header(read, 'etag') },
    '412 ConditionNotMet',
    '{"masterKey":"three"}',
  );
});

test('a blob trigger leaves a receipt that is leased while the function runs', async (t) => {
  const server = await startServer(t, 'blob');
  const host = program(server, usual);
  const receipt = '/azure-webjobs-hosts/blobreceipts/myapp/Host.Functions.Resize/%220x8DC0%22/images/cat.jpg';
  await host('PUT /azure-webjobs-hosts?restype=container', {}, '201');
  await host(`HEAD ${receipt}`, {}, '404 BlobNotFound');
  await host(`PUT ${receipt}`, { ...empty, 'If-None-Match': '*' }, '201', '');
  await host(
    `PUT ${receipt}?comp=lease`,
    { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '30' },
    '201',
  ).then(async (leased) => {
    const id = header(leased, 'x-ms-lease-id');
    await host(`PUT ${receipt}?comp=metadata`, { 'x-ms-lease-id': id, 'x-ms-meta-Completed': 'true' }, '200');
    await host(`PUT ${receipt}?comp=lease`, release(id), '200');
  });
  const done = await host(`HEAD ${receipt}`, {}, '200');
  assert.equal(header(done, 'x-ms-meta-completed'), 'true');
});
