// Scenarios R7 to R9 of the specification, in its own words: a replica that is not the primary, or is no more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ArgumentError,
  InvalidOperationError,
  NotPrimaryError,
  NotReadableError,
  TransactionFaultedError,
} from './index.js';
import { all, granted, scene, waits } from './scenario.suite.js';

test('R7: role switched to secondary: set / S(k) in new tx / U(k) / getCount: FabricNotPrimaryException / snapshot value / FabricNotReadableException / ok', async () => {
  await using s = await scene();
  await s.state.transaction((tx) => s.q.enqueue(tx, 'a'));
  s.state.role = 'secondary';
  await assert.rejects(s.X(1), NotPrimaryError);
  assert.equal(await s.S(1), 1);
  assert.equal(await s.S(1, 'absent'), undefined);
  await assert.rejects(s.U(1), NotReadableError);
  assert.equal(await s.d.count(s.t(1)), 2);
  assert.deepEqual(await all(s.d.keys(s.t(1))), ['j', 'k']);
  assert.equal(await s.q.tryPeek(s.t(1)), 'a');
  await assert.rejects(s.q.tryPeek(s.t(1), { lock: 'update' }), NotReadableError);
  for (const write of [
    () => s.d.getOrAdd(s.t(1), 'k', 1),
    () => s.d.delete(s.t(1), 'k'),
    () => s.q.enqueue(s.t(1), 'b'),
    () => s.q.tryDequeue(s.t(1)),
    () => s.cq.enqueue(s.t(1), 'b'),
    () => s.cq.tryDequeue(s.t(1)),
    () => s.d.clear(),
    () => s.state.remove('d'),
    () => s.state.dictionary('new'),
    () => s.state.backup({ folder: 'nowhere' }),
  ]) {
    await assert.rejects(write, NotPrimaryError);
  }
  assert.equal(await s.state.dictionary('d'), s.d, 'one that is there is found');
  assert.equal(s.state.inspect().role, 'secondary');
  await s.end(1);
});

test('4.5: reads on a secondary are of one snapshot and wait for no lock', async () => {
  await using s = await scene();
  s.state.role = 'secondary';
  const reader = s.t(1);
  s.state.role = 'primary';
  await s.X(2);
  await s.end(2);
  await s.X(3, 'k', 3);
  s.state.role = 'secondary';
  assert.equal(await s.d.get(reader, 'k'), 1, 'the moment of its beginning');
  assert.equal(await s.S(4), 2);
});

test('R8: tx created as primary, role lost, then write / read: FabricNotPrimaryException / FabricNotReadableException', async () => {
  await using s = await scene();
  await s.X(1);
  s.state.role = 'secondary';
  await assert.rejects(s.X(1, 'j'), NotPrimaryError);
  await assert.rejects(s.S(1, 'j'), NotReadableError);
  await assert.rejects(s.end(1), NotPrimaryError);
  await s.t(1).dispose();
  assert.equal(await s.value('k'), 1);
});

test('5.2: role lost: the locks of pending transactions are released, waiting lock requests TransactionFaultedException', async () => {
  await using s = await scene();
  await s.X(1);
  const waiting = [s.S(2), s.X(3), s.S(4)];
  await waits(...waiting);
  const refused = waiting.map((call) => assert.rejects(call, TransactionFaultedError));
  s.state.role = 'none';
  await Promise.all(refused);
  assert.equal(s.state.inspect().locks.length, 0);
});

test('a transaction whose locks went with the role cannot commit when the role comes back', async () => {
  await using s = await scene();
  const before = (await s.U(1)) as number;
  const count = await s.state.counters<string>('counters');
  await count.add(s.t(4), 'n', 1);
  s.state.role = 'secondary';
  s.state.role = 'primary';
  await s.X(2, 'k', 100);
  await s.end(2);
  await assert.rejects(s.X(1, 'k', before + 1), TransactionFaultedError);
  await assert.rejects(s.S(1), NotReadableError);
  assert.equal(await s.value('k'), 100, 'the update in between is not lost');
  await assert.rejects(s.end(4), TransactionFaultedError);
  assert.equal(await s.state.transaction((tx) => count.get(tx, 'n')), 0);
});

test('amounts alone cannot be committed on a secondary', async () => {
  await using s = await scene();
  const count = await s.state.counters<string>('counters');
  await count.add(s.t(1), 'n', 1);
  s.state.role = 'secondary';
  await assert.rejects(s.end(1), NotPrimaryError);
  s.state.role = 'primary';
  assert.equal(await s.state.transaction((tx) => count.get(tx, 'n')), 0);
});

test('R9: tx created as secondary, role gained, write: InvalidOperationException', async () => {
  await using s = await scene();
  s.state.role = 'secondary';
  await s.S(1);
  s.state.role = 'primary';
  await assert.rejects(s.X(1), InvalidOperationError);
  assert.equal(await s.S(1), 1);
  await s.end(1);
});

test('5.3: a replica that cannot be read', async () => {
  await using s = await scene();
  s.state.role = 'none';
  await assert.rejects(s.S(1), NotReadableError);
  await assert.rejects(s.X(1), NotPrimaryError);
  await assert.rejects(s.d.count(s.t(1)), NotReadableError);
  assert.throws(() => s.d.entries(s.t(1)), NotReadableError);
  await assert.rejects(s.state.list(), NotReadableError);
  await assert.rejects(s.state.get('d'), NotReadableError);
  await assert.rejects(s.state.dictionary('d'), NotReadableError);
  await assert.rejects(s.cq.count(), NotReadableError);
  await assert.rejects(s.d.currentCount(), NotReadableError);
  assert.throws(() => {
    s.state.role = 'king' as never;
  }, ArgumentError);
  s.state.role = 'primary';
  await granted(s.X(2));
});

test('a consumer that waits for an item is told when the role is lost', async () => {
  await using s = await scene();
  const waiting = s.cq.dequeue(s.t(1), { timeoutMs: 60_000 });
  await waits(waiting);
  const refused = assert.rejects(waiting, NotPrimaryError);
  s.state.role = 'secondary';
  await refused;
});
