// The tables of the reference, for blobs and containers (blob.md 4.3 to 4.5), files and shares
// (file-rest.md 10), every cell a test. A cell is the state afterwards or the code of the refusal, without
// its first word `Lease` and its last word `Operation`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cells } from '../../base/cells.suite.js';
import type { Result } from '../../base/result.js';
import type { ErrorCode, LeasedResource } from './errors.js';
import {
  availableLease,
  breakSecondsLeft,
  type Lease,
  type LeaseAction,
  type LeaseNeed,
  leaseProperties,
  observe,
  step,
  use,
} from './lease.js';

const now = Date.UTC(2026, 0, 1);
const forever = Number.POSITIVE_INFINITY;

/** 'leased A', 'leased A 40', 'leased A forever', 'breaking A', 'breaking A 5', 'broken A' ... */
function lease(text: string): Lease {
  const [state, id = '', left = '30'] = text.split(' ');
  const until = left === 'forever' ? forever : now + Number(left) * 1000;
  const seconds = left === 'forever' ? forever : 60;
  switch (state) {
    case 'available':
      return availableLease;
    case 'leased':
      return { state, id, seconds, until };
    case 'breaking':
      return { state, id, until };
    case 'expired': // as it is stored
      return { state: 'leased', id, seconds, until: now };
    case 'broken':
      return { state: 'breaking', id, until: now };
    default:
      throw new Error(text);
  }
}

/** 'acquire A', 'renew A', 'change A→B', 'release A', 'break', 'break 10'; an acquire is for 15 seconds. */
function action(text: string): LeaseAction {
  const [verb, argument = ''] = text.split(' ');
  const [id = '', proposedId = ''] = argument.split('→');
  switch (verb) {
    case 'acquire':
      return { action: verb, id, seconds: 15 };
    case 'renew':
    case 'release':
      return { action: verb, id };
    case 'change':
      return { action: verb, id, proposedId };
    case 'break':
      return { action: verb, seconds: argument === '' ? undefined : Number(argument) };
    default:
      throw new Error(text);
  }
}

function show(result: Result<Lease, ErrorCode>): string {
  if (!result.ok) return result.code.replace(/^Lease/, '').replace(/Operation$/, '');
  const after = observe(result.value, now);
  if (after.state === 'available') return 'available';
  const until = 'until' in after ? after.until : undefined;
  const left = until === undefined ? '' : until === forever ? ' forever' : ` ${(until - now) / 1000}`;
  return `${after.state} ${after.id}${left}`;
}

// X is the id of an acquire that proposes none: a new one, so like any id that is not A.
const blobActions = `
                 available             leased A 30           breaking A 20                   broken A                        expired A
  acquire X      leased X 15           AlreadyPresent        AlreadyPresent                  leased X 15                     leased X 15
  acquire A      leased A 15           leased A 15           IsBreakingAndCannotBeAcquired   leased A 15                     leased A 15
  acquire B      leased B 15           AlreadyPresent        AlreadyPresent                  leased B 15                     leased B 15
  renew A        IdMismatchWithLease   leased A 60           IsBrokenAndCannotBeRenewed      IsBrokenAndCannotBeRenewed      leased A 60
  renew B        IdMismatchWithLease   IdMismatchWithLease   IdMismatchWithLease             IdMismatchWithLease             IdMismatchWithLease
  change A→B     NotPresentWithLease   leased B 30           IsBreakingAndCannotBeChanged    NotPresentWithLease             NotPresentWithLease
  change B→A     NotPresentWithLease   leased A 30           IdMismatchWithLease             NotPresentWithLease             NotPresentWithLease
  change B→C     NotPresentWithLease   IdMismatchWithLease   IdMismatchWithLease             NotPresentWithLease             NotPresentWithLease
  release A      IdMismatchWithLease   available             available                       available                       available
  release B      IdMismatchWithLease   IdMismatchWithLease   IdMismatchWithLease             IdMismatchWithLease             IdMismatchWithLease
  break          NotPresentWithLease   breaking A 30         breaking A 20                   broken A                        broken A
  break 0        NotPresentWithLease   broken A              broken A                        broken A                        broken A
  break 10       NotPresentWithLease   breaking A 10         breaking A 10                   broken A                        broken A
  break 60       NotPresentWithLease   breaking A 30         breaking A 20                   broken A                        broken A
`;

for (const resource of ['blob', 'container', 'share'] as const) {
  for (const { row, column, cell } of cells(blobActions)) {
    test(`${resource}: ${row} on ${column} gives ${cell}`, () => {
      assert.equal(show(step(lease(column), action(row), now, resource)), cell);
    });
  }
}

const infinite = `
                 leased A forever
  acquire A      leased A 15
  acquire B      AlreadyPresent
  renew A        leased A forever
  change A→B     leased B forever
  release A      available
  break          broken A
  break 0        broken A
  break 10       breaking A 10
`;

for (const { row, column, cell } of cells(infinite)) {
  test(`blob: ${row} on ${column} gives ${cell}`, () => {
    assert.equal(show(step(lease(column), action(row), now)), cell);
  });
}

test('a break without delay is stored as broken', () => {
  for (const text of ['leased A', 'leased A forever', 'breaking A', 'expired A', 'broken A']) {
    assert.deepEqual(step(lease(text), action('break 0'), now), {
      ok: true,
      value: { state: 'broken', id: 'A' },
    });
  }
});

test('an acquire by the holder can make a fixed lease infinite', () => {
  const outcome = step(lease('leased A'), { action: 'acquire', id: 'A', seconds: forever }, now);
  assert.equal(show(outcome), 'leased A forever');
});

const fileActions = `
                 available             leased A forever      broken A
  acquire X      leased X 15           AlreadyPresent        leased X 15
  acquire A      leased A 15           leased A 15           leased A 15
  acquire B      leased B 15           AlreadyPresent        leased B 15
  break 0        NotPresentWithLease   broken A              broken A
  change A→B     NotPresentWithLease   leased B forever      IsBrokenAndCannotBeChanged
  change B→A     NotPresentWithLease   leased A forever      IdMismatchWithLease
  change B→C     NotPresentWithLease   IdMismatchWithLease   IdMismatchWithLease
  release A      IdMismatchWithLease   available             available
  release B      IdMismatchWithLease   IdMismatchWithLease   IdMismatchWithLease
`;

for (const { row, column, cell } of cells(fileActions)) {
  test(`file: ${row} on ${column} gives ${cell}`, () => {
    assert.equal(show(step(lease(column), action(row), now, 'file')), cell);
  });
}

const blobUse = `
                 available            leased A 30          breaking A 20        broken A             expired A
  write, no id   available            IdMissing            IdMissing            available            available
  write, id A    NotPresentWithBlob   leased A 30          breaking A 20        Lost                 Lost
  write, id B    NotPresentWithBlob   IdMismatchWithBlob   IdMismatchWithBlob   IdMismatchWithBlob   IdMismatchWithBlob
  read, no id    available            leased A 30          breaking A 20        broken A             expired A
  read, id A     NotPresentWithBlob   leased A 30          breaking A 20        Lost                 Lost
  read, id B     NotPresentWithBlob   IdMismatchWithBlob   IdMismatchWithBlob   IdMismatchWithBlob   IdMismatchWithBlob
`;

// `write` is Delete Container; all else, Set Container Metadata too, is `read`.
const containerUse = `
                 available                 leased A 30               breaking A 20             broken A                  expired A
  write, no id   available                 IdMissing                 IdMissing                 broken A                  expired A
  write, id A    NotPresentWithContainer   leased A 30               breaking A 20             Lost                      Lost
  write, id B    NotPresentWithContainer   IdMismatchWithContainer   IdMismatchWithContainer   IdMismatchWithContainer   IdMismatchWithContainer
  read, no id    available                 leased A 30               breaking A 20             broken A                  expired A
  read, id A     NotPresentWithContainer   leased A 30               breaking A 20             Lost                      Lost
  read, id B     NotPresentWithContainer   IdMismatchWithContainer   IdMismatchWithContainer   IdMismatchWithContainer   IdMismatchWithContainer
`;

const fileUse = `
                 available            leased A forever     broken A
  write, no id   available            IdMissing            available
  write, id A    NotPresentWithFile   leased A forever     NotPresentWithFile
  write, id B    NotPresentWithFile   IdMismatchWithFile   NotPresentWithFile
  read, no id    available            leased A forever     broken A
  read, id A     NotPresentWithFile   leased A forever     NotPresentWithFile
  read, id B     NotPresentWithFile   IdMismatchWithFile   NotPresentWithFile
`;

const uses: [LeasedResource, string][] = [
  ['blob', blobUse],
  ['container', containerUse],
  ['share', containerUse],
  ['file', fileUse],
];

for (const [resource, table] of uses) {
  for (const { row, column, cell } of cells(table)) {
    test(`${resource}: ${row} on ${column} gives ${cell}`, () => {
      const need: LeaseNeed = row.startsWith('write') ? 'required' : 'checked';
      const id = row.match(/id (\w)$/)?.[1];
      assert.equal(
        show(use(lease(column), row.endsWith('no id') ? undefined : id, need, now, resource)),
        cell,
      );
    });
  }
}

const copyTarget = `
          available            leased A 30                     leased A forever     breaking A 20                   expired A
  no id   available            IdMissing                       IdMissing            IdMissing                       available
  A       NotPresentWithBlob   InfiniteLeaseDurationRequired   leased A forever     InfiniteLeaseDurationRequired   Lost
  B       NotPresentWithBlob   IdMismatchWithBlob              IdMismatchWithBlob   IdMismatchWithBlob              IdMismatchWithBlob
`;

for (const { row, column, cell } of cells(copyTarget)) {
  test(`a copy onto ${column} with ${row} gives ${cell}`, () => {
    assert.equal(show(use(lease(column), row === 'no id' ? undefined : row, 'infinite', now)), cell);
  });
}

test('a write without an id over an expired lease makes its id unknown', () => {
  const after = use(lease('expired A'), undefined, 'required', now);
  assert.ok(after.ok);
  assert.equal(show(step(after.value, action('renew A'), now)), 'IdMismatchWithLease');
});

test('writing to a container leaves an expired lease renewable', () => {
  const after = use(lease('expired A'), undefined, 'checked', now, 'container');
  assert.ok(after.ok);
  assert.equal(show(step(after.value, action('renew A'), now, 'container')), 'leased A 60');
});

test('an operation that changes nothing gives back the very same record, so that none is written', () => {
  for (const text of ['available', 'leased A', 'expired A', 'breaking A', 'broken A']) {
    const stored = lease(text);
    const after = use(stored, undefined, 'checked', now);
    assert.ok(after.ok && after.value === stored, text);
  }
});

const clock = `
                 1 ms before   at the end   later
  leased A 30    leased        expired      expired
  breaking A 5   breaking      broken       broken
`;

for (const { row, column, cell } of cells(clock)) {
  test(`${row} is ${cell} ${column}`, () => {
    const stored = lease(row);
    const end = 'until' in stored ? stored.until : 0;
    const time = { '1 ms before': end - 1, 'at the end': end, later: end + 86_400_000 }[column] ?? 0;
    assert.equal(observe(stored, time).state, cell);
  });
}

test('an infinite lease does not end', () => {
  assert.equal(observe(lease('leased A forever'), Number.MAX_SAFE_INTEGER).state, 'leased');
});

const properties = `
                     status     state       duration
  available          unlocked   available   -
  leased A 30        locked     leased      fixed
  leased A forever   locked     leased      infinite
  expired A          unlocked   expired     -
  breaking A         locked     breaking    -
  broken A           unlocked   broken      -
`;

for (const { row, column, cell } of cells(properties)) {
  test(`${row} has ${column} ${cell}`, () => {
    const told = leaseProperties(lease(row), now);
    assert.equal(told[column as keyof typeof told] ?? '-', cell);
  });
}

const timeLeft = `
                   break   break 0   break 5   break 60
  leased A 30      30      0         5         30
  leased A 0.5     1       0         1         1
  leased A 1.001   2       0         2         2
  breaking A 20    20      0         5         20
  broken A         0       0         0         0
  expired A        0       0         0         0
`;

for (const { row, column, cell } of cells(timeLeft)) {
  test(`${column} on ${row} leaves ${cell} seconds`, () => {
    const outcome = step(lease(row), action(column), now);
    assert.ok(outcome.ok);
    assert.equal(String(breakSecondsLeft(outcome.value, now)), cell);
  });
}
