import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { StateManager, TransientError, type Watched } from './index.js';
import { turns } from './scenario.suite.js';

test('a watch tells of each change in its range, of a key only the newest', async () => {
  await using state = await StateManager.open({ memory: true });
  const d = await state.dictionary<string, number>('d');
  await using changes = d.watch({ prefix: 'a' });
  const places: bigint[] = [];
  await state.transaction(async (tx) => {
    await d.set(tx, 'a1', 1);
    await d.set(tx, 'b1', 1);
  });
  await state.transaction((tx) => d.set(tx, 'a1', 2));
  await state.transaction((tx) => d.set(tx, 'a2', 3));
  await state.transaction((tx) => d.remove(tx, 'a2'));
  const next = async () => {
    const { commitSequenceNumber, ...change } = (await changes.next()).value as Watched<string, number>;
    places.push(commitSequenceNumber);
    return change;
  };
  assert.deepEqual(await next(), { action: 'set', key: 'a1', value: 2 });
  assert.deepEqual(await next(), { action: 'remove', key: 'a2' });
  const waiting = next();
  await d.clear();
  assert.deepEqual(await waiting, { action: 'clear' });
  assert.ok((places[0] as bigint) < (places[1] as bigint) && (places[1] as bigint) < (places[2] as bigint));
});

test('a watch of one key ends by its signal, and when the state closes', async () => {
  await using state = await StateManager.open({ memory: true });
  const d = await state.dictionary<string, number>('d');
  const abort = new AbortController();
  const one = d.watch({ key: 'k', signal: abort.signal });
  const other = d.watch({ key: 'k' });
  const [first, second] = [one.next(), other.next()];
  abort.abort();
  assert.equal((await first).done, true);
  await state.close();
  assert.equal((await second).done, true);
});

test('a watch that falls behind by too many keys, or too many bytes, is told so', async () => {
  await using state = await StateManager.open({ memory: true });
  const d = await state.dictionary<string, string>('d');
  const [few, small, enough] = [
    d.watch({ maxPending: 2 }),
    d.watch({ maxPendingBytes: 10_000 }),
    d.watch({ maxPending: 3, maxPendingBytes: 20_000 }),
  ];
  const set = (key: string, length: number) => state.transaction((tx) => d.set(tx, key, 'x'.repeat(length)));
  for (let times = 10; times > 0; times--) await set('a', 2000); // of a key only the newest waits
  await set('b', 3000);
  assert.equal((await small.next()).value?.key, 'a');
  await set('c', 6000);
  assert.equal((await small.next()).value?.key, 'b', 'what was looked at does not count');
  await set('a', 5000);
  await assert.rejects(few.next(), TransientError);
  await assert.rejects(small.next(), TransientError);
  const told = [await enough.next(), await enough.next(), await enough.next()];
  assert.deepEqual(
    told.map(({ value }) => value?.key),
    ['b', 'c', 'a'],
  );
});

test('changes that wait to be looked at take their own memory, not that of what was written beside them', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  await using state = await StateManager.open({ memory: true });
  const [d, others] = [await state.dictionary<number, number>('d'), await state.dictionary('others')];
  await using _changes = d.watch();
  const beside = Buffer.alloc(2600);
  const write = (number: number) =>
    state.transaction(async (tx) => {
      await d.set(tx, number, number);
      for (const key of [1, 2, 3]) await others.set(tx, key, beside);
    });
  await write(0);
  collect();
  const before = process.memoryUsage().arrayBuffers;
  for (let number = 1; number <= 2000; number++) await write(number);
  let kept = Number.POSITIVE_INFINITY;
  // What nobody keeps is given back by a thread of the collector's own, some time later.
  for (let left = 50; left > 0 && kept > 4_000_000; left--) {
    collect();
    await turns();
    kept = process.memoryUsage().arrayBuffers - before;
  }
  assert.ok(kept <= 4_000_000, `2,000 changes keep ${kept} bytes`);
});
