// The small size of each benchmark, so that none rots.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { benches } from './main.js';

/** `services` runs all that these do. */
const parts = ['blob', 'table'];

for (const [name, [, load]] of Object.entries(benches)) {
  if (parts.includes(name)) continue;
  test(`${name} runs and repeats its checksum`, async () => {
    const run = await load();
    const lines: string[] = [];
    const first = await run('small', (line) => lines.push(line));
    assert.ok(lines.length > 0);
    assert.equal(await run('small', () => {}), first);
  });
}
