// Files of a real LevelDB, for tests of what reads them: made once on disk, then put on a simulated one.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { crc32c, maskCrc } from '../../base/crc32c.js';
import { replaceWhole } from '../../base/files.js';
import { SimulatedDisk } from '../../base/files.simulated.js';

export type MadeFiles = ReadonlyMap<string, Buffer>;
export type Batches = readonly (readonly (readonly [key: string, value: string | undefined])[])[];

/** Opens the store once for each session and writes its batches; the last session's are in the log. */
export async function makeLevel(...sessions: readonly Batches[]): Promise<MadeFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-level-'));
  try {
    for (const batches of sessions) {
      const level = new ClassicLevel(folder);
      await level.open();
      for (const batch of batches) {
        await level.batch(
          batch.map(([key, value]) =>
            value === undefined ? { type: 'del', key } : { type: 'put', key, value },
          ),
          { sync: true },
        );
      }
      await level.close();
    }
    const names = await readdir(folder);
    return new Map(
      await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function onDisk(files: MadeFiles, folder = '/store'): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk();
  await disk.makeFolder(folder);
  for (const [name, content] of files) await replaceWhole(disk, join(folder, name), content);
  return disk;
}

export function flipped(content: Buffer, bit: number): Buffer {
  const bad = Buffer.from(content);
  bad[bit >> 3] = (bad[bit >> 3] as number) ^ (1 << (bit & 7));
  return bad;
}

/** A fragment of a log. */
export function fragment(type: number, bytes: Buffer): Buffer {
  const head = Buffer.alloc(7);
  head.writeUInt16LE(bytes.length, 4);
  head[6] = type;
  head.writeUInt32LE(maskCrc(crc32c(Buffer.concat([head.subarray(6), bytes]))), 0);
  return Buffer.concat([head, bytes]);
}

/** The bytes of a batch of one change. */
export function batchOf(sequence: number, key: string, value: string): Buffer {
  const head = Buffer.alloc(12);
  head.writeBigUInt64LE(BigInt(sequence));
  head.writeUInt32LE(1, 8);
  const short = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
  return Buffer.concat([head, Buffer.from([1]), short(key), short(value)]);
}
