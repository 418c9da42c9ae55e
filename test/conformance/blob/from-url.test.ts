// Put Blob From URL, Put Block From URL, Append Block From URL, Put Page From URL.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { foreignServer, serving } from '../../support/foreign.js';
import { type Blob, blockId, type Container, given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';
import type { WireAnswer } from '../../support/wire.js';

type Headers = Readonly<Record<string, string | undefined>>;
type FromUrl = (container: Container, source: string, headers: Headers) => Promise<WireAnswer>;

const from = (source: string, headers: Headers) => ({ 'x-ms-copy-source': source, ...headers });

/** Each puts 512 bytes of the source, from the second page on. */
const operations: Readonly<Record<string, { put: FromUrl; target: string; read: string }>> = {
  'Put Block From URL': {
    target: 'blocks',
    read: 'A'.repeat(512),
    put: (container, source, headers) =>
      container
        .blob('blocks')
        .put(
          `comp=block&blockid=${blockId('a')}`,
          from(source, { 'x-ms-source-range': 'bytes=512-1023', ...headers }),
        ),
  },
  'Append Block From URL': {
    target: 'log',
    read: 'A'.repeat(512),
    put: (container, source, headers) =>
      container
        .blob('log')
        .put('comp=appendblock', from(source, { 'x-ms-source-range': 'bytes=512-1023', ...headers })),
  },
  'Put Page From URL': {
    target: 'pages',
    read: 'A'.repeat(512) + '\0'.repeat(512),
    put: (container, source, headers) =>
      container.blob('pages').put(
        'comp=page',
        from(source, {
          'x-ms-page-write': 'update',
          'x-ms-range': 'bytes=0-511',
          'x-ms-source-range': 'bytes=512-1023',
          ...headers,
        }),
      ),
  },
};

const content = Buffer.concat([Buffer.alloc(512, 'x'), Buffer.alloc(512, 'A'), Buffer.alloc(9000, 'y')]);
const sum = createHash('md5').update(content.subarray(512, 1024)).digest('base64');

async function targets(t: Parameters<typeof given>[0]): Promise<{ container: Container; source: Blob }> {
  const { container, blob } = await given(t, { content, copySources: 'any' });
  await gives(container.blob('log').put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
  const page = { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '1024' };
  await gives(container.blob('pages').put('', page), 201);
  return { container, source: blob };
}

async function readTarget(container: Container, operation: string, target: string): Promise<string> {
  const blob = container.blob(target);
  if (operation === 'Put Block From URL') await gives(blob.commit(['Latest a']), 201);
  return blob.text();
}

for (const [operation, { put, target, read }] of Object.entries(operations)) {
  test(`${operation} takes a range of a blob of this server`, async (t) => {
    const { container, source } = await targets(t);
    const answer = await gives(put(container, source.url, { 'x-ms-source-content-md5': sum }), 201);
    assert.equal(header(answer, 'content-md5'), sum);
    assert.equal(await readTarget(container, operation, target), read);
  });

  test(`${operation} takes a range of another server`, async (t) => {
    const { container } = await targets(t);
    const foreign = await foreignServer(t, serving(content));
    const answer = await gives(put(container, foreign.url, {}), 201);
    assert.equal(header(answer, 'x-ms-content-crc64').length, 12);
    assert.equal(foreign.requests[0]?.headers.range, 'bytes=512-1023');
    assert.equal(await readTarget(container, operation, target), read);
  });

  test(`${operation} tells what the source refuses, with its status`, async (t) => {
    const { container, source } = await targets(t);
    const etag = await source.etag();
    const code = 'CannotVerifyCopySource';
    const when = (name: string, value: string) =>
      put(container, source.url, { [`x-ms-source-if-${name}`]: value });
    await refuses(when('match', '"0x1"'), 412, code);
    await refuses(when('none-match', etag), 304, code);
    await refuses(when('unmodified-since', 'Sat, 01 Jan 2000 00:00:00 GMT'), 412, code);
    await refuses(when('modified-since', 'Fri, 01 Jan 2100 00:00:00 GMT'), 304, code);
    await refuses(put(container, `${source.url}x`, {}), 404, code);
    await refuses(
      put(container, source.url, { 'x-ms-source-content-md5': 'XUFAKrxLKna5cZ2REBfFkg==' }),
      400,
      'Md5Mismatch',
    );
    await gives(when('match', etag), 201);
  });
}

test('Put Page From URL needs ranges of one length', async (t) => {
  const { container, source } = await targets(t);
  const put = (range: string | undefined) =>
    container.blob('pages').put('comp=page', {
      'x-ms-page-write': 'update',
      'x-ms-range': 'bytes=0-511',
      'x-ms-copy-source': source.url,
      'x-ms-source-range': range,
    });
  await refuses(put('bytes=0-1023'), 400, 'InvalidHeaderValue');
  await refuses(put(undefined), 400, 'MissingRequiredHeader');
});

const putFromUrl = (blob: Blob, source: string, headers: Headers = {}) =>
  blob.put('', { 'x-ms-blob-type': 'BlockBlob', 'x-ms-copy-source': source, ...headers });

test('Put Blob From URL makes a blob of the source, with its properties', async (t) => {
  const { container, blob } = await given(t, {
    content,
    headers: { 'x-ms-blob-content-type': 'text/x', 'x-ms-meta-a': '1', 'x-ms-tags': 'k=v' },
  });
  const target = container.blob('target');
  const put = await gives(putFromUrl(target, blob.url), 201);
  assert.equal(header(put, 'content-md5'), createHash('md5').update(content).digest('base64'));
  const got = await gives(target.get(), 200);
  assert.ok(got.body.equals(content));
  assert.equal(header(got, 'content-type'), 'text/x');
  assert.equal(header(got, 'x-ms-meta-a'), '1');
  assert.equal(got.headers.has('x-ms-copy-id'), false);
  assert.equal(got.headers.has('x-ms-tag-count'), false);
  const plain = { 'x-ms-copy-source-blob-properties': 'false', 'x-ms-copy-source-tag-option': 'COPY' };
  await gives(putFromUrl(target, blob.url, plain), 201);
  const head = await gives(target.head(), 200);
  assert.equal(header(head, 'content-type'), 'application/octet-stream');
  assert.equal(head.headers.has('x-ms-meta-a'), false);
  assert.equal(header(head, 'x-ms-tag-count'), '1');
});

test('Put Blob From URL from another server, and what it refuses', async (t) => {
  const { container, blob } = await given(t, { content, copySources: 'any' });
  const foreign = await foreignServer(t, serving(content, { 'x-ms-meta-b': '2' }));
  const target = container.blob('target');
  await gives(putFromUrl(target, foreign.url), 201);
  assert.ok((await gives(target.get(), 200)).body.equals(content));
  assert.equal(header(await target.head(), 'x-ms-meta-b'), '2');
  await refuses(
    putFromUrl(target, blob.url, { 'x-ms-source-if-match': '"0x1"' }),
    412,
    'SourceConditionNotMet',
  );
  await refuses(putFromUrl(target, blob.url, { 'If-None-Match': '*' }), 409, 'BlobAlreadyExists');
  await refuses(putFromUrl(target, 'http://127.0.0.1:1/x'), 500, 'CannotVerifyCopySource');
  await refuses(putFromUrl(target, 'ftp://example.org/x'), 400, 'InvalidHeaderValue');
});

test('a server that was not told otherwise fetches from the public network alone', async (t) => {
  const { container } = await given(t);
  const foreign = await foreignServer(t, serving(content));
  const port = new URL(foreign.url).port;
  const hosts = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433', '0x7f.1'];
  for (const host of [...hosts, '10.0.0.1', '169.254.169.254', '192.168.1.1', '[fe80::1]', '[fc00::1]']) {
    const source = `http://${host}:${port}/source`;
    await refuses(putFromUrl(container.blob('x'), source), 403, 'CannotVerifyCopySource');
    await refuses(container.blob('x').copyFrom(source), 403, 'CannotVerifyCopySource');
  }
  assert.equal(foreign.requests.length, 0);
});
