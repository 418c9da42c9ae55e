import assert from 'node:assert/strict';
import { test } from 'node:test';
import { percentFor } from './heap.js';

const MB = 1024 * 1024;

test('a small heap may grow by the room it is given, a large one as V8 thinks', () => {
  assert.equal(percentFor(16 * MB, 64 * MB), 400);
  assert.equal(percentFor(63 * MB, 64 * MB), 102);
  assert.equal(percentFor(64 * MB, 64 * MB), 0);
  assert.equal(percentFor(500 * MB, 64 * MB), 0);
});
