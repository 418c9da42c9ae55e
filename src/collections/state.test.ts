import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ArgumentError,
  DeadlockError,
  LockTimeoutError,
  StateManager,
  TransactionClosedError,
} from './index.js';

async function open() {
  return StateManager.open({ memory: true });
}

test('what one transaction commits the next one reads', async () => {
  await using state = await open();
  const accounts = await state.dictionary<string, { balance: number }>('accounts');
  const work = await state.queue<{ pay: number }>('work');
  await state.transaction(async (tx) => {
    await accounts.set(tx, 'alice', { balance: 10 });
    await work.enqueue(tx, { pay: 10 });
  });
  await state.transaction(async (tx) => {
    assert.deepEqual(await accounts.get(tx, 'alice'), { balance: 10 });
    assert.deepEqual(await work.tryDequeue(tx), { pay: 10 });
    assert.equal(await work.tryDequeue(tx), undefined);
    assert.equal(await accounts.count(tx), 1);
  });
});

test('an aborted transaction leaves nothing behind', async () => {
  await using state = await open();
  const d = await state.dictionary<string, number>('d');
  await assert.rejects(
    state.transaction(async (tx) => {
      await d.add(tx, 'k', 1);
      throw new Error('no');
    }),
    /no/,
  );
  await state.transaction(async (tx) => {
    assert.equal(await d.get(tx, 'k'), undefined);
    assert.equal(await d.count(tx), 0);
  });
});

test('entries come in order with own writes, both ways', async () => {
  await using state = await open();
  const d = await state.dictionary<string, number>('d');
  await state.transaction(async (tx) => {
    for (const key of ['b', 'd', 'f']) await d.set(tx, key, 1);
  });
  await using tx = state.begin();
  await d.set(tx, 'a', 2);
  await d.set(tx, 'd', 2);
  await d.set(tx, 'e', 2);
  await d.remove(tx, 'f');
  const forward: unknown[] = [];
  for await (const entry of d.entries(tx)) forward.push(entry);
  assert.deepEqual(forward, [
    ['a', 2],
    ['b', 1],
    ['d', 2],
    ['e', 2],
  ]);
  const back: string[] = [];
  for await (const key of d.keys(tx, { reverse: true, to: 'e' })) back.push(key);
  assert.deepEqual(back, ['d', 'b', 'a']);
  assert.equal(await d.count(tx), 4);
});

test('two readers that both want to write: the younger is told at once', async () => {
  await using state = await open();
  const d = await state.dictionary<string, number>('d');
  await using a = state.begin();
  await using b = state.begin();
  await d.get(a, 'k');
  await d.get(b, 'k');
  const first = d.set(a, 'k', 1);
  await assert.rejects(d.set(b, 'k', 2), DeadlockError);
  await b.abort();
  await first;
  await a.commit();
});

test('a lock that is held is refused after the time-out, and the error names it', async () => {
  await using state = await open();
  const d = await state.dictionary<string, number>('d');
  await using a = state.begin();
  await using b = state.begin();
  await d.set(a, 'k', 1);
  await assert.rejects(d.get(b, 'k', { timeoutMs: 0 }), (error: unknown) => {
    assert.ok(error instanceof LockTimeoutError);
    assert.match(error.message, /d\["k"\]/);
    return true;
  });
});

test('a finished transaction is refused', async () => {
  await using state = await open();
  const d = await state.dictionary<string, number>('d');
  const tx = state.begin();
  await tx.commit();
  await assert.rejects(d.get(tx, 'k'), TransactionClosedError);
  await assert.rejects(tx.commit(), TransactionClosedError);
});

test('items of a concurrent queue go to one transaction each', async () => {
  await using state = await open();
  const q = await state.concurrentQueue<string>('q');
  await state.transaction(async (tx) => {
    await q.enqueue(tx, 'a');
    await q.enqueue(tx, 'b');
    assert.equal(await q.tryDequeue(tx), undefined);
  });
  await using one = state.begin();
  await using two = state.begin();
  assert.equal(await q.tryDequeue(one), 'a');
  assert.equal(await q.tryDequeue(two), 'b');
  assert.equal(await q.count(), 0);
  await one.abort();
  assert.equal(await q.tryDequeue(two), 'a');
  await two.commit();
  assert.equal(await q.count(), 0);
});

test('a collection is created once, keeps its kind, and can be cleared and removed', async () => {
  await using state = await open();
  const all = await Promise.all(Array.from({ length: 50 }, () => state.dictionary<string, number>('n')));
  assert.equal(new Set(all).size, 1);
  await assert.rejects(state.queue('n'), ArgumentError);
  const d = await state.dictionary<string, number>('n');
  await state.transaction((tx) => d.set(tx, 'k', 1));
  await d.clear();
  await state.transaction(async (tx) => assert.equal(await d.count(tx), 0));
  await state.remove('n');
  assert.equal(await state.get('n'), undefined);
  const again = await state.dictionary<string, number>('n');
  assert.notEqual(again, d);
});
