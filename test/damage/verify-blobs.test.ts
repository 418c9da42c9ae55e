// What `verify` says of blobs whose bytes are gone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BlobService } from '#src/services/blob/service.js';
import { verifyBlobs } from '#src/services/blob/verify-blobs.js';
import { openContentRows } from '#src/services/common/content-rows.js';
import { type Blob, given } from '../support/given.js';
import { gives } from '../support/server.js';

const long = 'x'.repeat(9000);

async function makeKinds(blob: (name: string) => Blob): Promise<void> {
  await gives(blob('small').upload('small'), 201);
  await gives(blob('piece').upload(long), 201);
  await blob('piece').snapshot();
  await gives(blob('blocks').putBlock('a', long), 201);
  await gives(blob('blocks').commit(['Latest a']), 201);
  await gives(blob('blocks').putBlock('b', long), 201);
  await gives(blob('log').put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
  await gives(blob('log').append(long), 201);
  const pages = { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '8192' };
  await gives(blob('pages').put('', pages), 201);
  const update = { 'x-ms-page-write': 'update', Range: 'bytes=0-8191' };
  await gives(blob('pages').put('comp=page', update, 'p'.repeat(8192)), 201);
  await blob('pages').snapshot();
  await gives(blob('pages').put('comp=page', update, 'q'.repeat(8192)), 201);
}

test('bytes that are missing are told with who names them, each kind of it', async (t) => {
  const { container, server } = await given(t);
  await makeKinds((name) => container.blob(name));
  const { state, services } = server.running;
  const { store } = services.get('blob') as BlobService;
  assert.deepEqual(await verifyBlobs(store), []);
  const rows = await openContentRows(state);
  const told = new Set<string>();
  for (const dictionary of [rows.extents, rows.maps]) {
    const all = await store.run(async (tx) => {
      const found: [never, never][] = [];
      for await (const entry of dictionary.entries(tx)) found.push(entry as unknown as [never, never]);
      return found;
    });
    for (const [key, row] of all) {
      if (dictionary === rows.maps && (key as readonly number[])[1] !== -1) continue;
      await store.run(async (tx) => void (await dictionary.remove(tx, key)));
      const damage = await verifyBlobs(store);
      assert.ok(damage.length > 0, `${JSON.stringify(key)} is missed`);
      for (const sentence of damage) told.add(sentence.replaceAll(/\d+/g, 'n'));
      await store.run((tx) => dictionary.set(tx, key, row));
    }
  }
  assert.deepEqual(await verifyBlobs(store), []);
  assert.deepEqual([...told].sort(), [
    'map n keeps bytes from n on that are not stored',
    'map n names bytes from n on that are not stored',
    'the bytes of blob blocks are not stored',
    'the bytes of blob log are not stored',
    'the bytes of blob pages are not stored',
    'the bytes of blob piece are not stored',
    'the bytes of blob small are not stored',
    'the bytes of block Yg== are not stored',
    'the bytes of snapshot of pages are not stored',
    'the bytes of snapshot of piece are not stored',
  ]);
});

test('nothing is told of what comes and goes while it is looked at', async (t) => {
  const { container, server } = await given(t);
  const { store } = server.running.services.get('blob') as BlobService;
  let isOver = false;
  const work = async (worker: number) => {
    for (let count = 0; !isOver; count++) {
      const blob = container.blob(`${worker} ${count % 3}`);
      await gives(blob.upload(count % 2 === 0 ? long : 'small'), 201);
      if (count % 3 === 0) await gives(blob.putBlock('a', long), 201);
      if (count % 4 === 0) await gives(blob.delete(), 202);
      if (count % 5 === 0) await server.running.sweep();
    }
  };
  const working = [0, 1, 2, 3].map(work);
  for (let round = 0; round < 20; round++) assert.deepEqual(await verifyBlobs(store), []);
  isOver = true;
  await Promise.all(working);
});

test('what is counted wrong is told', async (t) => {
  const { blob, server } = await given(t, { content: 'v1' });
  await gives(blob.putBlock('a', '123'), 201);
  const { store } = server.running.services.get('blob') as BlobService;
  assert.deepEqual(await verifyBlobs(store), []);
  await store.run(async (tx) => {
    for await (const id of store.properties.keys(tx)) {
      await store.usage.add(tx, [id, 'uncommitted', 'bytes'], 1);
      await store.usage.add(tx, [id, 'blobs', 'count'], -1);
    }
    for await (const [, { upload }] of store.blobs.entries(tx)) {
      if (upload !== undefined) await store.blockBytes.add(tx, upload.id, 1);
    }
  });
  const damage = (await verifyBlobs(store)).map((sentence) => sentence.replace(/upload \d+/, 'upload n'));
  assert.deepEqual(damage, [
    'upload n has 1 blocks of 3 bytes, counted as 1 of 4',
    'container devstoreaccount1/photos has 1 blobs of 2 bytes, counted as 0 of 2',
    'container devstoreaccount1/photos has 1 uncommitted of 3 bytes, counted as 1 of 4',
  ]);
});
