// `npm run bench -- NAME [small] [--save]` answers one question about speed; without a name it lists them.
// With --save the answer is kept in bench/results. Each file has a fixed seed, two sizes and a checksum of what it did; the small size runs with the tests.

import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';

export type Size = 'small' | 'full';

/** Prints lines, and gives a checksum of the work done that every run of that size repeats. */
export type Bench = (size: Size, print: (line: string) => void) => Promise<string>;

export const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  growth: async () => (await import('./growth.js')).growthBench,
  services: async () => (await import('./services.js')).servicesBench(),
  blob: async () => (await import('./services.js')).servicesBench('blob'),
  queue: async () => (await import('./services.js')).servicesBench('queue'),
  table: async () => (await import('./services.js')).servicesBench('table'),
  auth: async () => (await import('./auth.js')).authBench,
  engine: async () => (await import('./engine.js')).engineBench,
  collections: async () => (await import('./collections.js')).collectionsBench,
  extents: async () => (await import('./extents.js')).extentsBench,
  file: async () => (await import('./file.js')).fileBench,
  smb: async () => (await import('./smb.js')).smbBench,
  http: async () => (await import('./http.js')).httpBench,
};

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<void> {
  const [name = '', ...options] = words;
  const load = benches[name];
  if (load === undefined) {
    console.error(
      `usage: npm run bench -- NAME [small] [--save]\nwhere NAME is one of: ${Object.keys(benches).join(', ')}`,
    );
    process.exitCode = 1;
    return;
  }
  const lines: string[] = [];
  const print = (line: string): void => {
    console.log(line);
    lines.push(line);
  };
  const run = await load();
  print(`checksum ${await run(options.includes('small') ? 'small' : 'full', print)}`);
  if (options.includes('--save')) save(name, lines);
}

/** Kept with the date and the hardware behind it: a number without them says nothing. */
function save(name: string, lines: readonly string[]): void {
  const [cpu] = cpus();
  const date = new Date().toISOString().slice(0, 10);
  const hardware = `${cpus().length} x ${cpu?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${platform()} ${release()}, Node ${process.version}`;
  const folder = join(import.meta.dirname, '../../bench/results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}-${date}.txt`), `${date}\n${hardware}\n\n${lines.join('\n')}\n`);
}
