// The sample program of "Managing Concurrency in Microsoft Azure Storage", with @azure/storage-blob.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { developmentAccount } from '#src/services/common/accounts.js';
import { startServer } from '../support/server.js';

test('optimistic and pessimistic concurrency, as the article shows them', async (t) => {
  const server = await startServer(t, 'blob');
  const key = new StorageSharedKeyCredential(developmentAccount.name, developmentAccount.keys[0]);
  const url = `http://127.0.0.1:${server.address.port}/${developmentAccount.name}`;
  const container = new BlobServiceClient(url, key, { retryOptions: { maxTries: 1 } }).getContainerClient(
    'sample',
  );
  await container.create();
  const blob = container.getBlockBlobClient('hello.txt');
  const upload = (text: string, conditions = {}) => blob.upload(text, text.length, { conditions });

  // The ETag of the newly created blob, then an update by a third party.
  const original = (await upload('Hello World')).etag ?? '';
  const updated = (await upload('Blob updated by a third party.')).etag;
  assert.notEqual(updated, original);
  await assert.rejects(upload('Hello World', { ifMatch: original }), {
    statusCode: 412,
    code: 'ConditionNotMet',
  });
  assert.equal((await blob.downloadToBuffer()).toString(), 'Blob updated by a third party.');

  // A lease for 15 seconds: who holds it updates, nobody else does.
  const lease = blob.getBlobLeaseClient();
  await lease.acquireLease(15);
  const { etag } = await upload('Blob updated using an exclusive lease', { leaseId: lease.leaseId });
  await assert.rejects(upload('Update without lease, will fail'), {
    statusCode: 412,
    code: 'LeaseIdMissing',
  });
  await assert.rejects(blob.getBlobLeaseClient().acquireLease(15), {
    statusCode: 409,
    code: 'LeaseAlreadyPresent',
  });
  assert.equal((await blob.getProperties()).etag, etag, 'a lease changes no ETag');

  // The lease ran out: its id is refused too, and then anybody may write.
  server.pass(16);
  await assert.rejects(upload('late', { leaseId: lease.leaseId }), { statusCode: 412, code: 'LeaseLost' });
  await upload('Hello again');
});
