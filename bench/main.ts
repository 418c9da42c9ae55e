// `node build/bench/main.js NAME [small]` answers one question about speed; without a name it lists them.
// Each file has a fixed seed, two sizes and a checksum of what it did; the small size runs with the tests.

export type Size = 'small' | 'full';

/** Prints lines, and gives a checksum of the work done that every run of that size repeats. */
export type Bench = (size: Size, print: (line: string) => void) => Promise<string>;

export const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  auth: async () => (await import('./auth.js')).authBench,
  engine: async () => (await import('./engine.js')).engineBench,
  extents: async () => (await import('./extents.js')).extentsBench,
  http: async () => (await import('./http.js')).httpBench,
};

if (process.argv[1] === import.meta.filename) {
  const name = process.argv[2] ?? '';
  const load = benches[name];
  if (load) {
    const run = await load();
    const checksum = await run(process.argv[3] === 'small' ? 'small' : 'full', console.log);
    console.log(`checksum ${checksum}`);
  } else {
    console.error(
      `usage: node build/bench/main.js NAME [small]\nwhere NAME is one of: ${Object.keys(benches).join(', ')}`,
    );
    process.exitCode = 1;
  }
}
