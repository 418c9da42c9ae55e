import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from './clock.js';
import { Stamps, stampToMs } from './stamps.js';

const seed = 20260805;
const start = Date.UTC(2026, 0, 1);

describe('stamps', () => {
  test('a stamp is the clock in microseconds, and rises within a tick', () => {
    const clock = new ManualClock(start);
    const stamps = new Stamps(clock);
    assert.deepEqual([stamps.draw(), stamps.draw()], [start * 1000, start * 1000 + 1]);
    clock.advance(1);
    assert.equal(stamps.draw(), start * 1000 + 1000);
  });

  test('a stamp is above one that was seen, and so are all after it', () => {
    const stamps = new Stamps(new ManualClock(start));
    const seen = (start + 5000) * 1000;
    assert.equal(stamps.draw(seen), seen + 1);
    assert.equal(stamps.draw(), seen + 2);
  });

  test('it goes on from the last stamp of an earlier run', () => {
    const stamps = new Stamps(new ManualClock(start), start * 1000 + 7);
    assert.equal(stamps.draw(), start * 1000 + 8);
    stamps.raiseTo(start * 1000 + 100);
    stamps.raiseTo(start);
    assert.equal(stamps.last, start * 1000 + 100);
    assert.equal(stamps.draw(), start * 1000 + 101);
  });

  test(`every stamp is above the last, above what was seen and not below the clock (seed ${seed})`, () => {
    const step = fc.record({ advance: fc.nat(3), seen: fc.option(fc.nat(10_000), { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const clock = new ManualClock(start);
        const stamps = new Stamps(clock);
        for (const { advance, seen } of steps) {
          clock.advance(advance);
          const last = stamps.last;
          const other = seen === undefined ? undefined : start * 1000 + seen;
          const stamp = stamps.draw(other);
          assert.ok(stamp > last && stamp > (other ?? 0) && stamp >= clock.now() * 1000);
          assert.ok(Number.isSafeInteger(stamp));
        }
      }),
      { seed },
    );
  });

  test('a clock with a fraction gives whole stamps', () => {
    assert.equal(new Stamps({ now: () => 1.9999 }).draw(), 1999);
  });

  test('the millisecond of a stamp', () => {
    assert.equal(stampToMs(start * 1000 + 999), start);
    assert.equal(stampToMs(start * 1000 + 1000), start + 1);
  });
});
