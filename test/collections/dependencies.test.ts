// The checker of isolation finds what was planted, at the levels that forbid it and at no other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AnomalyKind,
  findAnomalies,
  type Level,
  type ListOperation,
  type ListTransaction,
} from './dependencies.js';

const levels: readonly Level[] = ['read committed', 'snapshot', 'serializable', 'strict serializable'];

/**
 * Histories in a line: `a: r x 1,2; w y 3 | b!: w x 4` are two transactions that run at the same time, `b` aborted
 * (`?`: unknown). Behind `;;` all is over, and later ones begin.
 */
const planted: readonly (readonly [
  name: string,
  history: string,
  kind: AnomalyKind | 'none',
  from: Level,
])[] = [
  ['one after the other', 'a: w x 1 ;; b: r x 1; w x 2 ;; c: r x 1,2', 'none', 'read committed'],
  ['what was aborted is read by nobody', 'a: w x 1 | b!: w x 2 ;; c: r x 1', 'none', 'read committed'],
  ['what is unknown is there', 'a: w x 1 | b?: w x 2; w y 3 ;; c: r x 1,2; r y 3', 'none', 'read committed'],
  [
    'what is unknown is not there',
    'a: w x 1 | b?: w x 2; w y 3 ;; c: r x 1; r y -',
    'none',
    'read committed',
  ],
  ['own appends are read', 'a: w x 1; r x 1; w x 2; r x 1,2 ;; c: r x 1,2', 'none', 'read committed'],

  ['aborted read (G1a)', 'a!: w x 1 | b: r x 1 ;; c: r x 1', 'aborted read', 'read committed'],
  ['a read of what nobody wrote', 'b: r x 7 ;; c: r x 7', 'aborted read', 'read committed'],
  [
    'intermediate read (G1b)',
    'a: w x 1; w x 2 | b: r x 1 ;; c: r x 1,2',
    'intermediate read',
    'read committed',
  ],
  ['own append not read', 'a: w x 1; r x - ;; c: r x 1', 'own appends not read', 'read committed'],
  ['a lost append', 'a: w x 1 | b: w x 2 ;; c: r x 2', 'lost append', 'read committed'],
  ['half of what is unknown', 'b?: w x 2; w y 3 ;; c: r x 2; r y -', 'lost append', 'read committed'],
  ['there twice', 'a: w x 1 ;; c: r x 1,1', 'duplicate', 'read committed'],
  ['two orders', 'a: w x 1 | b: w x 2 | c: r x 2 ;; d: r x 1,2', 'incompatible order', 'read committed'],

  ['dirty write (G0)', 'a: w x 1; w y 1 | b: w x 2; w y 2 ;; c: r x 1,2; r y 2,1', 'G0', 'read committed'],
  ['circular reads (G1c)', 'a: w x 1; r y 2 | b: w y 2; r x 1 ;; c: r x 1; r y 2', 'G1c', 'read committed'],
  ['lost update', 'a: r x -; w x 1 | b: r x -; w x 2 ;; c: r x 1,2', 'G-nonadjacent', 'snapshot'],
  ['read skew', 'a: w x 1; w y 1 | b: r x -; r y 1 ;; c: r x 1; r y 1', 'G-nonadjacent', 'snapshot'],
  ['not repeatable', 'a: w x 1 | b: r x -; r x 1 ;; c: r x 1', 'G-nonadjacent', 'snapshot'],
  ['write skew', 'a: r x -; r y -; w x 1 | b: r x -; r y -; w y 2 ;; c: r x 1; r y 2', 'G2', 'serializable'],
  [
    'two readers of two orders (long fork)',
    'a: w x 1 | b: w y 2 | c: r x 1; r y - | d: r x -; r y 2 ;; e: r x 1; r y 2',
    'G-nonadjacent',
    'snapshot',
  ],
  ['old news', 'a: w x 1 ;; b: r x - ;; c: r x 1', 'not strict', 'strict serializable'],
];

for (const [name, text, kind, from] of planted) {
  test(`${name}: ${kind}, from ${from} on`, () => {
    const history = parse(text);
    for (const level of levels) {
      const forbidden = kind !== 'none' && levels.indexOf(level) >= levels.indexOf(from);
      const found = findAnomalies(history, level).map((anomaly) => anomaly.kind);
      assert.equal(found.includes(kind as AnomalyKind), forbidden, `${level}: ${found.join(', ') || 'none'}`);
      if (!forbidden) assert.deepEqual(found, []);
    }
  });
}

test('a cycle is told by its edges and its transactions', () => {
  const [anomaly] = findAnomalies(parse('a: r x -; w x 1 | b: r x -; w x 2 ;; c: r x 1,2'), 'serializable');
  assert.match(anomaly?.text ?? '', /-(ww|rw)-> a|-(ww|rw)-> b/);
});

test('a cycle among ten thousand transactions is found', () => {
  const chain = Array.from({ length: 10_000 }, (_, index): ListTransaction => {
    const list = Array.from({ length: index % 50 }, (_, before) => index - (index % 50) + before);
    const key = `k${Math.floor(index / 50)}`;
    const operations: ListOperation[] = [
      { kind: 'read', key, list },
      { kind: 'append', key, value: index },
    ];
    return { name: `t${index}`, status: 'committed', operations, began: 2 * index, ended: 2 * index + 1 };
  });
  assert.deepEqual(findAnomalies([...chain, finalReads(chain)], 'strict serializable'), []);
  const old = chain[7777] as ListTransaction;
  const blind = {
    ...old,
    operations: [{ kind: 'read', key: 'k155', list: [] } as const, ...old.operations.slice(1)],
  };
  const found = findAnomalies([...chain.with(7777, blind), finalReads(chain)], 'serializable');
  assert.deepEqual(
    found.map(({ kind }) => kind),
    ['G-nonadjacent'],
  );
});

function finalReads(chain: readonly ListTransaction[]): ListTransaction {
  const lists = new Map<string, number[]>();
  for (const { operations } of chain) {
    for (const operation of operations) {
      if (operation.kind === 'append')
        lists.set(operation.key, [...(lists.get(operation.key) ?? []), operation.value]);
    }
  }
  const operations = [...lists].map(([key, list]) => ({ kind: 'read', key, list }) as const);
  return { name: 'final', status: 'committed', operations, began: 1e9, ended: 1e9 + 1 };
}

function parse(text: string): ListTransaction[] {
  const statuses = { '!': 'aborted', '?': 'unknown', '': 'committed' } as const;
  return text.split(';;').flatMap((at, phase) =>
    at.split('|').map((transaction): ListTransaction => {
      const [, name = '', mark = '', body = ''] = /^\s*(\w+)([!?]?):(.*)$/.exec(transaction) ?? [];
      const operations = body.split(';').map((operation): ListOperation => {
        const [what, key = '', values = ''] = operation.trim().split(' ');
        if (what === 'w') return { kind: 'append', key, value: Number(values) };
        return { kind: 'read', key, list: values === '-' ? [] : values.split(',').map(Number) };
      });
      const status = statuses[mark as keyof typeof statuses];
      return { name, status, operations, began: phase * 10, ended: phase * 10 + 5 };
    }),
  );
}
