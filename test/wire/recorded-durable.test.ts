// What Durable Functions sends to the blob service: the task hub is described by a blob, and each control queue is
// owned by who leases its blob. A worker that takes a queue over from a living one changes the lease by the token that
// it reads in the blob.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { header } from '../support/given.js';
import { program, type Says } from '../support/replay.js';
import { startServer } from '../support/server.js';

const usual = {
  'x-ms-version': '2023-11-03',
  'User-Agent': 'azsdk-net-Storage.Blobs/12.19.1 (.NET 8.0.4; Linux)',
  'x-ms-return-client-request-id': 'true',
  'x-ms-client-request-id': '5d6a1f77-1c4f-4a0f-9f0d-1f2e3d4c5b6a',
  Accept: 'application/xml',
};
const hub = '/testhub-leases';
const text = { 'x-ms-blob-type': 'BlockBlob', 'Content-Type': 'application/octet-stream' };
const once = { ...text, 'If-None-Match': '*' };
const partitions = ['testhub-control-00', 'testhub-control-01'];
const tokens = {
  a: 'aaaaaaaa-0000-4000-8000-000000000000',
  b: 'bbbbbbbb-0000-4000-8000-000000000000',
};

interface Lease {
  readonly PartitionId: string;
  readonly Owner: string | null;
  readonly Token: string | null;
  readonly Epoch: number;
}

async function join(worker: Says, isFirst: boolean): Promise<void> {
  const created = isFirst ? '201' : '409 ContainerAlreadyExists';
  await worker(`PUT ${hub}?restype=container`, {}, created);
  const there = await worker(`HEAD ${hub}/taskhub.json`, {}, isFirst ? '404 BlobNotFound' : '200');
  const info = JSON.stringify({ TaskHubName: 'testhub', PartitionCount: partitions.length });
  if (there.status === 404) await worker(`PUT ${hub}/taskhub.json`, once, '201', info);
  else assert.equal((await worker(`GET ${hub}/taskhub.json`, {}, '200')).text, info);
  for (const type of ['intent', 'ownership']) {
    for (const partition of partitions) {
      const lease: Lease = { PartitionId: partition, Owner: null, Token: null, Epoch: 0 };
      const expected = isFirst ? '201' : '409 BlobAlreadyExists';
      await worker(`PUT ${hub}/${type}/${partition}`, once, expected, JSON.stringify(lease));
    }
  }
}

async function leases(worker: Says, type: string): Promise<Lease[]> {
  const { text: list } = await worker(
    `GET ${hub}?restype=container&comp=list&prefix=${type}%2F&include=metadata`,
    {},
    '200',
  );
  const names = [...list.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name]) => name);
  return Promise.all(
    names.map(async (name) => JSON.parse((await worker(`GET ${hub}/${name}`, {}, '200')).text)),
  );
}

async function take(worker: Says, type: string, lease: Lease, owner: string, token: string): Promise<Lease> {
  const path = `${hub}/${type}/${lease.PartitionId}`;
  const state = header(await worker(`HEAD ${path}`, {}, '200'), 'x-ms-lease-state');
  if (state === 'leased') {
    const change = {
      'x-ms-lease-action': 'change',
      'x-ms-lease-id': lease.Token ?? '',
      'x-ms-proposed-lease-id': token,
    };
    await worker(`PUT ${path}?comp=lease`, change, '200');
  } else {
    const acquire = {
      'x-ms-lease-action': 'acquire',
      'x-ms-lease-duration': '30',
      'x-ms-proposed-lease-id': token,
    };
    await worker(`PUT ${path}?comp=lease`, acquire, '201');
  }
  const taken = { ...lease, Owner: owner, Token: token, Epoch: lease.Epoch + 1 };
  await worker(`PUT ${path}`, { ...text, 'x-ms-lease-id': token }, '201', JSON.stringify(taken));
  return taken;
}

const renew = (token: string) => ({ 'x-ms-lease-action': 'renew', 'x-ms-lease-id': token });

test('two workers share the control queues of a hub', async (t) => {
  const server = await startServer(t, 'blob');
  const a = program(server, usual);
  const b = program(server, usual);
  await join(a, true);
  await join(b, false);

  for (const lease of await leases(a, 'ownership')) await take(a, 'ownership', lease, 'a', tokens.a);
  for (const partition of partitions) {
    server.pass(10);
    await a(`PUT ${hub}/ownership/${partition}?comp=lease`, renew(tokens.a), '200');
  }

  // The other one takes a queue over while its owner lives.
  const [, stolen] = await leases(b, 'ownership');
  assert.equal(stolen?.Owner, 'a');
  if (stolen === undefined) return;
  const taken = await take(b, 'ownership', stolen, 'b', tokens.b);
  assert.equal(taken.Epoch, 2);
  const path = `${hub}/ownership/${stolen.PartitionId}`;
  await a(`PUT ${path}?comp=lease`, renew(tokens.a), '409 LeaseIdMismatchWithLeaseOperation');
  const late = { ...text, 'x-ms-lease-id': tokens.a };
  await a(`PUT ${path}`, late, '412 LeaseIdMismatchWithBlobOperation', JSON.stringify(stolen));
  assert.equal(JSON.parse((await a(`GET ${path}`, {}, '200')).text).Owner, 'b');

  // It gives it back.
  const free = JSON.stringify({ ...taken, Owner: null, Token: null });
  await b(`PUT ${path}`, { ...text, 'x-ms-lease-id': tokens.b }, '201', free);
  const release = { 'x-ms-lease-action': 'release', 'x-ms-lease-id': tokens.b };
  await b(`PUT ${path}?comp=lease`, release, '200');
  const [, again] = await leases(a, 'ownership');
  if (again !== undefined) await take(a, 'ownership', again, 'a', tokens.a);
});

test('the queues of a worker that died are taken by the other one', async (t) => {
  const server = await startServer(t, 'blob');
  const a = program(server, usual);
  const b = program(server, usual);
  await join(a, true);
  for (const lease of await leases(a, 'ownership')) await take(a, 'ownership', lease, 'a', tokens.a);
  server.pass(31);
  for (const lease of await leases(b, 'ownership')) {
    const state = await b(`HEAD ${hub}/ownership/${lease.PartitionId}`, {}, '200');
    assert.equal(header(state, 'x-ms-lease-state'), 'expired');
    await take(b, 'ownership', lease, 'b', tokens.b);
  }
  for (const partition of partitions) {
    const path = `${hub}/ownership/${partition}?comp=lease`;
    await a(`PUT ${path}`, renew(tokens.a), '409 LeaseIdMismatchWithLeaseOperation');
  }
  await b(`DELETE ${hub}?restype=container`, {}, '202');
});
