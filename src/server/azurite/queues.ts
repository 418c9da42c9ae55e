// Queues and their messages, with their ids, times and how often they were handed out. A pop receipt that somebody
// still holds is of no use here: the message comes back when its time is over.

import { randomInt } from 'node:crypto';
import { assert } from '../../base/assert.js';
import { checkPolicies } from '../../services/common/access-policy.js';
import type { MessageKey, QueueKey, QueueStore } from '../../services/queue/model.js';
import { createQueue, setPolicies } from '../../services/queue/queues.js';
import { opened } from '../services.js';
import { type Import, policiesOf, stampOf } from './import.js';
import type { AzuriteMessage } from './workspace.js';

const never = '9999-12-31T23:59:59.999Z';
const atOnce = 200;

export async function importQueues(run: Import): Promise<void> {
  const { store } = await opened(run.store, 'queue');
  for (const queue of run.workspace.queues) {
    const key: QueueKey = [queue.accountName, queue.name];
    if (await store.run((tx) => store.queues.has(tx, key, { lock: 'none' }))) {
      run.note(`queue ${key.join('/')} is here already and was left alone`);
      continue;
    }
    await createQueue(store, key, Object.entries(queue.metadata ?? {}));
    await setPolicies(store, key, checkPolicies(policiesOf(queue.queueAcl), 'queue'));
    run.count('queues');
    const messages = run.workspace.messages.filter(
      ({ accountName, queueName }) => accountName === queue.accountName && queueName === queue.name,
    );
    messages.sort((a, b) => stampOf(a.insertionTime) - stampOf(b.insertionTime));
    await importMessages(store, run, key, messages);
  }
}

async function importMessages(
  store: QueueStore,
  run: Import,
  key: QueueKey,
  messages: readonly AzuriteMessage[],
): Promise<void> {
  let last = 0;
  const rows: { message: AzuriteMessage; seq: number; text: string }[] = [];
  for (const message of messages) {
    last = Math.max(last + 1, stampOf(message.insertionTime)); // many have the same millisecond
    rows.push({ message, seq: last, text: await run.workspace.readText(message.persistency) });
  }
  for (let at = 0; at < rows.length; at += atOnce) {
    const batch = rows.slice(at, at + atOnce);
    await store.run(async (tx) => {
      const entry = await store.queues.get(tx, key, { lock: 'none', check: true });
      assert(entry !== undefined, 'a queue is taken over before its messages');
      for (const { message, seq, text } of batch) {
        const nextVisible = Number(new Date(message.timeNextVisible));
        const to: MessageKey = [entry.messages, nextVisible, seq];
        const expires =
          message.expirationTime === never ? Number.POSITIVE_INFINITY : Date.parse(message.expirationTime);
        const row = {
          id: message.messageId,
          expires,
          dequeued: message.dequeueCount,
          nonce: randomInt(2 ** 32),
        };
        await store.messages.set(tx, to, row);
        store.fronts.arrives(tx, to);
        await store.texts.set(tx, [entry.messages, seq], text);
        await store.counts.add(tx, entry.messages, 1);
      }
    });
    for (const _ of batch) run.count('messages');
  }
}
