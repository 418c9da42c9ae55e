// What Terraform's azurerm backend sends: the state is a blob, its lock an endless lease whose id and reason stand in
// the blob's metadata.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { header } from '../support/given.js';
import { program, type Says } from '../support/replay.js';
import { startServer } from '../support/server.js';

const usual = {
  'x-ms-version': '2018-11-09',
  'User-Agent':
    'Go/go1.22.2 (amd64-linux) go-autorest/v14.2.1 tombuildsstuff/giovanni/v0.15.1 storage/2018-11-09',
};
const state = '/tfstate/prod.terraform.tfstate';
const json = { 'x-ms-blob-type': 'BlockBlob', 'x-ms-blob-content-type': 'application/json' };
const ids = { one: '0e3ad1ba-3b3d-4b3f-9d0c-1b7d3f1e0a01', other: '7c9e6679-7425-40de-944b-e07fc1f90ae7' };

function lockInfo(id: string): string {
  const info = { ID: id, Operation: 'OperationTypeApply', Who: 'me@host', Version: '1.9.0', Path: state };
  return Buffer.from(JSON.stringify(info)).toString('base64');
}

/** As `terraform apply` begins. */
async function lock(terraform: Says, id: string, isNew = false): Promise<void> {
  await terraform(`HEAD ${state}`, {}, isNew ? '404 BlobNotFound' : '200');
  if (isNew) await terraform(`PUT ${state}`, json, '201', '');
  const acquire = {
    'x-ms-lease-action': 'acquire',
    'x-ms-lease-duration': '-1',
    'x-ms-proposed-lease-id': id,
  };
  const leased = await terraform(`PUT ${state}?comp=lease`, acquire, '201');
  assert.equal(header(leased, 'x-ms-lease-id'), id);
  await terraform(`HEAD ${state}`, { 'x-ms-lease-id': id }, '200');
  const metadata = { 'x-ms-lease-id': id, 'x-ms-meta-terraformlockid': lockInfo(id) };
  await terraform(`PUT ${state}?comp=metadata`, metadata, '200');
}

/** As it writes its state: what the metadata says goes with it. */
async function write(terraform: Says, id: string, content: string, withSnapshot = false): Promise<void> {
  if (withSnapshot) await terraform(`PUT ${state}?comp=snapshot`, { 'x-ms-lease-id': id }, '201');
  const before = await terraform(`HEAD ${state}`, { 'x-ms-lease-id': id }, '200');
  const info = header(before, 'x-ms-meta-terraformlockid');
  const put = { ...json, 'x-ms-lease-id': id, 'x-ms-meta-terraformlockid': info };
  await terraform(`PUT ${state}`, put, '201', content);
}

async function unlock(terraform: Says, id: string): Promise<void> {
  const told = await terraform(`HEAD ${state}`, { 'x-ms-lease-id': id }, '200');
  const info = JSON.parse(Buffer.from(header(told, 'x-ms-meta-terraformlockid'), 'base64').toString());
  assert.equal(info.ID, id);
  await terraform(`PUT ${state}?comp=metadata`, { 'x-ms-lease-id': id }, '200');
  await terraform(`PUT ${state}?comp=lease`, { 'x-ms-lease-action': 'release', 'x-ms-lease-id': id }, '200');
}

test('init, apply, and another apply meanwhile', async (t) => {
  const server = await startServer(t, 'blob');
  const one = program(server, usual);
  const other = program(server, usual);
  await one('PUT /tfstate?restype=container', {}, '201');
  await one('GET /tfstate?restype=container&comp=list&prefix=prod.terraform.tfstateenv%3A', {}, '200');
  await one(`GET ${state}`, {}, '404 BlobNotFound');
  await lock(one, ids.one, true);

  // The other one sees the lock, and whose it is.
  const seen = await other(`HEAD ${state}`, {}, '200');
  assert.equal(header(seen, 'x-ms-lease-status'), 'locked');
  assert.equal(header(seen, 'x-ms-lease-duration'), 'infinite');
  assert.equal(header(seen, 'x-ms-meta-terraformlockid'), lockInfo(ids.one));
  const acquire = {
    'x-ms-lease-action': 'acquire',
    'x-ms-lease-duration': '-1',
    'x-ms-proposed-lease-id': ids.other,
  };
  await other(`PUT ${state}?comp=lease`, acquire, '409 LeaseAlreadyPresent');
  await other(`PUT ${state}`, json, '412 LeaseIdMissing', '{"serial":99}');

  await write(one, ids.one, '{"serial":1}');
  server.pass(3 * 24 * 3600);
  await write(one, ids.one, '{"serial":2}', true);
  await unlock(one, ids.one);

  const free = await other(`HEAD ${state}`, {}, '200');
  assert.equal(header(free, 'x-ms-lease-status'), 'unlocked');
  assert.equal(free.headers.has('x-ms-meta-terraformlockid'), false);
  await lock(other, ids.other);
  const read = await other(`GET ${state}`, { 'x-ms-lease-id': ids.other }, '200');
  assert.equal(read.text, '{"serial":2}');
  assert.equal(header(read, 'content-type'), 'application/json');
});

test('force-unlock releases a lock by the id that its metadata tells', async (t) => {
  const server = await startServer(t, 'blob');
  const crashed = program(server, usual);
  await crashed('PUT /tfstate?restype=container', {}, '201');
  await lock(crashed, ids.one, true);
  const operator = program(server, usual);
  await operator(
    `PUT ${state}?comp=lease`,
    { 'x-ms-lease-action': 'release', 'x-ms-lease-id': ids.other },
    '409 LeaseIdMismatchWithLeaseOperation',
  );
  await unlock(operator, ids.one);
  await lock(operator, ids.other);
  await operator(`DELETE ${state}`, { 'x-ms-lease-id': ids.other }, '202');
});
