// Queues and their messages, with their ids, times and how often they were handed out. A pop receipt that somebody
// still holds is of no use here: the message comes back when its time is over.

import { randomInt } from 'node:crypto';
import { assert } from '../../base/assert.js';
import { checkPolicies } from '../../services/common/access-policy.js';
import { within } from '../../services/common/store.js';
import type { MessageKey, QueueKey, QueueStore } from '../../services/queue/model.js';
import { createQueue, setPolicies } from '../../services/queue/queues.js';
import { UsageError } from '../command-line.js';
import { opened } from '../services.js';
import { type Import, policiesOf, stampOf } from './import.js';
import type { AzuriteMessage, AzuriteQueue } from './workspace.js';

const never = '9999-12-31T23:59:59.999Z';
const atOnce = 200;

export async function importQueues(run: Import): Promise<void> {
  const { store } = await opened(run.store, 'queue');
  for (const queue of run.workspace.queues) {
    const key: QueueKey = [queue.accountName, queue.name];
    const done = await run.underWay.done(['queue', ...key]);
    if (done === undefined) {
      if (await store.run((tx) => store.queues.has(tx, key, { lock: 'none' }))) {
        run.note(`queue ${key.join('/')} is here already and was left alone`);
        continue;
      }
      await makeQueue(store, run, key, queue);
    }
    const messages = run.workspace.messages.filter(
      ({ accountName, queueName }) => accountName === queue.accountName && queueName === queue.name,
    );
    messages.sort((a, b) => stampOf(a.insertionTime) - stampOf(b.insertionTime));
    await importMessages(store, run, key, messages, done ?? 0);
    await run.underWay.finish(['queue', ...key]);
  }
}

async function makeQueue(store: QueueStore, run: Import, key: QueueKey, queue: AzuriteQueue): Promise<void> {
  const policies = checkPolicies(policiesOf(queue.queueAcl), 'queue');
  await store.run(async (tx) => {
    const inside = within(store, tx);
    await createQueue(inside, key, Object.entries(queue.metadata ?? {}));
    await setPolicies(inside, key, policies);
    await run.underWay.note(tx, ['queue', ...key], 0);
  });
  run.count('queues');
}

async function importMessages(
  store: QueueStore,
  run: Import,
  key: QueueKey,
  messages: readonly AzuriteMessage[],
  done: number,
): Promise<void> {
  let last = 0;
  const rows: { message: AzuriteMessage; seq: number }[] = [];
  for (const message of messages) {
    last = Math.max(last + 1, stampOf(message.insertionTime)); // many have the same millisecond
    rows.push({ message, seq: last });
  }
  for (let at = done; at < rows.length; at += atOnce) {
    const batch = await withTexts(run, key, rows.slice(at, at + atOnce));
    await store.run(async (tx) => {
      await run.underWay.note(tx, ['queue', ...key], at + atOnce);
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

/** A message that has lost its text is left out. */
async function withTexts<Row extends { readonly message: AzuriteMessage }>(
  run: Import,
  key: QueueKey,
  rows: readonly Row[],
): Promise<(Row & { readonly text: string })[]> {
  const found: (Row & { readonly text: string })[] = [];
  for (const row of rows) {
    try {
      found.push({ ...row, text: await run.workspace.readText(row.message.persistency) });
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      run.note(`message ${row.message.messageId} of queue ${key.join('/')} was left out: ${error.message}`);
    }
  }
  return found;
}
