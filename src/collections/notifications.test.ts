// Section 11.8 of the specification, in its own words, and what else listeners are promised.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../base/random.js';
import {
  Dictionary,
  type DictionaryChange,
  InvalidOperationError,
  NotSerializableError,
  type StateChange,
  StateManager,
  TimeoutError,
} from './index.js';
import { all, type Scene, scene, stalled, temporary, turns, waits } from './scenario.suite.js';

/** What listeners of `d` and of transactions are told, in the order they are told it. */
function told(s: Scene): string[] {
  const events: string[] = [];
  s.d.onChange((change) => events.push(show(change)));
  s.state.onTransaction(({ action, transaction }) => events.push(`${action} ${transaction.id}`));
  return events;
}

function show(change: DictionaryChange<string, unknown>): string {
  switch (change.action) {
    case 'add':
      return `add ${change.key}=${change.value}`;
    case 'update':
      return `update ${change.key}=${change.previous}->${change.value}`;
    case 'remove':
      return `remove ${change.key}=${change.previous}`;
    case 'clear':
      return 'clear';
  }
}

test('N1: one tx: add(m), set(k), tryRemove(j), commit: Add, Update, Remove in order, each with the tx; then transactionChanged; then commit resolves', async () => {
  await using s = await scene();
  const events = told(s);
  const transactions: bigint[] = [];
  s.d.onChange((change) => {
    if (change.action !== 'clear') transactions.push(change.transaction.id);
  });
  await s.d.add(s.t(1), 'm', 5);
  await s.X(1);
  await s.d.remove(s.t(1), 'j');
  assert.deepEqual(events, [], 'nothing before the commit');
  await s.end(1);
  assert.deepEqual(events, ['add m=5', 'update k=1->2', 'remove j=1', `commit ${s.t(1).id}`]);
  assert.deepEqual(transactions, [s.t(1).id, s.t(1).id, s.t(1).id]);
});

test('N2: one tx: add(m), tryRemove(m), add(m): three events', async () => {
  await using s = await scene();
  const events = told(s);
  await s.d.add(s.t(1), 'm', 1);
  await s.d.remove(s.t(1), 'm');
  await s.d.add(s.t(1), 'm', 2);
  await s.end(1);
  assert.deepEqual(events, ['add m=1', 'remove m=1', 'add m=2', `commit ${s.t(1).id}`]);
});

test('N3: abort / dispose: none; nor reads, counts, and operations that do nothing', async () => {
  await using s = await scene();
  const events = told(s);
  await s.X(1);
  await s.abort(1);
  await s.X(2);
  await s.t(2).dispose();
  await s.S(3);
  await s.d.count(s.t(3));
  await all(s.d.entries(s.t(3)));
  await s.d.tryAdd(s.t(3), 'k', 5);
  await s.d.tryUpdate(s.t(3), 'k', 5, 99);
  await s.d.remove(s.t(3), 'm');
  await assert.rejects(
    s.d.set(s.t(3), 'k', () => 1),
    NotSerializableError,
  );
  await assert.rejects(s.d.set(s.t(3), 'k', 5, { ttlMs: -1 }));
  await s.end(3);
  assert.deepEqual(events, []);
});

test('N4: two collections alternating in one tx: events interleaved in call order', async () => {
  await using s = await scene();
  const other = await s.state.dictionary<string, number>('other');
  const events: string[] = [];
  s.d.onChange((change) => events.push(`d ${show(change)}`));
  other.onChange((change) => events.push(`other ${show(change)}`));
  await s.X(1, 'a', 1);
  await other.set(s.t(1), 'b', 2);
  await s.X(1, 'c', 3);
  await other.set(s.t(1), 'b', 4);
  await s.end(1);
  assert.deepEqual(events, ['d add a=1', 'other add b=2', 'd add c=3', 'other update b=2->4']);
});

test('N5: T1, T2 commit concurrently 1000x: dictionary events and transactions in commit-LSN order', async () => {
  await using s = await scene();
  const random = seededRandom(5);
  const places: bigint[] = [];
  const commits: bigint[] = [];
  s.d.onChange((change) => {
    if (change.action !== 'clear') places.push(change.transaction.commitSequenceNumber);
  });
  s.state.onTransaction(({ transaction }) => commits.push(transaction.commitSequenceNumber));
  await Promise.all(
    Array.from({ length: 1000 }, async (_, n) => {
      for (let turn = random() * 5; turn > 0; turn--) await Promise.resolve();
      await s.state.transaction((tx) => s.d.set(tx, `key ${n % 50}`, n));
    }),
  );
  assert.equal(places.length, 1000);
  for (const list of [places, commits]) {
    assert.deepEqual(
      list,
      list.toSorted((a, b) => (a < b ? -1 : 1)),
    );
  }
});

test('N5: a large commit that waits for room keeps its place among small ones', async () => {
  await using s = await scene();
  const places: bigint[] = [];
  s.d.onChange((change) => {
    if (change.action !== 'clear') places.push(change.transaction.commitSequenceNumber);
  });
  const large = Buffer.alloc(12 * 1024 * 1024);
  await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      s.state.transaction((tx) => s.d.set(tx, `key ${n}`, n % 3 ? n : large)),
    ),
  );
  assert.equal(places.length, 30);
  assert.deepEqual(
    places,
    places.toSorted((a, b) => (a < b ? -1 : 1)),
  );
});

test('N6: clear: one Clear with LSN, no per-key events', async () => {
  await using s = await scene();
  const changes: DictionaryChange<string, unknown>[] = [];
  s.d.onChange((change) => changes.push(change));
  await s.d.clear();
  assert.equal(changes.length, 1);
  const [change] = changes;
  assert.ok(change?.action === 'clear' && change.commitSequenceNumber > 0n && !('transaction' in change));
});

test('N7: getOrAdd creates / exists; remove: Add / none; Remove, at commit only', async () => {
  await using s = await scene();
  const events: string[] = [];
  s.state.onStateChange((change) => {
    if (change.action !== 'rebuild') events.push(`${change.action} ${change.collection.name}`);
  });
  await s.state.dictionary('d');
  await s.state.dictionary('n', { tx: s.t(1) });
  assert.deepEqual(events, []);
  await s.end(1);
  assert.deepEqual(events, ['add n']);
  await s.state.remove('n', { tx: s.t(2) });
  await s.abort(2);
  assert.deepEqual(events, ['add n']);
  await s.state.remove('n');
  assert.deepEqual(events, ['add n', 'remove n']);
});

test('6.4: creation comes before any event of that collection, and a listener set in it misses nothing', async () => {
  const events: string[] = [];
  await using state = await StateManager.open({
    memory: true,
    onStateChange: (change) => {
      if (change.action !== 'add') return;
      events.push(`add ${change.collection.name}`);
      if (change.collection instanceof Dictionary)
        change.collection.onChange((inner) => events.push(show(inner as DictionaryChange<string, unknown>)));
    },
  });
  const n = await state.dictionary<string, number>('n');
  await state.transaction((tx) => n.set(tx, 'k', 1));
  assert.deepEqual(events, ['add n', 'add k=1']);
});

test('N8: inside the handler for k start S(k) in a fresh transaction (not awaited): still pending when the handler returns; resolves with the new value after the locks are released', async () => {
  await using s = await scene();
  const order: string[] = [];
  let read: Promise<unknown> | undefined;
  s.d.onChange(() => {
    read = s.S(2).then((value) => order.push(`read ${value}`));
    assert.equal(s.state.inspect().waitFor.length, 1, 'it waits for the lock');
    order.push('handler returns');
  });
  s.state.onTransaction(() => order.push('transaction'));
  await s.X(1);
  await s.end(1);
  await read;
  assert.deepEqual(order, ['handler returns', 'transaction', 'read 2']);
});

test('6.2: a transaction that somebody listens to keeps its locks until it is durable, others do not', async () => {
  const { state, disk } = await stalled();
  const [heard, quiet] = [
    await state.dictionary<string, number>('h'),
    await state.dictionary<string, number>('q'),
  ];
  const events: unknown[] = [];
  heard.onChange((change) => events.push(change));
  disk.stall();
  const commits = [heard, quiet].map((d) => state.transaction((tx) => d.set(tx, 'k', 1)));
  await turns();
  const waiting = heard.get(state.begin(), 'k');
  assert.equal(await quiet.get(state.begin(), 'k'), 1);
  await waits(waiting, ...commits);
  assert.deepEqual(events, []);
  disk.go();
  assert.equal(await waiting, 1);
  assert.equal(events.length, 1);
  await Promise.all(commits);
  await state.close();
});

test('N9: handler throws: commit still succeeds, error reported', async () => {
  await using s = await scene();
  const reported: unknown[] = [];
  s.state.onError((error) => reported.push(error));
  const [one, two, three] = [new Error('one'), new Error('two'), new Error('three')];
  const events: string[] = [];
  s.d.onChange(() => {
    throw one;
  });
  s.d.onChange((change) => events.push(show(change)));
  s.state.onTransaction(() => {
    throw two;
  });
  s.state.onStateChange(() => {
    throw three;
  });
  await s.X(1);
  await s.end(1);
  await s.state.dictionary('new');
  assert.deepEqual(reported.slice(0, 2), [one, two]);
  assert.ok(reported.includes(three));
  assert.deepEqual(events, ['update k=1->2'], 'the next listener is called all the same');
  assert.equal(await s.value('k'), 2);
});

test('N9: an error nobody listens for, or that a listener of errors throws, is a warning of the process', async () => {
  await using s = await scene();
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  try {
    s.d.onChange(() => {
      throw new Error('of the listener');
    });
    await s.X(1);
    await s.end(1);
    s.state.onError(() => {
      throw new Error('of the error listener');
    });
    await s.X(2);
    await s.end(2);
    await turns();
  } finally {
    process.off('warning', note);
  }
  assert.deepEqual(
    warnings.map(({ message }) => message),
    ['of the listener', 'of the error listener'],
  );
});

test('8: a listener that takes too long is reported', async () => {
  await using s = await scene({ slowListenerMs: 5 });
  const reported: unknown[] = [];
  s.state.onError((error) => reported.push(error));
  s.d.onChange(() => {
    for (const end = performance.now() + 10; performance.now() < end; );
  });
  await s.X(1);
  await s.end(1);
  assert.ok(reported[0] instanceof TimeoutError);
});

async function filled(location: string): Promise<void> {
  await using state = await StateManager.open({ location });
  const [a, b] = [await state.dictionary<string, number>('a'), await state.dictionary<string, number>('b')];
  await state.queue('q');
  await state.dictionary('$system/hidden', { system: true });
  await state.transaction(async (tx) => {
    for (let n = 0; n < 600; n++) await a.set(tx, `key ${String(n).padStart(3, '0')}`, n);
    await b.set(tx, 'only', 1);
  });
}

test('N10: reopen: state-manager Rebuild, then per-dictionary rebuild with all items; no replay events', async () => {
  const location = await temporary();
  await filled(location);
  const order: string[] = [];
  const rows = new Map<string, [string, number][]>();
  const listen = (change: StateChange) => {
    order.push(change.action);
    if (change.action !== 'rebuild') return;
    assert.deepEqual(
      change.collections.map(({ name }) => name),
      ['a', 'b', 'q'],
    );
    for (const collection of change.collections) {
      if (!(collection instanceof Dictionary)) continue;
      collection.onChange(() => order.push(`change of ${collection.name}`));
      collection.onRebuild(async (entries) => {
        rows.set(collection.name, (await all(entries)) as [string, number][]);
        order.push(`rebuilt ${collection.name}`);
      });
    }
  };
  await using state = await StateManager.open({
    location,
    onStateChange: listen,
    onTransaction: () => order.push('transaction'),
  });
  assert.deepEqual(order, ['rebuild', 'rebuilt a', 'rebuilt b'], 'all of it before open resolves');
  assert.deepEqual(
    rows.get('a'),
    Array.from({ length: 600 }, (_, n) => [`key ${String(n).padStart(3, '0')}`, n]),
  );
  assert.deepEqual(rows.get('b'), [['only', 1]]);
  const b = await state.dictionary<string, number>('b');
  await state.transaction((tx) => b.set(tx, 'only', 2));
  assert.deepEqual(order.slice(3), ['change of b', 'transaction']);
});

test('6.6: a first open raises Rebuild too, with nothing in it', async () => {
  const changes: StateChange[] = [];
  await using _ = await StateManager.open({ memory: true, onStateChange: (change) => changes.push(change) });
  assert.deepEqual(changes, [{ action: 'rebuild', collections: [] }]);
});

test('N11: use rebuild enumeration after the callback resolved: InvalidOperationException', async () => {
  const location = await temporary();
  await filled(location);
  let kept: AsyncIterable<unknown> | undefined;
  let begun: AsyncIterator<unknown> | undefined;
  await using _ = await StateManager.open({
    location,
    onStateChange: (change) => {
      if (change.action !== 'rebuild') return;
      const a = change.collections[0];
      assert.ok(a instanceof Dictionary);
      a.onRebuild(() => assert.fail('there is one callback, and it was replaced'));
      a.onRebuild(async (entries) => {
        kept = entries;
        begun = entries[Symbol.asyncIterator]();
        await begun.next();
      });
    },
  });
  assert.ok(kept && begun);
  await assert.rejects(all(kept), InvalidOperationError);
  await assert.rejects(begun.next(), InvalidOperationError);
});

test('6.7: a rebuild callback that throws is reported, and the state opens', async () => {
  const location = await temporary();
  await filled(location);
  const reported: unknown[] = [];
  const error = new Error('cannot build');
  await using state = await StateManager.open({
    location,
    onError: (thrown) => reported.push(thrown),
    onStateChange: (change) => {
      if (change.action !== 'rebuild') return;
      for (const found of change.collections)
        if (found instanceof Dictionary)
          found.onRebuild(async () => {
            throw error;
          });
    },
  });
  assert.deepEqual(reported, [error, error]);
  assert.equal((await state.list()).length, 3);
});

test('a listener that is taken away is told nothing more', async () => {
  await using s = await scene();
  const events: string[] = [];
  const stops = [
    s.d.onChange(() => events.push('change')),
    s.state.onTransaction(() => events.push('transaction')),
    s.state.onStateChange(() => events.push('state')),
  ];
  for (const stop of stops) stop();
  await s.X(1);
  await s.end(1);
  await s.state.dictionary('new');
  assert.deepEqual(events, []);
});

test('what a listener gets shares nothing with the store or the caller', async () => {
  await using s = await scene();
  const objects = await s.state.dictionary<readonly [string, Date], { list: number[] }>('objects');
  const got: unknown[] = [];
  objects.onChange((change) => {
    if (change.action === 'add') got.push(change.key, change.value);
  });
  const [key, value] = [['a', new Date(5)] as const, { list: [1] }];
  await objects.set(s.t(1), key, value);
  key[1].setTime(6);
  value.list.push(2);
  await s.end(1);
  assert.deepEqual(got, [['a', new Date(5)], { list: [1] }]);
  assert.throws(() => (got[1] as { list: number[] }).list.push(3), TypeError);
});

test('a row that has expired is told as removed when it is swept', async () => {
  await using s = await scene();
  await s.d.set(s.t(1), 'brief', 7, { ttlMs: 1_000 });
  await s.end(1);
  const events = told(s);
  s.state.engine.clock.shift(2_000);
  assert.deepEqual(events, []);
  await s.state.sweep();
  assert.match(events.join(), /^remove brief=7,commit \d+$/);
});
