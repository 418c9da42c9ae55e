// Rows that expire, and the sweep that takes them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ArgumentError } from './index.js';
import { all, type Scene, scene, turns } from './scenario.suite.js';

async function brief(s: Scene, ...keys: string[]): Promise<void> {
  await s.state.transaction(async (tx) => {
    for (const key of keys) await s.d.set(tx, key, 1, { ttlMs: 1_000 });
  });
}

async function rows(s: Scene): Promise<number> {
  return (await s.state.engine.range(Buffer.alloc(0), undefined, { limit: 10_000, keysOnly: true })).rows
    .length;
}

test('a sweep takes what has expired, its index and its count, and nothing else', async () => {
  await using s = await scene();
  const before = await rows(s);
  await brief(s, ...Array.from({ length: 1_300 }, (_, n) => `brief ${n}`));
  await s.state.transaction((tx) => s.d.set(tx, 'long', 1, { ttlMs: 1e9 }));
  s.state.engine.clock.shift(2_000);
  assert.equal(await s.d.currentCount(), 3, 'exact before the sweep');
  await s.state.sweep();
  assert.equal(await s.d.currentCount(), 3);
  assert.deepEqual(await s.state.transaction((tx) => all(s.d.keys(tx))), ['j', 'k', 'long']);
  assert.equal(await rows(s), before + 3, 'the row, its index and the count of those that expire');
});

test('a row that is replaced before it is swept stays', async () => {
  await using s = await scene();
  await brief(s, 'a', 'b', 'c');
  s.state.engine.clock.shift(2_000);
  await s.state.transaction(async (tx) => {
    await s.d.set(tx, 'a', 2);
    await s.d.set(tx, 'b', 2, { ttlMs: 1_000 });
    assert.equal(await s.d.remove(tx, 'c'), undefined, 'it was gone');
  });
  await s.state.sweep();
  assert.deepEqual([await s.value('a'), await s.value('b'), await s.value('c')], [2, 2, undefined]);
  assert.equal(await s.d.currentCount(), 4);
  s.state.engine.clock.shift(2_000);
  await s.state.sweep();
  assert.deepEqual([await s.value('a'), await s.value('b')], [2, undefined]);
  assert.equal(await s.d.currentCount(), 3);
});

test('a sweep passes over what is in use, however much that is, and takes it the next time', async () => {
  await using s = await scene();
  const keys = Array.from({ length: 1_200 }, (_, n) => `brief ${String(n).padStart(4, '0')}`);
  await brief(s, ...keys);
  for (const key of keys.slice(0, 700)) await s.S(1, key);
  s.state.engine.clock.shift(2_000);
  await s.state.sweep();
  const left = (await s.state.engine.range(Buffer.from('x'), undefined, { limit: 5_000, keysOnly: true }))
    .rows;
  assert.ok(left.length >= 0);
  assert.equal(await s.d.currentCount(), 2);
  await s.end(1);
  const before = await rows(s);
  await s.state.sweep();
  assert.equal(before - (await rows(s)), 2 * 700, 'the rows and their index');
  assert.equal(await s.d.currentCount(), 2);
});

test('sweeps, writers and clears at the same time: the count is exact in the end', async () => {
  await using s = await scene();
  let running = true;
  const sweeper = async () => {
    while (running) {
      s.state.engine.clock.shift(500);
      await s.state.sweep();
      await turns();
    }
  };
  const writer = async (name: string) => {
    for (let n = 0; n < 150; n++) {
      await s.state.transaction(
        async (tx) => {
          await s.d.set(tx, `${name} ${n % 20}`, n, n % 3 ? { ttlMs: 1_000 } : {});
          if (n % 7 === 0) await s.d.remove(tx, `${name} ${(n + 3) % 20}`);
        },
        { retries: 20 },
      );
      if (n % 50 === 49) await s.d.clear();
    }
  };
  const sweeping = sweeper();
  await Promise.all(['a', 'b', 'c'].map(writer));
  running = false;
  await sweeping;
  const count = async () => {
    await using tx = s.state.begin();
    assert.equal(await s.d.count(tx), (await all(s.d.keys(tx))).length);
    return s.d.count(tx);
  };
  await count();
  s.state.engine.clock.shift(10_000);
  await count();
  await s.state.sweep();
  await count();
});

test('a row that expires within the transaction that wrote it is neither read, listed nor counted', async () => {
  await using s = await scene();
  await s.d.set(s.t(1), 'brief', 1, { ttlMs: 1_000 });
  assert.equal(await s.d.count(s.t(1)), 3);
  s.state.engine.clock.shift(2_000);
  assert.equal(await s.S(1, 'brief'), undefined);
  assert.deepEqual(await all(s.d.keys(s.t(1))), ['j', 'k']);
  assert.equal(await s.d.count(s.t(1)), 2);
  assert.equal(await s.d.tryAdd(s.t(1), 'brief', 2), true);
  assert.equal(await s.d.count(s.t(1)), 3);
  await s.end(1);
  assert.equal(await s.d.currentCount(), 3);
});

test('a time to live that cannot be is refused before anything is done', async () => {
  await using s = await scene();
  for (const ttlMs of [0, -1, Number.NaN, '5' as never])
    await assert.rejects(s.d.set(s.t(1), 'm', 1, { ttlMs }), ArgumentError);
  await s.d.set(s.t(1), 'm', 1, { ttlMs: Number.POSITIVE_INFINITY });
  const uncounted = await s.state.dictionary<string, number>('uncounted', { count: false });
  await assert.rejects(uncounted.set(s.t(1), 'm', 1, { ttlMs: 5 }), ArgumentError);
  await assert.rejects(uncounted.count(s.t(1)), ArgumentError);
  await assert.rejects(uncounted.currentCount(), ArgumentError);
  await s.end(1);
  s.state.engine.clock.shift(1e12);
  assert.equal(await s.value('m'), 1);
});

test('listeners hear of a row that has expired once: when it is swept, removed or replaced', async () => {
  await using s = await scene();
  const told: unknown[] = [];
  s.d.onChange((change) => told.push(change.action === 'clear' ? 'clear' : [change.action, change.key]));
  await brief(s, 'a', 'b', 'c');
  s.state.engine.clock.shift(2_000);
  told.length = 0;
  await s.state.transaction(async (tx) => {
    await s.d.set(tx, 'a', 2);
    await s.d.delete(tx, 'b');
  });
  assert.deepEqual(told.splice(0), [
    ['remove', 'a'],
    ['add', 'a'],
    ['remove', 'b'],
  ]);
  await s.state.sweep();
  assert.deepEqual(told, [['remove', 'c']]);
});
