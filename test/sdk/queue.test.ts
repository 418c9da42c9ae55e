// The queue SDKs that people have, against a running server: the newest one, and its predecessor.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promisify } from 'node:util';
import {
  generateQueueSASQueryParameters,
  QueueSASPermissions,
  QueueServiceClient,
  StorageSharedKeyCredential,
} from '@azure/storage-queue';
import legacy from 'azure-storage';
import { start } from '#src/server/start.js';
import { developmentAccount } from '#src/services/common/accounts.js';

test('@azure/storage-queue: create, send, peek, receive, update, delete, clear, list, properties', async () => {
  const server = await start({ services: ['queue'] });
  try {
    const service = QueueServiceClient.fromConnectionString(server.connectionString);
    const queue = service.getQueueClient('work');
    await queue.create({ metadata: { colour: 'blue' } });
    await queue.sendMessage('hello <&> wörld');
    await queue.sendMessage('later', { visibilityTimeout: 100, messageTimeToLive: 200 });
    const peeked = await queue.peekMessages({ numberOfMessages: 32 });
    assert.deepEqual(
      peeked.peekedMessageItems.map((item) => item.messageText),
      ['hello <&> wörld'],
    );
    const [message] = (await queue.receiveMessages({ visibilityTimeout: 60 })).receivedMessageItems;
    assert.ok(message);
    const updated = await queue.updateMessage(message.messageId, message.popReceipt, 'changed', 0);
    await assert.rejects(queue.deleteMessage(message.messageId, message.popReceipt), {
      code: 'MessageNotFound',
    });
    await queue.deleteMessage(message.messageId, updated.popReceipt ?? '');
    const properties = await queue.getProperties();
    assert.equal(properties.approximateMessagesCount, 1);
    assert.deepEqual(properties.metadata, { colour: 'blue' });
    await queue.clearMessages();
    assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
    const names: string[] = [];
    for await (const item of service.listQueues({ prefix: 'wo', includeMetadata: true }))
      names.push(item.name);
    assert.deepEqual(names, ['work']);
    await queue.setAccessPolicy([{ id: 'reader', accessPolicy: { permissions: 'r' } }]);
    assert.equal((await queue.getAccessPolicy()).signedIdentifiers[0]?.id, 'reader');
    await service.setProperties({
      queueAnalyticsLogging: {
        version: '1.0',
        deleteProperty: true,
        read: false,
        write: false,
        retentionPolicy: { enabled: false },
      },
    });
    assert.equal((await service.getProperties()).queueAnalyticsLogging?.deleteProperty, true);
    assert.equal((await queue.deleteIfExists()).succeeded, true);
    assert.equal((await queue.deleteIfExists()).succeeded, false);
  } finally {
    await server.stop();
  }
});

test('@azure/storage-queue with a SAS: what its letters allow and no more', async () => {
  const server = await start({ services: ['queue'] });
  try {
    const queue = QueueServiceClient.fromConnectionString(server.connectionString).getQueueClient('work');
    await queue.create();
    const credential = new StorageSharedKeyCredential(developmentAccount.name, developmentAccount.keys[0]);
    const sas = generateQueueSASQueryParameters(
      {
        queueName: 'work',
        permissions: QueueSASPermissions.parse('a'),
        expiresOn: new Date(Date.now() + 60_000),
      },
      credential,
    );
    const { QueueClient } = await import('@azure/storage-queue');
    const adder = new QueueClient(`${queue.url}?${sas}`);
    await adder.sendMessage('x');
    await assert.rejects(adder.receiveMessages(), { statusCode: 403 });
  } finally {
    await server.stop();
  }
});

test('azure-storage, the legacy SDK: queues', async () => {
  const server = await start({ services: ['queue'] });
  try {
    const service = legacy.createQueueService(server.connectionString);
    const call = <T>(method: string, ...args: unknown[]): Promise<T> =>
      promisify((service as unknown as Record<string, (...args: unknown[]) => void>)[method] as never).call(
        service,
        ...(args as []),
      ) as Promise<T>;
    await call('createQueueIfNotExists', 'work');
    await call('createMessage', 'work', 'hello');
    const messages = await call<{ messageId: string; popReceipt: string; messageText: string }[]>(
      'getMessages',
      'work',
    );
    assert.equal(messages[0]?.messageText, 'hello');
    await call('deleteMessage', 'work', messages[0]?.messageId, messages[0]?.popReceipt);
    await call('deleteQueue', 'work');
  } finally {
    await server.stop();
  }
});
