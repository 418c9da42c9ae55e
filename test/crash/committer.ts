// Commits under load until it is killed. Each commit that is durable is told on the standard output, as the
// client it belongs to and its number; so the test knows what must be there.
//
//   node committer.js FOLDER RUN
//
// Commit n of a client writes three keys of its own, the key `last` that all write, and adds 1 to a counter.

import { writeSync } from 'node:fs';
import { openEngine } from '#src/engine/level.js';

const [folder = '', run = ''] = process.argv.slice(2);
const clients = 16;
const engine = await openEngine({ location: folder });

async function client(index: number): Promise<never> {
  for (let number = 0; ; number++) {
    const name = `${run}-${index}-${number}`;
    const value = Buffer.from(name);
    const { durable } = await engine.commit({
      writes: [
        ...[0, 1, 2].map((part) => ({ key: Buffer.from(`c/${name}/${part}`), value })),
        { key: Buffer.from('last'), value },
      ],
      adds: [{ key: Buffer.from('n'), amount: 1 }],
    });
    await durable;
    writeSync(1, `${name}\n`);
  }
}

await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
