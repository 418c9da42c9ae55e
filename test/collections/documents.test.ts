// The guide to the collections says what runs, and the page on their format what is written.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { encodeRecord } from '#src/collections/catalog.js';
import { defaultCodec, StateManager } from '#src/collections/index.js';
import { encodeRow } from '#src/collections/rows.js';
import { decodeCounter, encodeCounter } from '#src/engine/counter.js';
import type { Row } from '#src/engine/engine.js';
import { decodeKey, encodeKey, type KeyPart } from '#src/engine/keys.js';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const trimmed = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');

test('every piece of code in docs/collections.md is cut out of examples/collections.ts, which runs', () => {
  const example = trimmed(read('examples/collections.ts'));
  const blocks = [...read('docs/collections.md').matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);
  assert.ok(blocks.length > 10);
  for (const block of blocks) assert.ok(example.includes(trimmed(block)), `not in the example:\n${block}`);
});

test('every member that docs/collections.md names is there', async () => {
  await using state = await StateManager.open({ memory: true });
  const members = new Set<string>(['codec', 'codecs', 'restore', 'open', 'transaction']);
  const things = [
    state,
    state.begin(),
    await state.dictionary('d'),
    await state.queue('q'),
    await state.concurrentQueue('c'),
    await state.counters('n'),
  ];
  for (const thing of things) {
    for (let level: object = thing; level !== Object.prototype; level = Object.getPrototypeOf(level))
      for (const name of Object.getOwnPropertyNames(level)) members.add(name);
  }
  const [, table = ''] = /## From Service Fabric\n(.*?)\nExceptions/s.exec(read('docs/collections.md')) ?? [];
  const right = table.split('\n').flatMap((line) => line.split(/(?<!\\)\|/).slice(2, 3));
  const named = right.flatMap((cell) => [...cell.matchAll(/`(?:StateManager\.|tx\.)?([a-z]\w+)(?=[`(<])/g)]);
  const others = new Set(['from', 'to', 'prefix', 'ttlMs', 'undefined']);
  const missing = named
    .map(([, name = '']) => name)
    .filter((name) => !members.has(name) && !others.has(name));
  assert.ok(named.length > 40);
  assert.deepEqual(missing, []);
});

/** Hex, with texts between quotes. */
function bytesOf(line: string): string {
  return line
    .replace(/"(\w+)"/g, (_, text: string) => ` ${Buffer.from(text).toString('hex')} `)
    .replace(/\s/g, '');
}

test('the example in docs/formats/collections.md is what is written, byte by byte', () => {
  const [, block = ''] = /## An example.*?```\n(.*?)```/s.exec(read('docs/formats/collections.md')) ?? [];
  const written = bytesOf(block.replace(/\[.*?\]$/gm, ''));
  const generation = 1785542400000000;
  const record = encodeRecord({
    format: 1,
    kind: 'dictionary',
    codec: 'msgpack',
    codecVersion: 1,
    counted: true,
    generation,
  });
  const expected = [
    encodeKey(['c', 'accounts']),
    record,
    encodeKey(['r', generation, 'alice']),
    encodeRow(defaultCodec.encode({ balance: 100 }), undefined),
    encodeKey(['n', generation]),
    encodeCounter(1),
  ];
  assert.equal(written, Buffer.concat(expected).toString('hex'));
});

test('every row of a state is one of those in docs/formats/collections.md', async () => {
  await using state = await StateManager.open({ memory: true });
  const d = await state.dictionary<string | [string, number], unknown>('d');
  const [q, c] = [await state.queue('q'), await state.concurrentQueue('c')];
  const n = await state.counters<string>('n');
  const old = await state.dictionary<string, number>('old');
  await state.transaction(async (tx) => {
    await d.set(tx, 'plain', { a: 1 });
    await d.set(tx, ['tuple', 2], 2, { ttlMs: 60_000 });
    for (const item of ['x', 'y']) await q.enqueue(tx, item);
    await q.tryDequeue(tx);
    await c.enqueue(tx, 'z');
    await n.add(tx, 'hits', 3);
    await old.set(tx, 'k', 1);
  });
  await old.clear();
  const generations = new Map<number, string>();
  const rows = (await state.engine.range(Buffer.alloc(0), undefined)).rows.map((row) => ({
    parts: decodeKey(row.key),
    row,
  }));
  for (const { parts, row } of rows) {
    if (parts[0] !== 'c') continue;
    const { kind, generation } = defaultCodec.decode(row.value) as { kind: string; generation: number };
    generations.set(generation, kind);
  }
  const kinds = rows.map(({ parts, row }) => describe(parts, row, generations));
  assert.deepEqual(
    kinds.toSorted(),
    [
      ...['d', 'q', 'c', 'n', 'old'].map((name) => `collection ${name}`),
      ...['count 2', 'count 1', 'count 1', 'count 1', 'expiring 1'],
      ...['dictionary plain', 'dictionary tuple,2 expires', 'dictionary of old', 'expires', 'garbage'],
      ...['queue head 2', 'queue tail 2', 'queue item,2', 'concurrent queue item', 'counters hits 3'],
    ].toSorted(),
  );
});

function describe(parts: readonly KeyPart[], { value }: Row, kinds: ReadonlyMap<number, string>): string {
  const [letter, generation, ...key] = parts;
  if (letter === 'c') return `collection ${generation}`;
  if (letter === 'n') return `count ${decodeCounter(value)}`;
  if (letter === 't') return `expiring ${decodeCounter(value)}`;
  if (letter === 'x') return value.length === 1 && value[0] === 0 ? 'expires' : 'unknown';
  if (letter === 'g') return value.length === 1 && value[0] === 0 ? 'garbage' : 'unknown';
  const kind = letter === 'r' ? kinds.get(generation as number) : 'unknown';
  if (kind === undefined) return 'dictionary of old';
  if (kind === 'counters') return `counters ${key} ${decodeCounter(value)}`;
  if (kind === 'queue' && key.length === 1) return `queue ${key} ${decodeCounter(value)}`;
  const form = value[0] === 0 ? '' : ' expires';
  return kind === 'concurrent queue' ? `concurrent queue item${form}` : `${kind} ${key}${form}`;
}
