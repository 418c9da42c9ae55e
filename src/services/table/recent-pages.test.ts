// Pages that were read lately never show what is not there: every query is compared with what was written.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { seededRandom } from '../../base/random.js';
import { StateManager, type Transaction, type TransactionHook } from '../../collections/index.js';
import { memoryDisk } from '../../engine/disk.js';
import { FaultyDisk } from '../../engine/faulty-disk.suite.js';
import { openEngine, openEngineOn } from '../../engine/level.js';
import { Garbage } from '../common/garbage.js';
import { createStore, within } from '../common/store.js';
import { type EntityWrite, writeEntities, writeEntity } from './entities.js';
import type { EntityKey } from './entity.js';
import { parseFilter } from './filter.js';
import { openTableStore, type TableStore, tableKey } from './model.js';
import { queryEntities } from './query.js';
import { RecentPages } from './recent-pages.js';
import { createTable } from './tables.js';

const seed = 20261117;
const table = tableKey('mine', 'busy');

async function query(store: TableStore, text: string, top = 1000): Promise<string[]> {
  const filter = parseFilter(text);
  assert.ok(filter.ok);
  const rows: string[] = [];
  let from: EntityKey | undefined;
  do {
    const page = await queryEntities(store, table, { filter: filter.value, top, from });
    for (const { partitionKey, rowKey, properties } of page.entities)
      rows.push(`${partitionKey}/${rowKey}=${properties[0]?.[1].value}`);
    from = page.next;
  } while (from !== undefined);
  return rows;
}

test(`queries beside writes show what is stored, whatever was read before (seed ${seed})`, async () => {
  const engine = await openEngine({ memory: true });
  const state = await StateManager.open({ engine, freeze: false });
  const base = createStore(state);
  const garbage = await Garbage.open(base, assert.ifError);
  const store = await openTableStore(base, garbage);
  await createTable(store, 'mine', 'busy');
  const random = seededRandom(seed);
  const model = new Map<string, number>();
  const keyOf = (n: number): EntityKey => ({
    partitionKey: `p${n % 3}`,
    rowKey: String(n).padStart(4, '0'),
  });
  const expected = (holds: (value: number, key: string) => boolean) =>
    [...model]
      .filter(([key, value]) => holds(value, key))
      .map(([key, value]) => `${key}=${value}`)
      .sort();
  const writesOf = (batch: readonly number[], value: number): EntityWrite[] =>
    batch.map((n) =>
      random() < 0.25
        ? { kind: 'delete', key: keyOf(n), match: '*' }
        : {
            kind: 'replace',
            entity: { ...keyOf(n), properties: [['v', { type: 'Edm.Int32', value }]] },
            match: undefined,
          },
    );
  const apply = async (writes: readonly EntityWrite[]) => {
    const done = await writeEntities(store, table, writes).then(
      () => true,
      ({ code }: { code: string }) => {
        assert.equal(code, 'ResourceNotFound'); // and nothing of it was done
        return false;
      },
    );
    if (!done) return;
    for (const write of writes) {
      const { partitionKey, rowKey } = write.kind === 'delete' ? write.key : write.entity;
      const name = `${partitionKey}/${rowKey}`;
      if (write.kind === 'delete') model.delete(name);
      else model.set(name, Number(write.entity.properties[0]?.[1].value));
    }
  };
  for (let n = 0; n < 1200; n += 100) {
    await apply(
      Array.from(
        { length: 100 },
        (_, at): EntityWrite => ({
          kind: 'insert',
          entity: { ...keyOf(n + at), properties: [['v', { type: 'Edm.Int32', value: n + at }]] },
        }),
      ),
    );
  }
  for (let round = 0; round < 60; round++) {
    const some = new Set(
      Array.from({ length: 1 + Math.floor(random() * 3) }, () => Math.floor(random() * 1300)),
    );
    // Queries under way while the write is: each shows one moment, and they keep pages for later ones.
    const pair = [0, 1299].map(
      (n): EntityWrite => ({
        kind: 'replace',
        entity: { ...keyOf(n), properties: [['v', { type: 'Edm.Int32', value: round + 5000 }]] },
        match: undefined,
      }),
    );
    const others = [...some].filter((n) => n !== 0 && n !== 1299);
    const beside = Array.from({ length: 8 }, async (_, ticks) => {
      for (let tick = 0; tick < ticks * 3; tick++) await Promise.resolve();
      const rows = await query(store, "PartitionKey eq 'p0'");
      const seen = (key: string) => rows.find((row) => row.startsWith(key))?.split('=')[1];
      assert.equal(seen('p0/0000'), seen('p0/1299') ?? '0', 'the pair is of one moment');
    });
    await Promise.all([apply(pair), apply(writesOf(others, round + 5000)), ...beside]);
    const limit = Math.floor(random() * 6000);
    assert.deepEqual(
      await query(store, ''),
      expected(() => true),
    );
    assert.deepEqual(
      await query(store, `v gt ${limit}`, 1 + Math.floor(random() * 900)),
      expected((value) => value > limit),
    );
    assert.deepEqual(
      await query(store, `PartitionKey eq 'p1' and v le ${limit}`),
      expected((value, key) => key.startsWith('p1/') && value <= limit),
    );
  }
  await garbage.close();
  await state.close();
  await engine.close();
});

/** As much of a transaction as the pages look at. */
function transaction(
  seen: number,
  more: object = {},
): Transaction & { end(how: keyof TransactionHook): void } {
  const hooks: TransactionHook[] = [];
  const plain = { primary: true, hasSnapshot: false, hasWrites: false, snapshot: { seen } };
  const end = (how: keyof TransactionHook) => {
    for (const hook of hooks) hook[how]?.(0);
  };
  const onEnd = (hook: TransactionHook) => void hooks.push(hook);
  return { ...plain, onEnd, end, ...more } as unknown as ReturnType<typeof transaction>;
}

const start: EntityKey = { partitionKey: '', rowKey: '' };
const page = { from: start, end: undefined, entities: [] };
const isKnown = (pages: RecentPages, seen: number, more?: object) =>
  pages.reader(transaction(seen, more), 1)?.find(start) !== undefined;

test('a page is for snapshots that are not older than its own, and for no transaction with writes', () => {
  const pages = new RecentPages();
  const early = pages.reader(transaction(5), 1);
  pages.reader(transaction(7), 1)?.add(page);
  assert.equal(early?.find(start), undefined);
  assert.deepEqual([isKnown(pages, 6), isKnown(pages, 7), isKnown(pages, 8)], [false, true, true]);
  assert.equal(isKnown(pages, 8, { hasWrites: true }), false);
  assert.equal(isKnown(pages, 8, { hasSnapshot: true }), false);
});

test('a write drops its page, and none is added until it has ended, nor by who read before that', () => {
  const pages = new RecentPages();
  pages.reader(transaction(1), 1)?.add(page);
  const before = pages.reader(transaction(1), 1);
  const writer = transaction(1);
  pages.writes(writer, 1, { partitionKey: 'p', rowKey: 'r' });
  assert.equal(isKnown(pages, 2), false);
  before?.add(page);
  const beside = pages.reader(transaction(2), 1);
  beside?.add(page);
  writer.end('ordered');
  beside?.add(page);
  assert.equal(isKnown(pages, 3), false);
  pages.reader(transaction(3), 1)?.add(page);
  assert.equal(isKnown(pages, 3), true);
});

test('no page outlives a loss, nor is one added by who read before it', () => {
  const pages = new RecentPages();
  const writer = transaction(1);
  pages.writes(writer, 1, { partitionKey: 'p', rowKey: 'r' });
  writer.end('ordered');
  pages.reader(transaction(2), 1)?.add(page);
  const before = pages.reader(transaction(2), 1);
  pages.reset();
  writer.end('lost');
  assert.equal(isKnown(pages, 3), false);
  before?.add(page);
  assert.equal(isKnown(pages, 3), false);
});

const entity = {
  partitionKey: 'p',
  rowKey: 'r',
  properties: [['v', { type: 'Edm.Int32', value: 1 }]],
} as const;
const insert: EntityWrite = { kind: 'insert', entity };

test('a page that was read of a commit which was then lost is not shown to anybody', async () => {
  await using engine = await openEngine({ memory: true });
  await using state = await StateManager.open({ engine });
  const base = createStore(state);
  const garbage = await Garbage.open(base, assert.ifError);
  const store = await openTableStore(base, garbage);
  await createTable(store, 'mine', 'busy');
  let fail = (): void => {};
  const after = new Promise<never>((_, reject) => {
    fail = () => reject(new Error('injected: what comes first fails'));
  });
  const isWritten = store.run(async (tx) => {
    tx.after(after);
    await writeEntity(within(store, tx), table, insert);
  });
  await turn();
  const asked = query(store, "PartitionKey eq 'p'");
  for (let turns = 0; turns < 10; turns++) await turn();
  fail();
  await assert.rejects(isWritten, { name: 'OutcomeUnknownError' });
  assert.deepEqual(await asked, []);
  await createTable(store, 'mine', 'other');
  assert.deepEqual(await query(store, "PartitionKey eq 'p'"), []);
  await garbage.close();
});

test('what turns up when the store is opened again is shown, whatever was read before', async () => {
  const disk = new FaultyDisk(memoryDisk(), true);
  await using engine = await openEngineOn(disk, { retryMs: 1 });
  await using state = await StateManager.open({ engine });
  const base = createStore(state);
  const garbage = await Garbage.open(base, assert.ifError);
  const store = await openTableStore(base, garbage);
  await createTable(store, 'mine', 'busy');
  disk.probeFails = true;
  disk.fate = () => 'turns up';
  await assert.rejects(writeEntity(store, table, insert), { name: 'OutcomeUnknownError' });
  assert.deepEqual(await query(store, "PartitionKey eq 'p'"), []);
  disk.fate = () => 'done';
  disk.probeFails = false;
  while (engine.health().state !== 'open') await turn();
  assert.deepEqual(await query(store, "PartitionKey eq 'p'"), ['p/r=1']);
  await garbage.close();
});
