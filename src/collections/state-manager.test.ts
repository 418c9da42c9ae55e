// Section 11.6 of the specification, in its own words, and what else the catalogue promises.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ArgumentError,
  ArgumentNullError,
  ArgumentOutOfRangeError,
  type Codec,
  FormatError,
  InvalidDataError,
  InvalidOperationError,
  ObjectClosedError,
  StateManager,
  type StateOptions,
  TimeoutError,
  type Transaction,
} from './index.js';
import { all, crashCopy, granted, scene, temporary, turns, waits } from './scenario.suite.js';

const memory = () => StateManager.open({ memory: true });

test("M1: getOrAdd('a') twice without tx: same object", async () => {
  await using state = await memory();
  assert.equal(await state.dictionary('a'), await state.dictionary('a'));
});

test("M2: getOrAdd dictionary 'a', then getOrAdd queue 'a': ArgumentException", async () => {
  await using state = await memory();
  await state.dictionary('a');
  await assert.rejects(state.queue('a'), (error) => {
    assert.ok(error instanceof ArgumentError);
    assert.match(error.message, /a is a dictionary, not a queue/);
    return true;
  });
});

test("M3: T1 getOrAdd(tx,'n') open; tryGet('n'); T1 commit; tryGet: not found; found", async () => {
  await using state = await memory();
  await using tx = state.begin();
  const n = await state.dictionary('n', { tx });
  assert.equal(await state.get('n'), undefined);
  await tx.commit();
  assert.equal(await state.get('n'), n);
});

for (const how of ['commit', 'abort'] as const) {
  test(`M4: T1 getOrAdd(tx,'n') open; T2 getOrAdd('n', 200 ms): TimeoutException; T1 ${how}: ${
    how === 'commit' ? 'same object' : 'T2 creates it'
  }`, async () => {
    await using state = await memory();
    await using tx = state.begin();
    const first = await state.dictionary('n', { tx });
    await assert.rejects(state.dictionary('n', { timeoutMs: 20 }), TimeoutError);
    const second = state.dictionary('n');
    await waits(second);
    await tx[how]();
    if (how === 'commit') assert.equal(await second, first);
    else assert.notEqual(await second, first);
    assert.equal(await state.get('n'), await second);
  });
}

test("M5: 50 concurrent getOrAdd('n'): one creation, 50 identical results", async () => {
  let created = 0;
  await using state = await StateManager.open({
    memory: true,
    onStateChange: ({ action }) => {
      if (action === 'add') created++;
    },
  });
  const found = await Promise.all(Array.from({ length: 50 }, () => state.dictionary('n')));
  assert.equal(new Set(found).size, 1);
  assert.equal(created, 1);
});

test("M6: T1 getOrAdd(tx,'n'), T1 set in it, commit: works", async () => {
  await using state = await memory();
  const n = await state.transaction(async (tx) => {
    const created = await state.dictionary<string, number>('n', { tx });
    assert.equal(await state.dictionary('n', { tx }), created, 'the same object in the same transaction');
    await created.set(tx, 'k', 1);
    assert.deepEqual(await all(created.entries(tx)), [['k', 1]]);
    assert.equal(await created.count(tx), 1);
    return created;
  });
  await state.transaction(async (tx) => assert.equal(await n.get(tx, 'k'), 1));
});

test("M7: T1 getOrAdd(tx,'n'); abort; recover: 'n' absent", async () => {
  const location = await temporary();
  const state = await StateManager.open({ location });
  const tx = state.begin();
  const n = await state.dictionary<string, number>('n', { tx });
  await n.set(tx, 'k', 1);
  await tx.abort();
  await assert.rejects(
    state.transaction((other) => n.get(other, 'k')),
    ObjectClosedError,
  );
  await state.close();
  await using again = await StateManager.open({ location });
  assert.equal(await again.get('n'), undefined);
  assert.deepEqual(await again.list(), []);
});

test("M8: remove('x') unknown: ArgumentException", async () => {
  await using state = await memory();
  await assert.rejects(state.remove('x'), ArgumentError);
});

test('M9: T1 S(k) in d open; remove(d, 200 ms): TimeoutException', async () => {
  await using s = await scene();
  await s.S(1);
  await assert.rejects(s.state.remove('d', { timeoutMs: 20 }), TimeoutError);
  await s.end(1);
  assert.equal(await s.value('k'), 1);
});

test('M10: T1 remove(tx,d) open; T2 S(k) waits; T1 abort: T2 proceeds, data intact', async () => {
  await using s = await scene();
  await s.state.remove('d', { tx: s.t(1) });
  const second = s.S(2);
  await waits(second);
  await s.abort(1);
  assert.equal(await second, 1);
});

test('M11: T1 remove(tx,d) open; T2 S(k) waits; T1 commit: T2 FabricObjectClosedException', async () => {
  await using s = await scene();
  await s.state.remove('d', { tx: s.t(1) });
  const second = s.S(2);
  await waits(second);
  const refused = assert.rejects(second, ObjectClosedError);
  await s.end(1);
  await refused;
});

test('M12: remove(d) committed; old reference used: FabricObjectClosedException; getOrAdd gives a new empty one', async () => {
  await using s = await scene();
  await s.state.remove('d');
  await assert.rejects(s.S(1), ObjectClosedError);
  await assert.rejects(s.X(1), ObjectClosedError);
  await assert.rejects(s.d.clear(), ObjectClosedError);
  assert.throws(() => s.d.entries(s.t(1)), ObjectClosedError);
  const again = await s.state.queue<string>('d');
  await s.state.transaction(async (tx) => assert.equal(await again.count(tx), 0));
});

test('M13: T1 remove(tx,d); tryGet(d) by others: still found until commit', async () => {
  await using s = await scene();
  await s.state.remove('d', { tx: s.t(1) });
  assert.equal(await s.state.get('d'), s.d);
  await s.end(1);
  assert.equal(await s.state.get('d'), undefined);
});

test('M14: T1 remove(tx,d) twice: second ArgumentException', async () => {
  await using s = await scene();
  await s.state.remove('d', { tx: s.t(1) });
  await assert.rejects(s.state.remove('d', { tx: s.t(1) }), ArgumentError);
});

for (const when of ['before', 'after'] as const) {
  test(`M15: T1 set in d1, enqueue in q, set in d2; crash ${when} commit resolves: ${
    when === 'before' ? 'none' : 'all three'
  }`, async () => {
    const location = await temporary();
    await using state = await StateManager.open({ location });
    const [d1, d2] = [
      await state.dictionary<string, number>('d1'),
      await state.dictionary<string, number>('d2'),
    ];
    const q = await state.queue<number>('q');
    await using tx = state.begin();
    await d1.set(tx, 'k', 1);
    await q.enqueue(tx, 2);
    await d2.set(tx, 'k', 3);
    if (when === 'after') await tx.commit();
    await using found = await StateManager.open({ location: await crashCopy(location) });
    const [f1, f2] = [await found.dictionary('d1'), await found.dictionary('d2')];
    const fq = await found.queue('q');
    await using read = found.begin();
    const seen = [await f1.get(read, 'k'), await fq.tryPeek(read), await f2.get(read, 'k')];
    assert.deepEqual(seen, when === 'after' ? [1, 2, 3] : [undefined, undefined, undefined]);
    assert.equal(await fq.count(read), when === 'after' ? 1 : 0);
  });
}

test("M16: names 'a' and 'A': two collections", async () => {
  await using state = await memory();
  assert.notEqual(await state.dictionary('a'), await state.dictionary('A'));
  assert.deepEqual(
    (await state.list()).map(({ name }) => name),
    ['A', 'a'],
  );
});

test("M17: string name 'urn:x': FormatException", async () => {
  await using state = await memory();
  await assert.rejects(state.dictionary('urn:x'), FormatError);
});

test('M18: enumerate with one uncommitted creation: not listed', async () => {
  await using state = await memory();
  await state.dictionary('a');
  await using tx = state.begin();
  await state.dictionary('n', { tx });
  assert.deepEqual(
    (await state.list()).map(({ name }) => name),
    ['a'],
  );
});

// ---- section 1: the rest of its tables

test('1.2: a name that is null, no string, empty, too long or reserved is refused', async () => {
  await using state = await memory();
  for (const [name, kind] of [
    [undefined, ArgumentNullError],
    [null, ArgumentNullError],
    [7, ArgumentError],
    ['', ArgumentError],
    ['x'.repeat(20_000), ArgumentError],
    ['$system/x', ArgumentError],
  ] as const) {
    await assert.rejects(state.dictionary(name as string), kind);
  }
  await state.dictionary('$system/x', { system: true });
  assert.deepEqual(await state.list(), [], 'what belongs to the system is not listed');
  await assert.rejects(state.get(7 as never), ArgumentError);
  await assert.rejects(state.remove(undefined as never), ArgumentNullError);
  await assert.rejects(state.dictionary('x', { tx: 'no' as never }), ArgumentError);
});

test('1.5: create and remove in one transaction: allowed, net effect nothing', async () => {
  await using state = await memory();
  await state.transaction(async (tx) => {
    const n = await state.dictionary<string, number>('n', { tx });
    await n.set(tx, 'k', 1);
    await state.remove('n', { tx });
    await assert.rejects(state.dictionary('n', { tx }), InvalidOperationError);
    await assert.rejects(n.get(tx, 'k'), ObjectClosedError);
  });
  assert.equal(await state.get('n'), undefined);
});

test('1.5: what is being removed in a transaction cannot be used or found in it', async () => {
  await using s = await scene();
  await s.state.remove('d', { tx: s.t(1) });
  await assert.rejects(s.X(1), ObjectClosedError);
  await assert.rejects(s.state.dictionary('d', { tx: s.t(1) }), InvalidOperationError);
  await s.abort(1);
  assert.equal(await s.value('k'), 1);
});

for (const how of ['commit', 'abort'] as const) {
  test(`1.6: T1 remove n; several getOrAdd n wait; T1 ${how}: all get the same, ${
    how === 'commit' ? 'new and empty' : 'old'
  } one`, async () => {
    await using s = await scene();
    await s.state.remove('d', { tx: s.t(1) });
    const others = Array.from({ length: 5 }, () => s.state.dictionary<string, number>('d'));
    await waits(...others);
    await s.t(1)[how]();
    const found = new Set(await Promise.all(others));
    assert.equal(found.size, 1);
    assert.equal(found.has(s.d as never), how === 'abort');
  });
}

test('1.6: T1 getOrAdd existing n; T2 getOrAdd n: immediate; T2 remove n: waits for the end of T1', async () => {
  await using s = await scene();
  await s.state.dictionary('d', { tx: s.t(1) });
  await granted(s.state.dictionary('d', { tx: s.t(2) }));
  await s.end(2);
  const removal = s.state.remove('d');
  await waits(removal);
  await s.end(1);
  await removal;
});

test('a collection that is not committed yet is used by nobody else', async () => {
  await using state = await memory();
  await using tx = state.begin();
  const n = await state.dictionary<string, number>('n', { tx });
  const other = state.transaction((second) => n.set(second, 'k', 2));
  const clear = n.clear();
  await waits(other, clear);
  const refused = [assert.rejects(other, ObjectClosedError), assert.rejects(clear, ObjectClosedError)];
  await tx.abort();
  await Promise.all(refused);
});

test('a name can be removed, made again with another type, and read after a restart', async () => {
  const location = await temporary();
  const state = await StateManager.open({ location });
  const d = await state.dictionary<string, number>('n');
  await state.transaction((tx) => d.set(tx, 'k', 1));
  await state.remove('n');
  const q = await state.queue<number>('n');
  await state.transaction((tx) => q.enqueue(tx, 7));
  await state.close();
  await using again = await StateManager.open({ location });
  const found = await again.queue<number>('n');
  assert.equal(await again.transaction((tx) => found.tryDequeue(tx)), 7);
});

test('what was cleared or removed is swept away, rows that expire and their index included', async () => {
  await using s = await scene();
  await s.state.transaction(async (tx) => {
    for (let n = 0; n < 1200; n++) await s.d.set(tx, `row ${n}`, n, n % 2 ? { ttlMs: 1e9 } : {});
  });
  await s.d.clear();
  await s.state.remove('q');
  await s.state.sweep();
  assert.equal(await stored(s.state), 2, 'the records of d and cq');
});

async function stored(state: StateManager): Promise<number> {
  const page = await state.engine.range(Buffer.alloc(0), undefined, { limit: 10_000, keysOnly: true });
  return page.rows.length;
}

// ---- codecs

interface Point {
  readonly x: number;
}

function pointCodec(version: number): Codec<Point> {
  return {
    name: 'point',
    version,
    encode: ({ x }) => Buffer.from(`${version}:${x}`),
    decode: (bytes) => ({ x: Number(Buffer.from(bytes).toString().split(':')[1]) }),
  };
}

test('9: a collection keeps the name and version of its codec, and another is refused', async () => {
  const location = await temporary();
  const first = await StateManager.open({ location });
  const points = await first.dictionary<string, Point>('points', { codec: pointCodec(1) });
  await first.transaction((tx) => points.set(tx, 'a', { x: 5 }));
  await assert.rejects(
    first.dictionary('points', { codec: { ...pointCodec(1), name: 'other' } }),
    (error) => {
      assert.ok(error instanceof InvalidDataError);
      assert.match(error.message, /written with the codec point.*not with other/);
      return true;
    },
  );
  await first.close();

  await using second = await StateManager.open({ location });
  assert.deepEqual(
    (await second.list()).map(({ name }) => name),
    ['points'],
    'it is listed though its codec is not known',
  );
  await assert.rejects(second.dictionary('points'), InvalidDataError);
  const found = await second.dictionary<string, Point>('points', { codec: pointCodec(2) });
  assert.equal(await second.get('points'), found);
  assert.deepEqual(await second.transaction((tx) => found.get(tx, 'a')), { x: 5 });
  await second.close();

  await using third = await StateManager.open({ location });
  await assert.rejects(third.dictionary('points', { codec: pointCodec(1) }), /version 2 of the codec point/);
});

test('9: codecs given to open serve collections that are used by name alone', async () => {
  const location = await temporary();
  const first = await StateManager.open({ location });
  const points = await first.queue<Point>('points', { codec: pointCodec(1) });
  await first.transaction((tx) => points.enqueue(tx, { x: 5 }));
  await first.close();
  await using second = await StateManager.open({ location, codecs: [pointCodec(1)] });
  const found = await second.queue<Point>('points');
  assert.deepEqual(await second.transaction((tx) => found.tryPeek(tx)), { x: 5 });
});

test('what is done to a value does not reach the store, even if its codec hands out the bytes it was given', async () => {
  const bare: Codec<Uint8Array> = {
    name: 'bare',
    version: 1,
    encode: (value) => value,
    decode: (bytes) => bytes,
  };
  await using state = await StateManager.open({ location: await temporary() });
  const texts = await state.dictionary<string, Uint8Array>('texts', { codec: bare });
  const spoil = (tx: Transaction, lock: 'shared' | 'none' | 'snapshot') =>
    texts.get(tx, 'a', { lock }).then((value) => {
      assert.equal(Buffer.from(value as Uint8Array).toString(), 'kept');
      value?.fill(0);
    });
  const given = Buffer.from('kept');
  const writing = state.begin();
  await texts.set(writing, 'a', given);
  given.fill(0);
  await spoil(writing, 'shared'); // its own write
  const committed = writing.commit();
  const spoilAll = async (tx: Transaction) => {
    for (const lock of ['none', 'snapshot', 'shared', 'none', 'snapshot'] as const) await spoil(tx, lock);
    for await (const [, value] of texts.entries(tx)) value.fill(0);
    await spoil(tx, 'shared');
  };
  await state.transaction(spoilAll); // ordered, not on disk yet
  await committed;
  for (let round = 0; round < 3; round++) await state.transaction(spoilAll); // from disk, and from what was read lately
});

test('a collection whose codec is not known cannot be read, but removed', async () => {
  const location = await temporary();
  const first = await StateManager.open({ location });
  const points = await first.dictionary<string, Point>('points', { codec: pointCodec(1) });
  await first.transaction((tx) => points.set(tx, 'a', { x: 5 }));
  await first.close();
  await using second = await StateManager.open({ location });
  const found = (await second.get('points')) as typeof points;
  await assert.rejects(
    second.transaction((tx) => found.get(tx, 'a')),
    /codec point, which is not known/,
  );
  await second.remove('points');
  assert.deepEqual(await second.list(), []);
});

// ---- settings

test('8: settings that cannot be are refused when the state manager is opened', async () => {
  for (const [wrong, kind] of [
    [{ timeoutMs: -1 }, ArgumentOutOfRangeError],
    [{ timeoutMs: 'long' }, ArgumentError],
    [{ timeoutMs: Number.NaN }, ArgumentError],
    [{ maxTransactionAgeMs: 0 }, ArgumentOutOfRangeError],
    [{ maxValueBytes: 17 * 1024 * 1024 }, ArgumentOutOfRangeError],
    [{ maxTransactionBytes: 65 * 1024 * 1024 }, ArgumentOutOfRangeError],
    [{ maxBackupLogBytes: -1 }, ArgumentOutOfRangeError],
    [{ minFreeBytes: -1 }, ArgumentOutOfRangeError],
    [{ slowListenerMs: -1 }, ArgumentOutOfRangeError],
    [{ freeze: 1 }, ArgumentError],
  ] as const) {
    const options = { memory: true, ...(wrong as object) } as StateOptions;
    await assert.rejects(StateManager.open(options), kind, JSON.stringify(wrong));
  }
  await assert.rejects(StateManager.open({} as StateOptions), ArgumentError);
  await assert.rejects(StateManager.open({ location: '' }), ArgumentError);
});

test('8: the time-out, the size of a value and of a transaction can be set', async () => {
  await using s = await scene({ timeoutMs: 10, maxValueBytes: 100, maxTransactionBytes: 1000 });
  await s.X(1);
  await assert.rejects(s.S(2), TimeoutError);
  await assert.rejects(s.X(3, 'm', 'x'.repeat(101)), /over the limit of 100/);
  for (let n = 0; n < 12; n++) await s.X(4, `m${n}`, 'x'.repeat(90)).catch(() => {});
  await assert.rejects(s.end(4), /at most 1000 bytes/);
});

test('two processes, or two state managers, cannot have one folder', async () => {
  const location = await temporary();
  await using state = await StateManager.open({ location });
  await assert.rejects(StateManager.open({ location }), InvalidOperationError);
  await state.dictionary('still works');
});

test('closing twice is closing once, and all after it is refused', async () => {
  const state = await memory();
  const d = await state.dictionary<string, number>('d');
  const tx = state.begin();
  await d.set(tx, 'k', 1);
  const closing = state.close();
  assert.equal(state.close(), closing);
  await closing;
  await turns();
  await assert.rejects(d.get(tx, 'k'), ObjectClosedError);
  await assert.rejects(tx.commit(), ObjectClosedError);
  await tx.dispose();
  assert.throws(() => state.begin(), ObjectClosedError);
  await assert.rejects(
    state.transaction(async () => {}),
    ObjectClosedError,
  );
  await assert.rejects(state.dictionary('d'), ObjectClosedError);
  await assert.rejects(state.list(), ObjectClosedError);
  await assert.rejects(d.currentCount(), ObjectClosedError);
});

test('a state manager that closes while work runs does not call it a success', async () => {
  const state = await memory();
  const d = await state.dictionary<string, number>('d');
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const work = state.transaction(async (tx) => {
    await d.set(tx, 'k', 1);
    await gate;
  });
  const refused = assert.rejects(work, ObjectClosedError);
  await state.close();
  go();
  await refused;
});
