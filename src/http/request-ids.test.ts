import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestIds } from './request-ids.js';

test('ids are shaped like a GUID, and none comes twice', () => {
  const next = requestIds();
  const ids = new Set(Array.from({ length: 10_000 }, next));
  assert.equal(ids.size, 10_000);
  for (const id of ids) assert.match(id, /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/);
});

test('a start has ids of its own', () => {
  const [first, second] = [requestIds(() => Buffer.alloc(8, 1))(), requestIds(() => Buffer.alloc(8, 2))()];
  assert.equal(first, '01010101-0101-0101-0000-000000000001');
  assert.notEqual(first, second);
});
