// The checker finds what is planted, and accepts what is right: small histories drawn by hand, then random ones made
// by a machine that is right, and the same with one result changed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#src/base/random.js';
import type { Recorded } from './history.js';
import { linearize } from './linearizable.js';
import {
  appendModel,
  type BlobCall,
  type BlobState,
  blobModel,
  checkETags,
  containerModel,
  partitionModel,
  type Result,
  timedModel,
} from './models.js';

const done: Result = { ok: true };
const saw = (value: string): Result => ({ ok: true, value, lease: 'available' });

/** `client start end call result`; no result: unknown. */
type Line = readonly [string, number, number, object, Result?];

function history(...lines: readonly Line[]): Recorded[] {
  return lines.map(([client, startMs, endMs, call, result]) => {
    const record = { client, object: 'x', call, startMs, wire: '' };
    return result ? { ...record, endMs, result } : { ...record, endMs: Number.POSITIVE_INFINITY };
  });
}

const put = (value: string) => ({ op: 'put', value });
const read = { op: 'read' };

const blobHistories: [verdict: 'linearizable' | 'violation', name: string, lines: Line[]][] = [
  [
    'linearizable',
    'a read beside a write sees either',
    [
      ['a', 0, 1, put('1'), done],
      ['a', 2, 9, put('2'), done],
      ['b', 3, 4, read, saw('1')],
      ['b', 5, 6, read, saw('2')],
    ],
  ],
  [
    'violation',
    'a stale read',
    [
      ['a', 0, 1, put('1'), done],
      ['a', 2, 3, put('2'), done],
      ['b', 4, 5, read, saw('1')],
    ],
  ],
  [
    'violation',
    'a read that goes back',
    [
      ['a', 0, 1, put('1'), done],
      ['a', 2, 9, put('2'), done],
      ['b', 3, 4, read, saw('2')],
      ['c', 5, 6, read, saw('1')],
    ],
  ],
  [
    'violation',
    'a lost update: two conditional updates of one version',
    [
      ['a', 0, 1, put('1'), done],
      ['a', 2, 6, { op: 'update', value: '2', expects: '1' }, done],
      ['b', 3, 7, { op: 'update', value: '3', expects: '1' }, done],
    ],
  ],
  [
    'violation',
    'an acknowledged write that is gone',
    [
      ['a', 0, 1, put('1'), done],
      ['b', 2, 3, read, { code: 'BlobNotFound' }],
    ],
  ],
  [
    'violation',
    'a refused write that is there',
    [
      ['a', 0, 1, put('1'), done],
      ['a', 2, 3, { op: 'create', value: '2' }, { code: 'BlobAlreadyExists' }],
      ['a', 4, 5, read, saw('2')],
    ],
  ],
  [
    'violation',
    'a refusal without its reason',
    [['a', 0, 1, { op: 'create', value: '1' }, { code: 'BlobAlreadyExists' }]],
  ],
  [
    'linearizable',
    'an unknown write that happened',
    [
      ['a', 0, 1, put('1'), done],
      ['b', 2, 3, put('2')],
      ['a', 4, 5, read, saw('2')],
    ],
  ],
  [
    'linearizable',
    'an unknown write that did not',
    [
      ['a', 0, 1, put('1'), done],
      ['b', 2, 3, put('2')],
      ['a', 4, 5, read, saw('1')],
    ],
  ],
  [
    'linearizable',
    'an unknown write that happened late',
    [
      ['a', 0, 1, put('1'), done],
      ['b', 2, 3, put('2')],
      ['a', 4, 5, read, saw('1')],
      ['a', 6, 7, read, saw('2')],
    ],
  ],
  [
    'violation',
    'an unknown write that happened and was undone',
    [
      ['a', 0, 1, put('1'), done],
      ['b', 2, 3, put('2')],
      ['a', 4, 5, read, saw('2')],
      ['a', 6, 7, read, saw('1')],
    ],
  ],
  [
    'violation',
    'two holders of one lease',
    [
      ['a', 0, 1, put('1'), done],
      ['a', 2, 3, { op: 'acquire', leaseId: 'A' }, done],
      ['b', 4, 5, { op: 'acquire', leaseId: 'B' }, done],
    ],
  ],
  [
    'violation',
    'a write past a lease',
    [
      ['a', 0, 1, put('1'), done],
      ['a', 2, 3, { op: 'acquire', leaseId: 'A' }, done],
      ['b', 4, 5, put('2'), done],
    ],
  ],
  [
    'linearizable',
    'a write with the lease, and one after it was broken',
    [
      ['a', 0, 1, put('1'), done],
      ['a', 2, 3, { op: 'acquire', leaseId: 'A' }, done],
      ['a', 4, 5, { ...put('2'), leaseId: 'A' }, done],
      ['b', 6, 7, { op: 'break' }, done],
      ['b', 8, 9, put('3'), done],
    ],
  ],
];

for (const [verdict, name, lines] of blobHistories) {
  test(`blob: ${name}: ${verdict}`, () => {
    assert.equal(linearize(blobModel, history(...lines)).kind, verdict);
  });
}

const leaseA = { op: 'acquire', leaseId: 'A' };
const leap: Line = ['clock', 4, 5, { op: 'leap' }, done];

// biome-ignore format: a table
const timedHistories: readonly (readonly [verdict: string, name: string, last: Line])[] = [
  ['linearizable', 'a lease that ended is told as expired', ['b', 6, 7, read, { ok: true, value: '1', lease: 'expired' }]],
  ['violation',    'a lease that outlives its time',        ['b', 6, 7, read, { ok: true, value: '1', lease: 'leased' }]],
  ['linearizable', 'a write after it ended',                ['b', 6, 7, put('2'), done]],
  ['violation',    'a write that it still hinders',         ['b', 6, 7, put('2'), { code: 'LeaseIdMissing' }]],
  ['violation',    'a write under a lease that ended',      ['a', 6, 7, { ...put('2'), leaseId: 'A' }, done]],
  ['linearizable', 'a renewal by who had it',               ['a', 6, 7, { op: 'renew', leaseId: 'A' }, done]],
  ['violation',    'a renewal by another',                  ['b', 6, 7, { op: 'renew', leaseId: 'B' }, done]],
  ['linearizable', 'a lease for another',                   ['b', 6, 7, { op: 'acquire', leaseId: 'B' }, done]],
];

for (const [verdict, name, last] of timedHistories) {
  test(`blob whose lease ends: ${name}: ${verdict}`, () => {
    const lines = history(['a', 0, 1, put('1'), done], ['a', 2, 3, leaseA, done], leap, last);
    assert.equal(linearize(timedModel, lines).kind, verdict);
  });
}

const append = (chunk: string, offset: number): [object, Result] => [
  { op: 'append', chunk },
  { ok: true, offset },
];
const content = (value: string): Result => ({ ok: true, value });

test('append blob: what is appended stays, once, where it was told', () => {
  const good = history(
    ['a', 0, 1, { op: 'make' }, done],
    ['a', 2, 5, ...append('x', 1)],
    ['b', 3, 4, ...append('y', 0)],
    ['a', 6, 7, read, content('yx')],
  );
  assert.equal(linearize(appendModel, good).kind, 'linearizable');
  for (const [offset, shown] of [
    [0, 'xy'],
    [1, 'xy'],
    [1, 'y'],
    [1, 'yxx'],
  ] as const) {
    const bad = history(
      ['a', 0, 1, { op: 'make' }, done],
      ['a', 2, 5, ...append('x', offset)],
      ['b', 3, 4, ...append('y', 0)],
      ['a', 6, 7, read, content(shown)],
    );
    assert.equal(linearize(appendModel, bad).kind, 'violation', shown);
  }
});

test('partition: a query that sees half a batch, and an update that was lost', () => {
  const batch = {
    op: 'batch',
    writes: [
      { row: 'r', value: '1' },
      { row: 's', value: '2' },
    ],
  };
  const query = { op: 'query', rows: ['r', 's', 't'] };
  const seen = (rows: Record<string, string>): Result => ({ ok: true, rows });
  for (const [verdict, rows] of [
    ['linearizable', {}],
    ['linearizable', { r: '1', s: '2' }],
    ['violation', { r: '1' }],
  ] as const) {
    assert.equal(
      linearize(partitionModel, history(['a', 0, 9, batch, done], ['b', 3, 4, query, seen(rows)])).kind,
      verdict,
    );
  }
  const update = (value: string) => ({ op: 'update', row: 'r', value, expects: '1' });
  const lost = history(
    ['a', 0, 1, batch, done],
    ['a', 2, 9, update('3'), done],
    ['b', 2, 9, update('4'), done],
  );
  assert.equal(linearize(partitionModel, lost).kind, 'violation');
});

test('container: what was in it does not come back with its name', () => {
  const steps: Line[] = [
    ['a', 0, 1, { op: 'create' }, done],
    ['a', 2, 3, put('1'), done],
    ['a', 4, 5, { op: 'delete' }, done],
    ['a', 6, 7, { op: 'create' }, done],
  ];
  const ghost = linearize(containerModel, history(...steps, ['b', 8, 9, read, content('1')]));
  assert.equal(ghost.kind, 'violation');
  assert.equal(
    linearize(containerModel, history(...steps, ['b', 8, 9, read, { code: 'BlobNotFound' }])).kind,
    'linearizable',
  );
});

test('one ETag for two values is told', () => {
  const records = history(
    ['a', 0, 1, put('1'), { ok: true, etag: 'E' }],
    ['a', 2, 3, read, { ok: true, value: '2', etag: 'E' }],
  );
  assert.deepEqual(checkETags(records), ['x: ETag E stands for 1 and for 2']);
  assert.deepEqual(checkETags(records.slice(1)), []);
});

test('a violation names how far it came and what should have followed', () => {
  const verdict = linearize(blobModel, history(['a', 0, 1, put('1'), done], ['b', 2, 3, read, saw('0')]));
  assert.ok(verdict.kind === 'violation');
  assert.deepEqual(
    verdict.order.map(({ client }) => client),
    ['a'],
  );
  assert.deepEqual(
    verdict.stuck.map(({ client }) => client),
    ['b'],
  );
});

/** A history of a blob that is right: calls take effect at a moment inside their interval. */
function rightHistory(random: () => number, calls: number, unknownShare: number): Recorded[] {
  const pick = (most: number) => Math.floor(random() * most);
  const made = Array.from({ length: calls }, (_, index) => ({ at: index, client: String(pick(5)) }));
  let state: BlobState = blobModel.initial;
  return made.map(({ at, client }, index) => {
    const value = String(index);
    const kinds: BlobCall[] = [
      { op: 'put', value },
      { op: 'create', value },
      { op: 'update', value, expects: String(index - 1 - pick(3)) },
      { op: 'delete' },
      { op: 'read' },
      { op: 'read' },
    ];
    const call = kinds[pick(kinds.length)] as BlobCall;
    const interval = { startMs: at - random() * 4, endMs: at + random() * 4 };
    const isUnknown = random() < unknownShare;
    if (isUnknown && random() < 0.5)
      return { client, object: 'x', call, wire: '', ...interval, endMs: Number.POSITIVE_INFINITY };
    const results: Result[] = [
      { ok: true },
      { ok: true, value: state.value, lease: 'available' },
      ...['BlobNotFound', 'BlobAlreadyExists', 'ConditionNotMet'].map((code) => ({ code })),
    ];
    const result = results.find(
      (candidate) => blobModel.step(state, call, candidate) !== undefined,
    ) as Result;
    state = blobModel.step(state, call, result) ?? state;
    if (isUnknown)
      return { client, object: 'x', call, wire: '', ...interval, endMs: Number.POSITIVE_INFINITY };
    return { client, object: 'x', call, result, wire: '', ...interval };
  });
}

test('random histories that are right pass, with unknown outcomes too (seeds 1 to 40)', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const records = rightHistory(seededRandom(seed), 600, seed % 2 === 0 ? 0.1 : 0);
    assert.equal(linearize(blobModel, records).kind, 'linearizable', `seed ${seed}`);
  }
});

test('with one read changed to an older value they fail (seeds 1 to 20)', () => {
  let planted = 0;
  for (let seed = 1; seed <= 20; seed++) {
    const records = rightHistory(seededRandom(seed), 300, 0);
    const reads = records.filter(
      ({ call, result }) => (call as BlobCall).op === 'read' && 'ok' in (result as Result),
    );
    const target = reads.at(-1);
    const old = reads.find(({ endMs }) => target && endMs < target.startMs - 50);
    if (!target || !old) continue;
    planted++;
    const changed = records.map((record) => (record === target ? { ...record, result: old.result } : record));
    assert.equal(linearize(blobModel, changed).kind, 'violation', `seed ${seed}`);
  }
  assert.ok(planted > 10);
});

test('what cannot be decided within the limit is not passed', () => {
  const records = rightHistory(seededRandom(1), 200, 0);
  assert.equal(linearize(blobModel, records, 10).kind, 'undecided');
});
