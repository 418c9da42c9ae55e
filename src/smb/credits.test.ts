import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MessageWindow, mostCredits } from './credits.js';

test('the first message has id 0, each id is used once', () => {
  const window = new MessageWindow();
  assert(!window.take(1, 1));
  assert(window.take(0, 1));
  assert(!window.take(0, 1));
  assert.equal(window.outstanding, 0);
  assert.equal(window.grant(1, 4), 4);
  assert(window.take(2, 2) && !window.take(3, 1) && window.take(1, 1) && window.take(4, 1));
  assert(!window.take(5, 1));
});

test('no more than 8192 are granted, and a skipped id holds up the window', () => {
  const window = new MessageWindow();
  window.take(0, 1);
  assert.equal(window.grant(1, 65_535), mostCredits);
  assert.equal(window.grant(1, 1), 0);
  assert(window.take(2, 1));
  assert.equal(window.grant(1, 100), 0, 'id 1 is not used yet');
  assert(window.take(1, 1));
  assert.equal(window.grant(1, 100), 2);
});

test('it agrees with a plain set of ids (seed 5)', () => {
  const step = fc.record({ skip: fc.nat(3), charge: fc.integer({ min: 1, max: 5 }), requested: fc.nat(40) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const window = new MessageWindow();
      const granted = new Set([0]);
      let top = 1;
      for (const { skip, charge, requested } of steps) {
        const first = [...granted][skip] ?? top;
        const ids = Array.from({ length: charge }, (_, index) => first + index);
        const allowed = ids.every((id) => granted.has(id));
        assert.equal(window.take(first, charge), allowed);
        if (!allowed) continue;
        for (const id of ids) granted.delete(id);
        const more = window.grant(charge, requested);
        for (let index = 0; index < more; index++) granted.add(top++);
        assert.equal(window.outstanding, granted.size);
      }
    }),
    { seed: 5 },
  );
});
