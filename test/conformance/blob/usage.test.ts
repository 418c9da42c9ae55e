import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConflictError } from '#src/collections/index.js';
import type { BlobService } from '#src/services/blob/service.js';
import { discardUpload } from '#src/services/blob/uploads.js';
import { forgetUsage } from '#src/services/blob/usage.js';
import { verifyBlobs } from '#src/services/blob/verify-blobs.js';
import { given } from '../../support/given.js';
import { temporaryFolder } from '../../support/program.js';
import { gives, startServer } from '../../support/server.js';
import { assertUsageExact } from '../../support/usage.js';

const home = 'devstoreaccount1/photos';

test('what a container uses follows every change', async (t) => {
  const { blob, container, server } = await given(t, { content: 'x'.repeat(100) });
  const uses = async () => (await assertUsageExact(server))[home];
  assert.deepEqual((await uses())?.blobs, { count: 1, bytes: 100 });
  await gives(blob.upload('x'.repeat(40)), 201);
  assert.deepEqual((await uses())?.blobs, { count: 1, bytes: 40 });
  await blob.snapshot();
  await gives(container.blob('copy').copyFrom(blob), 202);
  assert.deepEqual(await uses(), {
    blobs: { count: 2, bytes: 80 },
    snapshots: { count: 1, bytes: 40 },
    versions: { count: 0, bytes: 0 },
    deleted: { count: 0, bytes: 0 },
    uncommitted: { count: 0, bytes: 0 },
  });
  const log = container.blob('log');
  await gives(log.put('', { 'x-ms-blob-type': 'AppendBlob' }), 201);
  await gives(log.append('12345'), 201);
  const disk = container.blob('disk');
  await gives(disk.put('', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '1024' }), 201);
  await gives(disk.put('comp=properties', { 'x-ms-blob-content-length': '4096' }), 200);
  const parts = container.blob('parts');
  await gives(parts.putBlock('a', '123'), 201);
  assert.deepEqual((await uses())?.blobs, { count: 4, bytes: 80 + 5 + 4096 }, 'blocks alone are no blob');
  await gives(parts.commit(['Latest a', 'Latest a']), 201);
  assert.deepEqual((await uses())?.blobs, { count: 5, bytes: 80 + 5 + 4096 + 6 });
  await gives(blob.delete('', { 'x-ms-delete-snapshots': 'include' }), 202);
  assert.deepEqual((await uses())?.snapshots, { count: 0, bytes: 0 });
  assert.deepEqual((await uses())?.blobs, { count: 4, bytes: 40 + 5 + 4096 + 6 });
});

test('blocks are counted until they are committed, replaced or gone', async (t) => {
  const { blob, container, server } = await given(t);
  const uses = async () => {
    const { uncommitted } = (await assertUsageExact(server))[home] ?? {};
    return [uncommitted?.count, uncommitted?.bytes];
  };
  await gives(blob.putBlock('a', '123'), 201);
  await gives(blob.putBlock('b', '12345'), 201);
  assert.deepEqual(await uses(), [2, 8]);
  await gives(blob.putBlock('b', '1'), 201);
  assert.deepEqual(await uses(), [2, 4], 'a block that was put again');
  await gives(blob.commit(['Latest a']), 201);
  assert.deepEqual(await uses(), [0, 0], 'the other one is dropped');
  for (const [end, status] of [
    [() => blob.upload('whole'), 201],
    [() => blob.delete(), 202],
    [() => blob.commit([]), 201],
    [() => blob.delete('', { 'x-ms-delete-snapshots': 'include' }), 202],
  ] as const) {
    await gives(blob.putBlock('a', '123'), 201);
    await gives(container.blob('other').putBlock('a', '12'), 201);
    assert.deepEqual(await uses(), [2, 5]);
    await gives(end(), status);
    assert.deepEqual(await uses(), [1, 2]);
  }
  server.pass(8 * 24 * 3600);
  await server.running.sweep();
  assert.deepEqual(await uses(), [0, 0], 'a week later');
});

test('blocks that come while others are committed are counted or gone', async (t) => {
  const { blob, server } = await given(t);
  for (let round = 0; round < 20; round++) {
    await gives(blob.putBlock('a', 'first'), 201);
    const puts = Array.from({ length: 8 }, (_, at) => blob.putBlock(String(at), 'x'.repeat(at + 1)));
    const commits = [blob.commit(['Latest a']), blob.upload('whole')];
    for (const answer of await Promise.all([...puts, ...commits])) {
      assert.ok([201, 400].includes(answer.status), answer.text); // 400: the list names what has gone
    }
    await assertUsageExact(server);
  }
  await server.running.sweep();
  await assertUsageExact(server);
});

test('an upload is not dropped with a block that came meanwhile: it would be counted for ever', async (t) => {
  const { blob, server } = await given(t);
  await gives(blob.putBlock('a', 'first'), 201);
  const { store } = server.running.services.get('blob') as BlobService;
  await using tx = store.state.begin();
  for await (const [[container], { upload }] of store.blobs.entries(tx)) {
    if (upload !== undefined) await discardUpload(store, tx, container, upload);
  }
  await gives(blob.putBlock('b', 'second'), 201);
  await assert.rejects(tx.commit(), ConflictError);
  assert.equal((await assertUsageExact(server))[home]?.uncommitted.count, 2);
});

test('a refused change counts nothing', async (t) => {
  const { blob, server } = await given(t, { content: 'v1' });
  await blob.upload('longer', { 'If-None-Match': '*' });
  await blob.upload('longer', { 'If-Match': '"0x1"' });
  await blob.append('x');
  assert.deepEqual((await assertUsageExact(server))[home]?.blobs, { count: 1, bytes: 2 });
});

test('a container that is gone uses nothing', async (t) => {
  const { container, server } = await given(t, { content: 'v1' });
  await gives(container.delete(), 202);
  for (let round = 0; round < 3; round++) await server.running.sweep();
  assert.deepEqual(await assertUsageExact(server), {});
  await gives(container.create(), 201);
  assert.deepEqual((await assertUsageExact(server))[home]?.blobs, { count: 0, bytes: 0 });
});

test('many writers at once are all counted', async (t) => {
  const { container, server } = await given(t);
  const names = Array.from({ length: 60 }, (_, index) => `blob${index % 20}`);
  await Promise.all(names.map((name, index) => gives(container.blob(name).upload('x'.repeat(index)), 201)));
  assert.equal((await assertUsageExact(server))[home]?.blobs.count, 20);
});

test('a store from before there were counters is counted when it is opened, once', async (t) => {
  const location = temporaryFolder(t);
  const stops: (() => Promise<void>)[] = [];
  const { blob, server } = await given(
    { after: (stop) => stops.push(stop as () => Promise<void>) },
    { content: 'v1', location },
  );
  await blob.snapshot();
  await gives(blob.putBlock('a', '123'), 201);
  const { store } = server.running.services.get('blob') as BlobService;
  await store.run(async (tx) => {
    for await (const id of store.properties.keys(tx)) await forgetUsage(store, tx, id);
    for await (const [, { upload }] of store.blobs.entries(tx)) {
      if (upload !== undefined) await store.blockBytes.remove(tx, upload.id);
    }
    await store.usage.remove(tx, [0, 'all', 'count']);
  });
  for (const stop of stops) await stop();
  const again = await startServer(t, 'blob', { location });
  const used = (await assertUsageExact(again))[home];
  assert.deepEqual(
    [used?.blobs, used?.snapshots, used?.uncommitted],
    [
      { count: 1, bytes: 2 },
      { count: 1, bytes: 2 },
      { count: 1, bytes: 3 },
    ],
  );
  const { store: opened } = again.running.services.get('blob') as BlobService;
  assert.deepEqual(await verifyBlobs(opened), []);
});

test('a store from before blocks were counted has them counted when it is opened, once', async (t) => {
  const location = temporaryFolder(t);
  const stops: (() => Promise<void>)[] = [];
  const { blob, server } = await given(
    { after: (stop) => stops.push(stop as () => Promise<void>) },
    { content: 'v1', location },
  );
  await gives(blob.putBlock('a', '123'), 201);
  await gives(blob.putBlock('b', '4'), 201);
  const { store } = server.running.services.get('blob') as BlobService;
  await store.run(async (tx) => {
    for await (const id of store.properties.keys(tx)) {
      await store.usage.remove(tx, [id, 'uncommitted', 'count']);
      await store.usage.remove(tx, [id, 'uncommitted', 'bytes']);
    }
    for await (const [, { upload }] of store.blobs.entries(tx)) {
      if (upload !== undefined) await store.blockBytes.remove(tx, upload.id);
    }
    await store.usage.add(tx, [0, 'all', 'count'], -1);
  });
  for (const stop of stops) await stop();
  for (let round = 0; round < 2; round++) {
    const ends: (() => Promise<void>)[] = [];
    const again = await startServer({ after: (stop) => ends.push(stop as () => Promise<void>) }, 'blob', {
      location,
    });
    const used = (await assertUsageExact(again))[home];
    assert.deepEqual([used?.blobs.count, used?.uncommitted.count, used?.uncommitted.bytes], [1, 2, 4]);
    assert.deepEqual(await verifyBlobs((again.running.services.get('blob') as BlobService).store), []);
    for (const end of ends) await end();
  }
});
