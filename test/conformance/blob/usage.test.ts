import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BlobService } from '#src/services/blob/service.js';
import { forgetUsage } from '#src/services/blob/usage.js';
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
  const { store } = server.running.services.get('blob') as BlobService;
  await store.run(async (tx) => {
    for await (const id of store.properties.keys(tx)) await forgetUsage(store, tx, id);
    await store.usage.remove(tx, [0, 'all', 'count']);
  });
  for (const stop of stops) await stop();
  const again = await startServer(t, 'blob', { location });
  const used = (await assertUsageExact(again))[home];
  assert.deepEqual(
    [used?.blobs, used?.snapshots],
    [
      { count: 1, bytes: 2 },
      { count: 1, bytes: 2 },
    ],
  );
});
