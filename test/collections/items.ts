// What is known of the items of a concurrent queue while a program runs. It isolates nobody, so each call is judged
// by the moments it lies between:
//
//   an item goes to one transaction at a time, and never again once that has committed
//   an item that a call could have had from its beginning to its end is not passed over for a later one, nor is
//   the queue called empty

import assert from 'node:assert/strict';
import type { ConcurrentQueue, Transaction } from '#src/collections/index.js';
import type { Step } from './operations.js';
import type { Attempt } from './program.js';

/** When an item could be had for certain: from its commit, or its return, to the call that took it. */
interface Free {
  readonly item: number;
  readonly from: number;
  to: number;
}

interface Dequeue {
  readonly from: number;
  readonly to: number;
  readonly item: number | undefined;
}

export class Items {
  #time = 0;
  readonly #free = new Map<number, Free>();
  readonly #past: Free[] = [];
  readonly #dequeues: Dequeue[] = [];
  readonly #enqueued = new Map<Attempt, number[]>();
  readonly #out = new Map<Attempt, number[]>();
  /** When each was enqueued: what came first is handed out first. */
  readonly #arrivals = new Map<number, { readonly from: number; readonly to: number }>();

  async call(
    queue: ConcurrentQueue<number>,
    tx: Transaction,
    attempt: Attempt,
    step: Step,
  ): Promise<unknown> {
    if (step.kind === 'enqueueConcurrent') {
      // One number stands for one enqueue, and a transaction may run again.
      const from = ++this.#time;
      const item = step.value * 10_000 + from;
      push(this.#enqueued, attempt, item);
      await queue.enqueue(tx, item);
      this.#arrivals.set(item, { from, to: ++this.#time });
      return undefined;
    }
    const from = ++this.#time;
    const item = await queue.tryDequeue(tx);
    this.#dequeues.push({ from, to: ++this.#time, item });
    if (item === undefined) return undefined;
    const free = this.#free.get(item);
    assert.ok(free !== undefined, `item ${item} was not to be had`);
    this.#free.delete(item);
    free.to = from;
    this.#past.push(free);
    push(this.#out, attempt, item);
    return undefined;
  }

  committed(attempt: Attempt): void {
    for (const item of this.#enqueued.get(attempt) ?? []) this.#makeFree(item);
  }

  aborted(attempt: Attempt): void {
    for (const item of this.#out.get(attempt) ?? []) this.#makeFree(item);
  }

  /** Those that can be had now. */
  get count(): number {
    return this.#free.size;
  }

  /** When all is over. */
  check(): void {
    const free = [...this.#past, ...this.#free.values()];
    for (const { from, to, item } of this.#dequeues) {
      const passed = free.find(
        (each) => each.from < from && each.to > to && (item === undefined || this.#isBefore(each.item, item)),
      );
      assert.equal(passed?.item, undefined, `passed over, for ${item}`);
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [first, second] = [this.#arrivals.get(a), this.#arrivals.get(b)];
    return first !== undefined && second !== undefined && first.to < second.from;
  }

  #makeFree(item: number): void {
    assert.ok(!this.#free.has(item), `item ${item} is there twice`);
    this.#free.set(item, { item, from: ++this.#time, to: Number.POSITIVE_INFINITY });
  }
}

function push(map: Map<Attempt, number[]>, attempt: Attempt, item: number): void {
  const list = map.get(attempt);
  if (list === undefined) map.set(attempt, [item]);
  else list.push(item);
}
