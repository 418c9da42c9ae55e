// The scenarios of the specification about crashes, in its own words: D26, Q18, C10, S16 and R1 to R10; R2 and R6,
// which need a process that is killed, are in test/crash. A crash is what the disk has at that moment.

import assert from 'node:assert/strict';
import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { seededRandom } from '../base/random.js';
import { InvalidDataError, OutcomeUnknownError, StateManager, TransactionFaultedError } from './index.js';
import { all, crashCopy, stalled, temporary, waits } from './scenario.suite.js';

async function given(t: TestContext) {
  const location = await temporary();
  const state = await StateManager.open({ location });
  t.after(() => state.close());
  return {
    state,
    location,
    d: await state.dictionary<string, number>('d'),
    q: await state.queue<string>('q'),
    cq: await state.concurrentQueue<string>('cq'),
    crash: async () => {
      const found = await StateManager.open({ location: await crashCopy(location) });
      t.after(() => found.close());
      return found;
    },
  };
}

test('D26: clear, then crash and recover: empty', async (t) => {
  const { state, d, crash } = await given(t);
  await state.transaction(async (tx) => {
    for (let n = 0; n < 100; n++) await d.set(tx, `key ${n}`, n);
  });
  await d.clear();
  const found = await (await crash()).dictionary<string, number>('d');
  assert.equal(await found.currentCount(), 0);
  // 10.25: clear, write, clear, restart.
  await state.transaction((tx) => d.set(tx, 'between', 1));
  await d.clear();
  await state.transaction((tx) => d.set(tx, 'after', 1));
  const again = await crash();
  const rows = await again.dictionary<string, number>('d');
  assert.deepEqual(await again.transaction((tx) => all(rows.entries(tx))), [['after', 1]]);
  assert.equal(await rows.currentCount(), 1);
});

test('Q18: crash after commit of T1 enqueue(a), uncommitted dequeue of T2: after recovery q=[a]', async (t) => {
  const { state, q, crash } = await given(t);
  await state.transaction((tx) => q.enqueue(tx, 'a'));
  await using second = state.begin();
  assert.equal(await q.tryDequeue(second), 'a');
  const again = await crash();
  const found = await again.queue<string>('q');
  assert.deepEqual(await again.transaction((tx) => all(found.entries(tx))), ['a']);
});

test('C10: crash with an open dequeue: item back after recovery', async (t) => {
  const { state, cq, crash } = await given(t);
  await state.transaction((tx) => cq.enqueue(tx, 'a'));
  await using open = state.begin();
  assert.equal(await cq.tryDequeue(open), 'a');
  const again = await crash();
  const found = await again.concurrentQueue<string>('cq');
  assert.equal(await found.count(), 1);
  assert.equal(await again.transaction((tx) => found.tryDequeue(tx)), 'a');
});

test('S16: enumerate while checkpoints and consolidation run, 1000 rounds: no error, no duplicate, no gap', async (t) => {
  const { state, d } = await given(t);
  const keys = Array.from({ length: 100 }, (_, n) => `key ${String(n).padStart(4, '0')}`);
  const padding = await state.dictionary<number, Buffer>('padding');
  await state.transaction(async (tx) => {
    for (const key of keys) await d.set(tx, key, 0);
  });
  let running = true;
  const churn = async () => {
    for (let n = 1; running; n++) {
      await state.transaction(async (tx) => {
        // LevelDB writes a table every 8 MiB: so it merges tables all the time.
        await padding.set(tx, n % 50, Buffer.alloc(64 * 1024, n));
        for (let k = 0; k < 20; k++) await d.set(tx, keys[(n * 7 + k) % keys.length] as string, n);
      });
    }
  };
  const churning = churn();
  try {
    const reader = async () => {
      for (let round = 0; round < 50; round++) {
        await using tx = state.begin();
        assert.deepEqual(await all(d.keys(tx, { pageSize: 40 })), keys);
      }
    };
    await Promise.all(Array.from({ length: 20 }, reader));
  } finally {
    running = false;
    await churning;
  }
});

test('R1: commit resolves; kill -9; reopen: all changes present', async (t) => {
  const { state, d, q, cq, crash } = await given(t);
  for (let round = 0; round < 5; round++) {
    await state.transaction(async (tx) => {
      await d.set(tx, `key ${round}`, round);
      await q.enqueue(tx, `item ${round}`);
      await cq.enqueue(tx, `item ${round}`);
    });
    const again = await crash();
    const [d2, q2, cq2] = [
      await again.dictionary<string, number>('d'),
      await again.queue<string>('q'),
      await again.concurrentQueue<string>('cq'),
    ];
    await using tx = again.begin();
    assert.equal(await d2.get(tx, `key ${round}`), round);
    assert.deepEqual([await d2.count(tx), await q2.count(tx), await cq2.count()], Array(3).fill(round + 1));
    await again.close();
  }
});

async function newestLog(location: string): Promise<string> {
  const folder = join(location, 'store');
  const logs = (await readdir(folder)).filter((name) => name.endsWith('.log')).sort();
  return join(folder, logs.at(-1) as string);
}

test('R3: torn last log record: ignored; earlier commits intact', async (t) => {
  const { state, d, location } = await given(t);
  for (let n = 0; n < 20; n++) await state.transaction((tx) => d.set(tx, 'k', n));
  const torn = await crashCopy(location);
  // What a write that was under way leaves: bytes behind all that is durable.
  const log = await newestLog(torn);
  const content = await readFile(log);
  await writeFile(log, Buffer.concat([content, Buffer.from('0123456789abcdef')]));
  await using again = await StateManager.open({ location: torn });
  const found = await again.dictionary<string, number>('d');
  assert.equal(await again.transaction((tx) => found.get(tx, 'k')), 19);
});

for (const what of ['log', 'checkpoint'] as const) {
  test(`R4: corrupted byte in the middle of the ${what}: InvalidDataException on open or when read, no silent loss`, async (t) => {
    const { state, d, location } = await given(t);
    const random = seededRandom(4);
    for (let n = 0; n < 60; n++) {
      await state.transaction((tx) => d.set(tx, `key ${n}`, random() * 1e9));
    }
    await state.close();
    // The log becomes a table, LevelDB's checkpoint, when the store is opened again.
    if (what === 'checkpoint') await (await StateManager.open({ location })).close();
    const folder = join(location, 'store');
    const names = (await readdir(folder)).filter((name) =>
      what === 'log' ? name.endsWith('.log') : /\.(ldb|sst)$/.test(name),
    );
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
    const path = join(folder, names[sizes.indexOf(Math.max(...sizes))] as string);
    const content = await readFile(path);
    const middle = Math.floor(content.length / 3);
    content[middle] = (content[middle] as number) ^ 0x40;
    await writeFile(path, content);
    const use = async () => {
      await using again = await StateManager.open({ location });
      const found = await again.dictionary<string, number>('d');
      const rows = await again.transaction((tx) => all(found.entries(tx)));
      assert.equal(rows.length, 60, 'some rows are gone and nobody said so');
    };
    await assert.rejects(use, (error) => {
      assert.ok(error instanceof InvalidDataError, String(error));
      return true;
    });
  });
}

test('R5: checkpoint, truncate, reopen: same state; log smaller', async () => {
  const location = await temporary();
  const state = await StateManager.open({ location });
  const d = await state.dictionary<string, number>('d');
  for (let n = 0; n < 200; n++) await state.transaction((tx) => d.set(tx, `key ${n % 20}`, n));
  const rows = await state.transaction((tx) => all(d.entries(tx)));
  await state.close();
  const before = (await stat(await newestLog(location))).size;
  await using again = await StateManager.open({ location });
  const found = await again.dictionary<string, number>('d');
  assert.deepEqual(await again.transaction((tx) => all(found.entries(tx))), rows);
  assert.ok((await stat(await newestLog(location))).size < before / 4);
});

test('R5: what was durable cannot be cut off from the log unnoticed', async (t) => {
  const { state, d, location } = await given(t);
  for (let n = 0; n < 20; n++) await state.transaction((tx) => d.set(tx, 'k', n));
  await state.close();
  const log = await newestLog(location);
  const { size } = await stat(log);
  await truncate(log, Math.floor(size / 2));
  await assert.rejects(StateManager.open({ location }), InvalidDataError);
});

test('R10: disk throttled beyond the timeout: the commit says that its outcome is unknown (a lock is not held for the disk, so no call times out); later retry works', async () => {
  const { state, disk } = await stalled();
  const d = await state.dictionary<string, number>('d');
  disk.stall();
  const tx = state.begin();
  await d.set(tx, 'k', 1);
  await assert.rejects(tx.commit({ timeoutMs: 20 }), OutcomeUnknownError);
  const later = state.transaction((other) => d.set(other, 'k', 2, { timeoutMs: 20 }));
  await waits(later);
  disk.go();
  await later;
  assert.equal(await state.transaction((read) => d.get(read, 'k')), 2);
  await state.close();
});

test('nobody is told before the disk has it: a read, a count, an empty answer, a refusal', async () => {
  const { state, disk } = await stalled();
  const d = await state.dictionary<string, number>('d');
  const [q, cq] = [await state.queue<string>('q'), await state.concurrentQueue<string>('cq', { maxSize: 2 })];
  await state.transaction(async (tx) => {
    await d.set(tx, 'k', 1);
    await q.enqueue(tx, 'a');
    await cq.enqueue(tx, 'a');
  });
  disk.stall();
  const taken = state.transaction(async (tx) => {
    await d.set(tx, 'k', 2);
    await q.tryDequeue(tx);
    await cq.tryDequeue(tx);
  });
  await waits(taken);
  const added = state.transaction(async (tx) => {
    await cq.enqueue(tx, 'b');
    await cq.enqueue(tx, 'c');
  });
  const unsettled = [taken, added, state.dictionary('created')];
  await waits(...unsettled);
  const byHand = async () => {
    await using tx = state.begin();
    return await d.get(tx, 'k');
  };
  const aborted = async () => {
    const tx = state.begin();
    const value = await d.get(tx, 'k');
    await tx.abort();
    return value;
  };
  const told = {
    read: state.transaction((tx) => d.get(tx, 'k')),
    'read without a lock': state.transaction((tx) => d.get(tx, 'k', { lock: 'none' })),
    enumeration: state.transaction((tx) => all(d.entries(tx))),
    count: state.transaction((tx) => q.count(tx)),
    'empty queue': state.transaction((tx) => q.tryDequeue(tx)),
    'count of a concurrent queue': cq.count(),
    'refusal of a full queue': state.transaction((tx) => cq.enqueue(tx, 'd')).catch(({ name }) => name),
    'refusal of the work': state
      .transaction(async (tx) => {
        throw new Error(`k is ${await d.get(tx, 'k')}`);
      })
      .catch(({ message }) => message),
    'read by hand, disposed': byHand(),
    'read by hand, aborted': aborted(),
    'a collection': state.get('created').then((found) => found?.name),
    'the list': state.list().then((found) => found.length),
  };
  await waits(...Object.values(told));
  disk.go();
  const answers = Object.fromEntries(
    await Promise.all(Object.entries(told).map(async ([name, answer]) => [name, await answer])),
  );
  assert.deepEqual(answers, {
    read: 2,
    'read without a lock': 2,
    enumeration: [['k', 2]],
    count: 0,
    'empty queue': undefined,
    'count of a concurrent queue': 2,
    'refusal of a full queue': 'QueueFullError',
    'refusal of the work': 'k is 2',
    'read by hand, disposed': 2,
    'read by hand, aborted': 2,
    'a collection': 'created',
    'the list': 4,
  });
  await Promise.all(unsettled);
  await state.close();
});

test('nobody is told before the disk has it: one by hand that the system has ended, too', async () => {
  const { state, disk } = await stalled({ maxValueBytes: 100 });
  const d = await state.dictionary<string, unknown>('d');
  disk.stall();
  const written = state.transaction((tx) => d.set(tx, 'k', 2));
  await waits(written);
  const byHand = async () => {
    await using tx = state.begin();
    const value = await d.get(tx, 'k');
    await assert.rejects(d.set(tx, 'large', 'x'.repeat(200)), TransactionFaultedError);
    return value;
  };
  const told = byHand();
  await waits(told);
  disk.go();
  assert.equal(await told, 2);
  await written;
  await state.close();
});

test('nobody is told of a collection that was created after the question, before the disk has it', async () => {
  const { state, disk } = await stalled();
  disk.stall();
  const first = state.dictionary('first');
  await waits(first);
  const answers = Promise.all([state.get('second'), state.list()]); // they wait for the first
  const second = state.dictionary('second');
  await waits(second);
  disk.go(); // the first group, but not the one behind it
  disk.stall();
  await first;
  const [found, list] = await answers;
  assert.equal(found, undefined);
  assert.deepEqual(
    list.map(({ name }) => name),
    ['first'],
  );
  await waits(second);
  disk.go();
  assert.equal((await second).name, 'second');
  await state.close();
});

test('nobody is told before the disk has it: an empty concurrent queue, and one that has no room at the commit', async () => {
  const { state, disk } = await stalled();
  const cq = await state.concurrentQueue<string>('cq', { maxSize: 1 });
  await state.transaction((tx) => cq.enqueue(tx, 'a'));
  disk.stall();
  const taken = state.transaction((tx) => cq.tryDequeue(tx));
  await waits(taken);
  const empty = state.transaction((tx) => cq.tryDequeue(tx));
  const late = state.begin();
  await cq.enqueue(late, 'late');
  const full = state.transaction((tx) => cq.enqueue(tx, 'b'));
  await waits(taken, empty, full);
  const refused = late.commit().catch(({ name }) => name);
  await waits(refused);
  disk.go();
  assert.deepEqual(await Promise.all([taken, empty, full, refused]), [
    'a',
    undefined,
    undefined,
    'QueueFullError',
  ]);
  await state.close();
});
