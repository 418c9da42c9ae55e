// How long does a start take: the program on a new folder until it says that it is ready, beside Azurite, and a
// server in memory inside a program? In turns; the median of each.

import { crc32 } from 'node:zlib';
import { start } from '#src/server/start.js';
import { median } from './loader.js';
import type { Bench, Size } from './main.js';
import { startAzurite, startLazuli } from './targets.js';

const rounds: Record<Size, number> = { small: 1, full: 9 };

export const startBench: Bench = async (size, print) => {
  const times = new Map<string, number[]>();
  const note = (name: string, ms: number) => times.set(name, [...(times.get(name) ?? []), ms]);
  for (let round = 0; round < rounds[size]; round++) {
    for (const begin of size === 'full' ? [startLazuli, startAzurite] : [startLazuli]) {
      await using target = await begin();
      note(`${target.name}, the program`, target.startMs);
    }
    const began = performance.now();
    await using _ = await start();
    // The first loads all the code, which a program does once.
    note(`Lazuli in memory, in process${round === 0 ? ', the first' : ''}`, performance.now() - began);
  }
  for (const [name, ms] of times) print(`${name}: ready in ${median(ms).toFixed(0)} ms`);
  return crc32('start').toString(16);
};
