import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { compatibility } from '#src/http/compatibility.js';

test('docs/compatibility.md is what the operation tables say: node scripts/compatibility.mjs writes it', () => {
  const path = join(resolve(import.meta.dirname, '../..'), 'docs/compatibility.md');
  assert.equal(readFileSync(path, 'utf8'), compatibility());
});
