// The power is cut before every call to the disk. An extent whose `synced` had resolved is whole afterwards;
// any other is whole, or gone, or found to be damaged, but never other bytes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../base/clock.js';
import { SimulatedDisk } from '../base/files.simulated.js';
import { seededRandom } from '../base/random.js';
import { DamageError, SegmentGoneError } from './errors.js';
import type { Extent, Extents } from './extents.js';
import { content, contentOf, openOn, put } from './extents.suite.js';

interface Known {
  readonly extent: Extent;
  readonly bytes: Buffer;
  synced: boolean;
}

interface Image {
  readonly disk: SimulatedDisk;
  /** What was on disk when the power was cut, and what was only written. */
  readonly synced: readonly Known[];
  readonly written: readonly Known[];
}

const lengths = [1, 700, 16_384, 16_385, 40_000, 70_000, 300_000];
const rounds = 30;

for (const seed of [1, 2, 3, 4]) {
  test(`what was synced is whole after any power cut (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const disk = new SimulatedDisk();
    const extents = await openOn(disk, { segmentBytes: 150_000 });
    const known = new Set<Known>();
    const images: Image[] = [];
    let cuts = 0;
    disk.before = () => {
      const all = [...known];
      const fate = cuts++ % 5;
      images.push({
        disk: disk.crash(fate < 2 ? fate : seed * 1000 + cuts),
        synced: all.filter(({ synced }) => synced),
        written: all.filter(({ synced }) => !synced),
      });
    };
    for (let round = 0; round < rounds; round++) {
      const several = Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(lengths));
      await Promise.all(
        several.map((length, index) => write(extents, known, content(length, round * 10 + index))),
      );
      if (random() < 0.3) await dropOldest(extents, known);
      for (const image of images.splice(0)) await check(image);
    }
    disk.before = undefined;
    await extents.close();
    assert.ok(cuts > 2 * rounds, `the power was cut ${cuts} times`);
  });
}

async function write(extents: Extents, known: Set<Known>, bytes: Buffer): Promise<void> {
  using writer = await extents.write(bytes.length);
  for (let start = 0; start < bytes.length; start += 30_000) {
    await writer.append(bytes.subarray(start, start + 30_000));
  }
  const { extent, synced } = await writer.finish();
  const entry: Known = { extent, bytes, synced: false };
  known.add(entry);
  await synced;
  entry.synced = true;
}

async function dropOldest(extents: Extents, known: Set<Known>): Promise<void> {
  const number = extents.segments()[0]?.number ?? 0;
  for (const entry of known) if (entry.extent.segment === number) known.delete(entry);
  await extents.drop(number, async () => true);
}

async function check({ disk, synced, written }: Image): Promise<void> {
  const clock = new ManualClock();
  clock.advance(1000);
  await using extents = await openOn(disk, { clock });
  for (const { extent, bytes } of synced) assert.ok((await contentOf(extents, extent)).equals(bytes));
  for (const { extent, bytes } of written) {
    const found = await contentOf(extents, extent).catch((error: unknown) => {
      assert.ok(error instanceof DamageError || error instanceof SegmentGoneError, String(error));
      return bytes;
    });
    assert.ok(found.equals(bytes));
  }
  const next = await put(extents, content(5000));
  assert.ok([...synced, ...written].every(({ extent }) => extent.segment !== next.segment));
}
