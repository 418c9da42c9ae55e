// Copies between services and between accounts of this server: blobs to files, files to blobs, files of another account.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signSas } from '#src/http/auth/sign.js';
import { createAccount } from '#src/services/common/accounts.js';
import { type Blob, blockId, Container } from '../../support/given.js';
import { type File, type Given, given, header, type Resource, Share } from '../../support/given-file.js';
import { gives, refuses } from '../../support/server.js';

type Service = 'blob' | 'file';

/** Its address with a SAS of its account. */
function linked(resource: Resource, service: Service, letters = 'r'): string {
  const { account } = resource.server;
  const fields = {
    sv: '2024-11-04',
    se: '2099-01-01T00:00:00Z',
    ss: service[0] ?? '',
    srt: 'sco',
    sp: letters,
  };
  const sas = signSas({ service, account: account.name }, fields, Buffer.from(account.keys[0], 'base64'));
  return `${resource.url}?${sas}`;
}

interface Both extends Given {
  readonly container: Container;
  readonly blob: Blob;
}

const content = Buffer.from('a blob has bytes too'.repeat(500));

async function both(t: Parameters<typeof given>[0], state: Parameters<typeof given>[1] = {}): Promise<Both> {
  const files = await given(t, { also: ['blob'], ...state });
  const container = new Container(files.server.at('blob'), 'photos');
  await gives(container.create(), 201);
  const blob = container.blob('cat.jpg');
  await gives(blob.upload(content, { 'x-ms-blob-content-type': 'image/cat', 'x-ms-meta-k': 'v' }), 201);
  return { ...files, container, blob };
}

test('a blob of this server becomes a file, with its properties and its metadata', async (t) => {
  const { share, blob } = await both(t);
  const target = share.file('cat.jpg');
  const copied = await gives(target.copyFrom(linked(blob, 'blob')), 202);
  assert.equal(header(copied, 'x-ms-copy-status'), 'success');
  const got = await gives(target.get(), 200);
  assert.ok(got.body.equals(content));
  assert.equal(header(got, 'etag'), header(copied, 'etag'));
  assert.equal(header(got, 'content-type'), 'image/cat');
  assert.equal(header(got, 'content-md5'), header(await blob.head(), 'content-md5'));
  assert.equal(header(got, 'x-ms-meta-k'), 'v');
  assert.equal(header(got, 'x-ms-copy-progress'), `${content.length}/${content.length}`);
  assert.equal(await share.usage(), content.length);
});

test('a snapshot of a blob, and blobs of the other types', async (t) => {
  const { share, container, blob } = await both(t);
  const snapshot = header(await gives(blob.put('comp=snapshot'), 201), 'x-ms-snapshot');
  await gives(blob.upload('newer'), 201);
  const link = linked(blob, 'blob');
  await gives(share.file('old').copyFrom(`${link}&snapshot=${encodeURIComponent(snapshot)}`), 202);
  assert.equal(await share.file('old').text(), content.toString());
  const pages = container.blob('pages');
  await gives(pages.put('', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '1024' }), 201);
  await gives(share.file('pages').copyFrom(linked(pages, 'blob')), 202);
  assert.ok((await share.file('pages').get()).body.equals(Buffer.alloc(1024)));
  const log = container.blob('log');
  await gives(log.put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
  await gives(share.file('log').copyFrom(linked(log, 'blob')), 202);
  assert.equal(await share.file('log').text(), '');
});

test('a blob is read by who may: a link, a public container; the key of the account alone is not enough', async (t) => {
  const { share, container, blob } = await both(t);
  const target = share.file('target');
  await refuses(target.copyFrom(blob), 403, 'CannotVerifyCopySource');
  await refuses(target.copyFrom(linked(blob, 'blob', 'w')), 403, 'CannotVerifyCopySource');
  await refuses(target.copyFrom(linked(container.blob('no'), 'blob')), 404, 'CannotVerifyCopySource');
  await refuses(target.head(), 404, 'ResourceNotFound');
  await gives(container.put('comp=acl', { 'x-ms-blob-public-access': 'blob' }), 200);
  await gives(target.copyFrom(blob), 202);
  assert.equal(await target.text(), content.toString());
});

test('a link to a listing is no link to a blob', async (t) => {
  const { share, container, blob } = await both(t);
  const target = share.file('target');
  const listing = `${linked(container, 'blob', 'rl')}&restype=container&comp=list`;
  await refuses(target.copyFrom(listing), 400, 'InvalidHeaderValue');
  await refuses(target.copyFrom(`${linked(blob, 'blob')}&comp=metadata`), 400, 'InvalidHeaderValue');
  await refuses(target.head(), 404, 'ResourceNotFound');
});

test('bytes of a blob', async (t) => {
  const { file, blob } = await both(t, { file: 'a.txt' });
  const put = (source: string, range = 'bytes=2-5') =>
    file.put('comp=range', {
      'x-ms-copy-source': source,
      'x-ms-source-range': range,
      'x-ms-range': 'bytes=0-3',
      'x-ms-write': 'update',
    });
  await gives(put(linked(blob, 'blob')), 201);
  assert.equal(await file.text(), 'blobo world');
  await refuses(put(linked(blob, 'blob'), 'bytes=9998-10001'), 416, 'CannotVerifyCopySource');
  const denied = await refuses(put(linked(blob, 'blob', 'w')), 403, 'CannotVerifyCopySource');
  assert.match(denied.text, /<CopySourceErrorCode>AuthorizationPermissionMismatch</);
});

const toBlob: Readonly<Record<string, (blob: Blob, source: string) => Promise<void>>> = {
  'Copy Blob': async (blob, source) => {
    assert.equal(header(await gives(blob.copyFrom(source), 202), 'x-ms-copy-status'), 'success');
  },
  'Copy Blob From URL': async (blob, source) => {
    await gives(blob.copyFrom(source, { 'x-ms-requires-sync': 'true' }), 202);
  },
  'Put Blob From URL': async (blob, source) => {
    await gives(blob.put('', { 'x-ms-blob-type': 'BlockBlob', 'x-ms-copy-source': source }), 201);
  },
  'Put Block From URL': async (blob, source) => {
    const query = `comp=block&blockid=${encodeURIComponent(blockId('a'))}`;
    await gives(blob.put(query, { 'x-ms-copy-source': source }), 201);
    await gives(blob.commit(['Latest a']), 201);
  },
  'Append Block From URL': async (blob, source) => {
    await gives(blob.put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
    await gives(blob.put('comp=appendblock', { 'x-ms-copy-source': source }), 201);
  },
};

for (const [operation, put] of Object.entries(toBlob)) {
  test(`${operation} takes a file of this server`, async (t) => {
    const { container, file } = await both(t, { file: 'd/a.txt', directory: 'd' });
    const target = container.blob('target');
    await put(target, linked(file, 'file'));
    assert.equal(await target.text(), 'hello world');
  });
}

test('a file that may not be read becomes no blob', async (t) => {
  const { container, file, share } = await both(t, { file: 'a.txt' });
  const target = container.blob('target');
  await refuses(target.copyFrom(file.url), 403, 'CannotVerifyCopySource');
  await refuses(target.copyFrom(linked(file, 'file', 'w')), 403, 'CannotVerifyCopySource');
  await refuses(target.copyFrom(linked(share.file('no'), 'file')), 404, 'CannotVerifyCopySource');
  await refuses(target.head(), 404, 'BlobNotFound');
});

test('a file of another account is copied with a link, and not without', async (t) => {
  const { server, share, file } = await given(t, { file: 'a.txt' });
  const other = createAccount('other', [Buffer.alloc(64, 7).toString('base64')]);
  await server.running.accounts.ensure(other);
  const theirs = new Share(server.at('file', other), 'theirs');
  await gives(theirs.put(), 201);
  const target: File = theirs.file('b.txt');
  await refuses(target.copyFrom(file), 403, 'CannotVerifyCopySource');
  await gives(target.copyFrom(linked(file, 'file')), 202);
  assert.equal(await target.text(), 'hello world');
  await gives(share.file('back').copyFrom(linked(target, 'file')), 202);
  assert.equal(await share.file('back').text(), 'hello world');
  await gives(
    target.copyFrom(`${linked(file, 'file')}`, { 'x-ms-file-permission-copy-mode': 'source' }),
    202,
  );
});

test('a service that is not served is another server', async (t) => {
  const { share } = await given(t);
  const url = 'http://127.0.0.1:10000/devstoreaccount1/photos/cat.jpg?sv=x';
  await refuses(share.file('target').copyFrom(url), 403, 'CannotVerifyCopySource');
});
