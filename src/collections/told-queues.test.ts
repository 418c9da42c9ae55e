// Both queues on a failing disk, with work that gives up: an item that was in before it is asked for is found unless
// somebody else has it, the strict queue keeps its order, a count is one that can have been, and what was told stays true.

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import {
  type Clients,
  failingAfter,
  GivenUp,
  runTold,
  testOnFailingDisk,
  untilTold,
} from './failing-disk.suite.js';
import { ConcurrentQueue, type Queue, QueueFullError, type StateManager, type Transaction } from './index.js';
import { all } from './scenario.suite.js';

/** What is known of each item, and since when. */
class Items {
  #now = 0;
  #last = 0;
  readonly begun = new Map<number, number>();
  readonly #in = new Map<number, number>();
  /** Told to be gone, by a dequeue or a clear. */
  readonly #out = new Map<number, number>();
  readonly #taken = new Set<number>();
  readonly #maybeOut = new Set<number>();
  /** How many transactions have it out; and when the last one ended. */
  readonly #held = new Map<number, number>();
  readonly #released = new Map<number, number>();
  /** How many clear it just now; and when the last one has ended. */
  #clearing = 0;
  #cleared = 0;

  now(): number {
    return ++this.#now;
  }

  make(): number {
    const item = ++this.#last;
    this.begun.set(item, this.now());
    return item;
  }

  isIn(item: number): void {
    this.#in.set(item, this.now());
  }

  hold(item: number): void {
    this.#held.set(item, (this.#held.get(item) ?? 0) + 1);
  }

  release(items: readonly number[]): void {
    for (const item of items) {
      this.#held.set(item, (this.#held.get(item) ?? 0) - 1);
      this.#released.set(item, this.now());
    }
  }

  /** `since`: when the call that took it began. */
  isTaken(item: number, since: number): void {
    assert.ok(!this.#taken.has(item), `${item} was handed out twice`);
    assert.ok((this.#out.get(item) ?? since) >= since, `${item} was cleared away and is there again`);
    this.#taken.add(item);
    this.isOut(item);
  }

  isOut(item: number): void {
    this.#out.set(item, this.now());
  }

  maybeOut(item: number): void {
    this.#maybeOut.add(item);
  }

  /** All there are may be gone, and those there are now will be. */
  async clear(work: () => Promise<boolean>): Promise<void> {
    this.#clearing++;
    const there = [...this.#in.keys()];
    const done = await work();
    this.#clearing--;
    this.#cleared = this.now();
    for (const item of this.begun.keys()) this.#maybeOut.add(item);
    if (done) for (const item of there) if (!this.#out.has(item)) this.isOut(item);
  }

  /** Those that were in when a call began at `since`, and that nobody else had out at any time since. */
  certain(since: number): number[] {
    if (this.#clearing > 0 || this.#cleared >= since) return [];
    return [...this.#in].flatMap(([item, at]) => {
      const free =
        at < since &&
        !this.#out.has(item) &&
        !this.#maybeOut.has(item) &&
        (this.#held.get(item) ?? 0) === 0 &&
        (this.#released.get(item) ?? 0) < since;
      return free ? [item] : [];
    });
  }

  /** How many can have been there at most. */
  possible(since: number): number {
    return [...this.begun.keys()].filter((item) => !((this.#out.get(item) ?? this.#now) < since)).length;
  }

  /** Those that were in for sure before this one was begun. */
  before(item: number, since: number): number[] {
    const begun = this.begun.get(item) as number;
    return this.certain(since).filter((other) => (this.#in.get(other) as number) < begun);
  }
}

const maxSize = 25;

/** What work is told that is not run again. */
function refusalOf(error: unknown): 'given up' | 'full' {
  if (error instanceof GivenUp) return 'given up';
  if (error instanceof QueueFullError) return 'full';
  throw error;
}

class QueueClients implements Clients {
  readonly #state: StateManager;
  readonly #random: () => number;
  readonly #queue: Queue<number> | ConcurrentQueue<number>;
  readonly #items = new Items();

  constructor(state: StateManager, random: () => number, queue: Queue<number> | ConcurrentQueue<number>) {
    this.#state = state;
    this.#random = random;
    this.#queue = queue;
  }

  async work(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const drawn = this.#random();
      if (drawn < 0.4) await this.#put();
      else if (drawn < 0.85) await this.#take();
      else if (drawn < 0.99) await this.#look();
      else await this.#clear();
      if (this.#random() < 0.05) await turn();
    }
  }

  async #pause(tx: Transaction): Promise<void> {
    if (this.#random() < 0.1) await turn();
    if (this.#random() < 0.05) tx.after(failingAfter(this.#random));
    if (this.#random() < 0.1) throw new GivenUp();
  }

  async #put(): Promise<void> {
    let since = 0;
    let items: number[] = [];
    const work = async (tx: Transaction) => {
      since = this.#items.now();
      items = Array.from({ length: 1 + Math.floor(this.#random() * 3) }, () => this.#items.make());
      for (const item of items) await this.#queue.enqueue(tx, item);
      await this.#pause(tx);
    };
    const done = await untilTold(() => this.#state.transaction(work).then(() => 'in', refusalOf));
    if (done?.result === 'in') for (const item of items) this.#items.isIn(item);
    if (done?.result === 'full') assert.ok(this.#items.possible(since) > maxSize, 'it was not full');
  }

  async #take(): Promise<void> {
    let since = 0;
    let taken: number[] = [];
    const wants = 1 + Math.floor(this.#random() * 2);
    let done: { result: boolean } | undefined;
    try {
      done = await runTold(this.#state, async (tx) => {
        this.#items.release(taken);
        taken = [];
        since = this.#items.now();
        while (taken.length < wants) {
          const item = await this.#next(tx);
          if (item === undefined) return true;
          this.#items.hold(item);
          taken.push(item);
        }
        await this.#pause(tx);
        return false;
      });
    } catch (error) {
      this.#items.release(taken);
      if (error instanceof GivenUp) return;
      throw error;
    }
    await turn(); // whoever has got one by now has said so
    if (done?.result) assert.deepEqual(this.#items.certain(since), [], 'it was not empty');
    for (const item of taken) {
      if (done === undefined) this.#items.maybeOut(item);
      else this.#took(item, since);
    }
    this.#items.release(taken);
  }

  #next(tx: Transaction): Promise<number | undefined> {
    const waits = this.#queue instanceof ConcurrentQueue && this.#random() < 0.3;
    return waits
      ? (this.#queue as ConcurrentQueue<number>).dequeue(tx, { timeoutMs: 1 })
      : this.#queue.tryDequeue(tx);
  }

  #took(item: number, since: number): void {
    this.#items.isTaken(item, since);
    if (!(this.#queue instanceof ConcurrentQueue))
      assert.deepEqual(this.#items.before(item, since), [], `${item} was not first`);
  }

  async #look(): Promise<void> {
    const queue = this.#queue;
    let since = 0;
    const done = await untilTold(() => {
      since = this.#items.now();
      if (queue instanceof ConcurrentQueue) return queue.count();
      return this.#state.transaction(async (tx) => {
        const items = await all(queue.entries(tx));
        assert.equal(await queue.count(tx), items.length);
        await turn();
        const missing = this.#items.certain(since).filter((item) => !items.includes(item));
        assert.deepEqual(missing, []);
        return items.length;
      });
    });
    await turn();
    const count = (done as { result: number }).result;
    const [least, most] = [this.#items.certain(since).length, this.#items.possible(since)];
    assert.ok(least <= count && count <= most, `${count} is not from ${least} to ${most}`);
  }

  #clear(): Promise<void> {
    return this.#items.clear(async () => (await untilTold(() => this.#queue.clear())) !== undefined);
  }

  async finish(): Promise<void> {
    const since = this.#items.now();
    const left = new Set<number>();
    for (;;) {
      const item = await this.#state.transaction((tx) => this.#queue.tryDequeue(tx), { retries: 5 });
      if (item === undefined) break;
      assert.ok(!left.has(item), `${item} came twice`);
      left.add(item);
      this.#took(item, since);
    }
    assert.deepEqual(this.#items.certain(since), []);
    if (this.#queue instanceof ConcurrentQueue) assert.equal(await this.#queue.count(), 0);
    assert.deepEqual(this.#state.inspect().transactions, []);
    assert.deepEqual(this.#state.inspect().locks, []);
  }
}

const size = { clients: 10, rounds: 60, seeds: 4 };

testOnFailingDisk('a strict queue has each item in its order', size, async (state, random) => {
  return new QueueClients(state, random, await state.queue<number>('items'));
});

testOnFailingDisk('a concurrent queue has each item for who asks', size, async (state, random) => {
  return new QueueClients(state, random, await state.concurrentQueue<number>('items', { maxSize }));
});
