// What a process holds in memory that has a store open and reads all over it. A process of its own, because the
// benchmark beside it holds more than that.
//
//   node memory.js FOLDER KEYS READS

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { seededRandom } from '#src/base/random.js';
import { openEngine } from '#src/engine/level.js';
import { keyOf } from './reads.js';

/** Anonymous memory in MiB, without mapped files; nothing where the system does not tell. */
export function memoryOf(location: string, keys: number, reads: number): number | undefined {
  const words = [import.meta.filename, location, `${keys}`, `${reads}`];
  const { stdout, status } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  return status === 0 && stdout !== '' ? Number(stdout) : undefined;
}

if (process.argv[1] === import.meta.filename) {
  const [location = '', keys = '', reads = ''] = process.argv.slice(2);
  const engine = await openEngine({ location });
  const random = seededRandom(5);
  for (let number = 0; number < Number(reads); number++) {
    const key = keyOf(Math.floor(random() * Number(keys)));
    await engine.get(key);
    if (number % 100 === 0) await engine.range(key, undefined, { limit: 100 });
  }
  try {
    const anonymous = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'latin1'));
    process.stdout.write(`${Math.round(Number(anonymous?.[1]) / 1024)}`);
  } catch {
    // Not Linux: nothing is told.
  }
  await engine.close();
}
