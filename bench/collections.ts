// How fast are the collections beside what they stand on? Everything is measured in turns in one run and told as a
// ratio, because the speed of a shared disk changes from minute to minute.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Temperature, timeChanges } from './collections/changes.js';
import { lockNanoseconds } from './collections/locks.js';
import { fillAccounts, type ReadSpeeds, readBare, readCollections } from './collections/reads.js';
import { collectionsTarget, levelBeside, lmdbBeside, type Target } from './collections/targets.js';
import { clientCounts } from './engine/commits.js';
import type { Bench, Size } from './main.js';

/** Short ones, in turns: what disturbs one target disturbs its neighbour as well. */
const rounds = { small: 1, full: 15 } as const;
/** Transactions in a round, by the number of clients. */
const transactions = {
  small: { 1: 20, 16: 100, 128: 500 },
  full: { 1: 150, 16: 1000, 128: 4000 },
} as const;
const keyCounts = { small: [1000], full: [1000, 1_000_000] } as const;
const readCounts = { small: 1000, full: 10_000 } as const;

export const collectionsBench: Bench = async (size, print) => {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-bench-'));
  try {
    const facts: unknown[] = [await benchChanges(size, folder, print)];
    for (const keys of keyCounts[size]) facts.push(await benchReads(size, folder, keys, print));
    print('');
    print(
      `a lock granted without waiting and given back: ${lockNanoseconds(10 * readCounts[size]).toFixed(0)} ns`,
    );
    return crc32(Buffer.from(JSON.stringify(facts))).toString(16);
  } finally {
    await rm(folder, { recursive: true });
  }
};

type Print = (line: string) => void;
const column = (text: string | number): string => String(text).padStart(14);
const ratio = (ours: readonly number[], theirs: readonly number[]): string =>
  column(`${Math.round(median(ours.map((speed, round) => speed / (theirs[round] ?? 1))) * 100)} %`);

async function benchChanges(size: Size, folder: string, print: Print): Promise<number[]> {
  const targets: Target[] = [
    await collectionsTarget(folder),
    await levelBeside(folder),
    await lmdbBeside(folder),
  ];
  print('durable transactions a second: a record is read for update, changed and written');
  print('(the median of the rounds, and of the ratios within each)');
  const names = [...targets.map(({ name }) => name), 'of level', 'of lmdb'];
  print(`${'clients, keys'.padEnd(16)}${names.map(column).join('')}`);
  for (const clients of clientCounts) {
    const speeds = await timeInTurns(targets, clients, size);
    for (const temperature of ['cold', 'hot'] as const) {
      const [ours = [], level = [], lmdb = []] = speeds[temperature];
      print(
        `${clients}, ${temperature}`.padEnd(16) +
          [ours, level, lmdb].map((each) => column(Math.round(median(each)))).join('') +
          ratio(ours, level) +
          ratio(ours, lmdb),
      );
    }
    print(`${`${clients}, hot of cold`.padEnd(16)}${ratio(speeds.hot[0] ?? [], speeds.cold[0] ?? [])}`);
  }
  const sums: number[] = [];
  for (const target of targets) {
    sums.push(await target.sum());
    await target.close();
  }
  return sums;
}

/** Of each target, in a second, round by round. */
async function timeInTurns(
  targets: readonly Target[],
  clients: (typeof clientCounts)[number],
  size: Size,
): Promise<Record<Temperature, number[][]>> {
  const count = transactions[size][clients];
  const speeds = { cold: targets.map((): number[] => []), hot: targets.map((): number[] => []) };
  for (let round = 0; round < rounds[size]; round++) {
    for (const temperature of ['cold', 'hot'] as const) {
      for (const [index, target] of targets.entries())
        speeds[temperature][index]?.push(count / (await timeChanges(target, count, clients, temperature)));
    }
  }
  return speeds;
}

async function benchReads(size: Size, folder: string, keys: number, print: Print): Promise<number> {
  const filled = await fillAccounts(folder, keys);
  const reads = readCounts[size];
  const ours: ReadSpeeds[] = [];
  const bare: Pick<ReadSpeeds, 'get' | 'rows'>[] = [];
  for (let round = 0; round < rounds[size]; round++) {
    ours.push(await readCollections(filled, keys, reads));
    bare.push(await readBare(filled, keys, reads));
  }
  await filled.close();
  const line = (text: string, name: 'get' | 'alone' | 'unlocked' | 'rows', beside: 'get' | 'rows') => {
    const [our, their] = [ours.map((speeds) => speeds[name]), bare.map((speeds) => speeds[beside])];
    const speeds = [our, their].map((each) => column(Math.round(median(each)))).join('');
    print(text.padEnd(44) + speeds + ratio(our, their));
  };
  print('');
  print(`${`reads a second of ${keys} keys`.padEnd(44)}${column('collections')}${column('classic-level')}`);
  line('get, shared lock, 100 in a transaction', 'get', 'get');
  line('get, shared lock, a transaction each', 'alone', 'get');
  line('get, no lock, 100 in a transaction', 'unlocked', 'get');
  line('rows of an enumeration', 'rows', 'rows');
  return ours[0]?.sum ?? 0;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
