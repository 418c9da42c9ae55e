// Many clients on one queue, in process, where every few commits are refused or lost: what one of them was told stays
// true for all, and that there is nothing is told only where there is nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { seededRandom } from '#src/base/random.js';
import { mayRetry, OutcomeUnknownError, StateManager } from '#src/collections/index.js';
import { memoryDisk } from '#src/engine/disk.js';
import { FaultyDisk } from '#src/engine/faulty-disk.suite.js';
import { openEngineOn } from '#src/engine/level.js';
import { StorageError } from '#src/services/common/errors.js';
import { Garbage } from '#src/services/common/garbage.js';
import { createStore } from '#src/services/common/store.js';
import { deleteMessage, getMessages, putMessage, updateMessage } from '#src/services/queue/messages.js';
import { openQueueStore, type QueueKey, type QueueStore } from '#src/services/queue/model.js';
import { createQueue } from '#src/services/queue/queues.js';
import { decodeReceipt, type Receipt } from '#src/services/queue/receipts.js';
import { nowMs } from './history.js';
import {
  checkQueue,
  type Handed,
  type QueueCall,
  type QueueRecord,
  type QueueResult,
} from './queue-checker.js';
import { Refused, refusing, steadyClock } from './told.js';

const queue: QueueKey = ['account', 'queue'];
const judge = 'judge';
const hideMs = 1000;

function receiptOf(text: string): Receipt {
  const receipt = decodeReceipt(text);
  assert.ok(receipt.ok);
  return receipt.value;
}

class Clients {
  readonly history: QueueRecord[] = [];
  readonly #store: QueueStore;
  readonly #random: () => number;
  #count = 0;

  constructor(store: QueueStore, random: () => number) {
    this.#store = store;
    this.#random = random;
  }

  async work(client: string, rounds: number): Promise<void> {
    const held: Handed[] = [];
    for (let round = 0; round < rounds; round++) {
      const drawn = this.#random();
      const message = held[held.length - 1];
      if (drawn < 0.3) await this.#put(client);
      else if (drawn < 0.8 || message === undefined) held.push(...(await this.get(client)));
      else if (drawn < 0.9) {
        held.pop();
        await this.#delete(client, message);
      } else {
        held.pop();
        await this.#update(client, message);
      }
      if (this.#random() < 0.1) await turn();
    }
  }

  #put(client: string): Promise<QueueResult | undefined> {
    const text = `m${++this.#count}`;
    const message = { id: text, text, nonce: this.#count, visibilityMs: 0, ttlMs: 1e9 };
    return this.#record(client, { op: 'put', text, hideMs: 0 }, async () => {
      await putMessage(this.#store, queue, message);
      return { ok: true, id: text };
    });
  }

  async get(client: string): Promise<readonly Handed[]> {
    const most = 1 + Math.floor(this.#random() * 3);
    const options = { most, visibilityMs: hideMs, nonce: () => ++this.#count };
    const result = await this.#record(client, { op: 'get', most, hideMs }, async () => {
      const messages = await getMessages(this.#store, queue, options);
      return { ok: true, messages: messages.map((message) => ({ ...message, count: message.dequeued })) };
    });
    return result !== undefined && 'ok' in result ? (result.messages ?? []) : [];
  }

  /** Seen at once again. */
  #update(client: string, { id, receipt }: Handed): Promise<QueueResult | undefined> {
    return this.#record(client, { op: 'update', id, receipt, hideMs: 0 }, async () => {
      const update = { visibilityMs: 0, text: undefined, nonce: ++this.#count };
      return { ok: true, ...(await updateMessage(this.#store, queue, id, receiptOf(receipt), update)) };
    });
  }

  #delete(client: string, { id, receipt }: Handed): Promise<QueueResult | undefined> {
    return this.#record(client, { op: 'delete', id, receipt }, async () => {
      await deleteMessage(this.#store, queue, id, receiptOf(receipt));
      return { ok: true };
    });
  }

  async #record(
    client: string,
    call: QueueCall,
    run: () => Promise<QueueResult>,
  ): Promise<QueueResult | undefined> {
    const startMs = nowMs();
    const result = await run().catch((error): QueueResult | undefined => {
      if (error instanceof OutcomeUnknownError) return undefined;
      if (error instanceof Refused || error instanceof StorageError || mayRetry(error))
        return { code: error.name };
      throw error;
    });
    const known = result === undefined ? { endMs: Number.POSITIVE_INFINITY } : { endMs: nowMs(), result };
    this.history.push({ client, object: 'queue', call, startMs, wire: '', ...known });
    return result;
  }
}

for (const [lossShare, refusedShare, seed] of [
  [0, 0.3, 1],
  [0, 0.3, 2],
  [0, 0.05, 3],
  [0.02, 0, 4],
  [0.02, 0.1, 5],
] as const) {
  test(`nobody is told of an empty queue that is not: ${lossShare} of the groups lost, ${refusedShare} of the calls refused (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const disk = new FaultyDisk(memoryDisk(), true);
    await using engine = await openEngineOn(disk, { retryMs: 1, clock: steadyClock() });
    await using state = await StateManager.open({ engine });
    let isOver = true;
    const store = refusing(createStore(state), () => !isOver && random() < refusedShare);
    const garbage = await Garbage.open(store, (error) => assert.fail(String(error)));
    const queues = await openQueueStore(store, garbage);
    await createQueue(queues, queue, []);
    isOver = false;
    disk.fate = () => (!isOver && random() < lossShare ? 'gone' : 'done');

    const clients = new Clients(queues, random);
    await Promise.all(Array.from({ length: 8 }, (_, index) => clients.work(`c${index}`, 300)));
    isOver = true;
    await garbage.close();
    await delay(hideMs + 100);
    while ((await clients.get(judge)).length > 0);

    const empty = clients.history.filter(
      ({ call, result }) => call.op === 'get' && result && 'ok' in result && result.messages?.length === 0,
    );
    assert.ok(empty.length > 10, `${empty.length} gets found nothing`);
    const problems = checkQueue(clients.history, { judge });
    assert.deepEqual(
      problems.map(({ what }) => what),
      [],
    );
    assert.deepEqual(state.inspect().transactions, []);
    assert.deepEqual(state.inspect().locks, []);
  });
}
