// How fast are bodies written and read, next to plain files? A plain file is created, written in pieces of
// 64 KiB, synced and closed for each body, and read in pieces of 256 KiB that nobody verifies.

import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { SystemClock } from '#src/base/clock.js';
import { seededRandom } from '#src/base/random.js';
import { type Extent, type Extents, openExtents } from '#src/extents/extents.js';
import type { Bench, Size } from './main.js';

const KiB = 1024;
const MiB = 1024 * KiB;
const chunkBytes = 64 * KiB;
const readBytes = 256 * KiB;
const bodies = { small: [300 * KiB, 8 * KiB], full: [4 * MiB, 64 * KiB, 8 * KiB] } as const;
const rounds = { small: 1, full: 3 } as const;
/** How much is written in one round, at most so many bodies. */
const volume = { small: 2 * MiB, full: 256 * MiB } as const;
const mostBodies = { small: 20, full: 3000 } as const;

/** Bodies by number, somewhere to put them and get them back; gives a checksum of what came back. */
interface Target {
  write(number: number, body: Buffer): Promise<void>;
  read(number: number, bytes: number): Promise<number>;
}

export const extentsBench: Bench = async (size, print) => {
  const random = seededRandom(1);
  const body = Buffer.from(Uint8Array.from({ length: 4 * MiB }, () => random() * 256));
  print('body     at once    plain write   extents write          plain read    extents read');
  let checksum = 0;
  for (const bytes of bodies[size]) {
    for (const clients of [1, 4, 64]) {
      const best = await compare(size, body.subarray(0, bytes), clients);
      checksum = crc32(Buffer.from(`${bytes} ${clients} ${best.sum}`), checksum);
      print(line(bytes, clients, best));
    }
  }
  return checksum.toString(16);
};

interface Speeds {
  readonly write: readonly [plain: number, extents: number];
  readonly read: readonly [plain: number, extents: number];
  readonly sum: number;
}

async function compare(size: Size, body: Buffer, clients: number): Promise<Speeds> {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-bench-'));
  const count = Math.max(clients, Math.min(mostBodies[size], Math.floor(volume[size] / body.length)));
  await using extents = await openExtents(
    { location: join(folder, 'extents') },
    { clock: new SystemClock() },
  );
  try {
    const targets = [plainFiles(folder), segments(extents)] as const;
    const write = [0, 0] as [number, number];
    const read = [0, 0] as [number, number];
    let sum = 0;
    for (let round = 0; round < rounds[size]; round++) {
      for (const [index, target] of targets.entries()) {
        const from = round * count;
        const writing = await timed(count, clients, (number) => target.write(from + number, body));
        const reading = await timed(count, clients, async (number) => {
          const end = await target.read(from + number, body.length);
          sum = (sum + end) % 2 ** 32;
        });
        write[index] = Math.max(write[index] as number, (count * body.length) / writing);
        read[index] = Math.max(read[index] as number, (count * body.length) / reading);
      }
    }
    return { write, read, sum };
  } finally {
    await extents.close();
    await rm(folder, { recursive: true });
  }
}

/** Microseconds that so many calls take, with `clients` under way at a time. */
async function timed(
  count: number,
  clients: number,
  call: (number: number) => Promise<void>,
): Promise<number> {
  let next = 0;
  const client = async () => {
    while (next < count) await call(next++);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: clients }, client));
  return (performance.now() - start) * 1000;
}

function plainFiles(folder: string): Target {
  const path = (number: number) => join(folder, String(number));
  return {
    async write(number, body) {
      const file = await open(path(number), 'wx');
      for (let at = 0; at < body.length; at += chunkBytes) {
        const chunk = body.subarray(at, at + chunkBytes);
        await file.write(chunk, 0, chunk.length, at);
      }
      await file.datasync();
      await file.close();
    },
    async read(number, bytes) {
      const file = await open(path(number), 'r');
      let last = Buffer.alloc(0);
      for (let at = 0; at < bytes; at += readBytes) {
        last = Buffer.allocUnsafeSlow(Math.min(readBytes, bytes - at));
        await file.read(last, 0, last.length, at);
      }
      await file.close();
      return last.readUInt32LE(last.length - 4);
    },
  };
}

function segments(extents: Extents): Target {
  const written = new Map<number, Extent>();
  return {
    async write(number, body) {
      using writer = await extents.write(body.length);
      for (let at = 0; at < body.length; at += chunkBytes) {
        await writer.append(body.subarray(at, at + chunkBytes));
      }
      const { extent, synced } = await writer.finish();
      await synced;
      written.set(number, extent);
    },
    async read(number) {
      const extent = written.get(number);
      if (!extent) throw new Error(`body ${number} was not written`);
      let last: Buffer = Buffer.alloc(0);
      for await (const chunk of extents.read(extent)) last = chunk;
      return last.readUInt32LE(last.length - 4);
    },
  };
}

function line(bytes: number, clients: number, { write, read }: Speeds): string {
  const speed = ([plain, extents]: readonly [number, number]) =>
    `${plain.toFixed(0).padStart(8)} MB/s ${extents.toFixed(0).padStart(8)} MB/s ${`${((100 * extents) / plain).toFixed(0)} %`.padStart(7)}`;
  const name = bytes >= MiB ? `${bytes / MiB} MiB` : `${bytes / KiB} KiB`;
  return `${name.padEnd(8)} ${String(clients).padStart(7)} ${speed(write)}   ${speed(read)}`;
}
