// Pessimistic: take a lock, work, give it back. For work that is long or cannot be done again. A lease ends by itself
// when its holder is gone, so nothing stays locked forever; a message that is being worked on is hidden from others for
// a while in the same way.

import assert from 'node:assert/strict';
import { BlobServiceClient, type RestError } from '@azure/storage-blob';
import { QueueServiceClient } from '@azure/storage-queue';
import { start } from 'lazuli';

await using server = await start();

// ---- a blob that one at a time may write

const container = BlobServiceClient.fromConnectionString(server.connectionString).getContainerClient(
  'reports',
);
await container.create();
const blob = container.getBlockBlobClient('monthly');
await blob.upload('draft', 5);
const lease = blob.getBlobLeaseClient();
const { leaseId } = await lease.acquireLease(30);
assert.ok(leaseId);

const stranger = await blob.upload('mine now', 8).catch((error: RestError) => error.code);
console.log(`without the lease: ${stranger}`);
assert.equal(stranger, 'LeaseIdMissing');

await blob.upload('final', 5, { conditions: { leaseId } });
await lease.releaseLease();
console.log(`with it: ${await blob.downloadToBuffer()}`);
assert.equal(String(await blob.downloadToBuffer()), 'final');

// ---- who is gone keeps nobody out: the lease ends

await blob.getBlobLeaseClient().acquireLease(15);
server.moveClock(16_000); // in a test; in life, wait
await blob.upload('after all', 9);

// ---- a message is one worker's for as long as it works

const queue = QueueServiceClient.fromConnectionString(server.connectionString).getQueueClient('jobs');
await queue.create();
await queue.sendMessage('resize cat.jpg');
const [job] = (await queue.receiveMessages({ visibilityTimeout: 60 })).receivedMessageItems;
assert.ok(job);
const others = (await queue.receiveMessages()).receivedMessageItems;
console.log(`others see ${others.length} jobs meanwhile`);
assert.equal(others.length, 0);

// It takes longer than thought: more time, and a note of how far it is. The old receipt is worth nothing now.
const { popReceipt } = await queue.updateMessage(
  job.messageId,
  job.popReceipt,
  'resize cat.jpg: half done',
  120,
);
assert.ok(popReceipt);
const stale = await queue
  .deleteMessage(job.messageId, job.popReceipt)
  .catch((error: RestError) => error.code);
assert.equal(stale, 'MessageNotFound'); // so a worker that was too slow cannot delete what another works on
await queue.deleteMessage(job.messageId, popReceipt);
console.log('job done');
