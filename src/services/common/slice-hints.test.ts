import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SliceHints } from './slice-hints.js';

test('the last start before a position is the one told, of those that are kept', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1000), { maxLength: 200 }), fc.nat(1100), (starts, position) => {
      const hints = new SliceHints();
      for (const start of starts) hints.found(7, start);
      const before = starts.filter((start) => start < position);
      assert.equal(hints.before(7, position), before.length === 0 ? undefined : Math.max(...before));
      assert.equal(hints.before(8, position), undefined, 'another map');
    }),
    { seed: 5 },
  );
});

test('of one map no more than some are kept, of many maps no more than some', () => {
  const hints = new SliceHints();
  for (let start = 0; start < 300; start++) hints.found(1, start);
  assert.equal(hints.before(1, 256), undefined);
  assert.equal(hints.before(1, 1000), 299);
  for (let map = 2; map < 2000; map++) hints.found(map, 0);
  assert.equal(hints.before(1, 1000), undefined);
  assert.equal(hints.before(1999, 1), 0);
});
