import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ManualClock, SystemClock } from './clock.js';

const seed = 20260806;
const start = Date.UTC(2026, 0, 1);

/** A machine whose two clocks are set by hand. */
function machine() {
  const state = { wall: start, monotonic: 500 };
  return {
    sources: { wall: () => state.wall, monotonic: () => state.monotonic },
    pass(ms: number) {
      state.wall += ms;
      state.monotonic += ms;
    },
    set(ms: number) {
      state.wall += ms;
    },
  };
}

describe('the clock', () => {
  test('follows the machine, also when that is set forward', () => {
    const { sources, pass, set } = machine();
    const clock = new SystemClock(0, sources);
    assert.equal(clock.now(), start);
    pass(10);
    assert.equal(clock.now(), start + 10);
    set(3_600_000);
    assert.equal(clock.now(), start + 3_600_010);
  });

  test('set back, it runs on and loses a tenth until the two meet', () => {
    const { sources, pass, set } = machine();
    const clock = new SystemClock(0, sources);
    set(-100);
    assert.equal(clock.now(), start);
    pass(500);
    assert.equal(clock.now(), start + 450); // 50 ms of 100 made up
    pass(500);
    assert.equal(clock.now(), start + 900); // met
    pass(500);
    assert.equal(clock.now(), start + 1400); // follows again
  });

  test('never stands still while ahead, however often it is read', () => {
    const { sources, pass, set } = machine();
    const clock = new SystemClock(0, sources);
    set(-10_000);
    let last = clock.now();
    for (let i = 0; i < 100; i++) {
      pass(2);
      const now = clock.now();
      assert.ok(now > last);
      last = now;
    }
  });

  test('is a whole millisecond as long as the machine is not set back', () => {
    const state = { wall: start, monotonic: 0 };
    const clock = new SystemClock(0, {
      wall: () => Math.floor(state.wall),
      monotonic: () => state.monotonic,
    });
    for (let i = 0; i < 100; i++) {
      state.wall += 0.3;
      state.monotonic += 0.3;
      assert.equal(clock.now(), Math.floor(state.wall));
    }
  });

  test('a start goes on from the stored value, whatever the machine says', () => {
    const { sources, pass } = machine();
    const clock = new SystemClock(start + 5000, sources);
    assert.equal(clock.now(), start + 5000);
    pass(100);
    assert.equal(clock.now(), start + 5090);
    clock.raiseTo(start + 9000);
    clock.raiseTo(start);
    assert.equal(clock.now(), start + 9000);
  });

  test('a shift moves it for a test and is never stored', () => {
    const { sources } = machine();
    const clock = new SystemClock(0, sources);
    clock.shift(60_000);
    assert.equal(clock.now(), start + 60_000);
    assert.equal(clock.unshifted(), start);
    clock.shift(-60_000);
    assert.equal(clock.now(), start);
  });

  test(`never turns back, whatever happens to the machine's clock (seed ${seed})`, () => {
    const event = fc.record({ set: fc.integer({ min: -5000, max: 5000 }), pass: fc.nat(200) });
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const { sources, pass, set } = machine();
        const clock = new SystemClock(0, sources);
        let last = clock.now();
        for (const { set: by, pass: ms } of events) {
          set(by);
          pass(ms);
          const now = clock.now();
          assert.ok(now >= last && now >= sources.wall());
          assert.ok(now - last >= 0.9 * ms - 1); // read rarely or often, it loses a tenth at most
          last = now;
        }
      }),
      { seed },
    );
  });

  test('the real one tells the time of the machine', () => {
    const before = Date.now();
    const now = new SystemClock().now();
    assert.ok(before <= now && now <= Date.now());
  });

  test('a manual clock stands until it is told to move', () => {
    const clock = new ManualClock(start);
    clock.advance(5);
    assert.equal(clock.now(), start + 5);
    assert.equal(clock.now(), start + 5);
  });
});
