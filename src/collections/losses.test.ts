// A write to disk fails: what was ordered and not yet durable is lost, or turns up when the store is opened
// again. Who has seen it is told so, and nothing that is kept in memory goes on believing it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fate } from '../engine/faulty-disk.suite.js';
import {
  ConflictError,
  type Dictionary,
  mayRetry,
  ObjectClosedError,
  OutcomeUnknownError,
  ReadOnlyError,
  type StateChange,
  type StateManager,
  TransactionFaultedError,
} from './index.js';
import { all, stalled, turns } from './scenario.suite.js';

interface Lossy extends AsyncDisposable {
  readonly state: StateManager;
  readonly d: Dictionary<string, number>;
  /** The next write to disk fails so. */
  failNext(fate: Fate): void;
  /** Writes are taken again. */
  healed(): Promise<void>;
  value(key: string): Promise<number | undefined>;
}

async function lossy(onStateChange?: (change: StateChange) => void): Promise<Lossy> {
  const { state, disk } = await stalled(onStateChange && { onStateChange });
  const d = await state.dictionary<string, number>('d');
  await state.transaction((tx) => d.set(tx, 'k', 1));
  return {
    state,
    d,
    failNext(fate) {
      const fates = [fate];
      disk.fate = () => fates.shift() ?? 'done';
    },
    async healed() {
      while (state.engine.health().state !== 'open') await turns();
      await turns();
    },
    value: (key) => state.transaction((tx) => d.get(tx, key)),
    [Symbol.asyncDispose]: () => state.close(),
  };
}

for (const fate of ['gone', 'turns up'] as const) {
  test(`a commit that is lost and ${fate}: its outcome is unknown, it is faulted, and it is not run again`, async () => {
    await using s = await lossy();
    const told: string[] = [];
    s.failNext(fate);
    let runs = 0;
    const work = s.state.transaction(
      async (tx) => {
        runs++;
        await s.d.set(tx, 'k', 2);
        tx.onEnd({
          ordered: () => told.push('ordered'),
          lost: () => told.push('lost'),
          durable: () => told.push('durable'),
          aborted: () => told.push('aborted'),
        });
      },
      { retries: 3 },
    );
    await assert.rejects(work, (error) => error instanceof OutcomeUnknownError && !mayRetry(error));
    assert.equal(runs, 1);
    assert.deepEqual(told, ['ordered', 'lost']);
    await s.healed();
    assert.equal(await s.value('k'), fate === 'gone' ? 1 : 2);
  });

  test(`a transaction that has seen what is lost (${fate}) ends at once, with its locks`, async () => {
    await using s = await lossy();
    const reader = s.state.begin();
    s.failNext(fate);
    const lost = s.state.transaction((tx) => s.d.set(tx, 'k', 2));
    await turnsOf(1);
    assert.equal(await s.d.get(reader, 'k'), 2, 'ordered, and seen by everybody');
    await assert.rejects(lost, OutcomeUnknownError);
    assert.equal(reader.status, 'faulted');
    await assert.rejects(s.d.set(reader, 'j', 3), (error) => {
      assert.ok(error instanceof TransactionFaultedError && error.cause instanceof ConflictError);
      return mayRetry(error);
    });
    assert.equal(s.state.inspect().locks.length, 0);
    await s.healed();
    assert.equal(await s.value('j'), undefined);
  });

  test(`work that has seen what is lost (${fate}) is run again, and nobody is told what was lost`, async () => {
    await using s = await lossy();
    s.failNext(fate);
    const lost = s.state.transaction((tx) => s.d.set(tx, 'k', 2));
    await turnsOf(1);
    const seen: unknown[] = [];
    const read = s.state.transaction(
      async (tx) => {
        const value = await s.d.get(tx, 'k', { lock: 'none' });
        seen.push(value);
        return value;
      },
      { retries: 5 },
    );
    await assert.rejects(lost, OutcomeUnknownError);
    await s.healed();
    assert.equal(await read, await s.value('k'));
    assert.ok(seen.length >= 1);
  });

  test(`an enumeration whose snapshot went with a failed disk (${fate}) is run again, and keeps no lock`, async () => {
    await using s = await lossy();
    const byHand = s.state.begin();
    let runs = 0;
    const keys = await s.state.transaction(
      async (tx) => {
        if (runs++ === 0) {
          s.failNext(fate);
          await assert.rejects(
            s.state.transaction((other) => s.d.set(other, 'j', 2)),
            OutcomeUnknownError,
          );
          await s.healed();
        }
        return all(s.d.keys(tx));
      },
      { retries: 1 },
    );
    assert.deepEqual(keys, fate === 'gone' ? ['k'] : ['j', 'k']);
    await assert.rejects(s.d.count(byHand), (error) => {
      assert.ok(error instanceof TransactionFaultedError && !(error instanceof OutcomeUnknownError));
      return mayRetry(error);
    });
    assert.equal(byHand.status, 'faulted');
    assert.deepEqual(s.state.inspect().transactions, []);
    assert.deepEqual(s.state.inspect().locks, []);
  });

  test(`work that throws what another commit was told (${fate}) gives back its own locks`, async () => {
    await using s = await lossy();
    const work = s.state.transaction(async (tx) => {
      await s.d.set(tx, 'mine', 1);
      s.failNext(fate);
      await s.state.transaction((other) => s.d.set(other, 'j', 2));
    });
    await assert.rejects(work, OutcomeUnknownError);
    assert.deepEqual(s.state.inspect().transactions, []);
    assert.deepEqual(s.state.inspect().locks, []);
  });

  test(`a refusal that stands on what is lost (${fate}) is not told`, async () => {
    await using s = await lossy();
    s.failNext(fate);
    const lost = s.state.transaction((tx) => s.d.set(tx, 'k', 2));
    await turnsOf(1);
    const refusal = s.state.transaction(async (tx) => {
      throw new Error(`k is ${await s.d.get(tx, 'k', { lock: 'none' })}`);
    });
    await assert.rejects(lost, OutcomeUnknownError);
    await assert.rejects(refusal, ConflictError);
    await s.healed();
    const tx = s.state.begin();
    s.failNext('gone');
    const again = s.state.transaction((other) => s.d.set(other, 'k', 9));
    await turnsOf(1);
    await s.d.get(tx, 'k', { lock: 'none' });
    const told = assert.rejects(tx.abort(), ConflictError);
    await assert.rejects(again, OutcomeUnknownError);
    await told;
    await s.healed();
  });

  test(`a collection whose creation was lost (${fate}) can be created`, async () => {
    await using s = await lossy();
    s.failNext(fate);
    const both = [s.state.dictionary<string, number>('n'), s.state.dictionary<string, number>('n')];
    for (const one of both) await assert.rejects(one);
    await s.healed();
    const names = (await s.state.list()).map(({ name }) => name);
    assert.deepEqual(names, fate === 'gone' ? ['d'] : ['d', 'n']);
    const n = await s.state.dictionary<string, number>('n');
    await s.state.transaction((tx) => n.set(tx, 'x', 1));
    assert.equal(await s.state.transaction((tx) => n.get(tx, 'x')), 1);
  });

  test(`a clear that was lost (${fate}): the rows are ${fate === 'gone' ? 'back' : 'gone'}`, async () => {
    await using s = await lossy();
    s.failNext(fate);
    await assert.rejects(s.d.clear(), OutcomeUnknownError);
    await s.healed();
    assert.equal(await s.value('k'), fate === 'gone' ? 1 : undefined);
    assert.equal(await s.d.currentCount(), fate === 'gone' ? 1 : 0);
    await s.state.transaction((tx) => s.d.set(tx, 'm', 5));
    assert.equal(await s.d.currentCount(), fate === 'gone' ? 2 : 1);
    await s.state.sweep();
    assert.equal(await s.value('m'), 5);
  });

  test(`a removal that was lost (${fate}): the collection is ${fate === 'gone' ? 'there' : 'gone'}`, async () => {
    await using s = await lossy();
    s.failNext(fate);
    await assert.rejects(s.state.remove('d'), OutcomeUnknownError);
    await s.healed();
    const found = await s.state.get('d');
    assert.equal(found === undefined, fate === 'turns up');
    const d = await s.state.dictionary<string, number>('d');
    assert.equal(await s.state.transaction((tx) => d.get(tx, 'k')), fate === 'gone' ? 1 : undefined);
    if (fate === 'turns up') await assert.rejects(s.value('k'), ObjectClosedError);
  });

  test(`an item whose dequeue was lost (${fate}) is ${fate === 'gone' ? 'handed out again' : 'gone'}, once`, async () => {
    await using s = await lossy();
    const cq = await s.state.concurrentQueue<string>('cq');
    await s.state.transaction(async (tx) => {
      for (const item of ['a', 'b', 'c']) await cq.enqueue(tx, item);
    });
    const holder = s.state.begin();
    assert.equal(await cq.tryDequeue(holder), 'a');
    s.failNext(fate);
    await assert.rejects(
      s.state.transaction((tx) => cq.tryDequeue(tx)),
      OutcomeUnknownError,
    );
    await s.healed();
    assert.equal(await cq.count(), fate === 'gone' ? 2 : 1);
    const drained: (string | undefined)[] = [];
    await s.state.transaction(async (tx) => {
      for (let n = 0; n < 4; n++) drained.push(await cq.tryDequeue(tx));
    });
    assert.deepEqual(
      drained.filter((item) => item !== undefined),
      fate === 'gone' ? ['b', 'c'] : ['c'],
    );
    await holder.commit();
    assert.equal(await cq.count(), 0);
  });

  test(`an item whose enqueue was lost (${fate}), and that somebody took: the count stays exact`, async () => {
    await using s = await lossy();
    const cq = await s.state.concurrentQueue<string>('cq');
    await s.state.transaction((tx) => cq.tryDequeue(tx)); // the front has been looked at
    s.failNext(fate);
    const lost = s.state.transaction((tx) => cq.enqueue(tx, 'a'));
    await turnsOf(1);
    const taker = s.state.begin();
    assert.equal(await cq.tryDequeue(taker), 'a');
    await assert.rejects(lost, OutcomeUnknownError);
    await assert.rejects(taker.commit(), TransactionFaultedError);
    await s.healed();
    assert.equal(await cq.count(), fate === 'gone' ? 0 : 1);
    assert.equal(await s.state.transaction((tx) => cq.tryDequeue(tx)), fate === 'gone' ? undefined : 'a');
    assert.equal(await cq.count(), 0);
  });

  test(`listeners hear nothing of what is lost, and of a rebuild when the store is open again (${fate})`, async () => {
    const events: string[] = [];
    await using s = await lossy((change) => {
      if (change.action === 'rebuild') events.push('rebuild');
    });
    s.d.onChange((change) => events.push(change.action));
    const rebuilt: unknown[] = [];
    s.d.onRebuild(async (entries) => {
      rebuilt.push(await all(entries));
    });
    events.length = 0;
    s.failNext(fate);
    await assert.rejects(
      s.state.transaction((tx) => s.d.set(tx, 'k', 2)),
      OutcomeUnknownError,
    );
    assert.deepEqual(events, []);
    await s.healed();
    assert.deepEqual(events, ['rebuild']);
    assert.deepEqual(rebuilt, [[['k', fate === 'gone' ? 1 : 2]]]);
    await s.state.transaction((tx) => s.d.set(tx, 'k', 3));
    assert.deepEqual(events, ['rebuild', 'update']);
  });
}

test('while the disk fails writes are refused for now, with the reason, and reads go on', async () => {
  const { state, disk } = await stalled();
  const d = await state.dictionary<string, number>('d');
  await state.transaction((tx) => d.set(tx, 'k', 1));
  disk.fate = () => 'gone';
  disk.probeFails = true;
  await assert.rejects(
    state.transaction((tx) => d.set(tx, 'k', 2)),
    OutcomeUnknownError,
  );
  assert.equal(await state.transaction((tx) => d.get(tx, 'k')), 1);
  await assert.rejects(
    state.transaction((tx) => d.set(tx, 'k', 2)),
    (error) => error instanceof ReadOnlyError && mayRetry(error),
  );
  const later = state.transaction((tx) => d.set(tx, 'k', 3), { retries: Number.POSITIVE_INFINITY });
  disk.fate = () => 'done';
  disk.probeFails = false;
  await later;
  assert.equal(await state.transaction((tx) => d.get(tx, 'k')), 3);
  await state.close();
});

test('on a disk that is nearly full what gives space back is let through, new data is not', async () => {
  const { state, disk } = await stalled();
  const d = await state.dictionary<string, number>('d');
  const [q, cq] = [await state.queue<string>('q'), await state.concurrentQueue<string>('cq')];
  await state.transaction(async (tx) => {
    for (const key of ['k', 'j', 'm']) await d.set(tx, key, 1);
    await q.enqueue(tx, 'a');
    await cq.enqueue(tx, 'a');
  });
  disk.free = 1;
  while (state.engine.health().state !== 'full') await new Promise((resolve) => setTimeout(resolve, 50));
  const run = (work: Parameters<typeof state.transaction>[0]) => state.transaction(work);
  await assert.rejects(
    run((tx) => d.set(tx, 'new', 1)),
    ReadOnlyError,
  );
  await assert.rejects(
    run((tx) => q.enqueue(tx, 'b')),
    ReadOnlyError,
  );
  await run((tx) => d.remove(tx, 'k'));
  assert.equal(await run((tx) => q.tryDequeue(tx)), 'a');
  assert.equal(await run((tx) => cq.tryDequeue(tx)), 'a');
  await state.transaction((tx) => d.set(tx, 'note', 1), { frees: true });
  await d.clear();
  await state.remove('q');
  assert.equal(await d.currentCount(), 0);
  await state.close();
});

/** So many rounds of everything that needs no disk. */
async function turnsOf(count: number): Promise<void> {
  for (let n = 0; n < count * 10; n++) await Promise.resolve();
}
