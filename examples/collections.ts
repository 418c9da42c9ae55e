// The guide to the collections, docs/collections.md, as one program: what is printed there is cut out of here.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Codec, DeadlockError, LockTimeoutError, mayRetry, StateManager } from 'lazuli/collections';

const folder = await mkdtemp(join(tmpdir(), 'lazuli-guide-'));

interface Account {
  readonly owner: string;
  readonly balance: number;
}

const state = await StateManager.open({ location: join(folder, 'data') }); // { memory: true } keeps nothing
const accounts = await state.dictionary<string, Account>('accounts');
const payments = await state.queue<{ to: string; amount: number }>('payments');

await state.transaction(async (tx) => {
  await accounts.set(tx, 'alice', { owner: 'Alice', balance: 100 });
  await accounts.set(tx, 'bob', { owner: 'Bob', balance: 20 });
});

async function pay(from: string, to: string, amount: number): Promise<void> {
  await state.transaction(
    async (tx) => {
      const payer = await accounts.get(tx, from, { lock: 'update' });
      if (payer === undefined || payer.balance < amount) throw new Error(`${from} cannot pay ${amount}`);
      await accounts.set(tx, from, { ...payer, balance: payer.balance - amount });
      await accounts.addOrUpdate(tx, to, { owner: to, balance: amount }, (_, old) => ({
        ...old,
        balance: old.balance + amount,
      }));
      await payments.enqueue(tx, { to, amount });
    },
    { retries: 5 },
  );
}

await pay('alice', 'bob', 30); // on disk when this resolves
await assert.rejects(pay('bob', 'alice', 1_000), /cannot pay/); // and nothing of it has happened

// ---- by hand

{
  await using tx = state.begin(); // aborts at the end of the block unless it was committed
  const alice = await accounts.get(tx, 'alice');
  assert.equal(alice?.balance, 70);
  await accounts.remove(tx, 'alice');
  await tx.abort();
}

// ---- locks

{
  await using writer = state.begin();
  await accounts.set(writer, 'alice', { owner: 'Alice', balance: 0 });
  await using reader = state.begin();
  try {
    await accounts.get(reader, 'alice', { timeoutMs: 50 }); // 4 s unless given
  } catch (error) {
    if (!(error instanceof LockTimeoutError)) throw error;
    console.log(error.message);
    // not granted within 50 ms: transaction 2 wants accounts["alice"] shared; transaction 1 holds it exclusive for 52 ms
    assert.equal(error.wait.holders[0]?.transactionId, writer.id);
  }
}

{
  await using first = state.begin();
  await using second = state.begin();
  await accounts.get(first, 'alice', { lock: 'update' });
  await accounts.get(second, 'bob', { lock: 'update' });
  const waiting = accounts.get(first, 'bob', { lock: 'update' });
  await assert.rejects(accounts.get(second, 'alice', { lock: 'update' }), DeadlockError); // at once, for the younger
  await second.abort();
  await waiting;
}

// ---- without locks

const limits = await state.dictionary<string, number>('limits');
await state.transaction((tx) => limits.set(tx, 'payment', 1_000));

await state.transaction(
  async (tx) => {
    const limit = await limits.get(tx, 'payment', { lock: 'none', check: true });
    if (limit !== undefined && limit < 50) throw new Error('too much');
    await payments.enqueue(tx, { to: 'bob', amount: 50 });
  },
  { retries: 5 }, // somebody may have changed the limit: then the commit is a conflict, and it runs again
);

const visits = await state.counters<string>('visits');
await Promise.all(Array.from({ length: 100 }, () => state.transaction((tx) => visits.add(tx, 'home', 1))));
await state.transaction(async (tx) => {
  await visits.add(tx, 'seats', 1, { max: 250 }); // a commit that would pass 250 is a LimitError
  assert.equal(await visits.get(tx, 'home'), 100);
});

// ---- enumerations

const readings = await state.dictionary<[sensor: string, at: Date], number>('readings');
await state.transaction(async (tx) => {
  for (let minute = 0; minute < 60; minute++) {
    await readings.set(tx, ['cellar', new Date(2026, 0, 1, 12, minute)], 15 + minute / 60);
    await readings.set(tx, ['roof', new Date(2026, 0, 1, 12, minute)], 2 - minute / 60);
  }
});

await state.transaction(async (tx) => {
  const noon = new Date(2026, 0, 1, 12, 50);
  for await (const [[, at], degrees] of readings.entries(tx, { prefix: ['roof'], from: ['roof', noon] })) {
    console.log(at.toISOString(), degrees.toFixed(1));
  }
  for await (const [sensor] of readings.keys(tx, { reverse: true })) {
    assert.equal(sensor, 'roof'); // the last key
    break;
  }
  assert.equal(await readings.count(tx), 120); // costs the same for any number
});

// ---- queues

await state.transaction(async (tx) => {
  const payment = await payments.tryDequeue(tx); // undefined: empty. An abort puts it back in its old place
  assert.deepEqual(payment, { to: 'bob', amount: 30 });
});

const jobs = await state.concurrentQueue<string>('jobs', { maxSize: 10_000 });
await state.transaction((tx) => jobs.enqueue(tx, 'resize cat.jpg'));

async function worker(): Promise<void> {
  await state.transaction(async (tx) => {
    const job = await jobs.dequeue(tx, { timeoutMs: 1_000 }); // waits for one; tryDequeue does not
    if (job !== undefined) console.log(`done: ${job}`);
  });
}

await worker();

// ---- time

const sessions = await state.dictionary<string, { user: string }>('sessions');
await state.transaction((tx) => sessions.set(tx, 'c0ffee', { user: 'alice' }, { ttlMs: 20 * 60_000 }));

// ---- changes

const changes = accounts.watch({ prefix: 'al' }); // from now on; keys that begin with "al"
await pay('bob', 'alice', 10);
for await (const change of changes) {
  if (change.action === 'set') console.log(change.key, change.value.balance, change.commitSequenceNumber);
  break;
}

let richest = 0;
const stop = accounts.onChange((change) => {
  if (change.action === 'add' || change.action === 'update')
    richest = Math.max(richest, change.value.balance);
});
await pay('bob', 'alice', 10); // the listener runs before this resolves, while the locks are held
assert.equal(richest, 90);
stop();

// ---- values

const point: Codec<{ x: number; y: number }> = {
  name: 'point',
  version: 1,
  encode: ({ x, y }) => new Uint8Array(Float64Array.of(x, y).buffer),
  decode: (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return { x: view.getFloat64(0, true), y: view.getFloat64(8, true) };
  },
};
const points = await state.dictionary<string, { x: number; y: number }>('points', { codec: point });
await state.transaction((tx) => points.set(tx, 'here', { x: 1.5, y: -2 }));

// ---- looking inside

{
  await using tx = state.begin();
  await accounts.get(tx, 'alice', { lock: 'update' });
  const { transactions, locks, waitFor } = state.inspect();
  console.log(transactions[0]?.locks.map(({ key, mode }) => `${key} ${mode}`));
  // [ 'collection accounts shared', 'accounts["alice"] update' ]
  assert.equal(locks.length, 2);
  assert.deepEqual(waitFor, []);
}

// ---- backup

await state.backup({ folder: join(folder, 'monday') });
await pay('alice', 'bob', 5);
await state.backup({ folder: join(folder, 'tuesday'), kind: 'incremental' });
await state.close();

await StateManager.restore({
  from: [join(folder, 'monday'), join(folder, 'tuesday')],
  location: join(folder, 'restored'),
});
const restored = await StateManager.open({ location: join(folder, 'restored') });
const found = await restored.dictionary<string, Account>('accounts');
await restored.transaction(async (tx) => {
  assert.equal((await found.get(tx, 'alice'))?.balance, 85);
});
await restored.close();

assert.ok(!mayRetry(new TypeError()));
await rm(folder, { recursive: true });
