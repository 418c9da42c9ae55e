// @azure/storage-blob, the newest and an older one, against a running server.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as newest from '@azure/storage-blob';
import * as older from 'storage-blob-12-32';
import { developmentAccount } from '#src/services/common/accounts.js';
import { startServer } from '../support/server.js';

type Sdk = typeof newest;
const sdks: [name: string, sdk: Sdk][] = [
  ['12.34', newest],
  ['12.32', older as unknown as Sdk],
];

interface Refusal {
  readonly statusCode?: number;
  readonly code?: string;
}

function refusal(status: number, code: string) {
  return (error: Refusal) => error.statusCode === status && error.code === code;
}

for (const [name, sdk] of sdks) {
  describe(`@azure/storage-blob ${name}`, () => {
    async function connect(
      t: Parameters<typeof startServer>[0],
      settings: Parameters<typeof startServer>[2] = {},
    ) {
      const server = await startServer(t, 'blob', settings);
      const key = new sdk.StorageSharedKeyCredential(developmentAccount.name, developmentAccount.keys[0]);
      const url = `http://127.0.0.1:${server.address.port}/${developmentAccount.name}`;
      const service = new sdk.BlobServiceClient(url, key, { retryOptions: { maxTries: 1 } });
      const container = service.getContainerClient('photos');
      await container.create();
      return { server, service, container, key };
    }

    test('upload, list, download, copy, snapshot, delete', async (t) => {
      const { container } = await connect(t);
      const blob = container.getBlockBlobClient('dir/cat.jpg');
      await blob.upload('hello', 5, {
        blobHTTPHeaders: { blobContentType: 'text/plain' },
        metadata: { color: 'red' },
        tags: { kind: 'cat' },
      });
      assert.equal((await blob.downloadToBuffer()).toString(), 'hello');
      const properties = await blob.getProperties();
      assert.equal(properties.contentType, 'text/plain');
      assert.deepEqual(properties.metadata, { color: 'red' });

      const { snapshot = '' } = await blob.createSnapshot();
      await blob.upload('second', 6);
      assert.equal((await blob.withSnapshot(snapshot).downloadToBuffer()).toString(), 'hello');

      const copy = container.getBlockBlobClient('copy');
      const poller = await copy.beginCopyFromURL(blob.url);
      assert.equal((await poller.pollUntilDone()).copyStatus, 'success');
      assert.equal((await copy.syncCopyFromURL(blob.url)).copyStatus, 'success');

      const flat = [];
      for await (const item of container.listBlobsFlat({ includeSnapshots: true, includeTags: true })) {
        flat.push([item.name, item.snapshot, item.properties.contentLength]);
      }
      assert.deepEqual(flat, [
        ['copy', undefined, 6],
        ['dir/cat.jpg', snapshot, 5],
        ['dir/cat.jpg', undefined, 6],
      ]);
      const tree = [];
      for await (const item of container.listBlobsByHierarchy('/')) tree.push(`${item.kind} ${item.name}`);
      assert.deepEqual(tree.sort(), ['blob copy', 'prefix dir/']);

      await assert.rejects(blob.delete(), refusal(409, 'SnapshotsPresent'));
      await blob.delete({ deleteSnapshots: 'include' });
      assert.equal(await blob.exists(), false);
      assert.equal((await blob.deleteIfExists()).succeeded, false);
    });

    test('a long body goes up in blocks and comes down again, in parallel', async (t) => {
      const { container } = await connect(t);
      const blob = container.getBlockBlobClient('long');
      const body = Buffer.alloc(9 * 1024 * 1024 + 17);
      for (let at = 0; at < body.length; at += 4) body.writeUInt32LE(at, Math.min(at, body.length - 4));
      await blob.uploadData(body, { blockSize: 1024 * 1024, maxSingleShotSize: 1024, concurrency: 5 });
      const list = await blob.getBlockList('committed');
      assert.equal(list.committedBlocks?.length, 10);
      const back = await blob.downloadToBuffer(0, undefined, { blockSize: 1024 * 1024, concurrency: 5 });
      assert.ok(back.equals(body));
      const part = await blob.downloadToBuffer(1_000_000, 3_000_000);
      assert.ok(part.equals(body.subarray(1_000_000, 4_000_000)));
    });

    test('append blobs', async (t) => {
      const { container } = await connect(t);
      const log = container.getAppendBlobClient('log');
      await log.createIfNotExists();
      assert.equal((await log.createIfNotExists()).succeeded, false);
      await log.appendBlock('one', 3);
      await log.appendBlock('two', 3, { conditions: { appendPosition: 3 } });
      await assert.rejects(
        log.appendBlock('x', 1, { conditions: { appendPosition: 3 } }),
        refusal(412, 'AppendPositionConditionNotMet'),
      );
      assert.equal((await log.downloadToBuffer()).toString(), 'onetwo');
      await log.seal();
      await assert.rejects(log.appendBlock('x', 1), refusal(409, 'BlobIsSealed'));
    });

    test('conditions and leases', async (t) => {
      const { container, server } = await connect(t);
      const blob = container.getBlockBlobClient('x');
      const { etag = '' } = await blob.upload('v1', 2, { conditions: { ifNoneMatch: '*' } });
      await assert.rejects(
        blob.upload('v1', 2, { conditions: { ifNoneMatch: '*' } }),
        refusal(409, 'BlobAlreadyExists'),
      );
      await blob.upload('v2', 2, { conditions: { ifMatch: etag } });
      await assert.rejects(
        blob.upload('v3', 2, { conditions: { ifMatch: etag } }),
        refusal(412, 'ConditionNotMet'),
      );
      const lease = blob.getBlobLeaseClient();
      await lease.acquireLease(15);
      await assert.rejects(blob.upload('v3', 2), refusal(412, 'LeaseIdMissing'));
      await lease.renewLease();
      await lease.changeLease('aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa');
      await blob.upload('v3', 2, { conditions: { leaseId: lease.leaseId } });
      server.pass(16);
      await assert.rejects(
        blob.upload('v4', 2, { conditions: { leaseId: lease.leaseId } }),
        refusal(412, 'LeaseLost'),
      );
      await container.getBlobLeaseClient().acquireLease(-1);
      await assert.rejects(container.delete(), refusal(412, 'LeaseIdMissing'));
      await container.getBlobLeaseClient().breakLease(0);
      await container.delete();
    });

    test('containers: metadata, access policies, a SAS by policy, list', async (t) => {
      const { container, service } = await connect(t);
      await container.setMetadata({ a: '1' });
      const permissions = sdk.ContainerSASPermissions.parse('rl').toString();
      await container.setAccessPolicy('blob', [
        {
          id: 'readers',
          accessPolicy: { startsOn: new Date(0), expiresOn: new Date('2099-01-01'), permissions },
        },
      ]);
      const policy = await container.getAccessPolicy();
      assert.equal(policy.blobPublicAccess, 'blob');
      assert.equal(policy.signedIdentifiers[0]?.id, 'readers');
      await container.getBlockBlobClient('x').upload('v1', 2);
      const url = await container.generateSasUrl({ identifier: 'readers' });
      const guest = new sdk.ContainerClient(url, undefined, { retryOptions: { maxTries: 1 } });
      const names = [];
      for await (const item of guest.listBlobsFlat()) names.push(item.name);
      assert.deepEqual(names, ['x']);
      await assert.rejects(
        guest.getBlockBlobClient('x').upload('v2', 2),
        refusal(403, 'AuthorizationPermissionMismatch'),
      );
      const anonymous = new sdk.BlobClient(container.getBlobClient('x').url);
      assert.equal((await anonymous.downloadToBuffer()).toString(), 'v1');
      const containers = [];
      for await (const item of service.listContainers({ includeMetadata: true }))
        containers.push(item.metadata);
      assert.deepEqual(containers, [{ a: '1' }]);
      assert.equal((await service.getAccountInfo()).skuName, 'Standard_RAGRS');
    });

    test('tags, tiers, batches, page blobs, undelete', async (t) => {
      const { container, service } = await connect(t);
      await service.setProperties({ deleteRetentionPolicy: { enabled: true, days: 2 } });
      const names = ['a', 'b', 'c'];
      for (const name of names) {
        await container.getBlockBlobClient(name).upload(name, 1, { tags: { kind: name, all: 'yes' } });
      }
      const blob = container.getBlockBlobClient('a');
      await blob.setTags({ kind: 'x', all: 'yes' });
      assert.deepEqual((await blob.getTags()).tags, { kind: 'x', all: 'yes' });
      const found = [];
      for await (const item of service.findBlobsByTags("all = 'yes' AND kind > 'a'")) found.push(item.name);
      assert.deepEqual(found.sort(), ['a', 'b', 'c']);

      const batch = service.getBlobBatchClient();
      const clients = names.map((name) => container.getBlockBlobClient(name));
      const tiers = await batch.setBlobsAccessTier(clients, 'Cool');
      assert.equal(tiers.subResponsesSucceededCount, 3);
      assert.equal((await blob.getProperties()).accessTier, 'Cool');
      const missing = container.getBlockBlobClient('missing');
      const deletes = await container.getBlobBatchClient().deleteBlobs([...clients, missing]);
      assert.equal(deletes.subResponsesSucceededCount, 3);
      assert.equal(deletes.subResponses[3]?.status, 404);
      assert.equal(await blob.exists(), false);
      await blob.undelete();
      assert.equal((await blob.downloadToBuffer()).toString(), 'a');

      const pages = container.getPageBlobClient('pages');
      await pages.create(2048);
      await pages.uploadPages('x'.repeat(1024), 512, 1024);
      const { snapshot = '' } = await pages.createSnapshot();
      await pages.clearPages(512, 512);
      await pages.resize(1536);
      assert.deepEqual((await pages.getPageRanges(0, 1536)).pageRange, [{ offset: 1024, count: 511 }]);
      const changed = await pages.getPageRangesDiff(0, 1536, snapshot);
      assert.deepEqual(changed.clearRange, [{ offset: 512, count: 511 }]);
      await pages.updateSequenceNumber('update', 7);
      assert.equal((await pages.getProperties()).blobSequenceNumber, 7);
    });

    test('versions, immutability, legal hold', async (t) => {
      const settings = { versioning: true, versionLevelImmutability: true };
      const { container } = await connect(t, { settings });
      const blob = container.getBlockBlobClient('v');
      const { versionId: first = '' } = await blob.upload('one', 3);
      const { versionId: second = '' } = await blob.upload('two', 3);
      assert.equal((await blob.withVersion(first).downloadToBuffer()).toString(), 'one');
      const listed = [];
      for await (const item of container.listBlobsFlat({ includeVersions: true })) {
        listed.push([item.versionId, item.isCurrentVersion ?? false]);
      }
      assert.deepEqual(listed, [
        [first, false],
        [second, true],
      ]);
      const expiriesOn = new Date(Date.now() + 24 * 3600 * 1000);
      await blob.setImmutabilityPolicy({ expiriesOn, policyMode: 'Unlocked' });
      await assert.rejects(blob.delete(), refusal(409, 'BlobImmutableDueToPolicy'));
      await blob.deleteImmutabilityPolicy();
      await blob.setLegalHold(true);
      assert.equal((await blob.getProperties()).legalHold, true);
      await assert.rejects(blob.setMetadata({ a: '1' }), refusal(409, 'BlobImmutableDueToLegalHold'));
      await blob.setLegalHold(false);
      await blob.delete();
      assert.equal(await blob.exists(), false);
      await (await blob.beginCopyFromURL(blob.withVersion(first).url)).pollUntilDone();
      assert.equal((await blob.downloadToBuffer()).toString(), 'one');
      await blob.withVersion(second).delete();
      assert.equal(await blob.withVersion(second).exists(), false);
    });

    test('a SAS that may create may not overwrite', async (t) => {
      const { container } = await connect(t);
      const blob = container.getBlockBlobClient('x');
      const url = await blob.generateSasUrl({
        permissions: sdk.BlobSASPermissions.parse('c'),
        expiresOn: new Date(Date.now() + 3_600_000),
      });
      const guest = new sdk.BlockBlobClient(url, undefined, { retryOptions: { maxTries: 1 } });
      await guest.upload('v1', 2);
      await assert.rejects(guest.upload('v2', 2), refusal(403, 'UnauthorizedBlobOverwrite'));
    });
  });
}
