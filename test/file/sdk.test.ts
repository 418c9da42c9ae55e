// The client library of Azure for file shares against a running server.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  StorageSharedKeyCredential as BlobKey,
  BlobSASPermissions,
  BlobServiceClient,
} from '@azure/storage-blob';
import { type ShareClient, ShareServiceClient, StorageSharedKeyCredential } from '@azure/storage-file-share';
import { start } from '#src/server/start.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import { knowLocalhost } from '../support/localhost.js';

knowLocalhost();

/** Host-style addresses: the library takes the path of a rename's source from them. */
async function given(
  t: TestContext,
): Promise<{ service: ShareServiceClient; share: ShareClient; blobs: BlobServiceClient }> {
  const server = await start({ services: ['blob', 'file'] });
  t.after(() => server.stop());
  const { name, keys } = developmentAccount;
  const { port } = new URL(server.urls.file ?? '');
  const credential = new StorageSharedKeyCredential(name, keys[0]);
  const service = new ShareServiceClient(`http://${name}.file.localhost:${port}`, credential, {
    retryOptions: { maxTries: 1 },
  });
  const share = service.getShareClient('files');
  await share.create();
  const blobPort = new URL(server.urls.blob ?? '').port;
  const key = new BlobKey(name, keys[0]);
  const blobs = new BlobServiceClient(`http://${name}.blob.localhost:${blobPort}`, key);
  return { service, share, blobs };
}

async function text(stream: NodeJS.ReadableStream | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

function refusal(code: string) {
  return (error: unknown) => (error as { code?: string; details?: { errorCode?: string } }).code === code;
}

test('shares: create, list, properties, quota, metadata, statistics, snapshot, delete', async (t) => {
  const { service, share } = await given(t);
  await assert.rejects(share.create(), refusal('ShareAlreadyExists'));
  await share.setMetadata({ colour: 'blue' });
  await share.setProperties({ quotaInGB: 7, accessTier: 'Hot' });
  const properties = await share.getProperties();
  assert.equal(properties.quota, 7);
  assert.equal(properties.accessTier, 'Hot');
  assert.deepEqual(properties.metadata, { colour: 'blue' });
  const file = share.rootDirectoryClient.getFileClient('a.txt');
  await file.uploadData(Buffer.from('hello'));
  assert.equal((await share.getStatistics()).shareUsageBytes, 5);
  const { snapshot = '' } = await share.createSnapshot();
  await file.uploadData(Buffer.from('changed'));
  const old = share.withSnapshot(snapshot).rootDirectoryClient.getFileClient('a.txt');
  assert.equal(await text((await old.download()).readableStreamBody), 'hello');
  assert.equal(await text((await file.download()).readableStreamBody), 'changed');
  const listed: string[] = [];
  for await (const one of service.listShares({ includeSnapshots: true, includeMetadata: true })) {
    listed.push(
      `${one.name} ${one.snapshot === undefined ? 'share' : 'snapshot'} ${one.metadata?.['colour']}`,
    );
  }
  assert.deepEqual(listed, ['files snapshot blue', 'files share blue']);
  await assert.rejects(share.delete(), refusal('ShareHasSnapshots'));
  await share.delete({ deleteSnapshots: 'include' });
  await assert.rejects(share.getProperties(), (error: { statusCode?: number }) => error.statusCode === 404);
});

test('directories and files: create, list, read, change, delete', async (t) => {
  const { share } = await given(t);
  const directory = share.getDirectoryClient('Docs');
  await directory.create({ metadata: { a: '1' } });
  const { fileClient } = await directory.createFile('Read Me+ä.txt', 11, {
    fileHttpHeaders: { fileContentType: 'text/plain' },
  });
  await fileClient.uploadRange('hello', 0, 5);
  await fileClient.uploadRange('world', 6, 5);
  const read = await fileClient.download(0, 5);
  assert.equal(await text(read.readableStreamBody), 'hello');
  assert.equal(read.contentType, 'text/plain');
  const inOtherCase = share.getDirectoryClient('docs').getFileClient('read me+Ä.TXT');
  assert.equal((await inOtherCase.getProperties()).contentLength, 11);
  const names: string[] = [];
  const options = {
    includeTimestamps: true,
    includeEtag: true,
    includeAttributes: true,
    includePermissionKey: true,
  };
  for await (const item of directory.listFilesAndDirectories(options)) {
    names.push(`${item.kind} ${item.name} ${item.attributes} ${item.properties?.etag !== undefined}`);
  }
  assert.deepEqual(names, ['file Read Me+ä.txt Archive true']);
  await fileClient.setMetadata({ k: 'v' });
  await fileClient.setHttpHeaders({ fileContentType: 'text/html' });
  await fileClient.resize(20);
  assert.deepEqual(
    (await fileClient.getRangeList()).rangeList.map(({ start, end }) => [start, end]),
    [[0, 19]],
  );
  await fileClient.clearRange(0, 5);
  const properties = await fileClient.getProperties();
  assert.deepEqual(properties.metadata, { k: 'v' });
  assert.equal(properties.contentType, 'text/html');
  await assert.rejects(directory.delete(), refusal('DirectoryNotEmpty'));
  await fileClient.delete();
  await directory.delete();
  await assert.rejects(
    directory.getProperties(),
    (error: { statusCode?: number }) => error.statusCode === 404,
  );
});

test('rename, copy, lease, handles, permissions', async (t) => {
  const { share } = await given(t);
  const root = share.rootDirectoryClient;
  const { directoryClient } = await share.createDirectory('one');
  const { fileClient } = await directoryClient.createFile('a', 5);
  await fileClient.uploadRange('bytes', 0, 5);
  const renamed = await fileClient.rename('one/b');
  assert.equal(await text((await renamed.destinationFileClient.download()).readableStreamBody), 'bytes');
  const { destinationDirectoryClient } = await directoryClient.rename('two');
  assert.equal((await destinationDirectoryClient.getFileClient('b').getProperties()).contentLength, 5);
  const copy = root.getFileClient('copy');
  const copied = await copy.startCopyFromURL(share.getDirectoryClient('two').getFileClient('b').url);
  assert.equal(copied.copyStatus, 'success');
  assert.equal(await text((await copy.download()).readableStreamBody), 'bytes');
  const lease = copy.getShareLeaseClient();
  await lease.acquireLease();
  await assert.rejects(copy.uploadRange('x', 0, 1), refusal('LeaseIdMissing'));
  await copy.uploadRange('x', 0, 1, { leaseAccessConditions: { leaseId: lease.leaseId } });
  await lease.releaseLease();
  const handles: unknown[] = [];
  for await (const handle of copy.listHandles()) handles.push(handle);
  assert.deepEqual(handles, []);
  assert.equal((await root.forceCloseAllHandles()).closedHandlesCount, 0);
  const sddl = 'O:SYG:SYD:(A;;FA;;;BA)(A;;0x1200a9;;;BU)';
  const { filePermissionKey = '' } = await share.createPermission(sddl);
  assert.equal((await share.getPermission(filePermissionKey)).permission, sddl);
  await copy.setProperties({ filePermissionKey });
  assert.equal((await copy.getProperties()).filePermissionKey, filePermissionKey);
});

test('a blob is copied to a file, and ranges of it', async (t) => {
  const { share, blobs } = await given(t);
  const container = blobs.getContainerClient('photos');
  await container.create();
  const blob = container.getBlockBlobClient('cat.jpg');
  await blob.upload('a cat, as bytes', 15, { blobHTTPHeaders: { blobContentType: 'image/cat' } });
  const permissions = BlobSASPermissions.parse('r');
  const link = await blob.generateSasUrl({ permissions, expiresOn: new Date(Date.now() + 600_000) });
  const file = share.rootDirectoryClient.getFileClient('cat.jpg');
  assert.equal((await file.startCopyFromURL(link)).copyStatus, 'success');
  const got = await file.download();
  assert.equal(await text(got.readableStreamBody), 'a cat, as bytes');
  assert.equal(got.contentType, 'image/cat');
  assert.equal(got.copyProgress, '15/15');
  await file.uploadRangeFromURL(link, 2, 0, 3);
  assert.equal(await text((await file.download()).readableStreamBody), 'catat, as bytes');
  await assert.rejects(file.startCopyFromURL(blob.url), refusal('CannotVerifyCopySource'));
  await assert.rejects(file.abortCopyFromURL('no'), refusal('NoPendingCopyOperation'));
});
