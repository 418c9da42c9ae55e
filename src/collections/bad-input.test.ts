// Bad input gets a clear error that says what to do, and nothing that is stored is changed by it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ArgumentError,
  ArgumentNullError,
  type CollectionKey,
  ConflictError,
  type Dictionary,
  LimitError,
  NotSerializableError,
  OperationCanceledError,
  StateManager,
} from './index.js';
import { all, type Scene, scene } from './scenario.suite.js';

const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;

const badKeys: readonly [name: string, key: unknown, kind: new (...args: never[]) => Error][] = [
  ['null', null, ArgumentNullError],
  ['undefined', undefined, ArgumentNullError],
  ['a function', () => 1, ArgumentError],
  ['a symbol', Symbol('s'), ArgumentError],
  ['an object', { a: 1 }, ArgumentError],
  ['NaN', Number.NaN, ArgumentError],
  ['an invalid date', new Date(Number.NaN), ArgumentError],
  ['a tuple of one', ['a'], ArgumentError],
  ['an empty tuple', [], ArgumentError],
  ['a tuple with a hole', ['a', undefined], ArgumentError],
  ['over 16 KiB', 'x'.repeat(17_000), ArgumentError],
];

const badValues: readonly [name: string, value: unknown, kind: new (...args: never[]) => Error][] = [
  ['undefined', undefined, ArgumentError],
  ['a function', () => 1, NotSerializableError],
  ['a symbol', Symbol('s'), NotSerializableError],
  ['a cycle', cycle, NotSerializableError],
  ['a function inside', { a: [() => 1] }, NotSerializableError],
  ['a class instance', new (class Thing {})(), NotSerializableError],
  ['a promise', Promise.resolve(1), NotSerializableError],
];

function calls(s: Scene): Record<string, (key: CollectionKey, value: unknown) => Promise<unknown>> {
  const d = s.d as unknown as Dictionary<CollectionKey, unknown>;
  const tx = s.t(1);
  return {
    get: (key) => d.get(tx, key),
    'get without a lock': (key) => d.get(tx, key, { lock: 'none' }),
    has: (key) => d.has(tx, key),
    getVersioned: (key) => d.getVersioned(tx, key),
    add: (key, value) => d.add(tx, key, value),
    tryAdd: (key, value) => d.tryAdd(tx, key, value),
    set: (key, value) => d.set(tx, key, value),
    getOrAdd: (key, value) => d.getOrAdd(tx, key, () => value),
    addOrUpdate: (key, value) =>
      d.addOrUpdate(
        tx,
        key,
        () => value,
        () => value,
      ),
    tryUpdate: (key, value) => d.tryUpdate(tx, key, value, 1),
    tryUpdateVersion: (key, value) => d.tryUpdateVersion(tx, key, value, 1),
    tryRemoveVersion: (key) => d.tryRemoveVersion(tx, key, 1),
    remove: (key) => d.remove(tx, key),
    delete: (key) => d.delete(tx, key),
  };
}

test('a key that cannot be is refused by every call, before any lock, and the transaction goes on', async () => {
  await using s = await scene();
  for (const [name, key, kind] of badKeys) {
    for (const [call, run] of Object.entries(calls(s)))
      await assert.rejects(run(key as CollectionKey, 1), kind, `${call} with ${name}`);
  }
  assert.equal(s.state.inspect().locks.length, 0);
  await s.X(1, 'm', 1);
  await s.end(1);
  assert.deepEqual(await s.state.transaction((tx) => all(s.d.keys(tx))), ['j', 'k', 'm']);
});

test('a value that cannot be is refused by every call that writes, and what is there stays', async () => {
  await using s = await scene();
  const writing = ['add', 'tryAdd', 'set', 'addOrUpdate', 'tryUpdate', 'tryUpdateVersion'];
  for (const [name, value, kind] of badValues) {
    for (const call of writing)
      await assert.rejects(calls(s)[call]?.('k', value) as Promise<unknown>, kind, `${call} with ${name}`);
    await assert.rejects(
      calls(s)['getOrAdd']?.('new', value) as Promise<unknown>,
      kind,
      `getOrAdd with ${name}`,
    );
    await assert.rejects(s.q.enqueue(s.t(1), value as string), kind, `enqueue with ${name}`);
    await assert.rejects(s.cq.enqueue(s.t(1), value as string), kind, `enqueue with ${name}`);
  }
  await s.end(1);
  assert.equal(await s.value('k'), 1);
  assert.equal(await s.d.currentCount(), 2);
  assert.equal(await s.cq.count(), 0);
});

test('a range that cannot be is refused', async () => {
  await using s = await scene();
  for (const wrong of [
    { from: Symbol('s') },
    { to: Number.NaN },
    { after: () => 1 },
    { prefix: 'a', startsWith: 'b' },
    { prefix: [{}] },
    { prefix: {} },
    { prefix: 5 },
    { filter: 'x' },
  ])
    assert.throws(() => s.d.entries(s.t(1), wrong as never), ArgumentError, Object.keys(wrong).join());
  assert.throws(() => s.d.watch({ prefix: 5 as never }), ArgumentError);
  assert.deepEqual(await all(s.d.keys(s.t(1), { from: 'z', to: 'a' })), [], 'an empty one is none');
});

test('an enumeration ends by its signal', async () => {
  await using s = await scene();
  const abort = new AbortController();
  const rows = s.d.keys(s.t(1), { signal: abort.signal, pageSize: 1 })[Symbol.asyncIterator]();
  await rows.next();
  abort.abort();
  await assert.rejects(rows.next(), OperationCanceledError);
});

test('counters take whole numbers, keep the smallest limit, and end at 2^53', async () => {
  await using s = await scene();
  const counters = await s.state.counters<string>('counters');
  for (const amount of [1.5, Number.NaN, '1', 2 ** 60])
    await assert.rejects(counters.add(s.t(1), 'n', amount as number), ArgumentError);
  await counters.add(s.t(1), 'n', 3, { max: 5 });
  await counters.add(s.t(1), 'n', 3);
  await assert.rejects(
    s.end(1),
    (error) => error instanceof LimitError && /counters: the counter "n"/.test(error.message),
  );
  await counters.add(s.t(2), 'n', Number.MAX_SAFE_INTEGER);
  await s.end(2);
  await counters.add(s.t(3), 'n', 1);
  await assert.rejects(s.end(3), LimitError);
  assert.equal(await s.state.transaction((tx) => counters.get(tx, 'n')), Number.MAX_SAFE_INTEGER);
  await counters.remove(s.t(4), 'n');
  assert.equal(await counters.get(s.t(4), 'n'), 0);
  await assert.rejects(counters.add(s.t(4), 'n', 1), /was removed in this transaction/);
  await s.end(4);
  assert.equal(await s.state.transaction((tx) => counters.get(tx, 'n')), 0);
});

test('an update by a version of its own transaction, and of another', async () => {
  await using s = await scene();
  await s.X(1, 'k', 5);
  assert.deepEqual(await s.d.getVersioned(s.t(1), 'k'), { value: 5, version: 0 });
  assert.equal(await s.d.tryUpdateVersion(s.t(1), 'k', 6, 0), true);
  await s.end(1);
  const read = await s.d.getVersioned(s.t(2), 'k');
  assert.equal(BigInt(read?.version ?? 0), s.t(1).commitSequenceNumber);
  assert.equal(await s.d.tryRemoveVersion(s.t(2), 'k', 1), false);
  assert.equal(await s.d.tryRemoveVersion(s.t(2), 'k', read?.version ?? 0), true);
  assert.equal(await s.d.tryUpdateVersion(s.t(2), 'absent', 1, 0), false);
  await s.end(2);
  assert.equal(await s.value('k'), undefined);
});

test('values with a field ifVersion are values like any other', async () => {
  await using s = await scene();
  await s.X(1, 'm', { ifVersion: 3 });
  assert.equal(await s.d.tryUpdate(s.t(1), 'm', 'new', { ifVersion: 4 }), false);
  assert.equal(await s.d.tryUpdate(s.t(1), 'm', 'new', { ifVersion: 3 }), true);
});

test('a conflict changes nothing and says to run it again', async () => {
  await using s = await scene();
  await s.d.get(s.t(1), 'k', { lock: 'none', check: true });
  await s.X(1, 'm', 1);
  await s.X(2);
  await s.end(2);
  await assert.rejects(s.end(1), ConflictError);
  assert.equal(s.t(1).status, 'faulted');
  assert.equal(await s.value('m'), undefined);
  assert.equal(s.state.inspect().locks.length, 0);
});

test('a read without a lock and then with one: what was seen first counts', async () => {
  await using s = await scene();
  assert.equal(await s.d.get(s.t(1), 'k', { lock: 'none', check: true }), 1);
  await s.X(2);
  await s.end(2);
  assert.equal(await s.S(1), 2);
  await s.X(1, 'm', 1);
  await assert.rejects(s.end(1), ConflictError);
});

test('a state is opened in one place: what would be kept in memory by mistake is refused', async () => {
  await using s = await scene();
  const { engine } = s.state;
  for (const place of [
    undefined,
    'folder',
    {},
    { location: '' },
    { location: 5 },
    { memory: false },
    { memory: 'yes' },
    { location: 'folder', memory: true },
    { memory: true, engine },
    { location: 'folder', engine },
  ])
    await assert.rejects(
      StateManager.open(place as never),
      ArgumentError,
      JSON.stringify(Object.keys(place ?? {})),
    );
  const state = await StateManager.open({ location: undefined, memory: true } as never);
  await state.close();
});

test('what is not a codec is refused, and one that makes no bytes stores nothing', async () => {
  await using s = await scene();
  const whole = { name: 'own', version: 1, encode: () => 'text', decode: (bytes: Uint8Array) => bytes };
  for (const wrong of [
    { name: '' },
    { version: 1.5 },
    { version: undefined },
    { encode: 5 },
    { decode: undefined },
  ]) {
    const codec = { ...whole, ...wrong } as never;
    await assert.rejects(s.state.dictionary('own', { codec }), ArgumentError, Object.keys(wrong).join());
    await assert.rejects(StateManager.open({ memory: true, codecs: [codec] }), ArgumentError);
  }
  assert.equal(await s.state.get('own'), undefined);
  const own = await s.state.dictionary<string, unknown>('own', { codec: whole as never });
  await assert.rejects(own.set(s.t(1), 'k', 1), /the codec own must make a Uint8Array/);
  await s.end(1);
  assert.equal(await own.currentCount(), 0);
});

test('work and listeners are functions', async () => {
  await using s = await scene();
  const none = undefined as never;
  await assert.rejects(s.state.transaction(none), ArgumentError);
  for (const listen of [
    () => s.d.onChange(none),
    () => s.d.onRebuild(none),
    () => s.state.onTransaction(none),
    () => s.state.onStateChange(none),
    () => s.state.onError(none),
  ])
    assert.throws(listen, ArgumentError);
  await assert.rejects(s.state.backup(none), ArgumentError);
  await assert.rejects(StateManager.restore(none), ArgumentError);
});
