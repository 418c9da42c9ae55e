// A server inside a program: several at once, in memory or in a folder, and one transaction over a dictionary of the
// user's and the services.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TableClient } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { QueueServiceClient } from '@azure/storage-queue';
import { type Joined, start } from '#src/server/start.js';
import { StorageError } from '#src/services/common/errors.js';
import { temporaryFolder } from '../support/program.js';

test('several at once, each with its own data, on free ports', async () => {
  await using first = await start();
  await using second = await start();
  assert.notEqual(first.urls.blob, second.urls.blob);
  const names = async (connection: string) => {
    const found: string[] = [];
    for await (const { name } of BlobServiceClient.fromConnectionString(connection).listContainers())
      found.push(name);
    return found;
  };
  await BlobServiceClient.fromConnectionString(first.connectionString).createContainer('mine');
  assert.deepEqual(await names(first.connectionString), ['mine']);
  assert.deepEqual(await names(second.connectionString), []);
});

test('in memory it is there in under 100 ms', async (t) => {
  const times: number[] = [];
  for (let count = 0; count < 5; count++) {
    const began = performance.now();
    const server = await start();
    times.push(performance.now() - began);
    await server.stop();
  }
  t.diagnostic(`${times.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  assert.ok(Math.min(...times) < 100);
});

test('what is in a folder is there again', async (t) => {
  const location = temporaryFolder(t);
  const first = await start({ location });
  const numbers = await first.state.dictionary<string, number>('numbers');
  await first.state.transaction((tx) => numbers.set(tx, 'one', 1));
  await first.stop();
  await using second = await start({ location });
  const again = await second.state.dictionary<string, number>('numbers');
  assert.equal(await second.state.transaction((tx) => again.get(tx, 'one')), 1);
});

test('a dictionary, an entity, a message and a blob change in one transaction, or none of them does', async () => {
  await using server = await start();
  const orders = await server.state.dictionary<string, { total: number }>('orders');
  await server.state.transaction(async (tx) => {
    const { tables, queues, blobs } = server.join(tx);
    await tables.create('Orders');
    await queues.create('work');
    await blobs.create('receipts');
  });
  const place = (id: string, fail: boolean) =>
    server.state.transaction(async (tx) => {
      const { tables, queues, blobs } = server.join(tx);
      await orders.set(tx, id, { total: 42 });
      await tables.insert('Orders', {
        partitionKey: 'eu',
        rowKey: id,
        total: 42,
        paid: false,
        at: new Date(0),
      });
      await queues.put('work', `ship ${id}`);
      await blobs.put('receipts', `${id}.txt`, `receipt of ${id}`.repeat(1000));
      if (fail) throw new Error('the card was refused');
    });
  await place('first', false);
  await assert.rejects(place('second', true), /card was refused/);

  const { connectionString } = server;
  const table = TableClient.fromConnectionString(connectionString, 'Orders', {
    allowInsecureConnection: true,
  });
  const rows: string[] = [];
  for await (const { rowKey } of table.listEntities()) rows.push(rowKey ?? '');
  assert.deepEqual(rows, ['first']);
  const queue = QueueServiceClient.fromConnectionString(connectionString).getQueueClient('work');
  const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32 });
  assert.deepEqual(
    receivedMessageItems.map(({ messageText }) => messageText),
    ['ship first'],
  );
  const receipts = BlobServiceClient.fromConnectionString(connectionString).getContainerClient('receipts');
  assert.equal(
    String(await receipts.getBlobClient('first.txt').downloadToBuffer()),
    'receipt of first'.repeat(1000),
  );
  assert.equal(await receipts.getBlobClient('second.txt').exists(), false);
  assert.deepEqual(await server.state.transaction((tx) => orders.get(tx, 'second')), undefined);
});

test('a refusal of a service leaves nothing behind; an ETag that is not the newest is refused', async () => {
  await using server = await start();
  await server.state.transaction((tx) => server.join(tx).tables.create('People'));
  const ada = { partitionKey: 'math', rowKey: 'ada', born: 1815 };
  const { etag } = await server.state.transaction((tx) => server.join(tx).tables.insert('People', ada));
  await server.state.transaction((tx) => server.join(tx).tables.put('People', { ...ada, born: 1816 }));
  await assert.rejects(
    server.state.transaction(async (tx) => {
      const { tables } = server.join(tx);
      await tables.insert('People', { ...ada, rowKey: 'emmy' });
      await tables.put('People', { ...ada, etag: etag ?? '' });
    }),
    (error) => error instanceof StorageError && error.code === 'UpdateConditionNotSatisfied',
  );
  const read = (rowKey: string) =>
    server.state.transaction((tx) => server.join(tx).tables.get('People', 'math', rowKey));
  assert.equal(await read('emmy'), undefined);
  assert.equal((await read('ada'))?.['born'], 1816);
});

test('what no client could store or read again is refused inside a transaction too', async () => {
  await using server = await start();
  await server.state.transaction(async (tx) => {
    await server.join(tx).blobs.create('photos');
    await server.join(tx).queues.create('work');
  });
  const refused = (work: (joined: Joined) => Promise<unknown>, code: string) =>
    assert.rejects(
      server.state.transaction((tx) => work(server.join(tx))),
      (error) => error instanceof StorageError && error.code === code,
    );
  await refused(({ blobs }) => blobs.put('photos', '', 'x'), 'InvalidUri');
  await refused(
    ({ blobs }) => blobs.put('photos', 'a', 'x', { metadata: [['b a', 'x']] }),
    'InvalidMetadata',
  );
  await refused(
    ({ blobs }) => blobs.put('photos', 'a', 'x', { metadata: [['a', 'x\ny']] }),
    'InvalidMetadata',
  );
  await refused(
    ({ blobs }) => blobs.put('photos', 'a', 'x', { headers: { type: 'a\r\nb' } }),
    'InvalidHeaderValue',
  );
  await refused(({ queues }) => queues.put('work', 'x'.repeat(65_537)), 'RequestBodyTooLarge');
});

test('entities of several partitions and tables change together, found by a filter', async () => {
  await using server = await start();
  await server.state.transaction(async (tx) => {
    const { tables } = server.join(tx);
    for (const table of ['Open', 'Done']) await tables.create(table);
    for (let n = 0; n < 6; n++)
      await tables.insert('Open', { partitionKey: `p${n % 3}`, rowKey: `r${n}`, n, text: 'as it was' });
    const own = [];
    for await (const { rowKey } of tables.query('Open', 'n lt 2')) own.push(rowKey);
    assert.deepEqual(own, ['r0', 'r1'], 'a query sees what its transaction wrote');
  });
  const move = async (fails: boolean) =>
    server.state.transaction(async (tx) => {
      const { tables } = server.join(tx);
      for await (const { etag, ...entity } of tables.query('Open', 'n ge 3')) {
        await tables.delete('Open', entity.partitionKey, entity.rowKey, etag);
        await tables.insert('Done', entity);
        await tables.merge('Done', { partitionKey: entity.partitionKey, rowKey: entity.rowKey, n: -1 });
      }
      if (fails) throw new Error('not yet');
    });
  const rows = (table: string) =>
    server.state.transaction(async (tx) => {
      const found: unknown[] = [];
      for await (const { rowKey, n, text } of server.join(tx).tables.query(table))
        found.push([rowKey, n, text]);
      return found;
    });
  await assert.rejects(move(true), /not yet/);
  assert.equal((await rows('Open')).length, 6);
  assert.deepEqual(await rows('Done'), []);
  await move(false);
  assert.deepEqual(
    await rows('Done'),
    ['r3', 'r4', 'r5'].map((row) => [row, -1, 'as it was']),
  );
  assert.equal((await rows('Open')).length, 3);
});

test('the clock moves and faults are made from inside', async () => {
  await using server = await start();
  const queue = QueueServiceClient.fromConnectionString(server.connectionString).getQueueClient('work');
  await queue.create();
  await queue.sendMessage('later', { visibilityTimeout: 3600 });
  assert.equal((await queue.receiveMessages()).receivedMessageItems.length, 0);
  server.moveClock(3_600_000);
  assert.equal((await queue.receiveMessages()).receivedMessageItems.length, 1);
  const end = server.addFault({ service: 'queue', operation: 'Put Message', answer: 'busy', times: 1 });
  await queue.sendMessage('the client tries again by itself');
  end();
});
