// Sections 11.2 and 11.3 of the specification, in its own words.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ArgumentError,
  ArgumentNullError,
  type DictionaryChange,
  InvalidOperationError,
  OperationTooLargeError,
  TimeoutError,
  type Transaction,
  TransactionFaultedError,
} from './index.js';
import { all, granted, scene, waits } from './scenario.suite.js';

test('D1: T1 add(m,1); T1 add(m,2); commit: second ArgumentException, T1 still active; m = 1', async () => {
  await using s = await scene();
  await s.d.add(s.t(1), 'm', 1);
  await assert.rejects(s.d.add(s.t(1), 'm', 2), ArgumentError);
  await s.end(1);
  assert.equal(await s.value('m'), 1);
});

test('D2: add(k) (exists): ArgumentException', async () => {
  await using s = await scene();
  await assert.rejects(s.d.add(s.t(1), 'k', 2), ArgumentError);
});

test('D3: tryAdd(m) / tryAdd(k): true / false', async () => {
  await using s = await scene();
  assert.equal(await s.d.tryAdd(s.t(1), 'm', 1), true);
  assert.equal(await s.d.tryAdd(s.t(1), 'k', 1), false);
});

test('D4: T1 add(m,1); T1 S(m); T2 count property; abort T1; T3 S(m): 1; count unchanged; absent', async () => {
  await using s = await scene();
  await s.d.add(s.t(1), 'm', 1);
  assert.equal(await s.S(1, 'm'), 1);
  assert.equal(await s.d.currentCount(), 2);
  await s.abort(1);
  assert.equal(await s.S(3, 'm'), undefined);
});

test('D5: one tx: add(m), tryRemove(m), add(m,3), commit: m = 3', async () => {
  await using s = await scene();
  await s.d.add(s.t(1), 'm', 1);
  assert.equal(await s.d.remove(s.t(1), 'm'), 1);
  await s.d.add(s.t(1), 'm', 3);
  await s.end(1);
  assert.equal(await s.value('m'), 3);
  assert.equal(await s.d.currentCount(), 3);
});

test('D6: one tx: add(m), tryRemove(m), tryUpdate(m,..), tryRemove(m): false, none', async () => {
  await using s = await scene();
  await s.d.add(s.t(1), 'm', 1);
  await s.d.remove(s.t(1), 'm');
  assert.equal(await s.d.tryUpdate(s.t(1), 'm', 2, 1), false);
  assert.equal(await s.d.remove(s.t(1), 'm'), undefined);
});

test('D7: addOrUpdate(m, 10, f) / addOrUpdate(k, 10, (k,o)=>o+1): 10 and f not called / 2', async () => {
  await using s = await scene();
  const f = () => assert.fail('called');
  assert.equal(await s.d.addOrUpdate(s.t(1), 'm', 10, f), 10);
  assert.equal(await s.d.addOrUpdate(s.t(1), 'k', 10, (_, old) => (old as number) + 1), 2);
});

test('D8: T1 set(k,5); T1 addOrUpdate(k, 0, (k,o)=>o+1): 6 (own value)', async () => {
  await using s = await scene();
  await s.X(1, 'k', 5);
  assert.equal(await s.d.addOrUpdate(s.t(1), 'k', 0, (_, old) => (old as number) + 1), 6);
});

test('D9: addOrUpdate(k, 0, throws E): E unchanged; k still 1; tx active; T2 X(k) waits until T1 ends', async () => {
  await using s = await scene();
  const error = new Error('E');
  await assert.rejects(
    s.d.addOrUpdate(s.t(1), 'k', 0, () => {
      throw error;
    }),
    (thrown) => thrown === error,
  );
  assert.equal(await s.S(1), 1);
  const second = s.X(2);
  await waits(second);
  await s.end(1);
  await granted(second);
});

test('D10: getOrAdd(k, f): 1, f not called', async () => {
  await using s = await scene();
  assert.equal(await s.d.getOrAdd(s.t(1), 'k', () => assert.fail('called')), 1);
});

test('D11: getOrAdd(m, f): f called once, value added; absent again if aborted', async () => {
  await using s = await scene();
  let calls = 0;
  assert.equal(await s.d.getOrAdd(s.t(1), 'm', () => ++calls), 1);
  assert.equal(calls, 1);
  assert.equal(await s.S(1, 'm'), 1);
  await s.abort(1);
  assert.equal(await s.value('m'), undefined);
});

test('D12: T2 S(k); T1 getOrAdd(k); T3 S(k): T1 at once; T3 waits until T1 ends', async () => {
  await using s = await scene();
  await s.S(2);
  await granted(s.d.getOrAdd(s.t(1), 'k', 0));
  const third = s.S(3);
  await waits(third);
  await s.end(1);
  await granted(third);
});

test('D13: T2 S(m) absent; T1 getOrAdd(m, 1): T1 waits until T2 ends', async () => {
  await using s = await scene();
  await s.S(2, 'm');
  const first = s.d.getOrAdd(s.t(1), 'm', 1);
  await waits(first);
  await s.end(2);
  assert.equal(await first, 1);
});

test('D14: tryUpdate(k, 2, 1); tryUpdate(k, 3, 1) same tx: true; false', async () => {
  await using s = await scene();
  assert.equal(await s.d.tryUpdate(s.t(1), 'k', 2, 1), true);
  assert.equal(await s.d.tryUpdate(s.t(1), 'k', 3, 1), false);
});

test('D15: tryUpdate(m, 1, null): false', async () => {
  await using s = await scene();
  assert.equal(await s.d.tryUpdate(s.t(1), 'm', 1, null), false);
});

test('D16: tryRemove(k) twice: {true,1}; {false}', async () => {
  await using s = await scene();
  assert.equal(await s.d.remove(s.t(1), 'k'), 1);
  assert.equal(await s.d.remove(s.t(1), 'k'), undefined);
});

test('D17: set(k, null), commit; S(k); containsKey(k): {true,null}; true', async () => {
  await using s = await scene();
  await s.X(1, 'k', null);
  await s.end(1);
  assert.equal(await s.S(2), null);
  assert.equal(await s.d.has(s.t(2), 'k'), true);
  assert.equal(await s.d.tryUpdate(s.t(2), 'k', 5, null), true);
});

test('D18: key null; tx null: ArgumentNullException each', async () => {
  await using s = await scene();
  await assert.rejects(s.d.get(s.t(1), null as never), ArgumentNullError);
  await assert.rejects(s.d.get(null as never, 'k'), ArgumentNullError);
});

test('D19: lockMode 7: ArgumentException', async () => {
  await using s = await scene();
  await assert.rejects(s.d.get(s.t(1), 'k', { lock: 7 as never }), ArgumentError);
});

test('D20: T1 add(m), tryRemove(k); T1 getCount; T2 getCount: +1-1; unchanged', async () => {
  await using s = await scene();
  await s.d.add(s.t(1), 'm', 1);
  await s.d.add(s.t(1), 'n', 1);
  await s.d.remove(s.t(1), 'k');
  assert.equal(await s.d.count(s.t(1)), 3);
  assert.equal(await s.d.count(s.t(2)), 2);
});

test('D21: count before, during, after commit of 10 adds: n; n; n+10', async () => {
  await using s = await scene();
  assert.equal(await s.d.currentCount(), 2);
  for (let n = 0; n < 10; n++) await s.d.add(s.t(1), `new ${n}`, n);
  assert.equal(await s.d.currentCount(), 2);
  await s.end(1);
  assert.equal(await s.d.currentCount(), 12);
});

test('D22: T1 open, untouched d; d.clear(); T1 S(k): clear at once; absent', async () => {
  await using s = await scene();
  s.t(1);
  await s.d.clear();
  assert.equal(await s.S(1), undefined);
});

test('D23: T1 S(k) open; d.clear(timeout): TimeoutException; data intact', async () => {
  await using s = await scene();
  await s.S(1);
  await assert.rejects(s.d.clear({ timeoutMs: 30 }), TimeoutError);
  assert.equal(await s.value('k'), 1);
});

test('D24: T1 enumerated d, open; d.clear() waits; T2 S(j) waits behind; T1 S(j) at once; then T2 sees empty', async () => {
  await using s = await scene();
  assert.equal((await all(s.d.keys(s.t(1)))).length, 2);
  const clear = s.d.clear();
  const second = s.S(2, 'j');
  await waits(clear, second);
  await granted(s.S(1, 'j'));
  await s.end(1);
  await clear;
  assert.equal(await second, undefined);
});

test('D25: T1 open with d touched; same caller awaits d.clear: TimeoutException', async () => {
  await using s = await scene();
  await s.X(1);
  await assert.rejects(s.d.clear({ timeoutMs: 30 }), TimeoutError);
});

test('D27: v={a:1}; set(m,v); v.a=2; commit; S(m): a = 1', async () => {
  await using s = await scene();
  const v = { a: 1 };
  await s.X(1, 'm', v);
  v.a = 2;
  await s.end(1);
  assert.deepEqual(await s.value('m'), { a: 1 });
});

test('D28: r=S(obj); r.value.a=9; new tx S(obj): the mutation throws, and nothing changes', async () => {
  await using s = await scene();
  await s.X(1, 'm', { a: 1, b: [1] });
  await s.end(1);
  const read = (await s.S(2, 'm')) as { a: number; b: number[] };
  assert.throws(() => {
    read.a = 9;
  }, TypeError);
  assert.throws(() => read.b.push(2), TypeError);
  assert.deepEqual(await s.value('m'), { a: 1, b: [1] });
});

test('D29: value above the maximum operation size: TransactionFaultedException; tx unusable; nothing committed', async () => {
  await using s = await scene();
  await s.X(1, 'j', 5);
  await assert.rejects(
    s.X(1, 'm', Buffer.alloc(17 * 1024 * 1024)),
    (error) => error instanceof TransactionFaultedError && error.cause instanceof OperationTooLargeError,
  );
  await assert.rejects(s.X(1, 'j', 6), TransactionFaultedError);
  await assert.rejects(s.end(1), TransactionFaultedError);
  assert.equal(await s.value('j'), 1);
});

test('a transaction over its size is faulted, and says to split the work', async () => {
  await using s = await scene();
  const chunk = Buffer.alloc(15 * 1024 * 1024);
  for (let n = 0; n < 4; n++) await s.X(1, `large ${n}`, chunk);
  await assert.rejects(s.X(1, 'large 4', chunk), /split the work/);
  assert.equal(await s.value('large 0'), undefined);
});

test('D30: serializer throws on value: that error; no lock taken; tx active', async () => {
  await using s = await scene();
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  for (const value of [() => 1, Symbol('s'), cycle, undefined]) {
    await assert.rejects(
      s.d.set(s.t(1), 'm', value),
      (error) => error instanceof TypeError || error instanceof ArgumentError,
    );
  }
  await granted(s.X(2, 'm', 1));
  await s.end(1);
});

test('D31: set(k,1) with equal value, commit: one Update notification', async () => {
  await using s = await scene();
  const changes: DictionaryChange<string, unknown>[] = [];
  s.d.onChange((change) => changes.push(change));
  await s.X(1, 'k', 1);
  await s.end(1);
  assert.deepEqual(
    changes.map(({ action }) => action),
    ['update'],
  );
});

test('S1: T1 created; T2 commits k=2; T1 enumerates: the state of its beginning, or of the first read on request', async () => {
  await using s = await scene();
  const early = s.t(1);
  const late = s.state.begin({ snapshot: 'first read' });
  await s.X(2);
  await s.end(2);
  const read = async (tx: Transaction) => new Map(await all(s.d.entries(tx))).get('k');
  assert.equal(await read(early), 1);
  assert.equal(await read(late), 2);
});

test('S2: T1 getCount; T2 commits k=2 and adds m; T1 enumerates and getCount: k=1, no m, old count', async () => {
  await using s = await scene();
  assert.equal(await s.d.count(s.t(1)), 2);
  await s.X(2);
  await s.d.add(s.t(2), 'm', 1);
  await s.end(2);
  assert.deepEqual(await all(s.d.entries(s.t(1))), [
    ['j', 1],
    ['k', 1],
  ]);
  assert.equal(await s.d.count(s.t(1)), 2);
  assert.equal(await s.S(1), 2, 'S4: repeatable read is newer than the snapshot');
  const third = s.X(3);
  await waits(third);
});

test('S3: T1 enumerates d1; T2 commits changes in d1 and d2 in one tx; T1 enumerates d2: old d2', async () => {
  await using s = await scene();
  const other = await s.state.dictionary<string, number>('d2');
  await using tx = s.state.begin({ snapshot: 'first read' });
  await all(s.d.keys(tx));
  await s.state.transaction(async (t2) => {
    await s.d.set(t2, 'x', 1);
    await other.set(t2, 'x', 1);
  });
  assert.deepEqual(await all(other.keys(tx)), []);
  assert.deepEqual(await all(s.d.keys(tx)), ['j', 'k']);
});

test('S5: T1 X(k=2) uncommitted; T2 enumerates: 1, no wait', async () => {
  await using s = await scene();
  await s.X(1);
  assert.deepEqual(new Map(await all(s.d.entries(s.t(2)))).get('k'), 1);
});

test('S6: T2 enumerating half-way; T1 X(all keys), commit: T1 not delayed; T2 sees only old values', async () => {
  await using s = await scene();
  await s.state.transaction(async (tx) => {
    for (let n = 0; n < 1000; n++) await s.d.set(tx, `row ${String(n).padStart(4, '0')}`, 0);
  });
  const seen: unknown[] = [];
  for await (const [, value] of s.d.entries(s.t(2), { prefix: 'row ', pageSize: 100 })) {
    seen.push(value);
    if (seen.length !== 500) continue;
    await s.state.transaction(async (tx) => {
      for (let n = 0; n < 1000; n++) await s.d.set(tx, `row ${String(n).padStart(4, '0')}`, 1);
    });
  }
  assert.equal(seen.length, 1000);
  assert.deepEqual(new Set(seen), new Set([0]));
});

test('S7: T1 set(k,9), add(m,1), tryRemove(j); T1 enumerates: k=9, m, no j', async () => {
  await using s = await scene();
  await s.X(1, 'k', 9);
  await s.d.add(s.t(1), 'm', 1);
  await s.d.remove(s.t(1), 'j');
  assert.deepEqual(await all(s.d.entries(s.t(1))), [
    ['k', 9],
    ['m', 1],
  ]);
});

test('S8, S9, S10: after the enumerable is made, an own add is not seen, an own update is, an own removal skips', async () => {
  await using s = await scene();
  await s.X(1, 'y', 1);
  const entries = s.d.entries(s.t(1));
  await s.X(1, 'z', 1);
  await s.X(1, 'y', 7);
  await s.d.remove(s.t(1), 'k');
  assert.deepEqual(await all(entries), [
    ['j', 1],
    ['y', 7],
  ]);
});

test('S11: Ordered, random inserts incl. own writes: strictly ascending, no duplicates, both ways', async () => {
  await using s = await scene();
  const keys = Array.from({ length: 500 }, (_, n) => `key ${(n * 7919) % 1000}`);
  await s.state.transaction(async (tx) => {
    for (const key of keys.slice(0, 250)) await s.d.set(tx, key, 1);
  });
  for (const key of keys) await s.X(1, key, 2);
  const found = await all(s.d.keys(s.t(1), { prefix: 'key ', pageSize: 17 }));
  assert.deepEqual(found, [...new Set(keys)].sort());
  assert.deepEqual(
    await all(s.d.keys(s.t(1), { prefix: 'key ', pageSize: 17, reverse: true })),
    found.toReversed(),
  );
});

test('S12: filter on key: only matching keys, each asked once', async () => {
  await using s = await scene();
  const asked: string[] = [];
  const filter = (key: string) => asked.push(key) > 0 && key === 'k';
  assert.deepEqual(await all(s.d.entries(s.t(1), { filter })), [['k', 1]]);
  assert.deepEqual(asked, ['j', 'k']);
});

for (const how of ['commit', 'abort', 'dispose'] as const) {
  test(`S13: next() after ${how}: InvalidOperationException`, async () => {
    await using s = await scene();
    const rows = s.d.entries(s.t(1))[Symbol.asyncIterator]();
    await rows.next();
    await s.t(1)[how]();
    await assert.rejects(rows.next(), InvalidOperationError);
  });
}

test('S14: T1 enumerates; T2 removes all, commits; T1 continues: T1 still sees all', async () => {
  await using s = await scene();
  const rows = s.d.entries(s.t(1), { pageSize: 1 })[Symbol.asyncIterator]();
  assert.deepEqual((await rows.next()).value, ['j', 1]);
  await s.d.remove(s.t(2), 'j');
  await s.d.remove(s.t(2), 'k');
  await s.end(2);
  assert.deepEqual((await rows.next()).value, ['k', 1]);
});

test('S15: T1 commits m; after its promise resolves T2 enumerates: m included', async () => {
  await using s = await scene();
  await s.X(1, 'm', 1);
  await s.end(1);
  assert.ok((await all(s.d.keys(s.t(2)))).includes('m'));
});

test('S17: T1 snapshot read pins; d2.clear(); T1 enumerates d2 (untouched before): old d2', async () => {
  await using s = await scene();
  const d2 = await s.state.dictionary<string, number>('d2');
  await s.state.transaction((tx) => d2.set(tx, 'x', 1));
  await s.d.count(s.t(1));
  await d2.clear();
  assert.deepEqual(await all(d2.entries(s.t(1))), [['x', 1]]);
  assert.equal(await d2.count(s.t(1)), 1);
});

test('S18: createKeyEnumerable: keys only, same snapshot rules', async () => {
  await using s = await scene();
  await s.X(2, 'm', 1);
  await s.end(2);
  const tx = s.t(1);
  await s.X(3, 'n', 1);
  await s.end(3);
  assert.deepEqual(await all(s.d.keys(tx)), ['j', 'k', 'm']);
});

test('ranges: from, to, after, prefix, tuples', async () => {
  await using s = await scene();
  const places = await s.state.dictionary<readonly [string, number], string>('places');
  await s.state.transaction(async (tx) => {
    for (const street of ['a', 'b', 'bc'])
      for (let n = 1; n <= 3; n++) await places.set(tx, [street, n], `${street}${n}`);
  });
  const tx = s.t(1);
  const values = async (range: Parameters<typeof places.entries>[1]) =>
    (await all(places.entries(tx, range))).map(([, value]) => value).join(' ');
  assert.equal(await values({ prefix: ['b'] }), 'b1 b2 b3');
  assert.equal(await values({ startsWith: 'b' }), 'b1 b2 b3 bc1 bc2 bc3');
  assert.equal(await values({ from: ['a', 3], to: ['b', 2] }), 'a3 b1');
  assert.equal(await values({ after: ['a', 3], to: ['bc'] }), 'b1 b2 b3');
  assert.equal(await values({ prefix: ['b'], reverse: true }), 'b3 b2 b1');
  assert.throws(() => places.entries(tx, { prefix: 'b', startsWith: 'b' }), ArgumentError);
  await assert.rejects(places.get(tx, ['a'] as never), ArgumentError);
});

test('a read without a lock is checked at the commit on request, and the loser may run again', async () => {
  await using s = await scene();
  let runs = 0;
  await s.state.transaction(
    async (tx) => {
      const value = (await s.d.get(tx, 'k', { lock: 'none', check: true })) as number;
      if (runs++ === 0) await s.state.transaction((other) => s.d.set(other, 'k', 10));
      await s.d.set(tx, 'sum', value + 1);
    },
    { retries: 1 },
  );
  assert.equal(runs, 2);
  assert.equal(await s.value('sum'), 11);
});

test('a range that decides is checked at the commit on request: nothing may have come', async () => {
  await using s = await scene();
  await assert.rejects(
    s.state.transaction(async (tx) => {
      assert.deepEqual(await all(s.d.keys(tx, { prefix: 'x', newest: true, check: true })), []);
      await s.state.transaction((other) => s.d.set(other, 'x1', 1));
      await s.d.set(tx, 'empty', true);
    }),
    { name: 'ConflictError' },
  );
  assert.equal(await s.value('empty'), undefined);
});

test('tryUpdate by version: optimistic, without a lock held in between', async () => {
  await using s = await scene();
  const read = await s.state.transaction((tx) => s.d.getVersioned(tx, 'k'));
  assert.ok(read);
  const update = (value: number) =>
    s.state.transaction((tx) => s.d.tryUpdateVersion(tx, 'k', value, read.version));
  assert.deepEqual([await update(2), await update(3)], [true, false]);
  assert.equal(await s.value('k'), 2);
});

test('a row with a time to live is gone when its time has come, and the count is exact before it is swept', async () => {
  await using s = await scene();
  await s.d.set(s.t(1), 'brief', 1, { ttlMs: 1_000 });
  await s.d.set(s.t(1), 'long', 1, { ttlMs: 100_000 });
  await s.end(1);
  assert.equal(await s.value('brief'), 1);
  s.state.engine.clock.shift(2_000);
  await s.state.transaction(async (tx) => {
    assert.equal(await s.d.get(tx, 'brief'), undefined);
    assert.equal(await s.d.count(tx), 3);
    assert.deepEqual(await all(s.d.keys(tx)), ['j', 'k', 'long']);
    assert.equal(await s.d.tryAdd(tx, 'brief', 2), true);
    assert.equal(await s.d.count(tx), 4);
  });
  assert.equal(await s.value('brief'), 2);
});

test('a read of the snapshot shows the moment that enumerations show, with own writes, and waits for nobody', async () => {
  await using s = await scene();
  const before = await s.d.get(s.t(1), 'k', { lock: 'snapshot' });
  await s.d.set(s.t(2), 'k', 77);
  assert.equal(await s.d.get(s.t(1), 'k', { lock: 'snapshot' }), before);
  await s.end(2);
  assert.equal(await s.d.get(s.t(1), 'k', { lock: 'snapshot' }), before);
  assert.equal(await s.d.get(s.t(1), 'k', { lock: 'none' }), 77);
  await s.d.set(s.t(1), 'm', 5);
  assert.equal(await s.d.get(s.t(1), 'm', { lock: 'snapshot' }), 5);
});
