// What AzCopy sends, by a SAS: uploads in one piece and in blocks that come in any order, downloads in ranges, copies
// between servers by URL, sync and remove.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { header } from '../support/given.js';
import { programWithSas, type Says, withSas } from '../support/replay.js';
import { startServer, type TestServer } from '../support/server.js';

const usual = {
  'x-ms-version': '2023-08-03',
  'User-Agent': 'AzCopy/10.24.0 azsdk-go-azblob/v1.3.0 (go1.19.12; linux)',
  'x-ms-client-request-id': '8b1d4f43-6f0e-4b7c-5c5e-2f9d4f3c2b1a',
  Accept: 'application/xml',
};
const plain = {
  'x-ms-blob-type': 'BlockBlob',
  'x-ms-blob-content-type': 'text/plain; charset=utf-8',
};
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('base64');
const blockIds = [0, 1, 2].map((index) =>
  encodeURIComponent(
    Buffer.from(`f7b4d3e2-8c1a-4f6b-9e0d-${String(index).padStart(24, '0')}`).toString('base64'),
  ),
);
const listOf = (ids: readonly string[]) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<BlockList>${ids.map((id) => `<Latest>${decodeURIComponent(id)}</Latest>`).join('')}</BlockList>`;
const parts = ['a', 'b', 'c'].map((letter) => Buffer.alloc(300_000, letter));
const whole = Buffer.concat(parts);

async function begin(server: TestServer): Promise<Says> {
  const azcopy = programWithSas(server, usual);
  await azcopy('PUT /data?restype=container', {}, '201');
  return azcopy;
}

/** As `azcopy copy file URL --put-md5` does with a file of several blocks. */
async function upload(azcopy: Says, path: string): Promise<void> {
  await azcopy(`HEAD ${path}`, {}, '404 BlobNotFound');
  await Promise.all(
    [2, 0, 1].map((index) =>
      azcopy(`PUT ${path}?comp=block&blockid=${blockIds[index]}`, {}, '201', parts[index]),
    ),
  );
  const commit = {
    'x-ms-blob-content-type': 'application/octet-stream',
    'x-ms-blob-content-md5': md5(whole),
    'x-ms-access-tier': 'Cool',
    'Content-Type': 'application/xml',
  };
  await azcopy(`PUT ${path}?comp=blocklist`, commit, '201', listOf(blockIds));
  const check = await azcopy(`HEAD ${path}`, {}, '200');
  assert.equal(header(check, 'content-length'), String(whole.length));
}

test('upload: a small file in one piece, a large one in blocks', async (t) => {
  const server = await startServer(t, 'blob');
  const azcopy = await begin(server);
  const small = Buffer.from('small file');
  await azcopy('HEAD /data/dir/small.txt', {}, '404 BlobNotFound');
  const put = await azcopy(
    'PUT /data/dir/small.txt',
    { ...plain, 'x-ms-blob-content-md5': md5(small), 'If-None-Match': '*' },
    '201',
    small,
  );
  assert.equal(header(put, 'content-md5'), md5(small));
  await azcopy('PUT /data/dir/small.txt', { ...plain, 'If-None-Match': '*' }, '409 BlobAlreadyExists', small);
  await upload(azcopy, '/data/dir/large.bin');
  const told = await azcopy('HEAD /data/dir/large.bin', {}, '200');
  assert.equal(header(told, 'content-md5'), md5(whole));
  assert.equal(header(told, 'x-ms-access-tier'), 'Cool');
});

test('download: a listing, then ranges of a blob that must not change meanwhile', async (t) => {
  const server = await startServer(t, 'blob');
  const azcopy = await begin(server);
  await upload(azcopy, '/data/dir/large.bin');
  const { text } = await azcopy(
    'GET /data?restype=container&comp=list&prefix=dir%2F&delimiter=%2F&include=metadata%2Ctags&maxresults=5000',
    {},
    '200',
  );
  assert.match(text, /<Name>dir\/large\.bin<\/Name>/);
  assert.match(text, new RegExp(`<Content-MD5>${md5(whole).replaceAll('+', '\\+')}</Content-MD5>`));
  const { headers } = await azcopy('HEAD /data/dir/large.bin', {}, '200');
  const unchanged = { 'If-Unmodified-Since': headers.get('last-modified') };
  const step = 400_000;
  const got = await Promise.all(
    [0, 1, 2].map(async (index) => {
      const end = Math.min((index + 1) * step, whole.length) - 1;
      const range = { 'x-ms-range': `bytes=${index * step}-${end}`, ...unchanged };
      const answer = await azcopy('GET /data/dir/large.bin', range, '206');
      assert.equal(header(answer, 'x-ms-blob-content-md5'), md5(whole));
      return answer.body;
    }),
  );
  assert.ok(Buffer.concat(got).equals(whole));
  server.pass(2);
  await azcopy('PUT /data/dir/large.bin', plain, '201', 'new');
  await azcopy('GET /data/dir/large.bin', { 'x-ms-range': 'bytes=0-1', ...unchanged }, '412 ConditionNotMet');
});

test('copy between servers: blocks from ranges of a URL, or a small blob at once', async (t) => {
  const server = await startServer(t, 'blob');
  const azcopy = await begin(server);
  await upload(azcopy, '/data/large.bin');
  await azcopy('PUT /data/small.txt', { ...plain, 'x-ms-meta-colour': 'blue' }, '201', 'small');
  await azcopy('PUT /target?restype=container', {}, '201');
  const url = (path: string) =>
    `http://127.0.0.1:${server.address.port}/${server.account.name}${withSas(path)}`;

  const { headers } = await azcopy('HEAD /data/large.bin', {}, '200');
  const step = 450_000;
  for (const [index, id] of blockIds.slice(0, 2).entries()) {
    const range = `bytes=${index * step}-${Math.min((index + 1) * step, whole.length) - 1}`;
    const source = {
      'x-ms-copy-source': url('/data/large.bin'),
      'x-ms-source-range': range,
      'x-ms-source-if-unmodified-since': headers.get('last-modified'),
    };
    await azcopy(`PUT /target/large.bin?comp=block&blockid=${id}`, source, '201', '');
  }
  await azcopy(
    'PUT /target/large.bin?comp=blocklist',
    { 'x-ms-blob-content-md5': md5(whole), 'x-ms-tags': 'from=data' },
    '201',
    listOf(blockIds.slice(0, 2)),
  );
  assert.ok((await azcopy('GET /target/large.bin', {}, '200')).body.equals(whole));

  const small = { ...plain, 'x-ms-copy-source': url('/data/small.txt'), 'x-ms-meta-colour': 'blue' };
  await azcopy('PUT /target/small.txt', small, '201', '');
  assert.equal(header(await azcopy('GET /target/small.txt', {}, '200'), 'x-ms-meta-colour'), 'blue');
  const gone = { ...plain, 'x-ms-copy-source': url('/data/none') };
  await azcopy('PUT /target/none', gone, '404 CannotVerifyCopySource', '');
});

test('sync compares by listing; remove takes snapshots along', async (t) => {
  const server = await startServer(t, 'blob');
  const azcopy = await begin(server);
  await azcopy('PUT /data/old.txt', plain, '201', 'old');
  await azcopy('PUT /data/old.txt?comp=snapshot', {}, '201');
  const { text } = await azcopy('GET /data?restype=container&comp=list&include=metadata', {}, '200');
  assert.match(text, /<Last-Modified>.* GMT<\/Last-Modified>/);
  await azcopy('DELETE /data/old.txt', { 'x-ms-delete-snapshots': 'include' }, '202');
  await azcopy('DELETE /data/old.txt', { 'x-ms-delete-snapshots': 'include' }, '404 BlobNotFound');
});
