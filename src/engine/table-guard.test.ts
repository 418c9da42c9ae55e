import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { type Files, realFiles } from '../base/files.js';
import { DamageError } from './errors.js';
import { flipped, makeLevel } from './leveldb/made.suite.js';
import { type CheckedTable, checkRecords } from './log-check.js';
import { guardTables, type TableGuard } from './table-guard.js';

// Three tables of level 0 and up: one of a to c, one of c to e, one of x alone.
const template = await mkdtemp(join(tmpdir(), 'lazuli-guard-'));
after(() => rm(template, { recursive: true }));
const made = await makeLevel(
  [['a', 'b', 'c'].map((key) => [key, key.repeat(2000)] as const)],
  [['c', 'd', 'e'].map((key) => [key, key.repeat(3000)] as const)],
  [[['x', 'x'.repeat(4000)]]],
  [],
);
for (const [name, content] of made) await writeFile(join(template, name), content);

interface Given {
  readonly location: string;
  readonly tables: readonly CheckedTable[];
  /** The table that begins with this key. */
  table(smallest: string): CheckedTable;
}

async function given(t: TestContext): Promise<Given> {
  const location = await mkdtemp(join(tmpdir(), 'lazuli-guard-'));
  t.after(() => rm(location, { recursive: true }));
  await cp(template, join(location, 'store'), { recursive: true });
  const { tables } = await checkRecords(realFiles, join(location, 'store'), undefined);
  const table = (smallest: string) => {
    const found = tables.find((table) => table.smallest.toString() === smallest);
    assert.ok(found, smallest);
    return found;
  };
  return { location, tables, table };
}

async function harm({ path }: CheckedTable, byte = 5): Promise<void> {
  await writeFile(path, flipped(await readFile(path), byte * 8));
}

const lazily = { bytesBeforeOpen: 0 };
const key = (text: string) => Buffer.from(text);
const unchecked = (location: string) => readdir(join(location, 'unchecked'));

async function guardOf({ location, tables }: Given, files: Files = realFiles): Promise<TableGuard> {
  const guard = await guardTables(files, location, tables, lazily);
  assert.ok(guard);
  return guard;
}

test('a small store is checked before it is opened, and nothing is left to guard', async (t) => {
  const { location, tables, table } = await given(t);
  assert.equal(tables.length, 3);
  assert.equal(await guardTables(realFiles, location, tables), undefined);
  await harm(table('c'));
  await assert.rejects(guardTables(realFiles, location, tables), (error) => {
    assert.ok(error instanceof DamageError);
    assert.ok(error.message.includes(table('c').path), error.message);
    return true;
  });
});

test('of a large one only what LevelDB reads of each table at once', async (t) => {
  const store = await given(t);
  const { size } = store.table('a');
  await harm(store.table('a'), size - 60); // the index block
  await assert.rejects(guardTables(realFiles, store.location, store.tables, lazily), DamageError);
});

test('keys and ranges that a damaged table may hold are refused, others are not', async (t) => {
  const store = await given(t);
  await harm(store.table('c'));
  const guard = await guardOf(store);
  for (const sound of ['0', 'a', 'bzz', 'f', 'x', 'z']) guard.checkKey(key(sound));
  for (const bad of ['c', 'cc', 'd', 'e']) assert.throws(() => guard.checkKey(key(bad)), DamageError);
  await guard.checkRange(key('a'), key('bzz'));
  await guard.checkRange(key('f'), key('z'));
  for (const [from, to] of [
    ['a', 'c'],
    ['a', 'z'],
    ['d', 'd'],
    ['e', 'x'],
  ] as const) {
    await assert.rejects(guard.checkRange(key(from), key(to)), DamageError);
  }
  assert.ok(guard.found?.message.includes(store.table('c').path));
});

test('when all are checked the guard is done and the folder gone', async (t) => {
  const store = await given(t);
  const guard = await guardOf(store);
  assert.equal((await unchecked(store.location)).length, 3);
  guard.checkKey(key('x'));
  assert.equal(guard.done, false);
  await guard.checkAll();
  assert.equal(guard.done, true);
  assert.deepEqual((await readdir(store.location)).sort(), ['store']);
});

test('a damaged table that LevelDB has merged away is found all the same, also after a restart', async (t) => {
  const store = await given(t);
  await harm(store.table('c'));
  const guard = await guardOf(store);
  await rm(store.table('c').path);
  assert.throws(() => guard.checkKey(key('d')), DamageError);
  await guard.checkAll();
  assert.equal(guard.done, false);
  const rest = store.tables.filter((table) => table !== store.table('c'));
  for (const options of [lazily, undefined]) {
    await assert.rejects(
      guardTables(realFiles, store.location, rest, options),
      /unchecked.*\.ldb: the block at/,
    );
  }
});

test('what a run that was cut off left behind is checked and cleared away', async (t) => {
  const store = await given(t);
  await guardOf(store);
  await rm(store.table('x').path);
  const rest = store.tables.filter((table) => table !== store.table('x'));
  const guard = await guardTables(realFiles, store.location, rest, lazily);
  assert.equal((await unchecked(store.location)).length, 2);
  await guard?.checkAll();
  assert.equal(guard?.done, true);
  await guardOf({ ...store, tables: rest });
  assert.equal(await guardTables(realFiles, store.location, rest), undefined);
  assert.deepEqual((await readdir(store.location)).sort(), ['store']);
});

test('where files have no second name all is checked before', async (t) => {
  const store = await given(t);
  const files: Files = {
    ...realFiles,
    link: async () => {
      throw Object.assign(new Error('no links'), { code: 'EPERM' });
    },
  };
  assert.equal(await guardTables(files, store.location, store.tables, lazily), undefined);
  await harm(store.table('a'));
  await assert.rejects(guardTables(files, store.location, store.tables, lazily), DamageError);
});

test('a read that is faster than the background decides', async (t) => {
  const store = await given(t);
  const guard = await guardOf(store);
  const all = guard.checkAll();
  for (const each of ['a', 'c', 'x']) guard.checkKey(key(each));
  await all;
  assert.equal(guard.done, true);
  assert.equal(guard.found, undefined);
});
