// Thousands of concurrent transactions on the real collections show no anomaly that their level forbids. That the
// workload would show one is seen from reads that promise less: there the same checker finds what is allowed.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { seededRandom } from '#src/base/random.js';
import { StateManager } from '#src/collections/index.js';
import { stalled, temporary } from '#src/collections/scenario.suite.js';
import { findAnomalies, type Level, type ListTransaction } from './dependencies.js';
import { type Reads, runHistory } from './histories.js';

const full = process.env['LAZULI_FULL'] === '1';
const transactions = full ? 30_000 : 2_000;
const clients = 24;
const seed = 31;

/** What each way to read promises. A snapshot is judged as a transaction of its own, of which it promises as much. */
const promises: readonly (readonly [Reads, Level])[] = [
  ['locked', 'strict serializable'],
  ['checked', 'strict serializable'],
  ['snapshot', 'strict serializable'],
  ['unlocked', 'read committed'],
];

for (const [reads, level] of promises) {
  for (const where of full ? (['memory', 'disk'] as const) : [reads === 'locked' ? 'disk' : 'memory']) {
    test(`${reads} reads are ${level}, ${where} (${transactions} transactions, seed ${seed})`, async (t) => {
      const state = await StateManager.open(
        where === 'memory' ? { memory: true } : { location: await temporary() },
      );
      const history = await runHistory(state, { reads, transactions, clients, seed });
      await state.close();
      tell(t, history);
      assert.deepEqual(findAnomalies(history, level), []);
      if (reads === 'unlocked')
        assert.notDeepEqual(findAnomalies(history, 'serializable'), [], 'the checker sees what it may see');
    });
  }
}

test(`locked reads are strictly serializable on a disk that fails now and then (seed ${seed})`, async (t) => {
  const random = seededRandom(seed);
  const { state, disk } = await stalled();
  let failures = 0;
  disk.fate = () => {
    if (random() > 0.05) return 'done';
    failures++;
    return random() < 0.5 ? 'gone' : 'turns up';
  };
  const history = await runHistory(state, { reads: 'locked', transactions, clients, seed });
  await state.close();
  tell(t, history);
  t.diagnostic(`${failures} failed writes`);
  assert.ok(failures > 10, 'the disk failed now and then');
  assert.ok(history.some(({ status }) => status === 'unknown'));
  assert.deepEqual(findAnomalies(history, 'strict serializable'), []);
});

function tell(t: TestContext, history: readonly ListTransaction[]): void {
  const count = (status: ListTransaction['status']) => history.filter((one) => one.status === status).length;
  t.diagnostic(`${count('committed')} committed, ${count('aborted')} aborted, ${count('unknown')} unknown`);
  assert.ok(count('committed') > history.length / 3, 'enough get through');
}
