// What can come between two steps of one call: an end, a loss, a commit of somebody else. Reads of the store are kept
// back, and commits are made to be lost, at just that moment.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Engine } from '../engine/engine.js';
import { UnavailableError } from '../engine/errors.js';
import { openEngine } from '../engine/level.js';
import {
  ArgumentError,
  ConflictError,
  type Dictionary,
  NotReadableError,
  ObjectClosedError,
  OperationCanceledError,
  StateManager,
  type StateOptions,
  TransactionClosedError,
  TransactionFaultedError,
  TransientError,
} from './index.js';
import { all, granted, stalled, turns, waits } from './scenario.suite.js';

interface Held {
  readonly state: StateManager;
  /** The answers of ranges that are read from now on are kept back, until the result is called. */
  hold(): () => void;
  /** Is called before each read of single keys. */
  onRead: () => void;
  /** What reads of ranges fail with. */
  failure: Error | undefined;
  /** A commit, and all that are ordered behind it, that are lost when the result is called. */
  doomed(): Promise<() => Promise<void>>;
}

async function given(t: TestContext, options: Partial<StateOptions> = {}): Promise<Held> {
  const engine = await openEngine({ memory: true });
  let gate: Promise<void> | undefined;
  const range: Engine['range'] = async (...args) => {
    const page = await engine.range(...args);
    await gate;
    if (held.failure !== undefined) throw held.failure;
    return page;
  };
  const handler: ProxyHandler<Engine> = {
    get(target, name) {
      if (name === 'range') return range;
      if (name === 'find' || name === 'getMany') held.onRead();
      const member = Reflect.get(target, name, target) as unknown;
      return typeof member === 'function' ? member.bind(target) : member;
    },
  };
  const held: Pick<Held, 'onRead' | 'failure'> = { onRead: () => {}, failure: undefined };
  const state = await StateManager.open({ ...options, engine: new Proxy(engine, handler) } as StateOptions);
  t.after(async () => {
    await state.close();
    await engine.close();
  });
  const others = await state.dictionary<number, number>('others');
  return Object.assign(held, {
    state,
    hold() {
      let open = () => {};
      gate = new Promise((resolve) => {
        open = resolve;
      });
      return () => {
        gate = undefined;
        open();
      };
    },
    async doomed() {
      let lose = () => {};
      const failing = new Promise<never>((_, reject) => {
        lose = () => reject(new Error('injected: what comes first fails'));
      });
      const lost = state.transaction(async (tx) => {
        await others.set(tx, 1, 1);
        tx.after(failing);
      });
      await turns();
      return async () => {
        lose();
        await assert.rejects(lost);
      };
    },
  });
}

const forEver = { timeoutMs: Number.POSITIVE_INFINITY };

/** What it ends with, if it does so by itself. */
async function ended(call: Promise<unknown>): Promise<unknown> {
  let end: unknown = 'still waits';
  call.then(
    (value) => {
      end = value;
    },
    (error) => {
      end = error;
    },
  );
  await turns();
  return end;
}

test('a dequeue whose signal comes while it looks for an item does not wait for one', async (t) => {
  const { state, hold } = await given(t);
  const queue = await state.concurrentQueue<string>('cq');
  const abort = new AbortController();
  await using tx = state.begin();
  const release = hold();
  const call = queue.dequeue(tx, { ...forEver, signal: abort.signal });
  await waits(call);
  abort.abort();
  release();
  assert.ok((await ended(call)) instanceof OperationCanceledError);
});

test('a dequeue whose transaction ends while it looks for an item does not wait for one', async (t) => {
  const { state, hold } = await given(t);
  const queue = await state.concurrentQueue<string>('cq');
  const tx = state.begin();
  const release = hold();
  const call = queue.dequeue(tx, forEver);
  await waits(call);
  const disposed = tx.dispose();
  release();
  assert.ok((await ended(call)) instanceof TransactionClosedError);
  await granted(disposed);
});

test('a dequeue does not keep a state manager open that is closed while it looks for an item', async (t) => {
  const { state, hold } = await given(t);
  const queue = await state.concurrentQueue<string>('cq');
  const release = hold();
  const call = queue.dequeue(state.begin(), forEver);
  await waits(call);
  const closed = state.close();
  release();
  assert.ok((await ended(call)) instanceof ObjectClosedError);
  await granted(closed);
});

test('a dequeue on a replica that is demoted while it looks for an item does not wait for one', async (t) => {
  const { state, hold } = await given(t);
  const queue = await state.concurrentQueue<string>('cq');
  await using tx = state.begin();
  const release = hold();
  const call = queue.dequeue(tx, forEver);
  await waits(call);
  state.role = 'secondary';
  release();
  assert.ok((await ended(call)) instanceof Error);
});

test('as many as there are items ask at once, and each gets one', async (t) => {
  const { state } = await given(t);
  const queue = await state.concurrentQueue<number>('cq');
  const count = 1000;
  await state.transaction(async (tx) => {
    for (let item = 0; item < count; item++) await queue.enqueue(tx, item);
  });
  const taken = await Promise.all(
    Array.from({ length: count }, () => state.transaction((tx) => queue.tryDequeue(tx))),
  );
  assert.deepEqual(
    taken.sort((a, b) => Number(a) - Number(b)),
    Array.from({ length: count }, (_, item) => item),
  );
});

test('the count of a concurrent queue does not tell of a clear that is not on disk', async () => {
  const { state, disk } = await stalled();
  const queue = await state.concurrentQueue<string>('cq');
  await state.transaction((tx) => queue.enqueue(tx, 'a'));
  disk.stall();
  const cleared = queue.clear();
  await turns();
  const count = queue.count();
  await waits(count);
  disk.go();
  assert.equal(await count, 0);
  await cleared;
  await state.close();
});

test('a count that stands on what is lost is an error that can be retried', async (t) => {
  const { state, doomed } = await given(t);
  const queue = await state.concurrentQueue<string>('cq');
  const lose = await doomed();
  const enqueued = state.transaction((tx) => queue.enqueue(tx, 'a'));
  await turns();
  const count = queue.count();
  await waits(count);
  await lose();
  await assert.rejects(count, ConflictError);
  await assert.rejects(enqueued);
  assert.equal(await queue.count(), 0);
});

test('a count is that of one moment: an item that is out and then gone is not counted', async (t) => {
  const { state } = await given(t);
  const queue = await state.concurrentQueue<string>('cq');
  await state.transaction((tx) => queue.enqueue(tx, 'a'));
  const tx = state.begin();
  await queue.tryDequeue(tx);
  const [count] = await Promise.all([queue.count(), tx.commit()]);
  assert.equal(count, 0);
});

test('a counter in a snapshot from before a clear is what it was', async (t) => {
  const { state } = await given(t);
  const counters = await state.counters<string>('n');
  await state.transaction((tx) => counters.add(tx, 'a', 5));
  await using tx = state.begin();
  await counters.clear();
  assert.equal(await counters.get(tx, 'a', { snapshot: true }), 5);
  assert.equal(await counters.get(tx, 'a'), 0);
});

test('a loss while the catalogue is read again after another one: collections are found, listeners are told', async (t) => {
  const { state, hold, doomed } = await given(t);
  const d = await state.dictionary<string, number>('d');
  const told: string[] = [];
  state.onStateChange((change) => told.push(change.action));
  d.onChange((change) => told.push(change.action));
  const release = hold();
  for (let losses = 2; losses > 0; losses--) await (await doomed())();
  release();
  await turns();
  assert.deepEqual(told, ['rebuild']);
  await granted(
    state.dictionary('d'),
    state.list(),
    state.transaction((tx) => d.set(tx, 'k', 1)),
  );
  assert.deepEqual(told, ['rebuild', 'add']);
});

test('a rebuild does not wait for a clear whose listeners wait for the rebuild', async (t) => {
  const { state, hold, doomed } = await given(t);
  const d = await state.dictionary<string, number>('d');
  await state.transaction((tx) => d.set(tx, 'k', 1));
  const told: unknown[] = [];
  d.onChange(({ action }) => told.push(action));
  d.onRebuild(async (entries) => {
    told.push(await all(entries));
  });
  const release = hold();
  await (await doomed())();
  const cleared = d.clear();
  await turns();
  release();
  await granted(cleared);
  assert.deepEqual(told, [[]], 'and what the rebuild tells is not told again');
  await state.transaction((tx) => d.set(tx, 'k', 2));
  assert.deepEqual(told, [[], 'add']);
});

test('the rows of a clear that was lost are not swept', async (t) => {
  const { state, hold, doomed } = await given(t);
  const d = await state.dictionary<string, number>('d');
  await state.transaction((tx) => d.set(tx, 'k', 1));
  const lose = await doomed();
  const cleared = d.clear();
  await turns();
  const release = hold();
  const swept = state.sweep();
  await turns();
  await lose();
  await assert.rejects(cleared);
  release();
  await swept;
  assert.equal(await state.transaction((tx) => d.get(tx, 'k')), 1);
});

test('rows that are there again, as those that replaced them were lost while they were swept, are not swept', async (t) => {
  const held = await given(t);
  const { state } = held;
  const d = await state.dictionary<number, string>('d');
  const keys = Array.from({ length: 50 }, (_, key) => key);
  const setAll = (value: string, ttlMs = Number.POSITIVE_INFINITY) =>
    state.transaction(async (tx) => {
      for (const key of keys) await d.set(tx, key, value, { ttlMs });
    });
  await setAll('kept');
  const lose = await held.doomed();
  const successor = assert.rejects(setAll('expires', 1));
  await turns();
  let [reads, lost] = [0, Promise.resolve()];
  held.onRead = () => {
    if (++reads === 10) lost = lose();
  };
  await state.sweep();
  await lost;
  await successor;
  assert.ok(reads >= 10, `${reads} reads`);
  const values = await state.transaction((tx) => d.getMany(tx, keys), { retries: 3 });
  assert.deepEqual(new Set(values), new Set(['kept']));
  assert.equal(await d.currentCount(), keys.length);
});

test('who has seen what is lost, and ends without a word, is told so', async (t) => {
  const { state, doomed } = await given(t);
  const d = await state.dictionary<string, number>('d');
  const lose = await doomed();
  const written = state.transaction((tx) => d.set(tx, 'k', 1));
  await turns();
  const [silent, told] = [state.begin(), state.begin()];
  for (const tx of [silent, told]) assert.equal(await d.get(tx, 'k'), 1);
  await lose();
  await assert.rejects(written);
  await assert.rejects(silent.dispose(), ConflictError);
  await assert.rejects(d.get(told, 'k'), TransactionFaultedError);
  await told.dispose(); // once is enough
});

test('that there is no collection to remove is told when its removal is on disk', async () => {
  const { state, disk } = await stalled();
  await state.dictionary('d');
  disk.stall();
  const removed = state.remove('d');
  await turns();
  const refused = state.remove('d');
  await waits(refused);
  disk.go();
  await removed;
  await assert.rejects(refused, ArgumentError);
  await state.close();
});

test('a value that its codec cannot read back for the listeners is reported, and the commit ends', async (t) => {
  const errors: unknown[] = [];
  const { state } = await given(t, { onError: (error) => errors.push(error) });
  const codec = {
    name: 'one way',
    version: 1,
    encode: (value: string) => Buffer.from(value),
    decode: () => {
      throw new Error('injected: not to be read');
    },
  };
  const d = await state.dictionary<string, string>('d', { codec });
  d.onChange(() => {});
  await granted(state.transaction((tx) => d.set(tx, 'k', 'v')));
  assert.match(String(errors), /not to be read/);
  assert.deepEqual(state.inspect().locks, []);
});

test('a collection that is asked for while the store cannot be read is refused for now', async (t) => {
  const held = await given(t);
  const { state } = held;
  held.failure = new UnavailableError('injected: the store cannot be read');
  await (await held.doomed())();
  await turns();
  for (const call of [state.dictionary('d'), state.list(), state.get('d'), state.remove('d')])
    await assert.rejects(call, NotReadableError);
  held.failure = undefined;
  await (await held.doomed())();
  await granted(state.dictionary('d'));
});

async function pair(): Promise<{
  state: StateManager;
  d: Dictionary<string, number>;
  disk: Awaited<ReturnType<typeof stalled>>['disk'];
}> {
  const { state, disk } = await stalled();
  const d = await state.dictionary<string, number>('d');
  await state.transaction(async (tx) => {
    await d.set(tx, 'a', 1);
    await d.set(tx, 'b', 1);
  });
  return { state, d, disk };
}

test('who reads under locks does not see half of a commit that turns up', async () => {
  const { state, d, disk } = await pair();
  let left = 1;
  disk.fate = () => (left-- > 0 ? 'turns up' : 'done');
  disk.probeFails = true;
  await assert.rejects(
    state.transaction(async (tx) => {
      await d.set(tx, 'a', 2);
      await d.set(tx, 'b', 2);
    }),
  );
  const tx = state.begin();
  assert.equal(await d.get(tx, 'a'), 1);
  disk.probeFails = false;
  while (state.engine.health().state !== 'open') await turns();
  assert.equal(await d.get(tx, 'b'), 2);
  await assert.rejects(tx.commit(), ConflictError);
  await state.close();
});

test('a transaction that only read, and has seen what is lost, can be run again', async (t) => {
  const { state, doomed } = await given(t);
  const d = await state.dictionary<string, number>('d');
  const lose = await doomed();
  const written = state.transaction((tx) => d.set(tx, 'k', 1));
  await turns();
  const read = state.transaction((tx) => d.get(tx, 'k', { lock: 'none', check: true }));
  const again = state.transaction((tx) => d.get(tx, 'k', { lock: 'none', check: true }), { retries: 9 });
  await waits(read, again);
  await lose();
  await assert.rejects(written);
  await assert.rejects(read, ConflictError);
  assert.equal(await again, undefined);
});

test('a watch ends when commits were lost: what turns up it would not tell', async () => {
  const { state, d, disk } = await pair();
  const changes = d.watch();
  let left = 1;
  disk.fate = () => (left-- > 0 ? 'turns up' : 'done');
  await assert.rejects(state.transaction((tx) => d.set(tx, 'a', 2)));
  while (state.engine.health().state !== 'open') await turns();
  await turns();
  await assert.rejects(changes.next(), TransientError);
  await state.close();
});

test('an enumeration of the newest state that begins just before a clear tells when the clear is on disk', async () => {
  const { state, d, disk } = await pair();
  disk.stall();
  await using tx = state.begin();
  const cleared = d.clear();
  const found = await all(d.keys(tx, { newest: true }));
  const committed = tx.commit();
  if (found.length === 0) await waits(committed);
  else assert.deepEqual(found, ['a', 'b']);
  disk.go();
  await Promise.all([cleared, committed]);
  await state.close();
});
