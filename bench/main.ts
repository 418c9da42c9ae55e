// `npm run bench -- NAME [small] [--save]` answers one question about speed, `all` those of the design in one run;
// without a name it lists them. With --save the answer is kept in bench/results. Each file has a fixed seed, two sizes
// and a checksum of what it did; the small size runs with the tests.

import { save } from './results.js';
import type { Row } from './services.js';

export type Size = 'small' | 'full';

/** Prints lines, and gives a checksum of the work done that every run of that size repeats. */
export type Bench = (size: Size, print: (line: string) => void) => Promise<string>;

/** The rows of `services`, for who keeps them. */
const rows: Row[] = [];

// biome-ignore format: a table
export const benches: Readonly<Record<string, readonly [asks: string, load: () => Promise<Bench>]>> = {
  services:       ['the services beside Azurite and a bare server', async () => (await import('./services.js')).servicesBench(undefined, (row) => rows.push(row))],
  blob:           ['blobs alone',                                   async () => (await import('./services.js')).servicesBench('blob')],
  queue:          ['queues alone, and the whole way of a message',  async () => (await import('./services.js')).servicesBench('queue')],
  table:          ['tables alone',                                  async () => (await import('./services.js')).servicesBench('table')],
  start:          ['how long a start takes',                        async () => (await import('./start.js')).startBench],
  footprint:      ['memory, and space on disk, beside Azurite',     async () => (await import('./footprint.js')).footprintBench],
  growth:         ['messages and entities, a thousand to a million', async () => (await import('./growth.js')).growthBench],
  'growth-blobs': ['blobs, a thousand to a million',                async () => (await import('./growth-blobs.js')).growthBlobsBench],
  file:           ['files over HTTP',                               async () => (await import('./file.js')).fileBench],
  smb:            ['files over SMB beside Samba',                   async () => (await import('./smb.js')).smbBench],
  http:           ['HTTP alone beside a bare server',               async () => (await import('./http.js')).httpBench],
  auth:           ['finding out who asks',                          async () => (await import('./auth.js')).authBench],
  collections:    ['the collections',                               async () => (await import('./collections.js')).collectionsBench],
  engine:         ['the engine',                                    async () => (await import('./engine.js')).engineBench],
  extents:        ['the bytes of blobs and files',                  async () => (await import('./extents.js')).extentsBench],
};

/** What the design promises numbers for. */
const promised = ['services', 'start', 'footprint', 'growth', 'growth-blobs'];

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<void> {
  const [name = '', ...options] = words;
  const chosen = name === 'all' ? promised : [name];
  if (chosen.some((one) => !(one in benches))) {
    const list = Object.entries(benches).map(([one, [asks]]) => `  ${one.padEnd(13)} ${asks}`);
    list.push(`  ${'all'.padEnd(13)} ${promised.join(', ')}: some ten minutes`);
    console.error(['usage: npm run bench -- NAME [small] [--save]', ...list].join('\n'));
    process.exitCode = 1;
    return;
  }
  const size = options.includes('small') ? 'small' : 'full';
  const lines: string[] = [];
  const print = (line: string): void => {
    console.log(line);
    lines.push(line);
  };
  for (const one of chosen) {
    if (chosen.length > 1) print(`\n${one}: ${benches[one]?.[0]}`);
    const run = await benches[one]?.[1]();
    print(`checksum ${await run?.(size, print)}`);
  }
  if (options.includes('--save')) save(name, lines, rows);
}
