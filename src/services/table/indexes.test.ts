// Queries of a table with indexes and of the same table without: the same entities, the same pages. And indexes
// that say what the entities say, whoever writes while they are built.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { seededRandom } from '../../base/random.js';
import { StateManager } from '../../collections/index.js';
import { openEngine } from '../../engine/level.js';
import { Garbage } from '../common/garbage.js';
import { createStore } from '../common/store.js';
import { clearTables } from './clear.js';
import { type EntityWrite, writeEntities, writeEntity } from './entities.js';
import type { EntityInput } from './entity.js';
import { parseFilter } from './filter.js';
import { IndexBuilder } from './index-builder.js';
import { createIndex, dropIndex, listIndexes } from './indexes.js';
import { openTableStore, type TableKey, type TableStore, tableKey } from './model.js';
import { type EntityPage, queryEntities } from './query.js';
import { entity, filters, key } from './random-filters.suite.js';
import { createTable, deleteTable } from './tables.js';
import { verifyIndexes } from './verify-indexes.js';

const seed = 20261116;
const account = 'mine';

interface Given {
  readonly store: TableStore;
  readonly builder: IndexBuilder;
  sweep(): Promise<void>;
}

async function given(t: TestContext): Promise<Given> {
  const engine = await openEngine({ memory: true });
  const state = await StateManager.open({ engine, freeze: false });
  const failures: unknown[] = [];
  const store = createStore(state);
  const garbage = await Garbage.open(store, (error) => failures.push(error));
  const tables = await openTableStore(store, garbage);
  const builder = new IndexBuilder(tables, (error) => failures.push(error));
  t.after(async () => {
    await builder.close();
    await garbage.close();
    await state.close();
    await engine.close();
    assert.deepEqual(failures, []);
  });
  return { store: tables, builder, sweep: () => garbage.sweep() };
}

async function givenTable(store: TableStore, name: string): Promise<TableKey> {
  await createTable(store, account, name);
  return tableKey(account, name);
}

function number(n: number): EntityInput {
  return {
    partitionKey: String(n % 7),
    rowKey: String(n).padStart(6, '0'),
    properties: [
      ['n', { type: 'Edm.Int32', value: n }],
      ['kind', { type: 'Edm.String', value: `kind ${n % 100}` }],
    ],
  };
}

/** So many, a partition after the other. */
async function fill(store: TableStore, table: TableKey, count: number): Promise<void> {
  const all = Array.from({ length: count }, (_, n) => number(n));
  for (let at = 0; at < count; at += 100) {
    const writes = all.slice(at, at + 100).map((one): EntityWrite => ({ kind: 'insert', entity: one }));
    await writeEntities(store, table, writes);
  }
}

async function query(
  store: TableStore,
  table: TableKey,
  text: string,
  top = 1000,
  from: EntityPage['next'] = undefined,
): Promise<EntityPage> {
  const filter = parseFilter(text);
  assert.ok(filter.ok, text);
  return queryEntities(store, table, { filter: filter.value, top, from });
}

/** All pages, with what clients see of them but for the time. */
async function pages(store: TableStore, table: TableKey, text: string, top: number): Promise<unknown[]> {
  const found: unknown[] = [];
  let from: EntityPage['next'];
  do {
    const page = await query(store, table, text, top, from);
    const entities = page.entities.map(({ stamp: _, ...entity }) => entity);
    const next = page.next && { partitionKey: page.next.partitionKey, rowKey: page.next.rowKey };
    found.push({ entities, next });
    from = page.next;
  } while (from !== undefined);
  return found;
}

/** A store that refuses to scan: who asks it for entities must know their keys. */
function withoutScans(store: TableStore): TableStore {
  const entities = new Proxy(store.entities, {
    get(target, name) {
      if (name === 'entries') throw new Error('a scan');
      const member = Reflect.get(target, name) as unknown;
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { ...store, entities };
}

const write: fc.Arbitrary<EntityWrite> = fc.oneof(
  { arbitrary: entity.map((one): EntityWrite => ({ kind: 'insert', entity: one })), weight: 4 },
  {
    arbitrary: entity.map((one): EntityWrite => ({ kind: 'replace', entity: one, match: undefined })),
    weight: 2,
  },
  {
    arbitrary: entity.map((one): EntityWrite => ({ kind: 'merge', entity: one, match: undefined })),
    weight: 2,
  },
  {
    arbitrary: fc
      .record({ partitionKey: key, rowKey: key })
      .map((one): EntityWrite => ({ kind: 'delete', key: one, match: '*' })),
    weight: 1,
  },
);

test(`queries with indexes and without agree, page by page (seed ${seed})`, {
  timeout: 120_000,
}, async (t) => {
  const { store, builder } = await given(t);
  let tables = 0;
  const some = fc.array(write, { minLength: 1, maxLength: 40 });
  const asked = fc.array(fc.tuple(filters({ keys: 1, properties: 3 }), fc.integer({ min: 1, max: 12 })), {
    minLength: 5,
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(some, some, asked, async (before, after, queries) => {
      const plain = await givenTable(store, `plain${++tables}`);
      const indexed = await givenTable(store, `indexed${tables}`);
      const writeBoth = async (one: EntityWrite) => {
        const tried = (table: TableKey) =>
          writeEntity(store, table, one).then(
            () => 'done',
            (error: { code: string }) => error.code,
          );
        assert.equal(await tried(indexed), await tried(plain));
      };
      for (const one of before) await writeBoth(one);
      await createIndex(store, indexed, 'p');
      await createIndex(store, indexed, 'q');
      await Promise.all([builder.finish(), ...after.map(writeBoth)]);
      await builder.finish();
      assert.deepEqual(
        (await listIndexes(store, account)).map(({ state }) => state),
        ['ready', 'ready'],
      );
      for (const [filter, top] of queries) {
        assert.deepEqual(
          await pages(store, indexed, filter, top),
          await pages(store, plain, filter, top),
          filter,
        );
      }
      assert.deepEqual((await verifyIndexes(store)).damage, []);
      for (const name of [`plain${tables}`, `indexed${tables}`]) await deleteTable(store, account, name);
    }),
    { seed, numRuns: 80 },
  );
});

test('a filter that an index helps reads the index and the entities it finds, and nothing else', async (t) => {
  const { store, builder } = await given(t);
  const table = await givenTable(store, 'numbers');
  await fill(store, table, 2000);
  await createIndex(store, table, 'n');
  await createIndex(store, table, 'kind');
  await builder.finish();
  const strict = withoutScans(store);
  for (const [filter, count] of [
    ['n eq 5', 1],
    ['n eq 5L', 1],
    ['n ge 100 and n lt 200', 100],
    ['n gt 1990', 9],
    ["kind eq 'kind 7'", 20],
    ["kind eq 'kind 7' and n lt 1000", 10],
    ["PartitionKey eq '3' and n lt 100", 14],
    ["PartitionKey eq '3' and kind eq 'kind 7'", 3],
    ["PartitionKey gt '4' and kind eq 'kind 7'", 5],
    ["n eq 1 or n eq 2 or kind eq 'kind 1'", 21],
    ["n eq 5 or (PartitionKey eq '5' and RowKey eq '000012')", 2],
    ["n eq 5 or (PartitionKey eq '5' and RowKey lt '000020')", 3],
    ["kind eq 'kind 7' and not (n gt 1000)", 10],
  ] as const) {
    assert.equal((await query(strict, table, filter)).entities.length, count, filter);
  }
  for (const filter of ['not (n eq 5)', "n eq 5 or RowKey eq 'x'", 'n eq 5 or other eq 1', 'other eq 1']) {
    await assert.rejects(query(strict, table, filter), /a scan/, filter);
  }
});

test('a range that holds much is scanned beside, and the page is the same', async (t) => {
  const { store, builder } = await given(t);
  const [indexed, plain] = [await givenTable(store, 'indexed'), await givenTable(store, 'plain')];
  await fill(store, indexed, 3000);
  await fill(store, plain, 3000);
  await createIndex(store, indexed, 'n');
  await builder.finish();
  for (const filter of ['n ge 0', 'n ge 1200', 'n lt 700', 'n ne 5', "n gt 600 and kind eq 'kind 3'"]) {
    for (const top of [1, 100, 1000])
      assert.deepEqual(
        await query(store, indexed, filter, top).then(shown),
        await query(store, plain, filter, top).then(shown),
        `${filter} ${top}`,
      );
  }
});

const shown = ({ entities, next }: EntityPage) => ({
  rows: entities.map(({ rowKey }) => rowKey),
  next: next?.rowKey,
});

test(`an index is built while others write, and is right whenever it is looked at (seed ${seed})`, async (t) => {
  const { store, builder } = await given(t);
  const random = seededRandom(seed);
  const table = await givenTable(store, 'busy');
  await fill(store, table, 3000);
  await createIndex(store, table, 'n');
  const writer = async () => {
    for (let count = 0; count < 150; count++) {
      const n = Math.floor(random() * 3200);
      const { partitionKey, rowKey, properties } = number(n);
      const changed = { ...number(n), properties: [['n', { type: 'Edm.Int32', value: -n }] as const] };
      const kind = random();
      if (kind < 0.4) await writeEntity(store, table, { kind: 'merge', entity: changed, match: undefined });
      else if (kind < 0.7)
        await writeEntity(store, table, {
          kind: 'replace',
          entity: { partitionKey, rowKey, properties: random() < 0.5 ? properties : [] },
          match: undefined,
        });
      else
        await writeEntity(store, table, { kind: 'delete', key: changed, match: '*' }).catch(
          ({ code }: { code: string }) => assert.equal(code, 'ResourceNotFound'),
        );
      if (count % 30 === 0) assert.deepEqual((await verifyIndexes(store)).damage, []);
    }
  };
  await Promise.all([builder.finish(), writer(), writer(), writer()]);
  await builder.finish();
  assert.equal((await listIndexes(store))[0]?.state, 'ready');
  assert.deepEqual((await verifyIndexes(store)).damage, []);
});

test('a builder goes on where another stopped', async (t) => {
  const { store, builder } = await given(t);
  const table = await givenTable(store, 'large');
  await fill(store, table, 3000);
  await createIndex(store, table, 'n');
  const first = new IndexBuilder(store, assert.ifError);
  first.start();
  while (((await listIndexes(store))[0]?.done ?? 1) === 0);
  await first.close();
  const [state] = await listIndexes(store);
  assert.equal(state?.state, 'building');
  assert.ok((state?.done ?? 0) >= 500);
  assert.equal(
    (await query(store, table, 'n eq 999')).entities.length,
    1,
    'found by a scan until it is ready',
  );
  await builder.finish();
  assert.equal((await listIndexes(store))[0]?.state, 'ready');
  assert.deepEqual(await verifyIndexes(store), { indexes: 1, rows: 3000, damage: [] });
});

test('nothing is left of an index that was dropped, of its table or of its account', async (t) => {
  const { store, builder, sweep } = await given(t);
  const left = () =>
    store.run(async (tx) => {
      const rows: unknown[] = [];
      for await (const row of store.indexRows.keys(tx)) rows.push(row);
      for await (const row of store.builds.keys(tx)) rows.push(row);
      return rows.length;
    });
  const ends: readonly ((table: TableKey) => Promise<unknown>)[] = [
    (table) => dropIndex(store, table, 'n'),
    () => deleteTable(store, account, 'short'),
    () => clearTables(store, account),
  ];
  for (const end of ends) {
    for (const isBuilt of [true, false]) {
      await clearTables(store, account);
      const table = await givenTable(store, 'short');
      await fill(store, table, 300);
      await createIndex(store, table, 'n');
      if (isBuilt) await builder.finish();
      await end(table);
      await builder.finish();
      await sweep();
      assert.equal(await left(), 0);
    }
  }
});

test('declaring it again changes nothing, and what cannot be is refused', async (t) => {
  const { store } = await given(t);
  const table = await givenTable(store, 'small');
  const first = await createIndex(store, table, 'n');
  assert.deepEqual(await createIndex(store, table, 'n'), first);
  assert.equal((await listIndexes(store)).length, 1);
  assert.equal(await dropIndex(store, table, 'other'), false);
  await assert.rejects(createIndex(store, table, 'PartitionKey'), /needs no index/);
  await assert.rejects(createIndex(store, table, 'no-name'), { code: 'PropertyNameInvalid' });
  await assert.rejects(createIndex(store, tableKey(account, 'none'), 'n'), { code: 'TableNotFound' });
  for (let n = 1; n < 16; n++) await createIndex(store, table, `n${n}`);
  await assert.rejects(createIndex(store, table, 'n16'), /16 indexes at most/);
});

test('damage of an index is found', async (t) => {
  const { store, builder } = await given(t);
  const table = await givenTable(store, 'hurt');
  await fill(store, table, 100);
  await createIndex(store, table, 'n');
  await builder.finish();
  await store.run(async (tx) => {
    const rows = [];
    for await (const row of store.indexRows.keys(tx)) rows.push(row);
    const [first, second] = rows;
    assert.ok(first && second);
    await store.indexRows.delete(tx, first);
    await store.indexRows.set(tx, [second[0], 0, 12345, second[3], second[4]], true);
  });
  const { damage } = await verifyIndexes(store);
  assert.equal(damage.length, 2);
  assert.match(damage[0] ?? '', /the index on n of table mine\/hurt has 1 rows that no entity has/);
  assert.match(damage[1] ?? '', /lacks 1 entities/);
});

test('an index on Timestamp finds what was written lately', async (t) => {
  const { store, builder } = await given(t);
  const table = await givenTable(store, 'times');
  await fill(store, table, 500);
  await createIndex(store, table, 'Timestamp');
  await builder.finish();
  const written = await writeEntity(store, table, {
    kind: 'insert',
    entity: { ...number(9000), partitionKey: '0' },
  });
  assert.ok(written);
  const late = new Date(Math.floor(written.stamp / 1000)).toISOString();
  const found = await query(withoutScans(store), table, `Timestamp ge datetime'${late}'`);
  assert.ok(found.entities.some(({ rowKey }) => rowKey === '009000'));
});
