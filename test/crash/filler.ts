// Writes to a small disk until a write fails, waits until writes are taken again, makes 50 more that are
// told on the standard output once they are durable, and is killed.
//
//   node filler.js FOLDER
//
//   tells: full | again | 0 ... 49 | done

import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { folderDisk } from '#src/engine/disk.js';
import { LostError, ReadOnlyError } from '#src/engine/errors.js';
import { openEngineOn } from '#src/engine/level.js';

const [folder = ''] = process.argv.slice(2);
const tell = (line: string): void => void writeSync(1, `${line}\n`);
const disk = await folderDisk(folder, { reserveBytes: 1024 * 1024, probeBytes: 1024 * 1024 });
// No floor: what is looked at here is a write that fails.
const engine = await openEngineOn(disk, { floorBytes: 0, retryMs: 10 });

async function write(key: string, sizeBytes: number): Promise<void> {
  const value = Buffer.alloc(sizeBytes, key);
  const { durable } = await engine.commit({ writes: [{ key: Buffer.from(key), value }] });
  await durable;
}

try {
  for (let number = 0; ; number++) await write(`filler-${number}`, 200_000);
} catch (error) {
  if (!(error instanceof LostError)) throw error;
}
tell('full');

for (let number = 0; number < 50; ) {
  try {
    await write(`told-${number}`, 1000);
    if (number === 0) tell('again');
    tell(`${number++}`);
  } catch (error) {
    if (!(error instanceof LostError || error instanceof ReadOnlyError)) throw error;
    await delay(10);
  }
}
tell('done');
// Alive until it is killed, so that nothing is closed in order.
await new Promise(() => setInterval(() => {}, 1000));
