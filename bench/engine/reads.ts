// How fast is it read: by key, by range, from snapshots.

import { ClassicLevel } from 'classic-level';
import { seededRandom } from '#src/base/random.js';
import type { Awaitable, Engine, Versioned } from '#src/engine/engine.js';

export const keyOf = (number: number): Buffer => Buffer.from(`row-${String(number).padStart(9, '0')}`);
const pageRows = 100;

export async function fill(engine: Engine, keys: number): Promise<void> {
  const perCommit = 500;
  for (let from = 0; from < keys; from += perCommit) {
    const rows = Math.min(perCommit, keys - from);
    const { durable } = await engine.commit({
      writes: Array.from({ length: rows }, (_, index) => ({
        key: keyOf(from + index),
        value: Buffer.alloc(200, `${from + index} `),
      })),
    });
    if (from % (perCommit * 20) === 0) await durable;
  }
}

/** The same rows for the bare store. */
export async function fillLevel(location: string, keys: number): Promise<ClassicLevel<Buffer, Buffer>> {
  const level = new ClassicLevel<Buffer, Buffer>(location, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    cacheSize: 32 * 1024 * 1024,
    writeBufferSize: 8 * 1024 * 1024,
  });
  for (let from = 0; from < keys; from += 500) {
    await level.batch(
      Array.from({ length: Math.min(500, keys - from) }, (_, index) => ({
        type: 'put' as const,
        key: keyOf(from + index),
        value: Buffer.alloc(200, `${from + index} `),
      })),
    );
  }
  // As the engine's: from tables, not from what is still in memory.
  await level.close();
  await level.open();
  return level;
}

/** Reads in a second. */
export async function measure(count: number, read: (number: number) => unknown): Promise<number> {
  const began = performance.now();
  for (let number = 0; number < count; number++) {
    const pending = read(number);
    if (pending instanceof Promise) await pending;
  }
  return (count / (performance.now() - began)) * 1000;
}

export function randomKeys(keys: number, count: number): Buffer[] {
  const random = seededRandom(3);
  return Array.from({ length: count }, () => keyOf(Math.floor(random() * keys)));
}

function then<T>(found: Awaitable<T>, use: (value: T) => void): Promise<void> | undefined {
  if (found instanceof Promise) return found.then(use);
  use(found);
  return undefined;
}

export interface ReadSpeeds {
  readonly get: number;
  readonly snapshotGet: number;
  readonly snapshot: number;
  readonly range: number;
  readonly sum: number;
}

export async function readEngine(engine: Engine, wanted: readonly Buffer[]): Promise<ReadSpeeds> {
  let sum = 0;
  const key = (number: number): Buffer => wanted[number] as Buffer;
  const add = ({ value }: Versioned): void => {
    sum += value?.length ?? 0;
  };
  const get = await measure(wanted.length, (number) => then(engine.get(key(number)), add));
  const snapshot = await measure(wanted.length, () => engine.snapshot()[Symbol.dispose]());
  using fixed = engine.snapshot();
  const snapshotGet = await measure(wanted.length, (number) => then(fixed.get(key(number)), add));
  const range = await measure(wanted.length / 50, async (number) => {
    sum += (await engine.range(key(number), undefined, { limit: pageRows })).rows.length;
  });
  return { get, snapshot, snapshotGet, range: range * pageRows, sum };
}

export async function readLevel(
  level: ClassicLevel<Buffer, Buffer>,
  wanted: readonly Buffer[],
): Promise<Pick<ReadSpeeds, 'get' | 'range'>> {
  const get = await measure(wanted.length, (number) => level.getSync(wanted[number] as Buffer));
  const range = await measure(wanted.length / 50, async (number) => {
    const iterator = level.iterator({ gte: wanted[number] as Buffer, highWaterMarkBytes: 1024 * 1024 });
    await iterator.nextv(pageRows);
    await iterator.close();
  });
  return { get, range: range * pageRows };
}
