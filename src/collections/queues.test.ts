// Sections 11.4 and 11.5 of the specification, in its own words.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ArgumentError,
  DeadlockError,
  InvalidOperationError,
  ObjectClosedError,
  OperationCanceledError,
  QueueFullError,
  TimeoutError,
  TransactionClosedError,
  TransientError,
} from './index.js';
import { all, granted, type Scene, scene, waits } from './scenario.suite.js';

async function withItems(...items: string[]): Promise<Scene> {
  const s = await scene();
  await s.state.transaction(async (tx) => {
    for (const item of items) await s.q.enqueue(tx, item);
    for (const item of items) await s.cq.enqueue(tx, item);
  });
  return s;
}

test('Q1: T1 enqueues a,b; commit; T2 c; commit; dequeue x4: a,b,c, none', async () => {
  await using s = await scene();
  await s.q.enqueue(s.t(1), 'a');
  await s.q.enqueue(s.t(1), 'b');
  await s.end(1);
  await s.q.enqueue(s.t(2), 'c');
  await s.end(2);
  const found = [];
  for (let n = 0; n < 4; n++) found.push(await s.q.tryDequeue(s.t(3)));
  assert.deepEqual(found, ['a', 'b', 'c', undefined]);
});

for (const how of ['commit', 'abort'] as const) {
  test(`Q2: T1 enqueue(a); T2 enqueue(b): T2 waits until T1 ends; T1 ${how}`, async () => {
    await using s = await scene();
    await s.q.enqueue(s.t(1), 'a');
    const second = s.q.enqueue(s.t(2), 'b');
    await waits(second);
    await s.t(1)[how]();
    await second;
    await s.end(2);
    assert.deepEqual(await all(s.q.entries(s.t(3))), how === 'commit' ? ['a', 'b'] : ['b']);
  });

  test(`Q3, Q4: q=[a,b]; T1 dequeue a; T2 dequeue waits; T1 ${how}`, async () => {
    await using s = await withItems('a', 'b');
    assert.equal(await s.q.tryDequeue(s.t(1)), 'a');
    const second = s.q.tryDequeue(s.t(2));
    await waits(second);
    await s.t(1)[how]();
    assert.equal(await second, how === 'commit' ? 'b' : 'a');
  });

  test(`Q8: q empty; T1 enqueue(a) uncommitted; T2 dequeue waits; T1 ${how}`, async () => {
    await using s = await scene();
    await s.q.enqueue(s.t(1), 'a');
    const second = s.q.tryDequeue(s.t(2));
    await waits(second);
    await s.t(1)[how]();
    assert.equal(await second, how === 'commit' ? 'a' : undefined);
  });

  test(`Q12: q=[a]; T1 dequeue; T2 peek waits; T1 ${how}`, async () => {
    await using s = await withItems('a');
    await s.q.tryDequeue(s.t(1));
    const second = s.q.tryPeek(s.t(2));
    await waits(second);
    await s.t(1)[how]();
    assert.equal(await second, how === 'commit' ? undefined : 'a');
  });
}

test('Q5: q=[a]; T1 enqueue(b); T2 dequeue: both at once; T2 gets a', async () => {
  await using s = await withItems('a');
  await granted(s.q.enqueue(s.t(1), 'b'));
  assert.equal(await s.q.tryDequeue(s.t(2), { timeoutMs: 0 }), 'a');
});

test('Q6: q empty; T1 dequeue none; T2 enqueue(a): T2 waits until T1 ends', async () => {
  await using s = await scene();
  assert.equal(await s.q.tryDequeue(s.t(1)), undefined);
  const second = s.q.enqueue(s.t(2), 'a');
  await waits(second);
  await s.end(1);
  await granted(second);
});

test('Q7: q empty; T1 peek none; T3 peek none at once if it asks before T2; T2 enqueue waits until T1 and T3 end', async () => {
  await using s = await scene();
  assert.equal(await s.q.tryPeek(s.t(1)), undefined);
  assert.equal(await s.q.tryPeek(s.t(3), { timeoutMs: 0 }), undefined);
  const second = s.q.enqueue(s.t(2), 'a');
  await waits(second);
  const fourth = s.q.tryPeek(s.t(4));
  await waits(fourth);
  await s.end(1);
  await waits(second);
  await s.end(3);
  await granted(second);
  await s.end(2);
  assert.equal(await fourth, 'a');
});

test('Q9: q empty; T1 enqueue(a), dequeue: a (own write); commit leaves empty', async () => {
  await using s = await scene();
  await s.q.enqueue(s.t(1), 'a');
  assert.equal(await s.q.tryPeek(s.t(1)), 'a');
  assert.equal(await s.q.tryDequeue(s.t(1)), 'a');
  await s.end(1);
  assert.equal(await s.q.count(s.t(2)), 0);
  await s.q.enqueue(s.t(2), 'b');
  assert.equal(await s.q.tryDequeue(s.t(2)), 'b');
});

test('Q10: q=[a]; T1 peek, T2 peek: both a at once', async () => {
  await using s = await withItems('a');
  assert.deepEqual([await s.q.tryPeek(s.t(1)), await s.q.tryPeek(s.t(2), { timeoutMs: 0 })], ['a', 'a']);
});

test('Q11: q=[a]; T1 peek; T2 dequeue: T2 waits until T1 ends', async () => {
  await using s = await withItems('a');
  await s.q.tryPeek(s.t(1));
  const second = s.q.tryDequeue(s.t(2));
  await waits(second);
  await s.end(1);
  assert.equal(await second, 'a');
});

test('Q13: q=[a]; T1 peek(Update); T2 peek: T2 waits until T1 ends', async () => {
  await using s = await withItems('a');
  await s.q.tryPeek(s.t(1), { lock: 'update' });
  const second = s.q.tryPeek(s.t(2));
  await waits(second);
  await s.end(1);
  await granted(second);
});

test('Q14: q=[a,b]; T1 dequeue; T2 getCount, enumerate: 2; a,b; T1 getCount = 1', async () => {
  await using s = await withItems('a', 'b');
  await s.q.tryDequeue(s.t(1));
  assert.equal(await s.q.count(s.t(2)), 2);
  assert.deepEqual(await all(s.q.entries(s.t(2))), ['a', 'b']);
  assert.equal(await s.q.count(s.t(1)), 1);
  assert.deepEqual(await all(s.q.entries(s.t(1))), ['b']);
});

test('Q15: q=[a]; T1 enqueue(x) then dequeue; T2 dequeue then enqueue(y): deadlock, one fails at once', async () => {
  await using s = await withItems('a');
  await s.q.enqueue(s.t(1), 'x');
  await s.q.tryDequeue(s.t(2));
  const first = s.q.tryDequeue(s.t(1));
  await assert.rejects(
    s.q.enqueue(s.t(2), 'y'),
    (error) => error instanceof DeadlockError && error instanceof TimeoutError,
  );
  await s.abort(2);
  assert.equal(await first, 'a');
});

test('Q16: q empty; T1 dequeue none; T1 enqueue(a): at once (own lock)', async () => {
  await using s = await scene();
  await s.q.tryDequeue(s.t(1));
  await granted(s.q.enqueue(s.t(1), 'a'));
});

test('Q17: q.clear(): empties, and the queue goes on', async () => {
  await using s = await withItems('a', 'b');
  await s.q.clear();
  assert.equal(await s.q.count(s.t(1)), 0);
  assert.equal(await s.q.tryDequeue(s.t(1)), undefined);
  await s.q.enqueue(s.t(1), 'c');
  await s.end(1);
  assert.deepEqual(await all(s.q.entries(s.t(2))), ['c']);
});

test('S17 for a queue: a snapshot from before a clear shows the old items, then those of its own', async () => {
  await using s = await scene();
  await s.q.enqueue(s.t(1), 'a');
  await s.end(1);
  const old = s.t(2);
  await s.q.clear();
  await s.q.enqueue(old, 'x');
  assert.deepEqual(await all(s.q.entries(old)), ['a', 'x']);
  assert.equal(await s.q.count(old), 2);
  assert.equal(await s.q.tryDequeue(old), 'x', 'what it dequeues is the newest state');
  assert.deepEqual(await all(s.q.entries(old)), ['a']);
});

test('a queue takes null and refuses undefined', async () => {
  await using s = await scene();
  const nulls = await s.state.queue<null>('nulls');
  await nulls.enqueue(s.t(1), null);
  assert.equal(await nulls.tryDequeue(s.t(1)), null);
  await assert.rejects(nulls.enqueue(s.t(1), undefined as never), ArgumentError);
});

test('C1: T1 enqueue(a); T1 dequeue; T2 dequeue: none; none; after commit a dequeue gives a', async () => {
  await using s = await scene();
  await s.cq.enqueue(s.t(1), 'a');
  assert.equal(await s.cq.tryDequeue(s.t(1)), undefined);
  assert.equal(await s.cq.tryDequeue(s.t(2)), undefined);
  await s.end(1);
  assert.equal(await s.cq.tryDequeue(s.t(2)), 'a');
});

test('C2: T1 enqueue, T2 enqueue, both open: no wait', async () => {
  await using s = await scene();
  await granted(s.cq.enqueue(s.t(1), 'a'), s.cq.enqueue(s.t(2), 'b'));
});

test('C3: cq=[a,b]; T1 dequeue, T2 dequeue, both open: a and b, different items, no wait', async () => {
  await using s = await withItems('a', 'b');
  assert.deepEqual([await s.cq.tryDequeue(s.t(1)), await s.cq.tryDequeue(s.t(2))], ['a', 'b']);
});

test('C4: cq=[a,b]; T1 dequeue a; T1 abort; T2 dequeue: a', async () => {
  await using s = await withItems('a', 'b');
  await s.cq.tryDequeue(s.t(1));
  await s.abort(1);
  assert.equal(await s.cq.tryDequeue(s.t(2)), 'a');
});

test('C5: cq empty; dequeue with timeout 5 s: none at once; enqueue by others not delayed', async () => {
  await using s = await scene();
  await granted(s.cq.tryDequeue(s.t(1), { timeoutMs: 5_000 }));
  await granted(s.cq.enqueue(s.t(2), 'a'));
});

test('C6: 3 committed; T1 enqueue open; T2 dequeue open: count = 2', async () => {
  await using s = await withItems('a', 'b', 'c');
  await s.cq.enqueue(s.t(1), 'd');
  await s.cq.tryDequeue(s.t(2));
  assert.equal(await s.cq.count(), 2);
});

test('C7: cq=[a,b,c]; T1 dequeues a,b; abort; drain: a,b,c each exactly once, in order', async () => {
  await using s = await withItems('a', 'b', 'c');
  await s.cq.tryDequeue(s.t(1));
  await s.cq.tryDequeue(s.t(1));
  await s.abort(1);
  const drained = [];
  for (let n = 0; n < 4; n++) drained.push(await s.cq.tryDequeue(s.t(2)));
  assert.deepEqual(drained, ['a', 'b', 'c', undefined]);
});

test('C8: T1 commits a, then T2 commits b; one consumer, no faults: a then b', async () => {
  await using s = await scene();
  await s.cq.enqueue(s.t(1), 'a');
  await s.end(1);
  await s.cq.enqueue(s.t(2), 'b');
  await s.end(2);
  assert.deepEqual([await s.cq.tryDequeue(s.t(3)), await s.cq.tryDequeue(s.t(3))], ['a', 'b']);
});

test('C9: 8 producers x 1000, 8 consumers with random aborts: every item committed by exactly one consumer', async () => {
  await using s = await scene();
  const total = 8_000;
  let seed = 42;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  const produce = async (who: number) => {
    for (let n = 0; n < 1_000; n++) await s.state.transaction((tx) => s.cq.enqueue(tx, `${who}-${n}`));
  };
  const taken: string[] = [];
  const consume = async () => {
    while (taken.length < total) {
      await using tx = s.state.begin({ snapshot: 'first read' });
      const item = await s.cq.tryDequeue(tx);
      if (item === undefined) await new Promise((resolve) => setImmediate(resolve));
      else if (random() < 0.3) await tx.abort();
      else {
        await tx.commit();
        taken.push(item);
      }
    }
  };
  await Promise.all([...Array(8).keys()].flatMap((who) => [produce(who), consume()]));
  assert.equal(taken.length, total);
  assert.equal(new Set(taken).size, total);
  assert.equal(await s.cq.count(), 0);
});

test('C11: dequeue in a finished transaction: InvalidOperationException', async () => {
  await using s = await scene();
  await s.end(1);
  await assert.rejects(s.cq.tryDequeue(s.t(1)), InvalidOperationError);
});

test('C12: maxSize 2, third enqueue: QueueFullException; after a committed dequeue it succeeds', async () => {
  await using s = await scene();
  const small = await s.state.concurrentQueue<string>('small', { maxSize: 2 });
  const put = (item: string) => s.state.transaction((tx) => small.enqueue(tx, item));
  await put('a');
  await put('b');
  await assert.rejects(
    put('c'),
    (error) => error instanceof QueueFullError && error instanceof TransientError,
  );
  await s.state.transaction((tx) => small.tryDequeue(tx));
  await put('c');
});

test('two that fill the last place of a bounded queue at once: one is told that it is full', async () => {
  await using s = await scene();
  const small = await s.state.concurrentQueue<string>('small', { maxSize: 1 });
  await small.enqueue(s.t(1), 'a');
  await small.enqueue(s.t(2), 'b');
  await s.end(1);
  await assert.rejects(s.end(2), QueueFullError);
  assert.equal(await small.count(), 1);
});

test('an item that commits behind others that were read ahead is still found', async () => {
  await using s = await scene();
  await s.cq.enqueue(s.t(1), 'early'); // its place comes before the next ones
  await s.state.transaction(async (tx) => {
    await s.cq.enqueue(tx, 'x');
    await s.cq.enqueue(tx, 'y');
  });
  assert.equal(await s.cq.tryDequeue(s.t(2)), 'x');
  await s.end(1);
  assert.equal(await s.cq.tryDequeue(s.t(2)), 'early');
  assert.equal(await s.cq.tryDequeue(s.t(2)), 'y');
});

test('10.9: dequeue waits for an item, and ends with the time, its signal, its transaction or the state manager', async () => {
  await using s = await scene();
  const waiting = s.cq.dequeue(s.t(1));
  await waits(waiting);
  await s.state.transaction((tx) => s.cq.enqueue(tx, 'a'));
  assert.equal(await waiting, 'a');

  assert.equal(await s.cq.dequeue(s.t(1), { timeoutMs: 0 }), undefined);
  assert.equal(await s.cq.dequeue(s.t(1), { timeoutMs: 20 }), undefined);
  const abort = new AbortController();
  const canceled = s.cq.dequeue(s.t(1), { signal: abort.signal });
  await waits(canceled);
  abort.abort();
  await assert.rejects(canceled, OperationCanceledError);

  const second = s.cq.dequeue(s.t(2));
  await waits(second);
  await s.abort(1); // its item comes back
  assert.equal(await second, 'a');

  const disposed = s.cq.dequeue(s.t(3));
  await waits(disposed);
  const ended = assert.rejects(disposed, TransactionClosedError);
  await s.t(3).dispose();
  await ended;

  const closed = s.cq.dequeue(s.t(4));
  await waits(closed);
  const refused = assert.rejects(closed, ObjectClosedError);
  await s.state.close();
  await refused;
});

test('10.9: many wait, each item goes to one of them', async () => {
  await using s = await scene();
  const consumers = Array.from({ length: 20 }, () => s.state.transaction((tx) => s.cq.dequeue(tx)));
  await s.state.transaction(async (tx) => {
    for (let n = 0; n < 20; n++) await s.cq.enqueue(tx, `item ${n}`);
  });
  assert.equal(new Set(await Promise.all(consumers)).size, 20);
  assert.equal(await s.cq.count(), 0);
});

test('a queue in use with one limit is not opened with another', async () => {
  await using s = await scene();
  await s.state.concurrentQueue('bounded', { maxSize: 2 });
  await s.state.concurrentQueue('bounded', { maxSize: 2 });
  await s.state.concurrentQueue('bounded');
  await assert.rejects(s.state.concurrentQueue('bounded', { maxSize: 3 }), ArgumentError);
  await assert.rejects(s.state.concurrentQueue('other', { maxSize: 0 }), ArgumentError);
});

test('a dequeue does not lift the limit of the enqueues in the same transaction', async () => {
  await using s = await scene();
  const bounded = await s.state.concurrentQueue<string>('bounded', { maxSize: 2 });
  await s.state.transaction((tx) => bounded.enqueue(tx, 'a'));
  await using tx = s.state.begin();
  await bounded.enqueue(tx, 'b');
  assert.equal(await bounded.tryDequeue(tx), 'a');
  await bounded.enqueue(tx, 'c');
  await s.state.transaction((other) => bounded.enqueue(other, 'd'));
  await assert.rejects(tx.commit(), QueueFullError);
  assert.equal(await bounded.count(), 2);
});
