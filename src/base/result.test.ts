import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ok, type Result, refuse } from './result.js';

function half(value: number): Result<number, 'Odd'> {
  return value % 2 === 0 ? ok(value / 2) : refuse('Odd');
}

test('a result is a value or the code of a refusal', () => {
  assert.deepEqual(half(4), { ok: true, value: 2 });
  assert.deepEqual(half(3), { ok: false, code: 'Odd' });
});
