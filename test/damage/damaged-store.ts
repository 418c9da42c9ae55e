// A store with data in its log and in several tables, kept as files in memory, and what must be read from it.

import { readdirSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { seededRandom } from '#src/base/random.js';
import { folderDisk } from '#src/engine/disk.js';
import type { Engine } from '#src/engine/engine.js';
import { openEngineOn } from '#src/engine/level.js';

export type Content = Map<string, string>;

/** Tables are checked before the store is opened, or when they are read. */
export type Checking = 'before' | 'lazily';

export async function openStore(location: string, checking: Checking = 'before'): Promise<Engine> {
  const guard = { bytesBeforeOpen: checking === 'before' ? Number.POSITIVE_INFINITY : 0 };
  return openEngineOn(await folderDisk(location, { reserveBytes: 0, guard }), { floorBytes: 0 });
}

export async function temporaryFolder(t: { after: (end: () => Promise<void>) => void }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-damage-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Each round opens the store, which makes a table of the log before, and writes: new keys, keys written over,
 * keys removed. The last one is copied while the store is open, as a kill would leave it, or after it closed.
 */
export async function makeStore(location: string, end: 'closed' | 'killed', seed: number): Promise<Content> {
  const random = seededRandom(seed);
  const content: Content = new Map();
  const working = `${location}-working`;
  for (let round = 0; round < 7; round++) {
    const engine = await openStore(working);
    for (let group = 0; group < 4; group++) await writeGroup(engine, content, random);
    if (round === 6 && end === 'killed') await cp(working, location, { recursive: true });
    await engine.close();
  }
  if (end === 'closed') await cp(working, location, { recursive: true });
  await rm(working, { recursive: true });
  return content;
}

async function writeGroup(engine: Engine, content: Content, random: () => number): Promise<void> {
  const writes = Array.from({ length: 60 }, () => {
    const key = `key ${Math.floor(random() * 500)}`;
    if (random() < 0.2) {
      content.delete(key);
      return { key: Buffer.from(key), value: undefined };
    }
    const value = `${random()} `.repeat(1 + Math.floor(random() * 40));
    content.set(key, value);
    return { key: Buffer.from(key), value: Buffer.from(value) };
  });
  await (await engine.commit({ writes })).durable;
}

export function filesOf(location: string): string[] {
  return readdirSync(location, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(location, join(entry.parentPath, entry.name)))
    .sort();
}

export async function flipBit(path: string, bit: number): Promise<void> {
  const content = await readFile(path);
  content[bit >> 3] = (content[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  await writeFile(path, content);
}

export interface Found {
  /** Keys whose value was not the one written. */
  readonly wrong: string[];
  readonly errors: Error[];
}

/** Reads every key that ever was, one by one and as ranges in both directions. */
export async function readAll(engine: Engine, content: Content): Promise<Found> {
  const wrong: string[] = [];
  const errors: Error[] = [];
  const attempt = async (read: () => unknown) => {
    try {
      await read();
    } catch (error) {
      errors.push(error as Error);
    }
  };
  for (let index = 0; index < 500; index++) {
    const key = `key ${index}`;
    await attempt(async () => {
      const { value } = await engine.get(Buffer.from(key));
      if (value?.toString() !== content.get(key)) wrong.push(key);
    });
  }
  const expected = [...content.keys()].sort();
  for (const reverse of [false, true]) {
    await attempt(async () => {
      const page = await engine.range(Buffer.from('key'), Buffer.from('kez'), { reverse });
      const keys = page.rows.map(({ key }) => key.toString());
      const inOrder = reverse ? expected.toReversed() : expected;
      if (keys.join() !== inOrder.join()) wrong.push(`range ${reverse ? 'backward' : 'forward'}`);
      for (const { key, value } of page.rows) {
        if (value.toString() !== content.get(key.toString())) wrong.push(`range ${key}`);
      }
    });
  }
  return { wrong, errors };
}
