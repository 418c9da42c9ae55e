import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Blob, given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

async function stage(blob: Blob, blocks: Readonly<Record<string, string>>): Promise<void> {
  for (const [id, content] of Object.entries(blocks)) await gives(blob.putBlock(id, content), 201);
}

test('blocks are the content in the order of the list, each as often as it is named', async (t) => {
  const { blob } = await given(t);
  await stage(blob, { a: 'A', b: 'B', c: 'C' });
  const put = await gives(blob.commit(['Latest c', 'Uncommitted a', 'Latest c']), 201);
  assert.equal(await blob.text(), 'CAC');
  assert.equal(header(put, 'etag'), await blob.etag());
  assert.equal(put.headers.has('content-md5'), false);
  assert.equal((await blob.head()).headers.has('content-md5'), false);
});

test('where each element looks for its block', async (t) => {
  const table = [
    // element          committed a, uncommitted a
    ['Latest a', 'new'],
    ['Uncommitted a', 'new'],
    ['Committed a', 'old'],
  ] as const;
  for (const [element, content] of table) {
    const { blob } = await given(t);
    await stage(blob, { a: 'old' });
    await gives(blob.commit(['Latest a']), 201);
    await stage(blob, { a: 'new' });
    await gives(blob.commit([element]), 201);
    assert.equal(await blob.text(), content, element);
  }
});

test('a block that is in neither list, or not in the one that is named, makes the list invalid', async (t) => {
  const { blob } = await given(t);
  await stage(blob, { a: 'A' });
  await gives(blob.commit(['Latest a']), 201);
  await stage(blob, { b: 'B' });
  for (const element of ['Uncommitted a', 'Committed b', 'Latest x']) {
    await refuses(blob.commit([element]), 400, 'InvalidBlockList');
  }
  assert.equal(await blob.text(), 'A');
  await gives(blob.commit(['Committed a', 'Latest b']), 201);
  assert.equal(await blob.text(), 'AB');
});

test('one id comes from one list', async (t) => {
  const { blob } = await given(t);
  await stage(blob, { a: 'old' });
  await gives(blob.commit(['Latest a']), 201);
  await stage(blob, { a: 'new' });
  await refuses(blob.commit(['Committed a', 'Uncommitted a']), 400, 'InvalidBlockList');
  await refuses(blob.commit(['Uncommitted a', 'Committed a']), 400, 'InvalidBlockList');
});

test('a list of nothing makes an empty blob', async (t) => {
  const { blob } = await given(t);
  await gives(blob.commit([]), 201);
  assert.equal(await blob.text(), '');
});

test('while a long list is committed others are answered', async (t) => {
  const { blob } = await given(t);
  await stage(blob, { a: 'A' });
  let isDone = false;
  const commit = gives(blob.commit(Array<string>(20_000).fill('Latest a')), 201).finally(() => {
    isDone = true;
  });
  let turns = 0;
  for (; !isDone; turns++) await new Promise((resolve) => setImmediate(resolve));
  await commit;
  // 40 parts of 500 blocks are found, then written.
  assert.ok(turns >= 70, `${turns} turns of the event loop`);
});

test('blocks that are not in the list are dropped; a second commit of them fails', async (t) => {
  const { blob } = await given(t);
  await stage(blob, { a: 'A', b: 'B' });
  await gives(blob.commit(['Uncommitted a']), 201);
  await refuses(blob.commit(['Uncommitted a']), 400, 'InvalidBlockList');
  await refuses(blob.commit(['Latest b']), 400, 'InvalidBlockList');
  await gives(blob.commit(['Latest a']), 201);
});

test('the content of a blob that was put whole cannot be named', async (t) => {
  const { blob } = await given(t, { content: 'whole' });
  await stage(blob, { a: 'A' });
  await gives(blob.commit(['Latest a']), 201);
  assert.equal(await blob.text(), 'A');
});

test('properties, metadata and tags are those of the request', async (t) => {
  const { blob } = await given(t, {
    content: 'v1',
    headers: { 'x-ms-meta-old': '1', 'x-ms-blob-cache-control': 'no-store' },
  });
  await stage(blob, { a: 'A' });
  const headers = {
    'Content-Type': 'application/xml',
    'x-ms-blob-content-type': 'text/plain',
    'x-ms-blob-content-md5': 'XUFAKrxLKna5cZ2REBfFkg==',
    'x-ms-meta-new': '2',
    'x-ms-tags': 'k=v',
  };
  await gives(blob.commit(['Latest a'], headers), 201);
  const head = await gives(blob.head(), 200);
  assert.equal(header(head, 'content-type'), 'text/plain');
  assert.equal(header(head, 'content-md5'), 'XUFAKrxLKna5cZ2REBfFkg==');
  assert.equal(header(head, 'x-ms-meta-new'), '2');
  assert.equal(header(head, 'x-ms-tag-count'), '1');
  assert.equal(head.headers.has('x-ms-meta-old'), false);
  assert.equal(head.headers.has('cache-control'), false);
});

test('a snapshot keeps the list that it was taken of', async (t) => {
  const { blob, server } = await given(t);
  await stage(blob, { a: 'A'.repeat(5000), b: 'B' });
  await gives(blob.commit(['Latest a', 'Latest b']), 201);
  const snapshot = await blob.snapshot();
  await stage(blob, { c: 'C' });
  await gives(blob.commit(['Latest c', 'Committed b']), 201);
  await server.running.sweep();
  assert.equal(await blob.text(`snapshot=${snapshot}`), `${'A'.repeat(5000)}B`);
  assert.equal(await blob.text(), 'CB');
  const list = await gives(blob.get(`comp=blocklist&snapshot=${snapshot}`), 200);
  assert.equal(list.text.match(/<Block>/g)?.length, 2);
});

test('a list that is no list is refused', async (t) => {
  const { blob } = await given(t);
  const commit = (body: string) => blob.put('comp=blocklist', {}, body);
  await refuses(commit('<BlockList><Latest>'), 400, 'InvalidXmlDocument');
  await refuses(commit('<Blocks/>'), 400, 'InvalidXmlDocument');
  await refuses(commit('<BlockList><Newest>YQ==</Newest></BlockList>'), 400, 'InvalidXmlDocument');
  await refuses(commit('<BlockList><Latest>*</Latest></BlockList>'), 400, 'InvalidBlockId');
  const long = '<Latest>YQ==</Latest>'.repeat(50_001);
  await refuses(commit(`<BlockList>${long}</BlockList>`), 400, 'BlockListTooLong');
  await refuses(blob.commit([], { 'Content-MD5': 'XUFAKrxLKna5cZ2REBfFkg==' }), 400, 'Md5Mismatch');
  await refuses(blob.get(), 404, 'BlobNotFound');
});

test('an append blob has no block list', async (t) => {
  const { blob } = await given(t, { type: 'AppendBlob' });
  await refuses(blob.commit([]), 409, 'InvalidBlobType');
});
