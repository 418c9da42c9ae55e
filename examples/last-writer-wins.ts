// Last writer wins: write, and do not ask what was there. For what is whole by itself, such as a setting or the newest
// reading of a sensor. Each write is all or nothing: a reader sees one of them, never a mixture.

import assert from 'node:assert/strict';
import { TableClient } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { QueueServiceClient } from '@azure/storage-queue';
import { start } from 'lazuli';

await using server = await start();
const { connectionString } = server;

const container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient('sensors');
await container.create();
const blob = container.getBlockBlobClient('temperature');
const readings = Array.from({ length: 20 }, (_, at) => `${at}`.padStart(4, '0').repeat(1000));
await Promise.all(readings.map((reading) => blob.upload(reading, reading.length)));
const last = String(await blob.downloadToBuffer());
console.log(`blob: one of them, whole: ${readings.includes(last)}`);
assert.ok(readings.includes(last));

const table = TableClient.fromConnectionString(connectionString, 'Settings', {
  allowInsecureConnection: true,
});
await table.createTable();
const colours = ['red', 'green', 'blue'];
await Promise.all(
  colours.map((colour) => table.upsertEntity({ partitionKey: 'ui', rowKey: 'theme', colour }, 'Replace')),
);
const { colour } = await table.getEntity<{ colour: string }>('ui', 'theme');
console.log(`entity: one of them: ${colours.includes(colour)}`);
assert.ok(colours.includes(colour));

const queue = QueueServiceClient.fromConnectionString(connectionString).getQueueClient('work');
await queue.create();
await Promise.all(['a', 'b'].map((owner) => queue.setMetadata({ owner })));
const { metadata } = await queue.getProperties();
console.log(`queue: owned by one of them: ${['a', 'b'].includes(metadata?.['owner'] ?? '')}`);
assert.ok(['a', 'b'].includes(metadata?.['owner'] ?? ''));
