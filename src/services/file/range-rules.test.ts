import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  lockConflict,
  lockHinders,
  lockRefusesRest,
  lockToRelease,
  type RangeLock,
  rangesMeet,
  validRange,
} from './range-rules.js';

const me = 1n;
const other = 2n;
const lock = (exclusive: boolean, owner: bigint, offset = 10n, length = 10n): RangeLock => ({
  ...{ exclusive, owner, offset, length },
});

// biome-ignore format: a table
const conflicts = [
  // held exclusive, by   asked exclusive, by me   conflict
  [false, me,    false, false],
  [false, me,    true,  true],
  [false, other, false, false],
  [false, other, true,  true],
  [true,  me,    false, false],
  [true,  me,    true,  true],
  [true,  other, false, true],
  [true,  other, true,  true],
] as const;
for (const [heldExclusive, owner, askedExclusive, conflict] of conflicts) {
  const word = (exclusive: boolean) => (exclusive ? 'exclusive' : 'shared');
  const whose = owner === me ? 'own' : "another's";
  test(`${word(askedExclusive)} over ${whose} ${word(heldExclusive)} lock: ${conflict ? 'conflict' : 'granted'}`, () => {
    assert.equal(lockConflict(lock(heldExclusive, owner), lock(askedExclusive, me)), conflict);
    assert.equal(
      lockConflict(lock(heldExclusive, owner), lock(askedExclusive, me, 20n)),
      false,
      'no overlap',
    );
  });
}

// biome-ignore format: a table
const hindrances = [
  // held exclusive, by   read   write
  [false, me,    false, true],
  [true,  me,    false, false],
  [false, other, false, true],
  [true,  other, true,  true],
] as const;
for (const [exclusive, owner, reads, writes] of hindrances) {
  test(`a lock (${exclusive ? 'exclusive' : 'shared'}, ${owner === me ? 'own' : "another's"}) hinders read ${reads}, write ${writes}`, () => {
    const held = lock(exclusive, owner);
    const range = { offset: 15n, length: 1n };
    assert.equal(lockHinders(held, 'read', me, range), reads);
    assert.equal(lockHinders(held, 'write', me, range), writes);
    assert.equal(
      lockHinders(held, 'write', me, { offset: 15n, length: 0n }),
      false,
      'nothing read or written',
    );
    assert.equal(lockHinders(held, 'write', me, { offset: 20n, length: 5n }), false, 'beside it');
  });
}

// biome-ignore format: a table
const meetings = [
  //  one         other         meet
  [10n, 10n,    19n, 1n,      true],
  [10n, 10n,    20n, 1n,      false],
  [10n, 10n,    9n,  1n,      false],
  [10n, 10n,    0n,  100n,    true],
  [10n, 0n,     0n,  100n,    true],   // a point inside
  [10n, 0n,     10n, 5n,      false],  // a point at the beginning
  [10n, 0n,     5n,  5n,      false],  // a point at the end
  [10n, 0n,     10n, 0n,      false],  // two points
  [0n,  0n,     0n,  100n,    false],  // the point at zero meets nothing
  [2n ** 64n - 1n, 1n, 2n ** 64n - 1n, 1n, true],
] as const;
for (const [offset, length, otherOffset, otherLength, meet] of meetings) {
  test(`[${offset}, +${length}) and [${otherOffset}, +${otherLength}) ${meet ? 'meet' : 'do not meet'}`, () => {
    const one = { offset, length };
    const two = { offset: otherOffset, length: otherLength };
    assert.equal(rangesMeet(one, two), meet);
    assert.equal(rangesMeet(two, one), meet);
  });
}

test('ranges that have a byte in common meet, and no others (seed 7)', () => {
  const range = fc.record({ offset: fc.bigInt(0n, 20n), length: fc.bigInt(1n, 8n) });
  fc.assert(
    fc.property(range, range, (one, two) => {
      const bytes = (r: typeof one) =>
        Array.from({ length: Number(r.length) }, (_, i) => Number(r.offset) + i);
      const common = bytes(one).some((byte) => bytes(two).includes(byte));
      assert.equal(rangesMeet(one, two), common);
    }),
    { seed: 7 },
  );
});

test('a range must end inside 64 bits', () => {
  assert(validRange({ offset: 2n ** 64n - 1n, length: 1n }));
  assert(validRange({ offset: 2n ** 64n - 1n, length: 0n }));
  assert(!validRange({ offset: 2n ** 64n - 1n, length: 2n }));
});

test('an unlock takes exactly its range: exclusive first, then the oldest, never of another handle', () => {
  const locks = [lock(false, other), lock(false, me), lock(true, me), lock(false, me, 10n, 11n)];
  assert.equal(lockToRelease(locks, me, { offset: 10n, length: 10n }), 2);
  assert.equal(lockToRelease(locks.slice(0, 2), me, { offset: 10n, length: 10n }), 1);
  assert.equal(lockToRelease(locks, me, { offset: 10n, length: 9n }), -1);
  assert.equal(lockToRelease(locks.slice(0, 1), me, { offset: 10n, length: 10n }), -1);
});

// biome-ignore format: a table
const rest = [
  // lock exclusive   REST use   overlaps   refused
  [false, 'write', true,  true],
  [false, 'write', false, true],
  [true,  'write', true,  true],
  [true,  'write', false, true],
  [false, 'read',  true,  false],
  [false, 'read',  false, false],
  [true,  'read',  true,  true],
  [true,  'read',  false, false],
] as const;
for (const [exclusive, use, overlaps, refused] of rest) {
  test(`REST ${use} ${overlaps ? 'over' : 'beside'} a ${exclusive ? 'exclusive' : 'shared'} lock: ${refused ? 'refused' : 'ok'}`, () => {
    const range = { offset: overlaps ? 15n : 100n, length: 10n };
    assert.equal(lockRefusesRest(lock(exclusive, other), use, range), refused);
  });
}
