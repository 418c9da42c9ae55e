import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { StateManager, type Transaction } from '../../collections/index.js';
import { memoryDisk } from '../../engine/disk.js';
import { FaultyDisk } from '../../engine/faulty-disk.suite.js';
import { openEngineOn } from '../../engine/level.js';
import { Front, type ReadAhead } from './front.js';
import type { MessageKey } from './model.js';

const message = (seq: number): MessageKey => [7, 1000 + seq, seq];

/** Rows as they are stored, behind those that a read begins with. */
const rows =
  (...keys: readonly MessageKey[]): ReadAhead =>
  async (after) =>
    keys.filter((key) => after === undefined || key[2] > after[2]);

/** A read that ends when it is told to. */
function slow(): { read: ReadAhead; end(...keys: MessageKey[]): void } {
  let end: (keys: MessageKey[]) => void = () => {};
  const keys = new Promise<MessageKey[]>((resolve) => {
    end = resolve;
  });
  return { read: () => keys, end: (...found) => end(found) };
}

async function givenState(t: TestContext): Promise<StateManager> {
  const state = await StateManager.open({ memory: true });
  t.after(() => state.close());
  return state;
}

async function isPending(work: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  for (let turns = 0; turns < 5; turns++) await turn();
  return (await Promise.race([work, Promise.resolve(pending)])) === pending;
}

test('who finds nothing waits for one who has it, and gets it when that one gives it back', async (t) => {
  const state = await givenState(t);
  const front = new Front();
  const [first, second] = [state.begin(), state.begin()];
  assert.deepEqual(await front.take(first, rows(message(1))), message(1));
  const waiting = front.take(second, rows(message(1)));
  assert.ok(await isPending(waiting));
  await first.abort();
  assert.deepEqual(await waiting, message(1));
});

test('who finds nothing waits for one who has it, and finds nothing when that one keeps it', async (t) => {
  const state = await givenState(t);
  const front = new Front();
  const [first, second] = [state.begin(), state.begin()];
  await front.take(first, rows(message(1)));
  const waiting = front.take(second, rows());
  assert.ok(await isPending(waiting));
  await first.commit();
  assert.equal(await waiting, undefined);
});

test('what was taken and is gone keeps nobody waiting', async (t) => {
  const state = await givenState(t);
  const front = new Front();
  const [first, second] = [state.begin(), state.begin()];
  const key = await front.take(first, rows(message(1)));
  const waiting = front.take(second, rows());
  assert.ok(await isPending(waiting));
  front.gone(key as MessageKey);
  assert.equal(await waiting, undefined);
});

test('a transaction that was ended while it looked keeps nothing from others', async (t) => {
  const state = await givenState(t);
  const front = new Front();
  const { read, end } = slow();
  const [first, second] = [state.begin(), state.begin()];
  const late = front.take(first, read);
  await first.abort();
  end(message(1));
  await late;
  assert.deepEqual(await front.take(second, rows()), message(1));
});

test('two that have something do not wait for each other', async (t) => {
  const state = await givenState(t);
  const front = new Front();
  const [first, second] = [state.begin(), state.begin()];
  const read = rows(message(1), message(2));
  assert.deepEqual(await front.take(first, read), message(1));
  assert.deepEqual(await front.take(second, read), message(2));
  assert.equal(await front.take(first, read), undefined);
  assert.equal(await front.take(second, read), undefined);
});

test('who begins while another reads takes what that one finds, and looks itself if it finds nothing', async (t) => {
  const state = await givenState(t);
  const front = new Front();
  const { read, end } = slow();
  const [first, second] = [state.begin(), state.begin()];
  const early = front.take(first, read);
  front.arrived(message(1)); // that read may have missed it
  const late = front.take(second, rows(message(1)));
  assert.ok(await isPending(late));
  end();
  assert.deepEqual(await late, message(1));
  await second.commit();
  await early;
});

test('what is committed during a read, before the last that was read, is not missed', async (t) => {
  const state = await givenState(t);
  const front = new Front();
  const { read, end } = slow();
  const tx = state.begin();
  const taken = front.take(tx, read);
  front.arrived(message(1));
  end(message(2));
  assert.deepEqual(await taken, message(1));
  assert.deepEqual(await front.take(tx, rows()), message(2));
});

test('what comes back at the very place that was read last is not missed', async (t) => {
  const state = await givenState(t);
  const front = new Front();
  const [first, second] = [state.begin(), state.begin()];
  await front.take(first, rows(message(1)));
  await first.commit();
  front.arrived(message(1));
  assert.deepEqual(await front.take(second, rows()), message(1));
});

test('a first read during which commits were lost does not count', async (t) => {
  const state = await givenState(t);
  const front = new Front();
  const { read, end } = slow();
  let reads = 0;
  const taken = front.take(state.begin(), (after) =>
    reads++ === 0 ? read(after) : rows(message(1), message(2))(after),
  );
  front.forget();
  end(message(2)); // the first was deleted by a commit that is lost
  assert.deepEqual(await taken, message(1));
});

test('that there is nothing is told once what the others took is on disk, and not if that was lost', async () => {
  const disk = new FaultyDisk(memoryDisk(), true);
  await using engine = await openEngineOn(disk, { retryMs: 1 });
  await using state = await StateManager.open({ engine });
  const dictionary = await state.dictionary<string, number>('taken');
  const front = new Front();
  const take = async (tx: Transaction) => {
    await front.take(tx, rows(message(1)));
    await dictionary.set(tx, 'a', 1);
  };
  const first = state.begin();
  await take(first);
  disk.fate = () => 'gone';
  const lost = assert.rejects(first.commit(), { name: 'OutcomeUnknownError' });
  const second = state.begin();
  assert.equal(await front.take(second, rows()), undefined);
  await assert.rejects(second.commit());
  await lost;
});
