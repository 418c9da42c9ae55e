// Requests that the published SDKs sign, checked by our code as they arrive on a socket.

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { AzureNamedKeyCredential, TableClient, TableServiceClient } from '@azure/data-tables';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { StorageSharedKeyCredential as ShareCredential, ShareServiceClient } from '@azure/storage-file-share';
import { StorageSharedKeyCredential as QueueCredential, QueueServiceClient } from '@azure/storage-queue';
import azure from 'azure-storage';
import { account, callOf, key } from '#src/http/auth/calls.suite.js';
import { checkSharedKey } from '#src/http/auth/shared-key.js';
import type { ServiceName } from '#src/http/call.js';

interface Seen {
  readonly request: string;
  readonly rawHeaders: string[];
}

let server: Server;
let root: string;
let seen: Seen[] = [];

before(async () => {
  server = createServer((request, response) => {
    seen.push({ request: `${request.method} ${request.url}`, rawHeaders: request.rawHeaders });
    request.resume();
    request.on('end', () => response.writeHead(404, { 'Content-Length': 0 }).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  root = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${account}`;
});
after(() => server.close());

/** Every call is refused by the server above; what counts is that each was signed as we read it. */
async function signed(service: ServiceName, calls: (() => Promise<unknown>)[], atLeast = calls.length) {
  seen = [];
  for (const call of calls) await call().catch(() => undefined);
  assert.ok(seen.length >= atLeast, `${seen.length} requests of ${atLeast} came`);
  for (const { request, rawHeaders } of seen) {
    const call = callOf(service, request, { rawHeaders });
    checkSharedKey(call, `${call.headers.authorization}`, [key], Date.now());
  }
}

const secret = key.toString('base64');
const once = { retryOptions: { maxTries: 1 } };
const strange = ['plain.txt', 'dir/sub dir/ä+b&c=d%25#e?.txt', "it's (1).txt", '//double//slash', '日本語'];
const metadata = { a: '1', a_b: 'under score', a1: 'digit', ab: 'x  y', Upper: 'Case' };

test('@azure/storage-blob', async () => {
  const client = new BlobServiceClient(root, new StorageSharedKeyCredential(account, secret), once);
  const container = client.getContainerClient('container');
  await signed('blob', [
    () => client.getProperties(),
    () => client.setProperties({ cors: [] }),
    () => client.listContainers({ prefix: 'a b+c', includeMetadata: true }).byPage({ maxPageSize: 3 }).next(),
    () => client.findBlobsByTags(`"a b" > '1' AND x = 'ü'`).byPage().next(),
    () => container.create({ access: 'blob', metadata }),
    () => container.setAccessPolicy('container', [{ id: 'p', accessPolicy: { permissions: 'r' } }]),
    () =>
      container.listBlobsFlat({ prefix: 'ä/', includeSnapshots: true, includeTags: true }).byPage().next(),
    () => container.getBlobLeaseClient().acquireLease(-1),
    () => container.deleteIfExists({ conditions: { ifModifiedSince: new Date(0) } }),
    ...strange.flatMap((name) => {
      const blob = container.getBlockBlobClient(name);
      return [
        () =>
          blob.upload('hello', 5, {
            metadata,
            tags: { 'a b': 'c+d' },
            blobHTTPHeaders: {
              blobContentDisposition: 'attachment; filename="a b"',
              blobContentLanguage: 'de',
            },
          }),
        () =>
          blob.upload('', 0, {
            conditions: { ifMatch: '"x"', ifNoneMatch: '*', ifUnmodifiedSince: new Date() },
          }),
        () => blob.stageBlock(Buffer.from('a+/=').toString('base64'), 'xyz', 3),
        () => blob.commitBlockList(['YQ==']),
        () => blob.download(10, 20),
        () => blob.withSnapshot('2025-01-01T00:00:00.1234567Z').getProperties(),
        () => blob.withVersion('2025-01-01T00:00:00.1234567Z').delete(),
        () => blob.setTags({ x: 'y' }),
        () => blob.syncCopyFromURL('https://example.com/a?sig=a%2Bb&x=ä'),
      ];
    }),
    () => container.getAppendBlobClient('a').appendBlock('abc', 3),
    () => container.getPageBlobClient('p').uploadPages(Buffer.alloc(512), 0, 512),
  ]);
});

test('@azure/storage-queue', async () => {
  const client = new QueueServiceClient(root, new QueueCredential(account, secret), once);
  const queue = client.getQueueClient('queue');
  await signed('queue', [
    () => client.getProperties(),
    () => client.listQueues({ prefix: 'a', includeMetadata: true }).byPage().next(),
    () => queue.create({ metadata }),
    () => queue.sendMessage('<ä>', { messageTimeToLive: -1, visibilityTimeout: 5 }),
    () => queue.receiveMessages({ numberOfMessages: 32 }),
    () => queue.peekMessages(),
    () => queue.updateMessage('id', 'AgAAAA+/=', 'text', 1),
    () => queue.deleteMessage('id', 'AgAAAA+/='),
    () => queue.clearMessages(),
    () => queue.setAccessPolicy([]),
    () => queue.delete(),
  ]);
});

test('@azure/storage-file-share', async () => {
  const client = new ShareServiceClient(root, new ShareCredential(account, secret), once);
  const share = client.getShareClient('share');
  const directory = share.getDirectoryClient('dir ä');
  const file = directory.getFileClient('f+1.txt');
  await signed('file', [
    () => client.listShares({ includeSnapshots: true }).byPage().next(),
    () => share.create({ quota: 5, metadata }),
    () => share.createSnapshot(),
    () => directory.create({ metadata, filePermission: 'inherit' }),
    () => directory.listFilesAndDirectories({ prefix: 'x y', includeTimestamps: true }).byPage().next(),
    () => file.create(1024, { fileHttpHeaders: { fileContentType: 'text/plain' }, metadata }),
    () => file.uploadRange('abc', 0, 3),
    () => file.clearRange(0, 512),
    () => file.download(5, 10),
    () => file.getRangeList(),
    () => file.delete(),
    () => share.delete(),
  ]);
});

test('@azure/data-tables', async () => {
  const credential = new AzureNamedKeyCredential(account, secret);
  const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
  const service = new TableServiceClient(root, credential, options);
  const table = new TableClient(root, 'MyTable', credential, options);
  const entity = { partitionKey: "it's ä/b", rowKey: 'r+ &=%', text: 'x' };
  await signed('table', [
    () => service.getProperties(),
    () => service.createTable('MyTable'),
    () => service.listTables({ queryOptions: { filter: "TableName eq 'a b'" } }).next(),
    () => table.createEntity(entity),
    () => table.upsertEntity(entity, 'Replace'),
    () => table.updateEntity(entity, 'Merge', { etag: 'W/"x"' }),
    () => table.getEntity(entity.partitionKey, entity.rowKey),
    () => table.listEntities({ queryOptions: { filter: "PartitionKey eq 'ä'", select: ['a', 'b'] } }).next(),
    () => table.deleteEntity(entity.partitionKey, entity.rowKey),
    () =>
      table.submitTransaction([
        ['create', entity],
        ['delete', { partitionKey: entity.partitionKey, rowKey: 'z' }],
      ]),
    () => table.getAccessPolicy(),
    () => table.deleteTable(),
  ]);
});

/** The SDK before the last speaks with callbacks. */
function called(run: (done: (error: unknown) => void) => unknown): () => Promise<unknown> {
  return () => new Promise((resolve, reject) => run((error) => (error ? reject(error) : resolve(undefined))));
}

test('azure-storage 2.10', async () => {
  const host = { primaryHost: root };
  const blobs = azure.createBlobService(account, secret, host);
  await signed('blob', [
    called((done) => blobs.createContainer('container', { metadata: { a: '1', b_c: '2' } }, done)),
    called((done) => blobs.listBlobsSegmentedWithPrefix('container', 'a b', null as never, done)),
    called((done) => blobs.createBlockBlobFromText('container', 'ä b.txt', 'text', done)),
    called((done) => blobs.getBlobProperties('container', 'x+y', done)),
  ]);
  const queues = azure.createQueueService(account, secret, host);
  await signed('queue', [
    called((done) => queues.createQueue('queue', done)),
    called((done) => queues.createMessage('queue', 'text', done)),
  ]);
  const tables = azure.createTableService(account, secret, host);
  await signed('table', [
    called((done) => tables.createTable('mytable', done)),
    called((done) => tables.retrieveEntity('mytable', "p'1", 'r ä', done)),
  ]);
});
