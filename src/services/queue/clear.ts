// All queues of an account: for who resets or removes an account.

import { discardMessages, type QueueStore } from './model.js';

export async function clearQueues(store: QueueStore, account: string): Promise<void> {
  await store.run(async (tx) => {
    for await (const [key, entry] of store.queues.entries(tx, { prefix: [account], newest: true })) {
      await store.queues.delete(tx, key);
      await store.properties.delete(tx, entry.id);
      await discardMessages(store, tx, entry.messages);
    }
  });
}
