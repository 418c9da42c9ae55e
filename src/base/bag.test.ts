import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Bag } from './bag.js';

class Thing {
  place = 0;
}

test('a bag holds what a set would, whatever comes and goes', () => {
  const step = fc.record({ add: fc.boolean(), number: fc.nat(7) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const things = Array.from({ length: 8 }, () => new Thing());
      const bag = new Bag<Thing>();
      const set = new Set<Thing>();
      for (const { add, number } of steps) {
        const thing = things[number] as Thing;
        if (!add) {
          bag.delete(thing);
          set.delete(thing);
        } else {
          bag.add(thing);
          set.add(thing);
        }
        assert.equal(bag.size, set.size);
        assert.deepEqual(new Set(bag), set);
      }
    }),
    { seed: 11, numRuns: 300 },
  );
});

test('what comes and goes while a bag is looked through changes nothing', () => {
  const bag = new Bag<Thing>();
  const things = [new Thing(), new Thing(), new Thing()];
  for (const thing of things) bag.add(thing);
  const seen: Thing[] = [];
  for (const thing of bag) {
    bag.delete(thing);
    seen.push(thing);
  }
  assert.deepEqual(seen, things);
  assert.equal(bag.size, 0);
});
