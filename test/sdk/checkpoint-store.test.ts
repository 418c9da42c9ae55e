// @azure/eventhubs-checkpointstore-blob, for real: processors that share the partitions of an event hub by ETags.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobCheckpointStore } from '@azure/eventhubs-checkpointstore-blob';
import { ContainerClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { developmentAccount } from '#src/services/common/accounts.js';
import { startServer } from '../support/server.js';

const hub = {
  fullyQualifiedNamespace: 'Hub.servicebus.windows.net',
  eventHubName: 'Orders',
  consumerGroup: '$Default',
};
const where = [hub.fullyQualifiedNamespace, hub.eventHubName, hub.consumerGroup] as const;
const partitions = ['0', '1', '2', '3'];

async function connect(t: Parameters<typeof startServer>[0]) {
  const server = await startServer(t, 'blob');
  const key = new StorageSharedKeyCredential(developmentAccount.name, developmentAccount.keys[0]);
  const url = `http://127.0.0.1:${server.address.port}/${developmentAccount.name}/checkpoints`;
  const container = () => new ContainerClient(url, key, { retryOptions: { maxTries: 1 } });
  await container().create();
  return { server, store: () => new BlobCheckpointStore(container()) };
}

const claims = (ownerId: string, known: readonly { partitionId: string; etag?: string }[] = []) =>
  partitions.map((partitionId) => {
    const etag = known.find((one) => one.partitionId === partitionId)?.etag;
    return { ...hub, ownerId, partitionId, ...(etag === undefined ? {} : { etag }) };
  });

test('ownership is claimed, listed and claimed again', async (t) => {
  const { store } = await connect(t);
  const one = store();
  assert.deepEqual(await one.listOwnership(...where), []);
  const claimed = await one.claimOwnership(claims('one'));
  assert.equal(claimed.length, 4);
  const listed = await store().listOwnership(...where);
  assert.deepEqual(
    listed.map(({ partitionId, ownerId, etag }) => [partitionId, ownerId, `"${etag}"`.replaceAll('""', '"')]),
    claimed.map(({ partitionId, ownerId, etag }) => [partitionId, ownerId, etag]),
  );
  const again = await one.claimOwnership(claims('one', claimed));
  assert.equal(again.length, 4, 'who knows the newest ETag renews its claim');
});

test('of two processors that compete for a partition one gets it', async (t) => {
  const { store } = await connect(t);
  const [one, other] = [store(), store()];
  await one.claimOwnership(claims('one'));
  for (let round = 0; round < 10; round++) {
    const known = await one.listOwnership(...where);
    const won = await Promise.all([
      one.claimOwnership(claims('one', known)),
      other.claimOwnership(claims('other', known)),
    ]);
    const names = won.flat().map(({ partitionId }) => partitionId);
    assert.deepEqual([...names].sort(), partitions, 'each partition has one winner');
    const owners = new Map((await one.listOwnership(...where)).map((row) => [row.partitionId, row.ownerId]));
    for (const { partitionId, ownerId } of won.flat()) assert.equal(owners.get(partitionId), ownerId);
  }
});

test('a claim by an old ETag is lost', async (t) => {
  const { store } = await connect(t);
  const one = store();
  const first = await one.claimOwnership(claims('one'));
  const old = first.map((row) => ({ ...row }));
  await one.claimOwnership(claims('one', first));
  assert.deepEqual(await store().claimOwnership(claims('late', old)), []);
});

test('checkpoints are updated and listed', async (t) => {
  const { store } = await connect(t);
  const one = store();
  assert.deepEqual(await one.listCheckpoints(...where), []);
  for (let event = 1; event <= 20; event++) {
    await Promise.all(
      partitions.map((partitionId) =>
        one.updateCheckpoint({ ...hub, partitionId, sequenceNumber: event, offset: String(event * 100) }),
      ),
    );
  }
  const listed = await store().listCheckpoints(...where);
  assert.deepEqual(
    listed.map(({ partitionId, sequenceNumber, offset }) => [partitionId, sequenceNumber, String(offset)]),
    partitions.map((partitionId) => [partitionId, 20, '2000']),
  );
});
