// How many durable transactions in a second, and how long does each take?

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Target } from './targets.js';

export const clientCounts = [1, 16, 128] as const;

/** Value of transaction `number`: 200 bytes that tell it from every other. */
function contentOf(number: number): Buffer {
  return Buffer.alloc(200, `${number} `);
}

/** Seconds that `count` transactions take, from `clients` at once, each beginning when its last one is durable. */
export async function runCommits(
  target: Target,
  count: number,
  clients: number,
  keys: number,
  latencies?: number[],
): Promise<number> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) {
      const number = next++;
      // A prime step: neighbours in time are no neighbours in the store.
      const key = Buffer.from(`key-${String((number * 7919) % keys).padStart(9, '0')}`);
      const began = performance.now();
      await target.transact(key, contentOf(number));
      latencies?.push(performance.now() - began);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: clients }, client));
  return (performance.now() - began) / 1000;
}

/** Files of 4 MiB, written and synced one after the other until told to stop. */
export async function writeLargeFiles(folder: string, stop: AbortSignal): Promise<number> {
  const piece = Buffer.alloc(256 * 1024, 'x');
  let written = 0;
  while (!stop.aborted) {
    await using file = await open(join(folder, 'large'), 'w');
    for (let position = 0; position < 4 * 1024 * 1024; position += piece.length) {
      await file.write(piece, 0, piece.length, position);
    }
    await file.datasync();
    written++;
  }
  return written;
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
