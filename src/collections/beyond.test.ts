// What goes beyond the original and has no file of tests of its own.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { openEngine } from '../engine/level.js';
import { catalogKey, encodeRecord } from './catalog.js';
import {
  ArgumentError,
  ArgumentNullError,
  ConflictError,
  DeadlockError,
  InvalidDataError,
  InvalidOperationError,
  type LockTimeoutError,
  ObjectClosedError,
  OutcomeUnknownError,
  StateManager,
  type Transaction,
  TransientError,
} from './index.js';
import { all, granted, scene, stalled, turns, waits } from './scenario.suite.js';

test('a deadlock is told with its keys, modes and transactions, each waiting for the next', async () => {
  await using s = await scene();
  await s.X(1, 'a');
  await s.X(2, 'b');
  const first = s.X(1, 'b');
  const error = await s.U(2, 'a').catch((thrown) => thrown);
  assert.ok(error instanceof DeadlockError);
  assert.deepEqual(
    error.cycle.map(({ transactionId, key, mode, holders }) => [
      transactionId,
      key,
      mode,
      holders[0]?.transactionId,
    ]),
    [
      [s.t(2).id, 'd["a"]', 'update', s.t(1).id],
      [s.t(1).id, 'd["b"]', 'exclusive', s.t(2).id],
    ],
  );
  await s.abort(2);
  await granted(first);
});

test('a time-out names the key, the mode, who holds it and for how long', async () => {
  await using s = await scene();
  await s.X(1);
  const error = (await s.U(2, 'k', 1).catch((thrown) => thrown)) as LockTimeoutError;
  const { key, mode, transactionId, holders } = error.wait;
  assert.deepEqual([key, mode, transactionId], ['d["k"]', 'update', s.t(2).id]);
  assert.deepEqual([holders[0]?.transactionId, holders[0]?.mode], [s.t(1).id, 'exclusive']);
  assert.ok((holders[0]?.heldMs ?? -1) >= 0);
  assert.match(error.message, /wants d\["k"\] update; transaction \d+ holds it exclusive for \d+ ms/);
});

test('values are frozen, unless told otherwise or NODE_ENV is production; they share nothing with the store', async () => {
  for (const [settings, frozen] of [
    [{}, true],
    [{ freeze: false }, false],
  ] as const) {
    await using s = await scene(settings);
    await s.X(1, 'o', { list: [1] });
    await s.end(1);
    const value = (await s.value('o')) as { list: number[] };
    assert.equal(Object.isFrozen(value.list), frozen);
    if (!frozen) value.list.push(2);
    assert.deepEqual(await s.value('o'), { list: [1] });
  }
  const script = `import { StateManager } from ${JSON.stringify(import.meta.resolve('./index.js'))};
    const state = await StateManager.open({ memory: true });
    const d = await state.dictionary('d');
    await state.transaction((tx) => d.set(tx, 'k', {}));
    console.log(Object.isFrozen(await state.transaction((tx) => d.get(tx, 'k'))));
    await state.close();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, NODE_ENV: 'production' },
  });
  assert.equal(stdout.trim(), 'false');
});

test('parallel awaits inside one transaction, those that wait for a lock included, are done in order', async () => {
  await using s = await scene();
  await s.X(2, 'c');
  const tx = s.t(1);
  const sums = Promise.all(
    ['a', 'c', 'a', 'c', 'a'].map((key) => s.d.addOrUpdate(tx, key, 1, (_, old) => (old as number) + 1)),
  );
  await waits(sums);
  await s.abort(2);
  assert.deepEqual(await sums, [1, 1, 2, 2, 3]);
  await Promise.all([s.d.set(tx, 'last', 1), s.q.enqueue(tx, 'x'), tx.commit()]);
  assert.deepEqual([await s.value('a'), await s.value('last')], [3, 1]);
});

test('a transaction that only reads is judged at its commit, too, where it asked for that', async () => {
  await using s = await scene();
  await s.d.get(s.t(1), 'k', { lock: 'none', check: true });
  assert.deepEqual(await all(s.d.keys(s.t(2), { from: 'm', newest: true, check: true })), []);
  await s.d.get(s.t(3), 'j', { lock: 'none', check: true });
  await s.X(4);
  await s.X(4, 'm');
  await s.end(4);
  await assert.rejects(s.end(1), ConflictError);
  await assert.rejects(s.end(2), ConflictError);
  await s.end(3);
});

test('getMany gives values in the order of the keys', async () => {
  await using s = await scene();
  assert.deepEqual(await s.d.getMany(s.t(1), ['j', 'none', 'k']), [1, undefined, 1]);
  assert.equal(s.state.inspect().locks.length, 4, 'each under its lock');
});

test('delete and remove: the count is right, with listeners and without', async () => {
  await using s = await scene();
  await s.d.delete(s.t(1), 'k');
  await s.d.delete(s.t(1), 'none');
  assert.equal(await s.d.remove(s.t(1), 'j'), 1);
  await s.end(1);
  assert.equal(await s.d.currentCount(), 0);
});

test('a dictionary without a count: writes do not look, and what needs the count is refused', async () => {
  await using s = await scene();
  const d = await s.state.dictionary<string, number>('blind', { count: false });
  await s.state.transaction(async (tx) => {
    await d.set(tx, 'a', 1);
    await d.set(tx, 'b', 2);
    await d.delete(tx, 'b');
    assert.equal(await d.get(tx, 'a'), 1);
  });
  await s.state.transaction(async (tx) => {
    assert.deepEqual(await all(d.entries(tx)), [['a', 1]]);
    await assert.rejects(d.count(tx), ArgumentError);
    await assert.rejects(d.set(tx, 'c', 1, { ttlMs: 5 }), ArgumentError);
  });
  await assert.rejects(d.currentCount(), ArgumentError);
  const [one, two] = [s.state.begin(), s.state.begin()];
  await d.set(one, 'a', 2);
  const waiting = d.set(two, 'a', 3);
  await waits(waiting);
  await one.commit();
  await waiting;
  await two.commit();
  assert.equal(await s.state.transaction((tx) => d.get(tx, 'a')), 3);
});

test('counters: a checked read holds at the commit, and a snapshot has its own values', async () => {
  await using s = await scene();
  const n = await s.state.counters<string>('n');
  const add = (amount: number) => s.state.transaction((tx) => n.add(tx, 'a', amount));
  await add(5);
  await using checked = s.state.begin();
  assert.equal(await n.get(checked, 'a', { check: true }), 5);
  await n.add(checked, 'b', 1);
  assert.equal(await n.get(checked, 'b', { snapshot: true }), 1, 'and own amounts');
  await add(2);
  assert.equal(await n.get(checked, 'a', { snapshot: true }), 5);
  assert.equal(await n.get(checked, 'a'), 7);
  await assert.rejects(checked.commit(), ConflictError);
  assert.equal(await s.state.transaction((tx) => n.get(tx, 'b')), 0);
  await using again = s.state.begin();
  await assert.rejects(n.get(again, 'a', { check: true, snapshot: true }), ArgumentError);
});

test('counters: own amounts are read at once, a limit is any number, and one that is gone begins at 0', async () => {
  await using s = await scene();
  const n = await s.state.counters<string>('n');
  await s.state.transaction(async (tx) => {
    await n.add(tx, 'a', 5);
    await n.add(tx, 'a', -2);
    assert.equal(await n.get(tx, 'a'), 3);
    assert.equal(await n.get(tx, 'none'), 0);
    await assert.rejects(n.add(tx, 'a', 1, { max: Number.NaN }), ArgumentError);
  });
  await s.state.transaction(async (tx) => {
    await n.remove(tx, 'a');
    assert.equal(await n.get(tx, 'a'), 0);
    await assert.rejects(n.add(tx, 'a', 1), InvalidOperationError);
  });
  assert.equal(await s.state.transaction((tx) => n.get(tx, 'a')), 0);
});

test('stamps rise, above the clock and above what they are given', async () => {
  await using s = await scene();
  const { now } = s.t(1);
  const [one, two] = [s.t(1).stamp(), s.t(2).stamp()];
  assert.ok(one < two);
  assert.ok(one >= now * 1000);
  assert.ok(s.t(1).stamp(two + 1_000_000) > two + 1_000_000);
});

test('a commit waits for what it is given to wait for, and is lost with it', async () => {
  await using s = await scene();
  let written = () => {};
  s.t(1).after(
    new Promise<void>((resolve) => {
      written = resolve;
    }),
  );
  await s.X(1, 'a', 1);
  const commit = s.end(1);
  await waits(commit);
  written();
  await commit;
  s.t(2).after(Promise.reject(new Error('the file could not be written')));
  s.t(2).after(Promise.resolve());
  await s.X(2, 'a', 2);
  await assert.rejects(s.end(2), OutcomeUnknownError);
  while (s.state.engine.health().state !== 'open') await turns();
  assert.equal(await s.value('a'), 1);
});

test('what an aborted transaction had to come after may fail unheard, however much of it there is', async () => {
  await using s = await scene();
  for (const word of ['one', 'two', 'three']) s.t(1).after(Promise.reject(new Error(word)));
  await s.abort(1);
  await turns(); // a rejection that is not handled would end the test here
});

test('a watch tells when the collection is removed, when it falls behind, and refuses what cannot be', async () => {
  await using state = await StateManager.open({ memory: true });
  const d = await state.dictionary<number, number>('d');
  const slow = d.watch({ maxPending: 10 });
  const gone = d.watch();
  const aborted = d.watch({ signal: AbortSignal.abort() });
  assert.equal((await aborted.next()).done, true);
  for (const wrong of [{ maxPending: 0 }, { maxPending: 'x' }, { signal: {} }, { from: Symbol('s') }])
    assert.throws(() => d.watch(wrong as never), ArgumentError, Object.keys(wrong).join());
  await state.transaction(async (tx) => {
    for (let key = 0; key < 11; key++) await d.set(tx, key, key);
  });
  await assert.rejects(
    slow.next(),
    (error) => error instanceof TransientError && /watch it again/.test(error.message),
  );
  assert.equal((await gone.next()).value?.action, 'set');
  await state.remove('d');
  const rest = async () => {
    for await (const change of gone) assert.equal(change.action, 'set');
  };
  await assert.rejects(rest(), ObjectClosedError);
  const ended = d.watch.bind(d);
  assert.throws(() => ended(), ObjectClosedError);
});

test('an enumeration refuses a page of nothing, and a check of what never changes', async () => {
  await using s = await scene();
  for (const wrong of [{ pageSize: 0 }, { pageSize: -1 }, { pageSize: Number.NaN }, { check: true }])
    assert.throws(() => s.d.entries(s.t(1), wrong), ArgumentError, JSON.stringify(wrong));
});

test('a function that is missing, a comparison with nothing, a lock that is none', async () => {
  await using s = await scene();
  await assert.rejects(s.d.addOrUpdate(s.t(1), 'k', 1, undefined as never), ArgumentNullError);
  assert.equal(await s.d.tryUpdate(s.t(1), 'k', 5, undefined), false);
  await assert.rejects(s.q.tryPeek(s.t(1), { lock: 'exclusive' as never }), ArgumentError);
  await s.end(1);
  assert.equal(await s.value('k'), 1);
});

test('a time limit of -1 is none', async () => {
  await using s = await scene({ timeoutMs: 1 });
  await s.X(1);
  const waiting = s.S(2, 'k', -1);
  await turns();
  await waits(waiting);
  await s.end(1);
  assert.equal(await waiting, 2);
});

test('a secondary peeks into its snapshot', async () => {
  await using s = await scene();
  await s.q.enqueue(s.t(1), 'a');
  await s.end(1);
  const empty = await s.state.queue<string>('empty');
  s.state.role = 'secondary';
  assert.equal(s.state.role, 'secondary');
  await s.state.transaction(async (tx) => {
    assert.equal(await s.q.tryPeek(tx), 'a');
    assert.equal(await empty.tryPeek(tx), undefined);
    assert.equal(await s.q.count(tx), 1);
  });
});

test('what a newer program wrote is refused, and stays as it is', async () => {
  const engine = await openEngine({ memory: true });
  const state = await StateManager.open({ engine });
  const d = await state.dictionary<string, number>('d');
  await state.transaction((tx) => d.set(tx, 'k', 1));
  const row = (await engine.range(d.generation.rows, undefined, { limit: 1 })).rows[0];
  assert.ok(row !== undefined);
  const newer = Buffer.from(row.value);
  newer[0] = 9;
  await (await engine.commit({ writes: [{ key: row.key, value: newer }] })).durable;
  await assert.rejects(
    state.transaction((tx) => d.get(tx, 'k')),
    InvalidDataError,
  );
  await assert.rejects(
    state.transaction((tx) => d.set(tx, 'k', 2)),
    InvalidDataError,
  );
  await state.close();
  const record = encodeRecord({ ...d.record, format: 2 as never });
  await (await engine.commit({ writes: [{ key: catalogKey('d').key, value: record }] })).durable;
  await assert.rejects(StateManager.open({ engine }), InvalidDataError);
  await engine.close();
});

test('who asks for a collection while the catalogue is read again after a loss gets what is there then', async () => {
  const { state, disk } = await stalled();
  await state.dictionary('there');
  let asked: Promise<unknown[]> = Promise.resolve([]);
  const fates = ['gone' as const];
  disk.fate = () => fates.shift() ?? 'done';
  state.engine.resets(() => {
    asked = Promise.all([state.get('lost'), state.get('there').then((found) => found?.name)]);
  });
  await assert.rejects(state.dictionary('lost'), OutcomeUnknownError);
  assert.deepEqual(await asked, [undefined, 'there']);
  while (state.engine.health().state !== 'open') await turns();
  assert.equal(await state.get('lost'), undefined);
  await state.close();
});

test('a conflict names what has changed: a row, a row of a range, a counter, or the whole collection', async () => {
  await using s = await scene();
  const counters = await s.state.counters<readonly [string, number]>('hits');
  const readings = await s.state.dictionary<readonly [string, number], number>('readings');
  const reads: Record<string, (tx: Transaction) => Promise<unknown>> = {
    'd["k"]': (tx) => s.d.get(tx, 'k', { lock: 'none', check: true }),
    'd["new"]': (tx) => s.d.has(tx, 'new', { lock: 'none', check: true }),
    'readings["roof", 7]': (tx) => all(readings.keys(tx, { newest: true, check: true })),
    'hits["roof", 7]': (tx) => counters.get(tx, ['roof', 7], { check: true }),
    'collection d': (tx) => s.d.get(tx, 'j', { lock: 'none', check: true }),
  };
  const changes: Record<string, () => Promise<unknown>> = {
    'd["k"]': () => s.state.transaction((tx) => s.d.set(tx, 'k', 2)),
    'd["new"]': () => s.state.transaction((tx) => s.d.set(tx, 'new', 1)),
    'readings["roof", 7]': () => s.state.transaction((tx) => readings.set(tx, ['roof', 7], 21)),
    'hits["roof", 7]': () => s.state.transaction((tx) => counters.add(tx, ['roof', 7], 1)),
    'collection d': () => s.d.clear(),
  };
  for (const [key, read] of Object.entries(reads)) {
    const tx = s.state.begin();
    await read(tx);
    await changes[key]?.();
    await assert.rejects(tx.commit(), (error) => {
      assert.ok(error instanceof ConflictError);
      assert.equal(error.key, key);
      assert.match(error.message, /has changed since it was read/);
      return error.message.startsWith(key);
    });
  }
});
