// How fast is the engine beside what it stands on? Everything is measured in turns in one run and told as a
// ratio, because the speed of a shared disk changes from minute to minute.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { openEngine } from '#src/engine/level.js';
import { clientCounts, percentile, runCommits, writeLargeFiles } from './engine/commits.js';
import { memoryOf } from './engine/memory.js';
import { fill, fillLevel, type ReadSpeeds, randomKeys, readEngine, readLevel } from './engine/reads.js';
import { engineTarget, levelTarget, lmdbTarget, type Target } from './engine/targets.js';
import type { Bench, Size } from './main.js';

const rounds = { small: 1, full: 5 } as const;
/** Transactions in a round, by the number of clients. */
const transactions = {
  small: { 1: 30, 16: 200, 128: 1000 },
  full: { 1: 1500, 16: 10_000, 128: 40_000 },
} as const;
const keyCounts = { small: [2000], full: [1000, 1_000_000] } as const;
const readCounts = { small: 2000, full: 200_000 } as const;

export const engineBench: Bench = async (size, print) => {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-bench-'));
  try {
    let checksum = await benchCommits(size, folder, print);
    checksum = crc32(Buffer.from(`${await benchLatency(size, folder, print)}`), checksum);
    for (const keys of keyCounts[size]) {
      checksum = crc32(Buffer.from(`${await benchReads(size, folder, keys, print)}`), checksum);
    }
    return checksum.toString(16);
  } finally {
    await rm(folder, { recursive: true });
  }
};

type Print = (line: string) => void;
const column = (text: string | number): string => String(text).padStart(14);

async function benchCommits(size: Size, folder: string, print: Print): Promise<number> {
  const targets: Target[] = [
    await engineTarget(join(folder, 'engine')),
    await levelTarget(join(folder, 'level')),
    await lmdbTarget(join(folder, 'lmdb')),
  ];
  print('durable transactions a second: a checked read, a write of 200 bytes, a count (median of rounds)');
  print(
    `${'clients'.padEnd(10)}${targets.map(({ name }) => column(name)).join('')}${column('of level')}${column('of lmdb')}`,
  );
  let checksum = 0;
  for (const clients of clientCounts) {
    const count = transactions[size][clients];
    const speeds = targets.map((): number[] => []);
    for (let round = 0; round < rounds[size]; round++) {
      for (const [index, target] of targets.entries()) {
        speeds[index]?.push(count / (await runCommits(target, count, clients, 10_000)));
      }
    }
    const [ours, level, lmdb] = speeds.map(median) as [number, number, number];
    print(
      String(clients).padEnd(10) +
        [ours, level, lmdb].map((speed) => column(Math.round(speed))).join('') +
        column(`${Math.round((ours / level) * 100)} %`) +
        column(`${Math.round((ours / lmdb) * 100)} %`),
    );
  }
  for (const target of targets) {
    checksum = crc32(Buffer.from(`${await target.count()}`), checksum);
    await target.close();
  }
  return checksum;
}

async function benchLatency(size: Size, folder: string, print: Print): Promise<number> {
  print('');
  print(
    'milliseconds until durable, 16 clients                     50 %          99 %        99.9 %       longest',
  );
  let total = 0;
  for (const beside of ['alone', 'beside files of 4 MiB']) {
    const location = join(folder, beside.replaceAll(' ', '-'));
    await mkdir(location);
    for (const open of [engineTarget, levelTarget]) {
      const target = await open(join(location, open.name));
      const stop = new AbortController();
      const files = beside === 'alone' ? undefined : writeLargeFiles(location, stop.signal);
      const latencies: number[] = [];
      await runCommits(target, transactions[size][16], 16, 10_000, latencies);
      stop.abort();
      await files;
      latencies.sort((a, b) => a - b);
      const shares = [0.5, 0.99, 0.999, 1].map((share) => column(percentile(latencies, share).toFixed(2)));
      print(`${`${target.name} ${beside}`.padEnd(45)}${shares.join('')}`);
      total += await target.count();
      await target.close();
    }
  }
  return total;
}

async function benchReads(size: Size, folder: string, keys: number, print: Print): Promise<number> {
  const wanted = randomKeys(keys, readCounts[size]);
  const location = join(folder, `reads-${keys}`);
  const filling = await openEngine({ location });
  await fill(filling, keys);
  await filling.close();
  const memory = memoryOf(location, keys, readCounts[size]);
  const engine = await openEngine({ location });
  const level = await fillLevel(join(folder, `level-${keys}`), keys);
  const ours: ReadSpeeds[] = [];
  const bare: Pick<ReadSpeeds, 'get' | 'range'>[] = [];
  for (let round = 0; round < rounds[size]; round++) {
    ours.push(await readEngine(engine, wanted));
    bare.push(await readLevel(level, wanted));
  }
  await engine.close();
  await level.close();
  const of = (name: 'get' | 'range' | 'snapshot' | 'snapshotGet'): string =>
    column(Math.round(median(ours.map((speeds) => speeds[name]))));
  const beside = (name: 'get' | 'range'): string =>
    column(Math.round(median(bare.map((speeds) => speeds[name]))));
  print('');
  print(`${`reads a second of ${keys} keys`.padEnd(34)}${column('engine')}${column('classic-level')}`);
  print(`${'get'.padEnd(34)}${of('get')}${beside('get')}`);
  print(`${'rows of pages of 100'.padEnd(34)}${of('range')}${beside('range')}`);
  print(`${'snapshots taken and closed'.padEnd(34)}${of('snapshot')}`);
  print(`${'get from a snapshot'.padEnd(34)}${of('snapshotGet')}`);
  if (memory !== undefined) print(`anonymous memory of a process that reads them: ${memory} MiB`);
  return ours[0]?.sum ?? 0;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
