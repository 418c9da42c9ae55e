// Many clients in process on a disk that fails now and then: what one of them was told stays true for all.
//
// A call whose commit was lost has an unknown outcome, where such a commit may turn up. One that was refused, or gave up,
// has done nothing and told nothing: it is not recorded. Times are counted, not measured: in one process the order of events is known exactly.

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { SystemClock } from '#src/base/clock.js';
import { seededRandom } from '#src/base/random.js';
import { mayRetry, OutcomeUnknownError, StateManager } from '#src/collections/index.js';
import { memoryDisk } from '#src/engine/disk.js';
import type { Engine } from '#src/engine/engine.js';
import { FaultyDisk } from '#src/engine/faulty-disk.suite.js';
import { openEngineOn } from '#src/engine/level.js';
import { StorageError } from '#src/services/common/errors.js';
import { createStore, type Store } from '#src/services/common/store.js';
import { nowMs, type Recorded } from './history.js';
import { judgeRound } from './judge.js';
import type { Result } from './models.js';

/** What histories are measured by: the machine's clock may be moved. */
export function steadyClock(): SystemClock {
  const began = Date.now() - nowMs();
  return new SystemClock(0, { wall: () => began + nowMs(), monotonic: nowMs });
}

export class Refused extends Error {}

/** Some operations are refused at their end, as on a disk that is nearly full. */
export function refusing(store: Store, isRefused: () => boolean): Store {
  return {
    ...store,
    run: (operation, options) =>
      store.run(async (tx) => {
        const result = await operation(tx);
        if (tx.hasWrites && isRefused()) throw new Refused();
        return result;
      }, options),
  };
}

/** How often what happens, as a share of one. */
export interface Faults {
  /** A group is not written, for good or until the store is opened again. */
  readonly gone: number;
  readonly turnsUp: number;
  /** An operation is refused at its end, or waits before its commit. */
  readonly refused: number;
  readonly slow: number;
  /** There is more to do than to wait for the disk. */
  readonly loaded: number;
}

export class Told {
  readonly random: () => number;
  readonly state: StateManager;
  readonly store: Store;
  readonly history: Recorded[] = [];
  readonly #engine: Engine;
  readonly #disk: FaultyDisk;
  readonly #faults: Faults;
  #fails = false;
  #time = 0;
  #values = 0;

  private constructor(
    random: () => number,
    faults: Faults,
    opened: { engine: Engine; disk: FaultyDisk; state: StateManager },
  ) {
    this.random = random;
    this.#faults = faults;
    this.#engine = opened.engine;
    this.#disk = opened.disk;
    this.state = opened.state;
    const store = createStore(this.state);
    this.store = refusing(
      {
        ...store,
        run: (operation, options) => store.run((tx) => this.#slowly(() => operation(tx)), options),
      },
      () => this.#fails && random() < faults.refused,
    );
  }

  static async open(seed: number, faults: Faults): Promise<Told> {
    const random = seededRandom(seed);
    const disk = new FaultyDisk(memoryDisk(), true);
    const isLoaded = () => random() < faults.loaded;
    const engine = await openEngineOn(disk, { retryMs: 1, clock: steadyClock(), isLoaded });
    const state = await StateManager.open({ engine });
    return new Told(random, faults, { engine, disk, state });
  }

  async #slowly<T>(operation: () => Promise<T>): Promise<T> {
    const result = await operation();
    if (this.#fails && this.random() < this.#faults.slow) await turn();
    return result;
  }

  /** What `work` does meets the faults. */
  async failing(work: () => Promise<unknown>): Promise<void> {
    const { gone, turnsUp } = this.#faults;
    this.#disk.fate = () => {
      const drawn = this.random();
      return drawn < gone ? 'gone' : drawn < gone + turnsUp ? 'turns up' : 'done';
    };
    this.#fails = true;
    await work();
    this.#fails = false;
    this.#disk.fate = () => 'done';
    while (this.#engine.health().state !== 'open') await turn();
  }

  pick<const T>(list: readonly [T, ...T[]]): T {
    return list[Math.floor(this.random() * list.length)] ?? list[0];
  }

  /** No two are the same. */
  newValue(): string {
    return `v${++this.#values}`;
  }

  /** `run` gives what was done and told; a call on several objects is one on each. */
  async call<Call>(
    client: string,
    intent: readonly { object: string; call: Call }[],
    run: () => Promise<readonly { object: string; call: Call; result: Result }[]>,
  ): Promise<void> {
    const startMs = ++this.#time;
    const done = await run().catch((error) => this.#failed(error, intent));
    const endMs = ++this.#time;
    for (const { object, call, result } of done ?? []) {
      const end = result === undefined ? { endMs: Number.POSITIVE_INFINITY } : { endMs, result };
      this.history.push({ client, object, call, startMs, wire: '', ...end });
    }
  }

  #failed<Call>(
    error: unknown,
    intent: readonly { object: string; call: Call }[],
  ): readonly { object: string; call: Call; result?: Result }[] {
    // What is gone for good was not done; of what may have turned up nothing is known.
    if (error instanceof OutcomeUnknownError) return this.#faults.turnsUp === 0 ? [] : intent;
    if (error instanceof StorageError) return intent.map((one) => ({ ...one, result: { code: error.code } }));
    if (this.isExpected(error)) return [];
    throw error;
  }

  /** The faults have it happen. */
  isExpected(error: unknown): boolean {
    return error instanceof Refused || error instanceof OutcomeUnknownError || mayRetry(error);
  }

  /** Again and again, beside the clients. */
  async until(isOver: () => boolean, work: () => Promise<void>): Promise<void> {
    while (!isOver()) {
      await work();
      for (let turns = 0; !isOver() && turns < 20; turns++) await turn();
    }
  }

  /** Every object is judged by itself, and nothing is left of anybody. */
  judge(): void {
    const found = judgeRound(this.history).map(({ object, what, records }) => {
      const told = records.map(({ client, call, result, startMs, endMs }) =>
        JSON.stringify({ client, call, result, startMs, endMs }),
      );
      return `${object}: ${what}\n  ${told.join('\n  ')}`;
    });
    assert.deepEqual(found, []);
    assert.deepEqual(this.state.inspect().transactions, []);
    assert.deepEqual(this.state.inspect().locks, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.state[Symbol.asyncDispose]();
    await this.#engine.close();
  }
}
