// Many clients on a disk that fails now and then: each is told what became of its work, or that nobody knows.

import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { seededRandom } from '../base/random.js';
import { memoryDisk } from '../engine/disk.js';
import { FaultyDisk } from '../engine/faulty-disk.suite.js';
import { openEngineOn } from '../engine/level.js';
import { mayRetry, OutcomeUnknownError, StateManager, type Transaction } from './index.js';

/** Thrown by work that gives up by itself. */
export class GivenUp extends Error {}

/** Until it is told; nothing: nobody knows whether it was done. */
export async function untilTold<T>(work: () => Promise<T>): Promise<{ readonly result: T } | undefined> {
  for (;;) {
    try {
      return { result: await work() };
    } catch (error) {
      if (error instanceof OutcomeUnknownError) return undefined;
      if (!mayRetry(error)) throw error;
      await turn();
    }
  }
}

/** Likewise, in a transaction. */
export function runTold<T>(state: StateManager, work: (tx: Transaction) => Promise<T>) {
  return untilTold(() => state.transaction(work, { retries: 5 }));
}

/** What a commit has to come after, and that fails now and then. */
export async function failingAfter(random: () => number): Promise<void> {
  await turn();
  if (random() < 0.2) throw new Error('injected: what comes first fails');
}

export interface Clients {
  work(rounds: number): Promise<void>;
  /** The disk works again and nobody else does. */
  finish(): Promise<void>;
}

const firstSeed = Number(process.env['LAZULI_SEED'] ?? 1);
const isFull = process.env['LAZULI_FULL'] === '1';
const loads = [0, 0.5, 0.5, 1] as const;

/** A test for each seed, with no load, some, and all the time. */
export function testOnFailingDisk(
  promise: string,
  size: { readonly clients: number; readonly rounds: number; readonly seeds: number; readonly from?: number },
  make: (state: StateManager, random: () => number) => Promise<Clients>,
): void {
  for (let index = 0; index < (isFull ? 100 : size.seeds); index++) {
    const [seed, load] = [(size.from ?? 1) - 1 + firstSeed + index, loads[index % loads.length] as number];
    test(`${promise}, with load ${load} (seed ${seed})`, async () => {
      const random = seededRandom(seed);
      const disk = new FaultyDisk(memoryDisk(), true);
      await using engine = await openEngineOn(disk, { retryMs: 1, isLoaded: () => random() < load });
      await using state = await StateManager.open({ engine });
      const clients = await make(state, random);
      disk.fate = () => {
        const drawn = random();
        return drawn < 0.03 ? 'gone' : drawn < 0.06 ? 'turns up' : 'done';
      };
      await Promise.all(Array.from({ length: size.clients }, () => clients.work(size.rounds)));
      disk.fate = () => 'done';
      while (engine.health().state !== 'open') await turn();
      await clients.finish();
    });
  }
}
