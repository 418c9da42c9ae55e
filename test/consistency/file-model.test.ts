// The model of files, and the judge's other findings: what may be is passed, what may not be is found.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FileCall, fileModel } from './file-model.js';
import type { Recorded } from './history.js';
import { judgeRound } from './judge.js';
import { linearize } from './linearizable.js';
import type { Result } from './models.js';
import { hung } from './sender.js';

type Step = readonly [call: FileCall, result: Result];

/** One after the other, by one client. */
function inOrder(steps: readonly Step[]): Recorded<FileCall, Result>[] {
  return steps.map(([call, result], index) => ({
    client: '0.0',
    object: 'files 0',
    call,
    result,
    startMs: index * 2,
    endMs: index * 2 + 1,
    wire: '',
  }));
}

const ok: Result = { ok: true };
const no = (code: string): Result => ({ code });
const seen = (value: string, lease = 'available'): Result => ({ ok: true, value, lease });
const create = (name: string, leaseId?: string): FileCall => ({
  op: 'create',
  name,
  ...(leaseId && { leaseId }),
});
const put = (name: string, from: number, to: number, value: string, leaseId?: string): FileCall => ({
  ...{ op: 'put', name, from, to, value },
  ...(leaseId && { leaseId }),
});
const read = (name: string): FileCall => ({ op: 'read', name });
const rename = (name: string, onto: string, replaces = true, ids: object = {}): FileCall => ({
  ...{ op: 'rename', name, onto, replaces },
  ...ids,
});
const acquire = (name: string, leaseId: string): FileCall => ({ op: 'acquire', name, leaseId });

const made: readonly Step[] = [
  [create('a'), ok],
  [put('a', 0, 2, 'v'), ok],
];
const leased: readonly Step[] = [...made, [acquire('a', 'A'), ok]];
const broken: readonly Step[] = [...leased, [{ op: 'break', name: 'a' }, ok]];

const histories: readonly (readonly [name: string, before: readonly Step[], step: Step, isRight: boolean])[] =
  [
    ['a read of what was written', made, [read('a'), seen('v|v|')], true],
    ['a read of half a range', made, [read('a'), seen('v||')], false],
    ['a read of nothing', made, [read('a'), seen('||')], false],
    ['a read of a file that is not there', made, [read('b'), no('ResourceNotFound')], true],
    ['a read that finds what is not there', made, [read('b'), seen('||')], false],
    ['an overwrite keeps nothing', [...made, [create('a'), ok]], [read('a'), seen('||')], true],
    ['an overwrite that keeps bytes', [...made, [create('a'), ok]], [read('a'), seen('v|v|')], false],
    ['a file that moved', [...made, [rename('a', 'b'), ok]], [read('b'), seen('v|v|')], true],
    ['a file that moved and stayed', [...made, [rename('a', 'b'), ok]], [read('a'), seen('v|v|')], false],
    ['a move onto a file', [...made, [create('b'), ok]], [rename('b', 'a'), ok], true],
    ['a move that must not replace', [...made, [create('b'), ok]], [rename('b', 'a', false), ok], false],
    [
      'a move that is refused',
      [...made, [create('b'), ok]],
      [rename('b', 'a', false), no('ResourceAlreadyExists')],
      true,
    ],
    ['a move of nothing', made, [rename('b', 'a'), ok], false],
    ['a write without the lease', leased, [put('a', 0, 1, 'w'), ok], false],
    ['a write that is refused for it', leased, [put('a', 0, 1, 'w'), no('LeaseIdMissing')], true],
    ['a write with another lease', leased, [put('a', 0, 1, 'w', 'B'), ok], false],
    ['a write with the lease', leased, [put('a', 0, 1, 'w', 'A'), ok], true],
    ['a second lease', leased, [acquire('a', 'B'), ok], false],
    ['a lease that is not told', leased, [read('a'), seen('v|v|')], false],
    [
      'a lease that moves along',
      [...leased, [rename('a', 'b', true, { leaseId: 'A' }), ok]],
      [read('b'), seen('v|v|', 'leased')],
      true,
    ],
    ['a leased target without its lease', [...leased, [create('b'), ok]], [rename('b', 'a'), ok], false],
    [
      'a leased target with its lease',
      [...leased, [create('b'), ok]],
      [rename('b', 'a', true, { ontoLeaseId: 'A' }), ok],
      true,
    ],
    ['a write under a broken lease', broken, [put('a', 0, 1, 'w', 'A'), ok], false],
    [
      'a write forgets a broken lease',
      [...broken, [put('a', 2, 3, 'w'), ok]],
      [read('a'), seen('v|v|w')],
      true,
    ],
    ['a delete', [...made, [{ op: 'delete', name: 'a' }, ok]], [read('a'), no('ResourceNotFound')], true],
    [
      'a delete that was lost',
      [...made, [{ op: 'delete', name: 'a' }, ok]],
      [read('a'), seen('v|v|')],
      false,
    ],
  ];

for (const [name, before, step, isRight] of histories) {
  test(`${name}: ${isRight ? 'right' : 'wrong'}`, () => {
    const { kind } = linearize(fileModel, inOrder([...before, step]));
    assert.equal(kind, isRight ? 'linearizable' : 'violation');
  });
}

test('a request that is never answered, and an internal error, are findings', () => {
  const [first] = inOrder([[create('a'), ok]]);
  assert.ok(first);
  assert.deepEqual(judgeRound([first]), []);
  const { result: _, ...unknown } = { ...first, endMs: Number.POSITIVE_INFINITY };
  const found = (wire: string) => judgeRound([{ ...unknown, wire }]).map(({ what }) => what);
  assert.deepEqual(found('ECONNRESET'), []);
  assert.deepEqual(found(hung), ['a request was never answered']);
  assert.deepEqual(found('500 InternalError'), ['the server answered with an internal error']);
});
