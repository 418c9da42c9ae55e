// Section 11.1 of the specification, in its own words, and the rest of what the lock table promises.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ArgumentError,
  DeadlockError,
  LockTimeoutError,
  ObjectClosedError,
  OperationCanceledError,
  TimeoutError,
} from './index.js';
import { LockOwner } from './lock-entries.js';
import { LockTable } from './locks.js';
import { granted, scene, turns, waits } from './scenario.suite.js';

test('L1: T1 S(k); T2 S(k): both at once', async () => {
  await using s = await scene();
  await granted(s.S(1), s.S(2));
});

test('L2: T1 S(k); T2 U(k); T3 S(k): T2 at once; T3 waits; T1 end: T3 still waits; T2 end: T3 granted', async () => {
  await using s = await scene();
  await s.S(1);
  await granted(s.U(2));
  const third = s.S(3);
  await waits(third);
  await s.end(1);
  await waits(third);
  await s.end(2);
  await granted(third);
});

for (const [name, second] of [
  ['L3: T1 U(k); T2 S(k): T2 waits until T1 ends', 'S'],
  ['L4: T1 U(k); T2 U(k): T2 waits until T1 ends', 'U'],
  ['L5: T1 U(k); T2 X(k=2): T2 waits until T1 ends', 'X'],
] as const) {
  test(name, async () => {
    await using s = await scene();
    await s.U(1);
    const call = s[second](2);
    await waits(call);
    await s.end(1);
    await granted(call);
  });
}

test('L6: T1 X(k=2); T2 S(k); T1 commit: T2 waits, then returns 2', async () => {
  await using s = await scene();
  await s.X(1);
  const call = s.S(2);
  await waits(call);
  await s.end(1);
  assert.equal(await call, 2);
});

test('L7: T1 X(k=2); T2 S(k); T1 abort: T2 waits, then returns 1', async () => {
  await using s = await scene();
  await s.X(1);
  const call = s.S(2);
  await waits(call);
  await s.abort(1);
  assert.equal(await call, 1);
});

test('L8: T1 S(k); T2 X(k=2); T1 end: T2 waits, then granted', async () => {
  await using s = await scene();
  await s.S(1);
  const call = s.X(2);
  await waits(call);
  await s.end(1);
  await granted(call);
});

test('L9: T1 S(k); T2 X(k) waits; T3 S(k): T3 waits too; after T1 end T2 granted, T3 only after T2 end', async () => {
  await using s = await scene();
  await s.S(1);
  const second = s.X(2);
  const third = s.S(3);
  await waits(second, third);
  await s.end(1);
  await granted(second);
  await waits(third);
  await s.end(2);
  await granted(third);
});

test('L10: T0 X(k); then T1 S, T2 X, T3 S, T4 S, T5 X, T6 X wait: granted T1; T2; T3 and T4 together; T5; T6', async () => {
  await using s = await scene();
  await s.X(10);
  const order: number[] = [];
  const ask = (n: number, mode: 'S' | 'X') => s[mode](n).then(() => order.push(n));
  const calls = [ask(1, 'S'), ask(2, 'X'), ask(3, 'S'), ask(4, 'S'), ask(5, 'X'), ask(6, 'X')];
  await waits(...calls);
  for (const [ends, expected] of [
    [10, [1]],
    [1, [1, 2]],
    [2, [1, 2, 3, 4]],
    [3, [1, 2, 3, 4]],
    [4, [1, 2, 3, 4, 5]],
    [5, [1, 2, 3, 4, 5, 6]],
  ] as const) {
    await s.end(ends);
    await turns();
    assert.deepEqual(order, expected);
  }
});

test('L11: T1 S(k), T2 S(k); T1 X(k=2); T2 end: T1 waits, granted when T2 ends', async () => {
  await using s = await scene();
  await s.S(1);
  await s.S(2);
  const call = s.X(1);
  await waits(call);
  await s.end(2);
  await granted(call);
});

test('L12: T1 S(k), T2 S(k); T3 X(k) waits; T1 X(k); T2 end: T1 granted before T3; T3 granted after T1 end', async () => {
  await using s = await scene();
  await s.S(1);
  await s.S(2);
  const third = s.X(3);
  await waits(third);
  const first = s.X(1);
  await waits(first);
  await s.end(2);
  await granted(first);
  await waits(third);
  await s.end(1);
  await granted(third);
});

test('L13: T1 S(k); T2 X(k) waits; T1 X(k=2): T1 granted at once although T2 waits', async () => {
  await using s = await scene();
  await s.S(1);
  const second = s.X(2);
  await waits(second);
  await granted(s.X(1));
  await waits(second);
});

test('L14: T1 S(k), T2 S(k); T1 U(k); T3 S(k): T1 at once; T3 waits until T1 ends', async () => {
  await using s = await scene();
  await s.S(1);
  await s.S(2);
  await granted(s.U(1));
  const third = s.S(3);
  await waits(third);
  await s.end(1);
  await granted(third);
});

test('L15: T1 S(k), T2 U(k); T1 U(k): T1 waits until T2 ends', async () => {
  await using s = await scene();
  await s.S(1);
  await s.U(2);
  const call = s.U(1);
  await waits(call);
  await s.end(2);
  await granted(call);
});

test('L16: T1 S(k), T2 U(k); T2 X(k=2): waits until T1 ends; meanwhile T3 S(k) waits', async () => {
  await using s = await scene();
  await s.S(1);
  await s.U(2);
  const call = s.X(2);
  const third = s.S(3);
  await waits(call, third);
  await s.end(1);
  await granted(call);
  await waits(third);
});

test('L17: T1 S(k), T2 S(k); both X(k), detection off: T1 times out and still holds S; T2 waits; T1 dispose: granted', async () => {
  await using s = await scene({ detectDeadlocks: false });
  await s.S(1);
  await s.S(2);
  const second = s.X(2, 'k', 2, 2_000);
  await assert.rejects(
    s.X(1, 'k', 2, 50),
    (error) => error instanceof LockTimeoutError && !(error instanceof DeadlockError),
  );
  await waits(second);
  await s.t(1).dispose();
  await granted(second);
});

test('L17 [C]: T1 S(k), T2 S(k); both X(k): with deadlock detection one fails at once, the younger', async () => {
  await using s = await scene();
  await s.S(1);
  await s.S(2);
  const first = s.X(1);
  const second = s.X(2);
  await assert.rejects(second, (error) => {
    assert.ok(
      error instanceof DeadlockError && error instanceof LockTimeoutError && error instanceof TimeoutError,
    );
    assert.equal(error.cycle.length, 2);
    assert.match(error.message, /deadlock: .*d\["k"\] exclusive.*d\["k"\] exclusive/);
    return true;
  });
  await waits(first);
  await s.abort(2);
  await granted(first);
});

test('L18: T1 U(k); T2 U(k) waits; T1 X(k=2), commit: T1 write at once; T2 then returns 2', async () => {
  await using s = await scene();
  await s.U(1);
  const second = s.U(2);
  await waits(second);
  await granted(s.X(1));
  await s.end(1);
  assert.equal(await second, 2);
});

test('L19: T1 X(k=2); T1 S(k): 2, at once; T2 S(k) still waits until T1 ends', async () => {
  await using s = await scene();
  await s.X(1);
  assert.equal(await s.S(1), 2);
  const second = s.S(2);
  await waits(second);
  await s.end(1);
  await granted(second);
});

test('L20: T2 S(k); T1 U(k); T1 S(k): at once', async () => {
  await using s = await scene();
  await s.S(2);
  await s.U(1);
  await granted(s.S(1));
});

test('L21: T1 X(k); T2 S(k) timeout 0: TimeoutException at once', async () => {
  await using s = await scene();
  await s.X(1);
  await assert.rejects(s.S(2, 'k', 0), TimeoutError);
});

test('L22: T1 S(k); T2 S(k) timeout 0: succeeds', async () => {
  await using s = await scene();
  await s.S(1);
  assert.equal(await s.S(2, 'k', 0), 1);
});

test('L23: timeout -5: ArgumentException', async () => {
  await using s = await scene();
  await assert.rejects(s.S(1, 'k', -5), ArgumentError);
  await assert.rejects(s.S(1, 'k', Number.NaN), ArgumentError);
});

test('L24: T1 S(k); T2 X(k) timeout 100 ms; T3 S(k) timeout 1 s: T2 times out, T3 granted though T1 is open', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await using s = await scene();
  await s.S(1);
  const second = s.X(2, 'k', 2, 100);
  const third = s.S(3, 'k', 1_000);
  await waits(third);
  t.mock.timers.tick(100);
  await assert.rejects(second, LockTimeoutError);
  await granted(third);
});

test('L25: T1 X(k); T2 X(j=1), then S(k) times out; T2 X(j=2), commit: T2 stays usable, j=2 committed', async () => {
  await using s = await scene();
  await s.X(1);
  await s.X(2, 'j', 1);
  await assert.rejects(s.S(2, 'k', 20), TimeoutError);
  await s.X(2, 'j', 2);
  await s.end(2);
  assert.equal(await s.value('j'), 2);
});

test('L26: T1 X(k); T2 S(k) with signal; abort signal: OperationCanceledException at once, queue entry gone', async () => {
  await using s = await scene();
  await s.X(1);
  const abort = new AbortController();
  const second = s.d.get(s.t(2), 'k', { signal: abort.signal });
  await waits(second);
  abort.abort();
  await assert.rejects(
    second,
    (error) => error instanceof OperationCanceledError && error.name === 'AbortError',
  );
  assert.equal(s.state.inspect().waitFor.length, 0);
});

test('L27: set(m) with an already aborted signal: OperationCanceledException; m absent after commit', async () => {
  await using s = await scene();
  await assert.rejects(s.d.set(s.t(1), 'm', 1, { signal: AbortSignal.abort() }), OperationCanceledError);
  await s.end(1);
  assert.equal(await s.value('m'), undefined);
});

for (const [name, first, second] of [
  ['L28: T1 S(m) absent; T2 add(m): T2 waits until T1 ends', 'get m', 'add m'],
  ['L29: T1 tryAdd(k) false; T2 S(k): T2 waits until T1 ends', 'tryAdd k', 'get k'],
  ['L30: T1 tryUpdate(k, 5, comparison 99) false; T2 S(k): T2 waits', 'tryUpdate k', 'get k'],
  ['L31: T1 tryRemove(m) none; T2 add(m): T2 waits', 'remove m', 'add m'],
] as const) {
  test(name, async () => {
    await using s = await scene();
    const call = (t: number, what: string): Promise<unknown> => {
      const [verb, key = ''] = what.split(' ');
      const tx = s.t(t);
      if (verb === 'get') return s.d.get(tx, key);
      if (verb === 'add') return s.d.add(tx, key, 1);
      if (verb === 'tryAdd') return s.d.tryAdd(tx, key, 1);
      if (verb === 'tryUpdate') return s.d.tryUpdate(tx, key, 5, 99);
      return s.d.remove(tx, key);
    };
    assert.ok(!(await call(1, first)));
    const waiting = call(2, second);
    await waits(waiting);
    await s.end(1);
    await granted(waiting);
  });
}

test('L32: T1 X(k); T2 X(other key); T3 X(k) in another dictionary: T2, T3 at once', async () => {
  await using s = await scene();
  const other = await s.state.dictionary<string, number>('other');
  await s.X(1);
  await granted(s.X(2, 'x'), other.set(s.t(3), 'k', 1));
});

test('L33: T1 X(a), T2 X(b), T1 X(b), T2 X(a): an immediate deadlock error; after its abort the other proceeds', async () => {
  await using s = await scene();
  await s.X(1, 'a');
  await s.X(2, 'b');
  const first = s.X(1, 'b');
  await assert.rejects(s.X(2, 'a'), DeadlockError);
  await s.abort(2);
  await granted(first);
});

test('L34: T1 S(k); T1 commit, no dispose; T2 X(k): T2 at once', async () => {
  await using s = await scene();
  await s.S(1);
  await s.end(1);
  await granted(s.X(2));
});

test('L35: T1 X(k); T2 S(k) waits; state manager closes: T2 FabricObjectClosedException', async () => {
  await using s = await scene();
  await s.X(1);
  const second = s.S(2);
  await waits(second);
  const refused = assert.rejects(second, ObjectClosedError);
  await s.state.close();
  await refused;
});

test('a circle of many is found, and the youngest in it fails', async () => {
  await using s = await scene();
  const size = 20;
  for (let n = 1; n <= size; n++) await s.X(n, `key ${n}`);
  const calls: Promise<void>[] = [];
  for (let n = 1; n < size; n++) calls.push(s.X(n, `key ${n + 1}`));
  await waits(...calls);
  await assert.rejects(
    s.X(size, 'key 1'),
    (error) => error instanceof DeadlockError && error.cycle.length === size,
  );
});

test('a circle through the queue of waiters is found: who is served before is waited for too', async () => {
  await using s = await scene();
  await s.S(1); // T1 holds k shared
  await s.X(3, 'j'); // T3 holds j
  const second = s.X(2); // T2 waits for T1
  const third = s.S(3); // T3 waits behind T2
  await waits(second, third);
  const refused = assert.rejects(second, DeadlockError); // T2 is the youngest of them
  const first = s.X(1, 'j'); // T1 waits for T3, which waits behind T2, which waits for T1
  await refused;
  await granted(third);
  await s.end(3);
  await granted(first);
});

test('the table is empty when nobody holds anything', () => {
  const table = new LockTable();
  const wait = { timeoutMs: 1_000 };
  const owners = Array.from({ length: 10 }, (_, n) => new LockOwner(BigInt(n), n));
  for (const owner of owners)
    for (let key = 0; key < 100; key++) void table.acquire(owner, `key ${key}`, 'shared', wait);
  assert.equal(table.size, 100);
  for (const owner of owners) table.release(owner);
  assert.equal(table.size, 0);
});

test('4.4: on a whole collection writers come first, in order, then all readers together; on a row nobody overtakes', async () => {
  for (const [key, expected] of [
    ['whole', ['W1', 'W2', 'R1', 'R2']],
    ['row', ['W1', 'R1', 'W2', 'R2']],
  ] as const) {
    const table = new LockTable(undefined, { isWhole: (name) => name === 'whole' });
    const owner = (age: number) => new LockOwner(BigInt(age), age);
    const [inside, ...others] = [owner(1), owner(2), owner(3), owner(4), owner(5)] as const;
    assert.equal(table.acquire(inside, key, 'shared', forEver), undefined);
    const granted: string[] = [];
    const asked = [
      ['W1', 'exclusive'],
      ['R1', 'shared'],
      ['W2', 'exclusive'],
      ['R2', 'shared'],
    ] as const;
    const calls = asked.map(async ([name, mode], index) => {
      const each = others[index] as LockOwner;
      await table.acquire(each, key, mode, forEver);
      granted.push(name);
      if (mode === 'exclusive') table.release(each);
    });
    table.release(inside);
    while (granted.length < 4) {
      await turns();
      const reader = others[1] as LockOwner;
      if (granted.at(-1) === 'R1') table.release(reader);
    }
    await Promise.all(calls);
    assert.deepEqual(granted, expected);
  }
});

test('4.4: a circle through a writer that went before a reader is found', async () => {
  const table = new LockTable(undefined, { isWhole: (name) => name === 'whole' });
  const [inside, first, reader, second] = [1, 2, 3, 4].map((age) => new LockOwner(BigInt(age), age)) as [
    LockOwner,
    LockOwner,
    LockOwner,
    LockOwner,
  ];
  table.acquire(inside, 'whole', 'shared', forEver);
  table.acquire(reader, 'row', 'exclusive', forEver);
  const calls = [
    table.acquire(first, 'whole', 'exclusive', forEver),
    table.acquire(reader, 'whole', 'shared', forEver),
    table.acquire(second, 'whole', 'exclusive', forEver),
  ].map((call) => call?.catch((error) => error));
  const closing = table.acquire(inside, 'row', 'exclusive', forEver);
  assert.ok((await calls[2]) instanceof DeadlockError, 'the youngest fails');
  assert.ok((await calls[1]) instanceof DeadlockError, 'and as there is still a circle, the next');
  table.release(reader);
  await closing;
  table.release(inside);
  await calls[0];
  table.release(first);
  assert.equal(table.size, 0);
});

const forEver = { timeoutMs: Number.POSITIVE_INFINITY };
