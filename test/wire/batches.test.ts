// The real clients send batches and parse answers: what they send is read, and what is written they understand.

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { TableClient } from '@azure/data-tables';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import azureStorage from 'azure-storage';
import {
  boundaryOf,
  type InnerAnswer,
  type InnerRequest,
  multipartType,
  nestedPart,
  parseInnerRequest,
  parseMultipart,
  writeInnerAnswer,
  writeMultipart,
} from '#src/http/multipart.js';

const account = 'devstoreaccount1';
const key = Buffer.alloc(64, 7).toString('base64');

type Batch = Readonly<{
  requests: readonly InnerRequest[];
  ids: readonly (string | undefined)[];
  nested: boolean;
}>;

function parse(body: Buffer, contentType: string | undefined): Batch {
  const boundary = boundaryOf(contentType);
  assert.ok(boundary, `no boundary in ${contentType}`);
  const outer = parseMultipart(body, boundary, 256);
  assert.ok(outer.ok);
  const [first] = outer.value;
  const inner = boundaryOf(first?.headers.get('content-type'));
  if (first === undefined || inner === undefined) return { ...open(outer.value), nested: false };
  const parts = parseMultipart(first.body, inner, 100);
  assert.ok(parts.ok);
  return { ...open(parts.value), nested: true };
}

function open(parts: readonly { headers: ReadonlyMap<string, string>; body: Buffer }[]) {
  const requests = parts.map((part) => {
    const request = parseInnerRequest(part.body);
    assert.ok(request.ok);
    return request.value;
  });
  return { requests, ids: parts.map((part) => part.headers.get('content-id')) };
}

function write({ ids, nested }: Batch, answers: readonly InnerAnswer[]): Buffer {
  const parts = answers.map((answer, i) => {
    const id = ids[i] === undefined ? [] : ['Content-ID', ids[i]];
    return { headers: ['Content-Type', 'application/http', ...id], body: writeInnerAnswer(answer) };
  });
  return writeMultipart('batchresponse_r', nested ? [nestedPart('changesetresponse_s', parts)] : parts);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A server that answers every batch with what `answer` makes of it. */
async function serve(answer: (batch: Batch) => readonly InnerAnswer[]) {
  const seen: Batch[] = [];
  const server = createServer(async (request, response) => {
    const batch = parse(await bodyOf(request), request.headers['content-type']);
    seen.push(batch);
    response.writeHead(202, { 'content-type': multipartType('batchresponse_r') });
    response.end(write(batch, answer(batch)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/${account}`, seen, [Symbol.dispose]: () => server.close() };
}

const written = (etag: string, rowKey: string): InnerAnswer => ({
  status: 204,
  headers: ['ETag', etag, 'Location', `http://host/t(PartitionKey='p',RowKey='${rowKey}')`],
});

const refused: InnerAnswer = {
  status: 409,
  headers: ['Content-Type', 'application/json;odata=minimalmetadata'],
  body: '{"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en-US","value":"0:It exists."}}}',
};

function tableClient(url: string): TableClient {
  const connection = `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};TableEndpoint=${url};`;
  return TableClient.fromConnectionString(connection, 'tests', {
    allowInsecureConnection: true,
    retryOptions: { maxRetries: 0 },
  });
}

test('a transaction of @azure/data-tables', async () => {
  using server = await serve(({ requests }) => requests.map((_, i) => written(`W/"${i}"`, `r${i}`)));
  const result = await tableClient(server.url).submitTransaction([
    ['create', { partitionKey: 'p', rowKey: 'r0', text: 'é', big: 5n }],
    ['upsert', { partitionKey: 'p', rowKey: 'r1', number: 1 }, 'Replace'],
    ['update', { partitionKey: 'p', rowKey: 'r2', number: 2 }, 'Merge', { etag: 'W/"x"' }],
    ['delete', { partitionKey: 'p', rowKey: 'r3' }],
  ]);

  assert.deepEqual(
    result.subResponses.map(({ status, etag, rowKey }) => [status, etag, rowKey]),
    [0, 1, 2, 3].map((i) => [204, `W/"${i}"`, `r${i}`]),
  );
  const { requests = [], nested } = server.seen[0] ?? {};
  assert.equal(nested, true);
  assert.deepEqual(
    requests.map(({ method }) => method),
    ['POST', 'PUT', 'PATCH', 'DELETE'],
  );
  assert.deepEqual(JSON.parse(requests[0]?.body.toString() ?? ''), {
    PartitionKey: 'p',
    RowKey: 'r0',
    text: 'é',
    big: '5',
    'big@odata.type': 'Edm.Int64',
  });
  assert.equal(requests[2]?.headers['if-match'], 'W/"x"');
  assert.equal(requests[3]?.headers['if-match'], '*');
});

test('a transaction of @azure/data-tables that is refused', async () => {
  using server = await serve(() => [refused]);
  await assert.rejects(
    tableClient(server.url).submitTransaction([['create', { partitionKey: 'p', rowKey: 'r' }]]),
    (error: Error & { code?: string; statusCode?: number }) =>
      error.statusCode === 409 && error.code === 'EntityAlreadyExists' && error.message === '0:It exists.',
  );
});

test('a batch of azure-storage', async () => {
  using server = await serve(({ requests }) => requests.map((_, i) => written(`W/"${i}"`, `r${i}`)));
  const service = azureStorage.createTableService(account, key, { primaryHost: server.url });
  const batch = new azureStorage.TableBatch();
  const text = (value: string) => azureStorage.TableUtilities.entityGenerator.String(value);
  batch.insertEntity({ PartitionKey: text('p'), RowKey: text('r0') }, { echoContent: false });
  batch.insertOrMergeEntity({ PartitionKey: text('p'), RowKey: text('r1'), a: text('é') });
  const results = await new Promise<readonly { response: { statusCode: number } }[]>((resolve, reject) => {
    service.executeBatch('tests', batch, (error, result) =>
      error ? reject(error) : resolve(result as never),
    );
  });

  assert.deepEqual(
    results.map(({ response }) => response.statusCode),
    [204, 204],
  );
  const { requests = [] } = server.seen[0] ?? {};
  assert.deepEqual(
    requests.map(({ method }) => method),
    ['POST', 'MERGE'],
  );
  assert.equal(JSON.parse(requests[1]?.body.toString() ?? '').a, 'é');
});

test('a batch of @azure/storage-blob', async () => {
  using server = await serve(({ requests }) =>
    requests.map((_, i) => ({
      status: i === 1 ? 404 : 202,
      headers: ['x-ms-request-id', `id-${i}`, ...(i === 1 ? ['x-ms-error-code', 'BlobNotFound'] : [])],
    })),
  );
  const credential = new StorageSharedKeyCredential(account, key);
  const client = new BlobServiceClient(server.url, credential).getBlobBatchClient();
  const urls = ['a b', 'c', 'é'].map((name) => `${server.url}/container/${encodeURIComponent(name)}`);
  const result = await client.deleteBlobs(urls, credential);

  assert.deepEqual(
    result.subResponses.map(({ status, errorCode }) => [status, errorCode]),
    [
      [202, undefined],
      [404, 'BlobNotFound'],
      [202, undefined],
    ],
  );
  const { requests = [], ids, nested } = server.seen[0] ?? {};
  assert.equal(nested, false);
  assert.deepEqual(ids, ['0', '1', '2']);
  assert.equal(requests[0]?.url, `/${account}/container/a%20b`);
  assert.match(requests[0]?.headers.authorization ?? '', /^SharedKey devstoreaccount1:/);
});
