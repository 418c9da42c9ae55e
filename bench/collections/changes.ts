// How many durable changes of a record in a second, on keys that meet seldom or all the time.

import type { Target } from './targets.js';

/** Ten thousand keys, or four that all clients want. */
export type Temperature = 'cold' | 'hot';

const keyCounts = { cold: 10_000, hot: 4 } as const;

/** Seconds that `count` changes take, from `clients` at once, each beginning when its last one is durable. */
export async function timeChanges(
  target: Target,
  count: number,
  clients: number,
  temperature: Temperature,
): Promise<number> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) {
      // A prime step: neighbours in time are no neighbours in the store.
      const number = (next++ * 7919) % keyCounts[temperature];
      await target.change(`key-${String(number).padStart(9, '0')}`);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: clients }, client));
  return (performance.now() - began) / 1000;
}
