// Section 11.7 of the specification, in its own words, and what else a transaction promises.

import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  ArgumentError,
  ConflictError,
  DeadlockError,
  InvalidOperationError,
  LimitError,
  LockTimeoutError,
  OperationCanceledError,
  OutcomeUnknownError,
  StateManager,
  TimeoutError,
  TransactionClosedError,
  TransactionFaultedError,
} from './index.js';
import { granted, scene, stalled, temporary, waits } from './scenario.suite.js';

test('TX1: any operation, commit, or abort after commit: InvalidOperationException', async () => {
  await using s = await scene();
  await s.X(1);
  await s.end(1);
  for (const call of [
    () => s.S(1),
    () => s.X(1),
    () => s.q.enqueue(s.t(1), 'x'),
    () => s.cq.tryDequeue(s.t(1)),
    () => s.d.count(s.t(1)),
    () => s.t(1).commit(),
    () => s.t(1).abort(),
    () => s.state.dictionary('x', { tx: s.t(1) }),
  ]) {
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof InvalidOperationError && error instanceof TransactionClosedError);
      assert.match(error.message, new RegExp(`transaction ${s.t(1).id} has ended: it was committed`));
      return true;
    });
  }
});

for (const how of ['abort', 'dispose'] as const) {
  test(`TX2: operation after ${how}: InvalidOperationException`, async () => {
    await using s = await scene();
    await s.X(1);
    await s.t(1)[how]();
    await assert.rejects(s.S(1), TransactionClosedError);
    await assert.rejects(s.t(1).commit(), InvalidOperationError);
    await assert.rejects(s.t(1).abort(), InvalidOperationError);
    assert.equal(s.t(1).status, 'aborted');
  });
}

test('TX3: dispose twice; dispose after commit: no error, no effect', async () => {
  await using s = await scene();
  await s.X(1);
  await s.t(1).dispose();
  await s.t(1).dispose();
  await s.X(2);
  await s.end(2);
  await s.t(2).dispose();
  assert.equal(s.t(2).status, 'committed');
  assert.equal(await s.value('k'), 2);
});

test('TX4: X(k=2), dispose without commit: k=1; locks free at once', async () => {
  await using s = await scene();
  await s.X(1);
  const disposed = s.t(1).dispose();
  await granted(s.X(2, 'k', 3, 0));
  await disposed;
  assert.equal(await s.value('k'), 1);
});

test('TX5: commitSequenceNumber before / after commit of writes / of a read-only tx: -1 / >0 and increasing with commit order / -1', async () => {
  await using s = await scene();
  for (const t of [1, 2]) await s.X(t, `key ${t}`);
  await s.S(3);
  assert.equal(s.t(1).commitSequenceNumber, -1n);
  for (const t of [2, 1, 3]) await s.end(t);
  assert.ok(s.t(2).commitSequenceNumber > 0n);
  assert.ok(s.t(1).commitSequenceNumber > s.t(2).commitSequenceNumber);
  assert.equal(s.t(3).commitSequenceNumber, -1n);
});

test('TX6: transactionIds of 1000 transactions: unique, increasing', async () => {
  await using state = await StateManager.open({ memory: true });
  let last = 0n;
  for (let n = 0; n < 1000; n++) {
    await using tx = state.begin();
    assert.ok(tx.id > last);
    last = tx.id;
  }
});

test('TX7: two operations on one tx not awaited: both succeed, in the order of the calls (ruling: queued, not refused)', async () => {
  await using s = await scene();
  const calls = [s.X(1, 'k', 5), s.S(1), s.X(1, 'k', 6), s.S(1), s.d.count(s.t(1)), s.end(1)];
  assert.deepEqual((await Promise.all(calls)).slice(0, 5), [undefined, 5, undefined, 6, 2]);
  assert.equal(await s.value('k'), 6);
});

test('TX7: a call that waits for a lock holds up those behind it in its transaction, and a failed one does not stop them', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await using s = await scene();
  await s.X(1);
  const waiting = s.S(2, 'k', 30);
  const behind = s.S(2, 'j');
  await waits(waiting, behind);
  t.mock.timers.tick(30);
  await assert.rejects(waiting, LockTimeoutError);
  assert.equal(await behind, 1);
});

test('TX8: dispose while commit pending: commit completes, dispose resolves after; never a crash', async () => {
  const { state, disk } = await stalled();
  const d = await state.dictionary<string, number>('d');
  const tx = state.begin();
  await d.set(tx, 'k', 1);
  disk.stall();
  const order: string[] = [];
  const commit = tx.commit().then(() => order.push('commit'));
  const dispose = tx.dispose().then(() => order.push('dispose'));
  await waits(commit, dispose);
  disk.go();
  await Promise.all([commit, dispose]);
  assert.deepEqual(order, ['commit', 'dispose']);
  assert.equal(await state.transaction((read) => d.get(read, 'k')), 1);
  await state.close();
});

test('TX8: dispose behind a commit that is queued behind a call that waits: the commit completes', async () => {
  await using s = await scene();
  await s.X(1);
  const calls = [s.X(2, 'k', 9), s.end(2), s.t(2).dispose()];
  await waits(...calls);
  await s.abort(1);
  await Promise.all(calls);
  assert.equal(await s.value('k'), 9);
});

test('TX9: tx of state manager A used with a collection of B: ArgumentException', async () => {
  await using a = await scene();
  await using b = await scene();
  await assert.rejects(b.d.get(a.t(1), 'k'), ArgumentError);
  assert.throws(() => b.d.entries(a.t(1)), ArgumentError);
  await assert.rejects(b.state.dictionary('x', { tx: a.t(1) }), ArgumentError);
  await assert.rejects(b.state.remove('d', { tx: a.t(1) }), ArgumentError);
  await assert.rejects(b.cq.tryDequeue(a.t(1)), ArgumentError);
});

test('TX10: commit of empty tx: resolves, no log record, no notification', async () => {
  await using s = await scene();
  const commits: unknown[] = [];
  s.state.engine.changes((commit) => commits.push(commit));
  s.state.onTransaction((change) => commits.push(change));
  await s.t(1).commit();
  await s.S(2);
  await s.end(2);
  assert.deepEqual(commits, []);
  await s.X(3);
  await s.end(3);
  assert.equal(commits.length, 2);
});

test('TX11: system abort of an open tx (max age): next operation and commit: TransactionFaultedException; locks already free; a waiting request fails the same way', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await using s = await scene({ maxTransactionAgeMs: 80 });
  const [old, young] = [s.t(1), s.t(2)];
  await s.X(1, 'j');
  t.mock.timers.tick(40);
  const third = s.t(3); // begins later, so it outlives the first two
  await s.d.set(third, 'k', 5);
  const waiting = s.S(2, 'k', 10_000);
  await waits(waiting);
  t.mock.timers.tick(40);
  await assert.rejects(waiting, TransactionFaultedError);
  for (const tx of [old, young]) {
    await assert.rejects(s.d.get(tx, 'j'), (error) => {
      assert.ok(error instanceof TransactionFaultedError);
      assert.match(error.message, /it was older than 80 ms/);
      return true;
    });
    await assert.rejects(tx.commit(), TransactionFaultedError);
    await assert.rejects(tx.abort(), TransactionFaultedError);
    await tx.dispose();
  }
  await granted(s.X(6, 'j', 1, 0));
});

test('TX12: abort of one-write tx: no log growth', async () => {
  const location = await temporary();
  await using state = await StateManager.open({ location });
  const d = await state.dictionary<string, string>('d');
  const before = await logBytes(location);
  for (let n = 0; n < 50; n++) {
    const tx = state.begin();
    await d.set(tx, 'k', 'x'.repeat(1000));
    await tx.abort();
  }
  assert.equal(await logBytes(location), before);
});

async function logBytes(location: string): Promise<number> {
  const names = (await readdir(join(location, 'store'))).filter((name) => name.endsWith('.log'));
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(location, 'store', name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

// ---- section 4: the rest

test('4.2: a transaction that is being committed takes no more calls', async () => {
  const { state, disk } = await stalled();
  const d = await state.dictionary<string, number>('d');
  const listening = d.onChange(() => {});
  const tx = state.begin();
  await d.set(tx, 'k', 1);
  disk.stall();
  const commit = tx.commit();
  const late = d.get(tx, 'k');
  assert.equal(tx.status, 'committing');
  await waits(commit);
  disk.go();
  await commit;
  await assert.rejects(late, TransactionClosedError);
  listening();
  await state.close();
});

test('4.3: commit with a time-out: its outcome is unknown, it goes on, and it is not run again', async () => {
  const { state, disk } = await stalled();
  const d = await state.dictionary<string, number>('d');
  const tx = state.begin();
  await d.set(tx, 'k', 1);
  disk.stall();
  await assert.rejects(tx.commit({ timeoutMs: 20 }), OutcomeUnknownError);
  let runs = 0;
  await assert.rejects(
    state.transaction(
      async (other) => {
        runs++;
        await d.set(other, 'j', 1);
        await other.commit({ timeoutMs: 20 });
      },
      { retries: 5 },
    ),
    OutcomeUnknownError,
  );
  assert.equal(runs, 1);
  disk.go();
  await tx.dispose();
  assert.deepEqual(
    await state.transaction(async (read) => [await d.get(read, 'k'), await d.get(read, 'j')]),
    [1, 1],
  );
  await assert.rejects(state.begin().commit({ timeoutMs: -2 }), ArgumentError);
  await state.close();
});

test('dispose ends a call that waits for a lock at once', async () => {
  await using s = await scene();
  await s.X(1);
  const waiting = s.S(2, 'k', Number.POSITIVE_INFINITY);
  await waits(waiting);
  const refused = assert.rejects(waiting, TransactionClosedError);
  await s.t(2).dispose();
  await refused;
  assert.equal(s.state.inspect().waitFor.length, 0);
});

test('an ended transaction takes no lock and no snapshot, whatever it was in the middle of', async () => {
  await using s = await scene();
  const rows = s.d.entries(s.t(1), { pageSize: 1 })[Symbol.asyncIterator]();
  await rows.next();
  const next = rows.next();
  await s.t(1).dispose();
  await assert.rejects(
    next.then(() => rows.next()),
    InvalidOperationError,
  );
  assert.equal(s.state.inspect().transactions.length, 0);
  assert.equal(s.state.inspect().locks.length, 0);
});

test('transactions are shown from the oldest to the youngest, whichever have ended between', async () => {
  await using s = await scene();
  for (const number of [1, 2, 3, 4, 5]) await s.S(number, `own ${number}`);
  const ids = [2, 4, 5].map((number) => s.t(number).id);
  await s.end(1);
  await s.abort(3);
  assert.deepEqual(
    s.state.inspect().transactions.map(({ id }) => id),
    ids,
  );
});

test('options that cannot be are refused', async () => {
  await using s = await scene();
  assert.throws(() => s.state.begin({ timeoutMs: -5 }), ArgumentError);
  assert.throws(() => s.state.begin({ withinMs: Number.NaN }), ArgumentError);
  assert.throws(() => s.state.begin({ snapshot: 'later' as never }), ArgumentError);
  await assert.rejects(s.d.get(s.t(1), 'k', { signal: {} as never }), ArgumentError);
  await assert.rejects(
    s.state.transaction(async () => {}, { retries: -1 }),
    ArgumentError,
  );
});

test('10.8: a limit for the whole transaction ends its waits, however long each may be', async () => {
  await using s = await scene();
  await s.X(1);
  await using tx = s.state.begin({ withinMs: 30 });
  await assert.rejects(s.d.get(tx, 'k', { timeoutMs: 10_000 }), TimeoutError);
});

test('4.5: the place in the history that a snapshot shows is fixed at the beginning', async () => {
  await using s = await scene();
  const before = s.t(1).visibilitySequenceNumber;
  await s.X(2);
  await s.end(2);
  assert.equal(s.t(1).visibilitySequenceNumber, before);
  assert.ok(s.t(3).visibilitySequenceNumber >= s.t(2).commitSequenceNumber);
});

// ---- running work

test('transaction(): commits what was done, aborts what threw, and says so', async () => {
  await using s = await scene();
  const result = await s.state.transaction(async (tx) => {
    await s.d.set(tx, 'k', 5);
    return 'done';
  });
  assert.equal(result, 'done');
  const error = new Error('no');
  await assert.rejects(
    s.state.transaction(async (tx) => {
      await s.d.set(tx, 'k', 6);
      throw error;
    }),
    (thrown) => thrown === error,
  );
  assert.equal(await s.value('k'), 5);
});

test('transaction(): work that ends its transaction itself', async () => {
  await using s = await scene();
  await s.state.transaction(async (tx) => {
    await s.d.set(tx, 'k', 5);
    await tx.commit();
  });
  await s.state.transaction(async (tx) => {
    await s.d.set(tx, 'k', 6);
    await tx.abort();
  });
  await s.state.transaction(async (tx) => {
    await s.d.set(tx, 'j', 7);
    void tx.commit();
  });
  assert.deepEqual([await s.value('k'), await s.value('j')], [5, 7]);
});

test('transaction(): one that the system has ended meanwhile is no success, and may be run again', async () => {
  await using s = await scene({ maxTransactionAgeMs: 40 });
  let runs = 0;
  const work = async (tx: Parameters<Parameters<typeof s.state.transaction>[0]>[0]) => {
    await s.d.set(tx, 'k', 5);
    if (runs++ === 0) await new Promise((resolve) => setTimeout(resolve, 80));
  };
  await assert.rejects(s.state.transaction(work), TransactionFaultedError);
  assert.equal(await s.value('k'), 1);
  runs = 0;
  await s.state.transaction(work, { retries: 1 });
  assert.deepEqual([runs, await s.value('k')], [2, 5]);
});

for (const [name, error, again] of [
  ['a deadlock', DeadlockError, true],
  ['a time-out', LockTimeoutError, true],
  ['a conflict', ConflictError, true],
  ['an argument that is wrong', ArgumentError, false],
  ['a counter at its limit', LimitError, false],
] as const) {
  test(`transaction(): ${name} is ${again ? '' : 'not '}run again`, async () => {
    await using s = await scene();
    let runs = 0;
    const failing = Object.create(error.prototype) as Error;
    await assert.rejects(
      s.state.transaction(
        async () => {
          runs++;
          throw failing;
        },
        { retries: 3 },
      ),
      error,
    );
    assert.equal(runs, again ? 4 : 1);
  });
}

test('transaction(): retries end by their time and by a signal', async () => {
  await using s = await scene();
  await s.X(1);
  const began = performance.now();
  await assert.rejects(
    s.state.transaction((tx) => s.d.set(tx, 'k', 1), { retries: Number.POSITIVE_INFINITY, withinMs: 60 }),
    TimeoutError,
  );
  assert.ok(performance.now() - began < 3_000);
  const abort = new AbortController();
  const work = s.state.transaction(
    async (tx) => {
      abort.abort();
      await s.d.set(tx, 'k', 1, { timeoutMs: 0 });
    },
    { retries: Number.POSITIVE_INFINITY, signal: abort.signal },
  );
  await assert.rejects(work, OperationCanceledError);
});

test('many that change the same two keys in opposite order all get through', async () => {
  await using s = await scene();
  const move = (from: string, to: string) =>
    s.state.transaction(
      async (tx) => {
        const [a, b] = [(await s.d.get(tx, from)) as number, (await s.d.get(tx, to)) as number];
        await s.d.set(tx, from, a - 1);
        await s.d.set(tx, to, b + 1);
      },
      { retries: Number.POSITIVE_INFINITY },
    );
  await Promise.all(Array.from({ length: 60 }, (_, n) => (n % 3 ? move('k', 'j') : move('j', 'k'))));
  assert.deepEqual([await s.value('k'), await s.value('j')], [-19, 21]);
});

test('inspect(): live transactions, what they hold, who waits for whom and in which order', async () => {
  await using s = await scene();
  await s.S(1);
  await s.U(2);
  const third = s.X(3);
  const fourth = s.S(4);
  await waits(third, fourth);
  const { transactions, locks, waitFor, waits: begun, role } = s.state.inspect();
  assert.equal(role, 'primary');
  assert.equal(begun, 2);
  assert.deepEqual(
    transactions.map(({ id, status }) => [id, status]),
    [1, 2, 3, 4].map((t) => [s.t(t).id, 'active']),
  );
  const key = locks.find((lock) => lock.key === 'd["k"]');
  assert.deepEqual(
    key?.holders.map(({ transactionId, mode }) => [transactionId, mode]),
    [
      [s.t(1).id, 'shared'],
      [s.t(2).id, 'update'],
    ],
  );
  assert.deepEqual(
    key?.waiters.map(({ transactionId, mode }) => [transactionId, mode]),
    [
      [s.t(3).id, 'exclusive'],
      [s.t(4).id, 'shared'],
    ],
  );
  assert.deepEqual(
    waitFor.map(({ waiter, blocker }) => [waiter, blocker]),
    [
      [s.t(3).id, s.t(1).id],
      [s.t(3).id, s.t(2).id],
      [s.t(4).id, s.t(2).id],
      [s.t(4).id, s.t(3).id],
    ],
  );
  const [first, , waiting] = transactions;
  assert.deepEqual(
    first?.locks.map((lock) => [lock.key, lock.mode]),
    [
      ['collection d', 'shared'],
      ['d["k"]', 'shared'],
    ],
  );
  assert.equal(first?.waitsFor, undefined);
  assert.ok(waiting?.waitsFor && waiting.waitsFor.holders.length === 2);
  assert.ok(waiting.waitsFor.holders.every(({ heldMs }) => heldMs >= 0));
  await s.X(1, 'other', 'x'.repeat(1000));
  assert.ok((s.state.inspect().transactions[0]?.writtenBytes ?? 0) > 1000);
  for (const t of [1, 2]) await s.end(t);
  await third;
  await s.end(3);
  await fourth;
  await s.end(4);
  assert.deepEqual(s.state.inspect(), {
    role: 'primary',
    transactions: [],
    locks: [],
    waitFor: [],
    waits: 2,
    conflicts: 0,
  });
});

test('a hook that is given to a transaction which has ended is told so at once', async () => {
  await using s = await scene();
  const told: string[] = [];
  const hook = { aborted: () => told.push('aborted'), ordered: () => told.push('ordered') };
  s.t(1).onEnd(hook);
  await s.X(1);
  await s.end(1);
  assert.deepEqual(told, ['ordered']);
  s.t(1).onEnd(hook);
  assert.deepEqual(told, ['ordered', 'aborted']);
});
