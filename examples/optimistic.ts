// Optimistic: read, change, and write only if nobody was faster. Who was too slow reads again.
// For things that seldom collide: nobody ever waits.

import assert from 'node:assert/strict';
import { type RestError, TableClient } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { start } from 'lazuli';

await using server = await start();

// ---- a counter in a blob, raised by ten at once

const container = BlobServiceClient.fromConnectionString(server.connectionString).getContainerClient(
  'counters',
);
await container.create();
const blob = container.getBlockBlobClient('visits');
await blob.upload('0', 1);

async function raiseBlob(): Promise<void> {
  for (;;) {
    const read = await blob.download();
    const next = String(Number(await text(read.readableStreamBody)) + 1);
    try {
      const conditions = read.etag === undefined ? {} : { ifMatch: read.etag };
      await blob.upload(next, next.length, { conditions });
      return;
    } catch (error) {
      if ((error as RestError).statusCode !== 412) throw error; // ConditionNotMet: somebody was faster
    }
  }
}

async function text(stream: NodeJS.ReadableStream | undefined): Promise<string> {
  let all = '';
  for await (const piece of stream ?? []) all += piece;
  return all;
}

await Promise.all(Array.from({ length: 10 }, raiseBlob));
console.log(`blob: ${await blob.downloadToBuffer()} visits`);
assert.equal(String(await blob.downloadToBuffer()), '10');

// ---- the same in an entity

const table = TableClient.fromConnectionString(server.connectionString, 'Counters', {
  allowInsecureConnection: true,
});
await table.createTable();
await table.createEntity({ partitionKey: 'site', rowKey: 'visits', count: 0 });

async function raiseEntity(): Promise<void> {
  for (;;) {
    const { count, etag } = await table.getEntity<{ count: number }>('site', 'visits');
    try {
      await table.updateEntity({ partitionKey: 'site', rowKey: 'visits', count: count + 1 }, 'Replace', {
        etag,
      });
      return;
    } catch (error) {
      if ((error as RestError).statusCode !== 412) throw error; // UpdateConditionNotSatisfied
    }
  }
}

await Promise.all(Array.from({ length: 10 }, raiseEntity));
const { count } = await table.getEntity<{ count: number }>('site', 'visits');
console.log(`entity: ${count} visits`);
assert.equal(count, 10);

// ---- made by exactly one of many: If-None-Match

const winners = await Promise.all(
  Array.from({ length: 10 }, async (_, at) => {
    try {
      await container.getBlockBlobClient('leader').upload(`${at}`, 1, { conditions: { ifNoneMatch: '*' } });
      return true;
    } catch (error) {
      if ((error as RestError).statusCode !== 409) throw error; // BlobAlreadyExists
      return false;
    }
  }),
);
console.log(`leaders: ${winners.filter(Boolean).length}`);
assert.equal(winners.filter(Boolean).length, 1);
