import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockId, given, header } from '../../support/given.js';
import { gives, refuses } from '../../support/server.js';

const block = (id: string, size: number) => `<Block><Name>${blockId(id)}</Name><Size>${size}</Size></Block>`;

test('committed blocks in their order, uncommitted ones by id', async (t) => {
  const { blob } = await given(t);
  await gives(blob.putBlock('b', 'BB'), 201);
  await gives(blob.putBlock('a', 'A'), 201);
  await gives(blob.commit(['Latest b', 'Latest a']), 201);
  await gives(blob.putBlock('d', 'DDDD'), 201);
  await gives(blob.putBlock('c', 'CCC'), 201);
  const committed = `<CommittedBlocks>${block('b', 2)}${block('a', 1)}</CommittedBlocks>`;
  const uncommitted = `<UncommittedBlocks>${block('c', 3)}${block('d', 4)}</UncommittedBlocks>`;
  const lists = {
    '': committed,
    '&blocklisttype=committed': committed,
    '&blocklisttype=uncommitted': uncommitted,
    '&blocklisttype=all': committed + uncommitted,
  };
  for (const [query, list] of Object.entries(lists)) {
    const got = await gives(blob.get(`comp=blocklist${query}`), 200);
    assert.ok(got.text.endsWith(`<BlockList>${list}</BlockList>`), got.text);
    assert.equal(header(got, 'etag'), await blob.etag());
    assert.equal(header(got, 'x-ms-blob-content-length'), '3');
  }
});

test('of uncommitted blocks alone there is no ETag', async (t) => {
  const { blob } = await given(t);
  await gives(blob.putBlock('a', 'A'), 201);
  const got = await gives(blob.get('comp=blocklist&blocklisttype=all'), 200);
  assert.match(got.text, /<CommittedBlocks \/>/);
  assert.equal(got.headers.has('etag'), false);
  assert.equal(got.headers.has('x-ms-blob-content-length'), false);
});

test('a blob that was put whole has an empty list', async (t) => {
  const { blob } = await given(t, { content: 'v1' });
  assert.match((await gives(blob.get('comp=blocklist'), 200)).text, /<CommittedBlocks \/>/);
});

test('what has no list is told so', async (t) => {
  const { blob, container } = await given(t, { type: 'AppendBlob' });
  await refuses(blob.get('comp=blocklist'), 409, 'InvalidBlobType');
  await refuses(container.blob('none').get('comp=blocklist'), 404, 'BlobNotFound');
  await refuses(blob.get('comp=blocklist&blocklisttype=some'), 400, 'InvalidQueryParameterValue');
});
