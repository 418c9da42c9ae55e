import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configSchema } from '#src/server/schema.js';
import { root } from '../support/program.js';

test('lazuli.schema.json is what the options are: else run node scripts/schema.mjs', () => {
  const path = join(root, 'lazuli.schema.json');
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), configSchema());
});
