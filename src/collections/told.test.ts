// Many clients on a disk that fails now and then, with and without load: what one of them was told stays true for all,
// and what nobody was told is there whole or not at all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { seededRandom } from '../base/random.js';
import { memoryDisk } from '../engine/disk.js';
import { FaultyDisk } from '../engine/faulty-disk.suite.js';
import { openEngineOn } from '../engine/level.js';
import {
  type ConcurrentQueue,
  type Counters,
  type Dictionary,
  mayRetry,
  OutcomeUnknownError,
  StateManager,
  type Transaction,
} from './index.js';
import { all } from './scenario.suite.js';

class Clients {
  readonly state: StateManager;
  readonly #random: () => number;
  readonly #numbers: Dictionary<string, number>;
  readonly #sum: Counters<string>;
  readonly #items: ConcurrentQueue<number>;
  /** The highest number that anybody was told of a key. Numbers only rise. */
  readonly #told = new Map<string, number>();
  /** Items whose way in, or out, was told; nothing is known of the others. */
  readonly #in = new Set<number>();
  readonly #out = new Set<number>();
  readonly #maybeOut = new Set<number>();
  #item = 0;

  private constructor(
    state: StateManager,
    random: () => number,
    collections: readonly [Dictionary<string, number>, Counters<string>, ConcurrentQueue<number>],
  ) {
    this.state = state;
    this.#random = random;
    [this.#numbers, this.#sum, this.#items] = collections;
  }

  static async on(state: StateManager, random: () => number): Promise<Clients> {
    const numbers = await state.dictionary<string, number>('numbers');
    return new Clients(state, random, [
      numbers,
      await state.counters('sum'),
      await state.concurrentQueue('items'),
    ]);
  }

  async work(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const key = `k${Math.floor(this.#random() * 6)}`;
      const drawn = this.#random();
      if (drawn < 0.4) await this.#raise(key);
      else if (drawn < 0.6) await this.#read(key);
      else if (drawn < 0.7) await this.check();
      else if (drawn < 0.85) await this.#put();
      else await this.#take();
      if (this.#random() < 0.05) await turn();
    }
  }

  /** Until it is told; nothing: nobody knows whether it was done. */
  async #run<T>(work: (tx: Transaction) => Promise<T>): Promise<{ result: T } | undefined> {
    for (;;) {
      try {
        return { result: await this.state.transaction(work, { retries: 5 }) };
      } catch (error) {
        if (error instanceof OutcomeUnknownError) return undefined;
        if (!mayRetry(error)) throw error;
        await turn();
      }
    }
  }

  #tell(key: string, number: number, least: number): void {
    assert.ok(number >= least, `${key} was told to be ${least} and is ${number}`);
    this.#told.set(key, Math.max(number, this.#told.get(key) ?? 0));
  }

  async #raise(key: string): Promise<void> {
    const least = (this.#told.get(key) ?? 0) + 1;
    const done = await this.#run(async (tx) => {
      const number = ((await this.#numbers.get(tx, key, { lock: 'update' })) ?? 0) + 1;
      if (this.#random() < 0.1) tx.after(this.#after());
      await this.#numbers.set(tx, key, number);
      await this.#sum.add(tx, 'all', 1);
      return number;
    });
    if (done !== undefined) this.#tell(key, done.result, least);
  }

  async #after(): Promise<void> {
    await turn();
    if (this.#random() < 0.2) throw new Error('injected: what comes first fails');
  }

  async #read(key: string): Promise<void> {
    const least = this.#told.get(key) ?? 0;
    const lock = this.#random() < 0.5 ? 'none' : 'shared';
    const done = await this.#run((tx) => this.#numbers.get(tx, key, { lock }));
    if (done !== undefined) this.#tell(key, done.result ?? 0, least);
  }

  /** One moment of all. */
  async check(): Promise<void> {
    const told = new Map(this.#told);
    const done = await this.#run(async (tx) => {
      const rows = await all(this.#numbers.entries(tx));
      assert.equal(await this.#numbers.count(tx), rows.length);
      return rows;
    });
    const numbers = new Map(done?.result);
    if (done !== undefined) for (const [key, least] of told) this.#tell(key, numbers.get(key) ?? 0, least);
  }

  async #put(): Promise<void> {
    const item = ++this.#item;
    if ((await this.#run((tx) => this.#items.enqueue(tx, item))) !== undefined) this.#in.add(item);
  }

  async #take(): Promise<void> {
    let item: number | undefined;
    const done = await this.#run(async (tx) => {
      item = await this.#items.tryDequeue(tx);
    });
    if (item === undefined) return;
    if (done === undefined) this.#maybeOut.add(item);
    else {
      assert.ok(!this.#out.has(item), `item ${item} was handed out twice`);
      this.#out.add(item);
    }
  }

  /** The disk works again and nobody else does. */
  async finish(): Promise<void> {
    await this.check();
    const [sum, rows] = await this.state.transaction(async (tx) => [
      await this.#sum.get(tx, 'all'),
      await all(this.#numbers.entries(tx)),
    ]);
    assert.equal(
      rows.reduce((total, [, number]) => total + number, 0),
      sum,
      'a commit is there whole, or not at all',
    );
    const left = new Set<number>();
    while ((await this.#items.count()) > 0) {
      const item = (await this.state.transaction((tx) => this.#items.tryDequeue(tx))) ?? 0;
      assert.ok(!left.has(item) && !this.#out.has(item), `item ${item} came twice`);
      left.add(item);
    }
    const lost = [...this.#in].filter(
      (item) => !left.has(item) && !this.#out.has(item) && !this.#maybeOut.has(item),
    );
    assert.deepEqual(lost, []);
    assert.deepEqual(this.state.inspect().transactions, []);
    assert.deepEqual(this.state.inspect().locks, []);
  }
}

for (const [load, seed] of [
  [0, 1],
  [0.5, 2],
  [0.5, 3],
  [1, 4],
  [1, 5],
] as const) {
  test(`what was told stays true on a failing disk, with load ${load} (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const disk = new FaultyDisk(memoryDisk(), true);
    await using engine = await openEngineOn(disk, { retryMs: 1, isLoaded: () => random() < load });
    await using state = await StateManager.open({ engine });
    const clients = await Clients.on(state, random);
    disk.fate = () => {
      const drawn = random();
      return drawn < 0.03 ? 'gone' : drawn < 0.06 ? 'turns up' : 'done';
    };
    await Promise.all(Array.from({ length: 12 }, () => clients.work(60)));
    disk.fate = () => 'done';
    await clients.finish();
  });
}
