// Gives back the space of messages that have expired and that nobody asks for: to everybody they are gone already
// (messages.ts). All queues are walked over, one behind the other, some messages in each round of the sweeper; at
// the end it begins again. So nothing is paid for it when a message is put.

import { dropMessage, lockRow } from './messages.js';
import type { MessageKey, QueueEntry, QueueKey, QueueStore } from './model.js';

/** Messages that are looked at in one transaction. */
const stepSize = 500;
/** Transactions in one round, while there are many that expired, or many small queues. */
const mostSteps = 20;

export class ExpiredSweep {
  readonly #store: QueueStore;
  #queue: QueueKey | undefined;
  #after: MessageKey | undefined;

  constructor(store: QueueStore) {
    this.#store = store;
  }

  async round(): Promise<void> {
    let looked = 0;
    for (let steps = 0; steps < mostSteps; steps++) {
      const found = await this.#step();
      if (found === undefined) return; // all the way round
      looked += found.looked - 2 * found.dropped;
      if (looked >= stepSize) return;
    }
  }

  /** Nothing behind the last queue. */
  async #step(): Promise<{ looked: number; dropped: number } | undefined> {
    const queue = await this.#current();
    if (queue === undefined) {
      this.#queue = undefined;
      return undefined;
    }
    const found = await this.#sweep(queue.entry);
    this.#after = found.last;
    this.#queue = queue.key;
    return found;
  }

  /** The queue it is at, or the next one if that is done or gone. */
  #current(): Promise<{ key: QueueKey; entry: QueueEntry } | undefined> {
    return this.#store.run(async (tx) => {
      const from =
        this.#queue === undefined ? {} : this.#after ? { from: this.#queue } : { after: this.#queue };
      for await (const [key, entry] of this.#store.queues.entries(tx, {
        ...from,
        newest: true,
        pageSize: 1,
      })) {
        if (entry.messages !== this.#after?.[0]) this.#after = undefined;
        return { key, entry };
      }
      return undefined;
    });
  }

  #sweep({ messages }: QueueEntry) {
    const store = this.#store;
    const start = store.fronts.startOf(messages);
    const from = this.#after ? { after: this.#after } : start ? { from: start } : {};
    return store.run(async (tx) => {
      let [looked, dropped] = [0, 0];
      const range = { prefix: [messages], newest: true, pageSize: stepSize, ...from };
      for await (const [key, { expires }] of store.messages.entries(tx, range)) {
        looked++;
        if (expires <= tx.now) {
          const row = await lockRow(store, tx, key, 0);
          if (row !== undefined && row !== 'in use' && row.expires <= tx.now) {
            await dropMessage(store, tx, key);
            dropped++;
          }
        }
        if (looked === stepSize) return { looked, dropped, last: key };
      }
      return { looked, dropped, last: undefined };
    });
  }
}
