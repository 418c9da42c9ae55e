import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BreakCause,
  breakFor,
  breakNeedsAck,
  breaksItself,
  type CacheKind,
  caching,
  grantState,
  legalState,
  upgradeState,
} from './caching-rules.js';

const bits: Record<string, number> = { R: caching.read, W: caching.write, H: caching.handle };
const stateOf = (text: string) => [...text].reduce((state, letter) => state | (bits[letter] ?? 0), 0);
const show = (state: number) => [...'RWH'].filter((letter) => state & (bits[letter] ?? 0)).join('') || '-';

// What a holder is left with; + where the cause waits for the holder.
const breaks = `
  open                 R    RH   R+   RH+   R    R+   R+
  sharingViolation     R    R+   RW   RW+   R    RW   R+
  overwrite            -    -    -+   -+    -    -+   -+
  write                -    -    -    -     -    -    -
  lock                 -    -    -    -     -    -    -
  renameOrDelete       R    R+   RW   RW+   R    RW   R+
  restRead             R    RH   R+   RH+   R    R+   R+
  restWrite            -    -    -+   -+    -    -+   -+
`;
const holders: readonly [CacheKind, string][] = [
  ['lease', 'R'],
  ['lease', 'RH'],
  ['lease', 'RW'],
  ['lease', 'RWH'],
  ['oplock', 'R'],
  ['oplock', 'RW'],
  ['oplock', 'RWH'],
];
for (const line of breaks.trim().split('\n')) {
  const [cause = '', ...cells] = line.trim().split(/\s+/);
  for (const [index, cell] of cells.entries()) {
    const [kind, held] = holders[index] as [CacheKind, string];
    test(`${cause} leaves ${held} ${kind} with ${cell}`, () => {
      const state = stateOf(held);
      const due = breakFor(cause as BreakCause, kind, state);
      const left = due ? `${show(due.to)}${due.wait ? '+' : ''}` : held;
      assert.equal(left, cell);
    });
  }
}

test('level II is lost by writing or locking through its own handle, all else is kept', () => {
  for (const cause of ['write', 'lock', 'open', 'overwrite', 'renameOrDelete'] as const) {
    for (const [kind, state] of holders) {
      const lost = (cause === 'write' || cause === 'lock') && kind === 'oplock' && state === 'R';
      assert.equal(breaksItself(cause, kind, stateOf(state)), lost, `${cause} ${kind} ${state}`);
    }
  }
});

test('only R alone is lost without an acknowledgement', () => {
  for (const state of ['R', 'RH', 'RW', 'RWH']) assert.equal(breakNeedsAck(stateOf(state)), state !== 'R');
});

test('states that clients do not know become none', () => {
  const outcomes = ['', 'R', 'W', 'H', 'RW', 'RH', 'WH', 'RWH'].map((text) =>
    show(legalState(stateOf(text))),
  );
  assert.deepEqual(outcomes, ['-', 'R', '-', '-', 'RW', 'RH', '-', 'RWH']);
});

const alone = { others: [], otherOpens: false, locked: false } as const;

// biome-ignore format: a table
const grants = [
  // kind     wanted  file                                              granted
  ['lease',  'RWH',  alone,                                             'RWH'],
  ['lease',  'RW',   alone,                                             'RW'],
  ['lease',  'RH',   alone,                                             'RH'],
  ['lease',  'R',    alone,                                             'R'],
  ['lease',  'WH',   alone,                                             '-'],
  ['lease',  'RWH',  { ...alone, otherOpens: true },                    'RH'],
  ['lease',  'RW',   { ...alone, otherOpens: true },                    'R'],
  ['lease',  'RWH',  { ...alone, locked: true },                        '-'],
  ['lease',  'RWH',  { ...alone, others: [{ kind: 'lease', state: 3 }] },   'RH'],
  ['lease',  'RWH',  { ...alone, others: [{ kind: 'lease', state: 0 }] },   'RWH'],
  ['lease',  'RWH',  { ...alone, others: [{ kind: 'oplock', state: 1 }] },  'R'],
  ['oplock', 'RWH',  alone,                                             'RWH'],
  ['oplock', 'RW',   alone,                                             'RW'],
  ['oplock', 'R',    alone,                                             'R'],
  ['oplock', 'RWH',  { ...alone, otherOpens: true },                    'R'],
  ['oplock', 'RW',   { ...alone, otherOpens: true },                    'R'],
  ['oplock', 'R',    { ...alone, locked: true },                        '-'],
  ['oplock', 'RWH',  { ...alone, others: [{ kind: 'oplock', state: 1 }] },  'R'],
  ['oplock', 'R',    { ...alone, others: [{ kind: 'lease', state: 3 }] },   '-'],
  ['oplock', 'R',    { ...alone, others: [{ kind: 'lease', state: 1 }] },   'R'],
] as const;
for (const [kind, wanted, file, granted] of grants) {
  test(`${kind} ${wanted} with ${JSON.stringify(file)}: ${granted}`, () => {
    assert.equal(show(grantState(stateOf(wanted), { kind, ...file })), granted);
  });
}

// A lease that is held alone, asked for again.
const upgrades = `
        -    R    RH   RW   RWH
  -     -    R    RH   RW   RWH
  R     R    R    RH   RW   RWH
  RH    RH   RH   RH   RH   RWH
  RW    RW   RW   RW   RW   RWH
  RWH   RWH  RWH  RWH  RWH  RWH
`;
// The same while another client holds R.
const contended = `
        -    R    RH   RW   RWH
  R     R    R    RH   R    R
  RH    RH   RH   RH   RH   RH
`;
for (const [table, others] of [
  [upgrades, []],
  [contended, [{ kind: 'lease', state: caching.read }]],
] as const) {
  const [head = '', ...rows] = table.trim().split('\n');
  const asked = head.trim().split(/\s+/);
  for (const line of rows) {
    const [held = '', ...cells] = line.trim().split(/\s+/);
    for (const [index, cell] of cells.entries()) {
      const wanted = stateOf(asked[index] ?? '');
      test(`${held} lease asked for as ${asked[index]}${others.length > 0 ? ' beside another' : ''}: ${cell}`, () => {
        const file = { kind: 'lease', others, otherOpens: others.length > 0, locked: false } as const;
        assert.equal(show(upgradeState(stateOf(held), wanted, grantState(wanted, file))), cell);
      });
    }
  }
}
