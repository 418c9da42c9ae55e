// One transaction over a dictionary of the program's own, an entity, a message and a blob: all of it happens, or
// nothing. No service of Azure can do this; here they all stand on the same collections.

import assert from 'node:assert/strict';
import { QueueServiceClient } from '@azure/storage-queue';
import { start } from 'lazuli';

await using server = await start();
const stock = await server.state.dictionary<string, number>('stock');

await server.state.transaction(async (tx) => {
  await stock.set(tx, 'lamp', 1);
  const { tables, queues, blobs } = server.join(tx);
  await tables.create('Orders');
  await queues.create('shipping');
  await blobs.create('invoices');
});

async function order(id: string): Promise<string> {
  try {
    await server.state.transaction(async (tx) => {
      const left = (await stock.get(tx, 'lamp', { lock: 'update' })) ?? 0;
      const { tables, queues, blobs } = server.join(tx);
      await stock.set(tx, 'lamp', left - 1);
      await tables.insert('Orders', { partitionKey: 'lamp', rowKey: id, at: new Date() });
      await queues.put('shipping', `one lamp for ${id}`);
      await blobs.put('invoices', `${id}.txt`, `${id} owes us for one lamp`);
      if (left === 0) throw new Error('sold out'); // and nothing of the above has happened
    });
    return 'ordered';
  } catch (error) {
    return (error as Error).message;
  }
}

const outcomes = await Promise.all(['ada', 'emmy'].map(order));
console.log(outcomes.sort().join(', '));
assert.deepEqual(outcomes, ['ordered', 'sold out']);

const shipping = QueueServiceClient.fromConnectionString(server.connectionString).getQueueClient('shipping');
const { receivedMessageItems } = await shipping.receiveMessages({ numberOfMessages: 32 });
console.log(`to ship: ${receivedMessageItems.length}`);
assert.equal(receivedMessageItems.length, 1);
