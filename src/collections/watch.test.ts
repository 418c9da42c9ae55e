import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StateManager, type Watched } from './index.js';

test('a watch tells of each change in its range, of a key only the newest', async () => {
  await using state = await StateManager.open({ memory: true });
  const d = await state.dictionary<string, number>('d');
  await using changes = d.watch({ prefix: 'a' });
  const places: bigint[] = [];
  await state.transaction(async (tx) => {
    await d.set(tx, 'a1', 1);
    await d.set(tx, 'b1', 1);
  });
  await state.transaction((tx) => d.set(tx, 'a1', 2));
  await state.transaction((tx) => d.set(tx, 'a2', 3));
  await state.transaction((tx) => d.remove(tx, 'a2'));
  const next = async () => {
    const { commitSequenceNumber, ...change } = (await changes.next()).value as Watched<string, number>;
    places.push(commitSequenceNumber);
    return change;
  };
  assert.deepEqual(await next(), { action: 'set', key: 'a1', value: 2 });
  assert.deepEqual(await next(), { action: 'remove', key: 'a2' });
  const waiting = next();
  await d.clear();
  assert.deepEqual(await waiting, { action: 'clear' });
  assert.ok((places[0] as bigint) < (places[1] as bigint) && (places[1] as bigint) < (places[2] as bigint));
});

test('a watch of one key ends by its signal, and when the state closes', async () => {
  await using state = await StateManager.open({ memory: true });
  const d = await state.dictionary<string, number>('d');
  const abort = new AbortController();
  const one = d.watch({ key: 'k', signal: abort.signal });
  const other = d.watch({ key: 'k' });
  const [first, second] = [one.next(), other.next()];
  abort.abort();
  assert.equal((await first).done, true);
  await state.close();
  assert.equal((await second).done, true);
});
