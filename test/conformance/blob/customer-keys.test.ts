// Customer-provided keys: what is stored under one is read with it alone, and is not there in the clear.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Blob, given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

function keyOf(letter: string) {
  const key = Buffer.alloc(32, letter);
  return {
    'x-ms-encryption-key': key.toString('base64'),
    'x-ms-encryption-key-sha256': createHash('sha256').update(key).digest('base64'),
    'x-ms-encryption-algorithm': 'AES256',
  };
}

const mine = keyOf('a');
const yours = keyOf('b');

const readers = [
  // headers   status  code
  [{}, 409, 'BlobUsesCustomerSpecifiedEncryption'],
  [yours, 409, 'BlobCustomerSpecifiedEncryptionMismatch'],
] as const;

async function keepsOut(blob: Blob): Promise<void> {
  for (const [headers, status, code] of readers) {
    await refuses(blob.get('', headers), status, code);
    await refuses(blob.head('', headers), status, code);
    await refuses(blob.put('comp=metadata', headers), status, code);
    await refuses(blob.put('comp=snapshot', headers), status, code);
  }
}

for (const size of [0, 5, 4080, 4096, 5000, 300_000]) {
  test(`a blob of ${size} bytes under a key comes back with it, and ranges of it`, async (t) => {
    const { blob, container } = await given(t);
    const content = Buffer.alloc(size, 'secret text');
    const put = await gives(blob.upload(content, mine), 201);
    assert.equal(header(put, 'x-ms-encryption-key-sha256'), mine['x-ms-encryption-key-sha256']);
    assert.equal(header(put, 'content-md5'), createHash('md5').update(content).digest('base64'));
    const got = await gives(blob.get('', mine), 200);
    assert.ok(got.body.equals(content));
    for (const start of [0, 1, 15, 16, 17, 4079, 299_000].filter((one) => one < size)) {
      const part = await gives(blob.get('', { ...mine, Range: `bytes=${start}-${start + 40}` }), 206);
      assert.ok(part.body.equals(content.subarray(start, start + 41)), `from ${start}`);
    }
    await keepsOut(blob);
    await gives(blob.put('comp=metadata', { ...mine, 'x-ms-meta-a': '1' }), 200);
    const listed = (await container.list('include=metadata')).text;
    assert.match(listed, /<CustomerProvidedKeySha256>/);
    assert.match(listed, /<Metadata Encrypted="true" \/>/);
  });
}

test('blocks, appends and pages under a key', async (t) => {
  const { container, server } = await given(t);
  const blocks = container.blob('blocks');
  const parts = ['one', 'x'.repeat(5000), 'three'];
  for (const [index, part] of parts.entries()) await gives(blocks.putBlock(`b${index}`, part, mine), 201);
  await refuses(blocks.putBlock('b9', 'x', yours), 409, 'BlobCustomerSpecifiedEncryptionMismatch');
  await refuses(blocks.commit(['Latest b0']), 409, 'BlobUsesCustomerSpecifiedEncryption');
  await gives(blocks.commit(['Latest b2', 'Latest b1', 'Latest b0'], mine), 201);
  await keepsOut(blocks);
  assert.equal((await gives(blocks.get('', mine), 200)).text, `three${'x'.repeat(5000)}one`);
  await gives(blocks.commit(['Committed b0', 'Committed b2'], mine), 201);
  assert.equal((await gives(blocks.get('', { ...mine, Range: 'bytes=2-5' }), 206)).text, 'ethr');

  const log = container.blob('log');
  await gives(log.put('', { 'x-ms-blob-type': 'AppendBlob', ...mine }), 201);
  await gives(log.append('first ', mine), 201);
  await refuses(log.append('x'), 409, 'BlobUsesCustomerSpecifiedEncryption');
  await gives(log.append('second', mine), 201);
  assert.equal((await gives(log.get('', mine), 200)).text, 'first second');

  const pages = container.blob('pages');
  await gives(
    pages.put('', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '4096', ...mine }),
    201,
  );
  const put = (first: number, content: string) =>
    gives(
      pages.put(
        'comp=page',
        { 'x-ms-page-write': 'update', Range: `bytes=${first}-${first + content.length - 1}`, ...mine },
        content,
      ),
      201,
    );
  await put(512, 'a'.repeat(2048));
  const snapshot = header(await gives(pages.put('comp=snapshot', mine), 201), 'x-ms-snapshot');
  await put(1024, 'b'.repeat(512));
  await server.running.sweep();
  const expected = [
    '\0'.repeat(512),
    'a'.repeat(512),
    'b'.repeat(512),
    'a'.repeat(1024),
    '\0'.repeat(1536),
  ].join('');
  assert.equal((await gives(pages.get('', mine), 200)).text, expected);
  assert.equal(
    (await gives(pages.get('', { ...mine, Range: 'bytes=1500-1600' }), 206)).text,
    expected.slice(1500, 1601),
  );
  const old = await gives(pages.get(`snapshot=${snapshot}`, mine), 200);
  assert.equal(old.text, '\0'.repeat(512) + 'a'.repeat(2048) + '\0'.repeat(1536));
});

test('a blob without a key is not read with one, and a key has a form', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  await refuses(blob.get('', mine), 409, 'BlobDoesNotUseCustomerSpecifiedEncryption');
  await refuses(blob.upload('x', { ...mine, 'x-ms-encryption-algorithm': 'DES' }), 400, 'InvalidHeaderValue');
  await refuses(blob.upload('x', { ...mine, 'x-ms-encryption-key': 'YQ==' }), 400, 'InvalidHeaderValue');
  await refuses(
    blob.upload('x', { ...mine, 'x-ms-encryption-key-sha256': 'YQ==' }),
    400,
    'InvalidHeaderValue',
  );
  await refuses(blob.upload('x', { 'x-ms-encryption-algorithm': 'AES256' }), 400, 'MissingRequiredHeader');
});

test('the content is nowhere on the disk in the clear', async (t) => {
  const location = await mkdtemp(join(tmpdir(), 'lazuli-key-'));
  t.after(() => rm(location, { recursive: true, force: true }));
  const { blob, container } = await given(t, { location });
  const marker = 'nobody may read this';
  await gives(blob.upload(marker.repeat(1000), mine), 201);
  await gives(container.blob('small').upload(marker, mine), 201);
  await gives(container.blob('open').upload(`open: ${marker}!`), 201);
  const found: string[] = [];
  let open = 0;
  for (const name of await readdir(location, { recursive: true })) {
    const bytes = await readFile(join(location, name)).catch(() => Buffer.alloc(0));
    const text = bytes.toString('latin1');
    if (text.includes(`open: ${marker}!`)) open++;
    if (text.replaceAll(`open: ${marker}!`, '').includes(marker)) found.push(name);
  }
  assert.ok(open > 0, 'what is not encrypted is found');
  assert.deepEqual(found, []);
});
