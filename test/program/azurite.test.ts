// A workspace that Azurite 3.37 has written (test/fixtures/azurite), taken over: everything a client can ask for.

import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TableClient } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { QueueServiceClient } from '@azure/storage-queue';
import { root, run, startProgram, temporaryFolder } from '../support/program.js';

const fixture = join(root, 'test/fixtures/azurite');

test('blobs, queues and tables of Azurite, with their times, blocks and snapshots', async (t) => {
  const location = temporaryFolder(t);
  cpSync(fixture, location, { recursive: true });
  const imported = await run(['import-azurite', '-l', location, '--json']);
  assert.equal(imported.code, 0, imported.stderr);
  await startProgram(t, ['-s', '-l', location]);
  const told = await run(['connection-string', '-l', location]);
  const connection = told.stdout.trim();

  const container = BlobServiceClient.fromConnectionString(connection).getContainerClient('photos');
  const { metadata, blobPublicAccess } = await container.getProperties();
  assert.deepEqual(metadata, { owner: 'ada' });
  assert.equal(blobPublicAccess, 'blob');
  assert.equal((await container.getAccessPolicy()).signedIdentifiers[0]?.id, 'readers');

  const names: string[] = [];
  let snapshot = '';
  for await (const item of container.listBlobsFlat({ includeSnapshots: true })) {
    names.push(item.snapshot ? `${item.name} (snapshot)` : item.name);
    if (item.snapshot) snapshot = item.snapshot;
  }
  for (const name of [
    '2026/cat.txt',
    '2026/cat.txt (snapshot)',
    'big.bin',
    'blocks.bin',
    'empty',
    'log.txt',
  ]) {
    assert.ok(names.includes(name), `${name} is among ${names}`);
  }
  const cat = container.getBlockBlobClient('2026/cat.txt');
  assert.equal(String(await cat.downloadToBuffer()), 'second version');
  assert.equal(String(await cat.withSnapshot(snapshot).downloadToBuffer()), 'first version');
  const properties = await cat.getProperties();
  assert.equal(properties.contentType, 'text/plain');
  assert.equal(properties.cacheControl, 'no-cache');
  assert.deepEqual(properties.metadata, { colour: 'white' });
  assert.equal(properties.lastModified?.toISOString().slice(0, 10), '2026-11-16');
  const list = await container.getBlockBlobClient('blocks.bin').getBlockList('all');
  assert.deepEqual(
    list.committedBlocks?.map(({ size }) => size),
    [6, 5],
  );
  assert.deepEqual(
    list.uncommittedBlocks?.map(({ size }) => size),
    [11],
  );
  assert.equal(String(await container.getBlobClient('log.txt').downloadToBuffer()), 'line 1\nline 2\n');
  const disk = container.getPageBlobClient('disk.vhd');
  const pages = await disk.downloadToBuffer();
  assert.ok(pages.length === 4096 && pages.every((byte, at) => byte === (at >= 512 && at < 1024 ? 65 : 0)));
  // The SDK counts from the first byte to the last.
  assert.deepEqual((await disk.getPageRanges()).pageRange, [{ offset: 512, count: 511 }]);
  const tagged: string[] = [];
  for await (const { name } of BlobServiceClient.fromConnectionString(connection).findBlobsByTags(
    "kind='cat'",
  )) {
    tagged.push(name);
  }
  assert.deepEqual(tagged, ['2026/cat.txt']);
  const big = await container.getBlobClient('big.bin').downloadToBuffer();
  assert.ok(big.length === 20_000 && big.every((byte, at) => byte === ((at * 7) & 255)));

  const queue = QueueServiceClient.fromConnectionString(connection).getQueueClient('work');
  assert.deepEqual((await queue.getProperties()).metadata, { team: 'ops' });
  const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32 });
  const texts = receivedMessageItems.map(({ messageText }) => messageText);
  assert.deepEqual(
    texts.sort(),
    Date.now() < Date.parse('2026-11-23') ? ['first', 'second', 'third'] : ['second'],
  );

  const table = TableClient.fromConnectionString(connection, 'People', { allowInsecureConnection: true });
  const ada = await table.getEntity<Record<string, unknown>>('math', 'ada');
  assert.equal(ada['big'], 9007199254740993n);
  assert.equal(ada['score'], 1.5);
  assert.equal(ada['alive'], false);
  assert.deepEqual(ada['id'], { type: 'Guid', value: '0b4b5e8e-8f6b-4f0c-9d0e-0123456789ab' });
  assert.deepEqual([...(ada['raw'] as Uint8Array)], [1, 2, 3]);
  assert.equal((await table.getEntity<{ name: string }>('math', "em'my")).name, 'Emmy');
});

test('accounts in AZURITE_ACCOUNTS keep their keys, also where no server runs', async (t) => {
  const location = temporaryFolder(t);
  cpSync(fixture, location, { recursive: true });
  for (const name of ['blob', 'queue', 'table']) {
    const path = join(location, `__azurite_db_${name}__.json`);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('devstoreaccount1', 'mine'));
  }
  const env = { AZURITE_ACCOUNTS: 'mine:YQ==' };
  const imported = await run(['import-azurite', '-l', location, '--json'], { env });
  assert.equal(imported.code, 0, imported.stderr);
  assert.doesNotMatch(imported.stdout, /new keys/);
  const told = await run(['connection-string', 'mine', '-l', location]);
  assert.match(told.stdout, /AccountName=mine;AccountKey=YQ==;/);
});
