// The examples run, each to its end.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root, run } from '../support/program.js';

for (const file of readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.ts'))) {
  test(`examples/${file}`, async () => {
    const { code, stdout, stderr } = await run([], {
      path: join(root, 'build/examples', file.replace(/\.ts$/, '.js')),
    });
    assert.equal(code, 0, stderr);
    assert.notEqual(stdout, '');
  });
}
