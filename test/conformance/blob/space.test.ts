// Whatever was done to blobs, once they are gone nothing of them is stored.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Blob, given } from '../../support/given.js';
import { assertNothingLeft } from '../../support/leftovers.js';
import { gives } from '../../support/server.js';

const long = 'x'.repeat(9000);

async function workOn(blob: Blob, other: Blob): Promise<void> {
  await gives(blob.upload(long, { 'x-ms-tags': 'a=b&c=d' }), 201);
  await gives(blob.upload('short', { 'x-ms-tags': 'a=b' }), 201);
  for (const id of ['a', 'b', 'c']) await gives(blob.putBlock(id, id === 'b' ? long : id), 201);
  await gives(blob.putBlock('a', long), 201);
  await gives(blob.commit(['Latest a', 'Latest b', 'Latest a']), 201);
  await gives(blob.putBlock('d', long), 201);
  await gives(blob.commit(['Committed b', 'Latest d', 'Committed b']), 201);
  await blob.snapshot();
  await gives(other.copyFrom(blob), 202);
  await gives(blob.putBlock('e', long), 201);
  await gives(blob.commit(['Committed d']), 201);
  await gives(other.copyFrom(blob), 202);
  await gives(other.putBlock('f', long), 201);
}

test('blobs that are deleted one by one leave nothing', async (t) => {
  const { container, server } = await given(t);
  const [blob, other] = [container.blob('one'), container.blob('two')];
  await workOn(blob, other);
  assert.deepEqual(await container.names(), ['one', 'two']);
  await gives(blob.delete('', { 'x-ms-delete-snapshots': 'include' }), 202);
  await gives(other.delete(), 202);
  await gives(container.delete(), 202);
  await assertNothingLeft(server);
});

test('a container that is deleted leaves nothing of what was in it', async (t) => {
  const { container, server } = await given(t);
  await workOn(container.blob('one'), container.blob('two'));
  const log = container.blob('log');
  await gives(log.put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
  await gives(log.append(long), 201);
  await log.snapshot();
  await gives(log.append('short'), 201);
  await gives(container.blob('log copy').copyFrom(log), 202);
  const pages = container.blob('pages');
  await gives(pages.put('', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '8192' }), 201);
  for (const [first, last] of [
    [0, 8191],
    [512, 1023],
    [4096, 8191],
  ] as const) {
    const headers = { 'x-ms-page-write': 'update', Range: `bytes=${first}-${last}` };
    await gives(pages.put('comp=page', headers, 'p'.repeat(last - first + 1)), 201);
    await pages.snapshot();
  }
  await gives(container.blob('pages copy').copyFrom(pages), 202);
  await gives(container.delete(), 202);
  await assertNothingLeft(server);
});
