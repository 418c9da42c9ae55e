import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns } from './turns.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('so many in a turn, the others in order in the next ones', async () => {
  const turns = new Turns(2);
  const done: number[] = [];
  const work = async (number: number) => {
    await turns.take();
    done.push(number);
  };
  const all = [1, 2, 3, 4, 5].map(work);
  await Promise.resolve();
  assert.deepEqual(done, [1, 2]);
  await turn();
  assert.deepEqual(done, [1, 2, 3, 4]);
  const late = work(6);
  await turn();
  assert.deepEqual(done, [1, 2, 3, 4, 5, 6]);
  await Promise.all([...all, late]);
});

test('who comes one by one never waits', async () => {
  const turns = new Turns(1);
  for (let count = 0; count < 5; count++) {
    assert.equal(turns.take(), undefined);
    await turn();
    await turn();
  }
});
