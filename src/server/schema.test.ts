import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { configSchema } from './schema.js';

test('lazuli.schema.json is what the options are: else run node scripts/schema.mjs', () => {
  const path = new URL('../../lazuli.schema.json', import.meta.url);
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), configSchema());
});
