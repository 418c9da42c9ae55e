// For tests of programs that use Azure Storage: a server of their own in some milliseconds, a clock that can be moved,
// and operations that fail when they are told to.

import assert from 'node:assert/strict';
import { QueueServiceClient } from '@azure/storage-queue';
import { start } from 'lazuli';

await using server = await start();
const queue = QueueServiceClient.fromConnectionString(server.connectionString).getQueueClient('jobs');
await queue.create();

// A message in an hour, without waiting an hour.
await queue.sendMessage('later', { visibilityTimeout: 3600 });
assert.equal((await queue.receiveMessages()).receivedMessageItems.length, 0);
server.moveClock(3_600_000);
assert.equal((await queue.receiveMessages()).receivedMessageItems.length, 1);
console.log('an hour has passed');

// What does the program do when a message was stored and the answer lost? The SDK tries again: it is there twice.
server.addFault({ service: 'queue', operation: 'Put Message', answer: 'break after', times: 1 });
await queue.sendMessage('once?');
const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32 });
console.log(`"once?" is there ${receivedMessageItems.length} times`);
assert.equal(receivedMessageItems.length, 2);
