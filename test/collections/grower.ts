// Fills collections and runs transactions, and tells on the standard output what it holds in memory meanwhile. A
// process of its own, because the test beside it holds more than that.
//
//   node --expose-gc grower.js FOLDER KEYS TRANSACTIONS

import { readFileSync } from 'node:fs';
import { StateManager } from '#src/collections/index.js';

const [folder = '', keys = '0', transactions = '0'] = process.argv.slice(2);

export interface Held {
  readonly after: string;
  /** After a collection of garbage. */
  readonly heapBytes: number;
  readonly buffersBytes: number;
  /** Anonymous memory of the process, LevelDB's included; 0 where the system does not tell. */
  readonly anonymousBytes: number;
}

const state = await StateManager.open({ location: folder });
const rows = await state.dictionary<string, { readonly name: string; readonly number: number }>('rows');
const queue = await state.queue<number>('queue');
const fast = await state.concurrentQueue<number>('fast');
const counters = await state.counters<string>('counters');
const keyOf = (number: number): string => `row ${String(number).padStart(9, '0')}`;

async function fill(from: number, to: number): Promise<void> {
  for (let next = from; next < to; next += 500) {
    await state.transaction(async (tx) => {
      for (let number = next; number < Math.min(next + 500, to); number++) {
        await rows.set(tx, keyOf(number), { name: 'x'.repeat(100), number });
        if (number % 10 === 0) await fast.enqueue(tx, number);
        if (number % 10 === 5) await queue.enqueue(tx, number);
      }
    });
  }
}

/** Of every kind: they read and write, meet, wait, conflict, abort and enumerate. */
async function work(count: number): Promise<void> {
  let begun = 0;
  const client = async () => {
    for (let number = begun++; number < count; number = begun++) {
      const key = keyOf((number * 7919) % Number(keys));
      await state
        .transaction(
          async (tx) => {
            const row = await rows.get(tx, key, { lock: 'update' });
            await rows.get(tx, keyOf(number % 100), { lock: 'none', check: true });
            await rows.set(tx, key, { name: row?.name ?? '', number }, number % 7 === 0 ? { ttlMs: 5 } : {});
            await counters.add(tx, key.slice(-2), 1);
            if (number % 3 === 0) await fast.enqueue(tx, (await fast.tryDequeue(tx)) ?? 0);
            if (number % 5 === 0) await queue.enqueue(tx, (await queue.tryDequeue(tx)) ?? 0);
            if (number % 50 === 0) for await (const _ of rows.keys(tx, { from: key })) break;
            if (number % 11 === 0) throw new Error('aborted');
          },
          { retries: 20 },
        )
        .catch((error) => {
          if (error.message !== 'aborted') throw error;
        });
    }
  };
  await Promise.all(Array.from({ length: 16 }, client));
}

async function tell(after: string): Promise<void> {
  await state.sweep();
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  const held: Held = {
    after,
    heapBytes: heapUsed,
    buffersBytes: arrayBuffers,
    anonymousBytes: anonymous(),
  };
  process.stdout.write(`${JSON.stringify(held)}\n`);
}

function anonymous(): number {
  try {
    const found = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'latin1'));
    return Number(found?.[1] ?? 0) * 1024;
  } catch {
    return 0; // not Linux
  }
}

await fill(0, Number(keys) / 10);
await work(Number(transactions) / 10);
await tell('a tenth');
await fill(Number(keys) / 10, Number(keys));
await tell('all keys');
await work(Number(transactions));
await tell('all transactions');
const { transactions: live, locks } = state.inspect();
if (live.length > 0 || locks.length > 0) throw new Error('something is still held');
await state.close();
