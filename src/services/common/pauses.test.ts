import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../base/clock.js';
import { Pauses } from './pauses.js';

const hour = 3600 * 1000;

test('a pause is over by the clock, not before', async () => {
  const clock = new ManualClock();
  const pauses = new Pauses(() => clock.now());
  const over: string[] = [];
  const { signal } = new AbortController();
  const short = pauses.take(hour, signal).then(() => over.push('short'));
  const long = pauses.take(2 * hour, signal).then(() => over.push('long'));
  clock.advance(hour - 1);
  pauses.wake();
  await new Promise(setImmediate);
  assert.deepEqual(over, []);
  clock.advance(1);
  pauses.wake();
  await short;
  assert.deepEqual(over, ['short']);
  clock.advance(hour);
  pauses.wake();
  await long;
});

test('a pause is over by the timer', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const pause = new Pauses(() => 0).take(1000, new AbortController().signal);
  t.mock.timers.tick(1000);
  await pause;
});

test('who stops does not wait', async () => {
  const pauses = new Pauses(() => 0);
  const stop = new AbortController();
  const stopped = assert.rejects(pauses.take(hour, stop.signal), (error) => error === 'enough');
  stop.abort('enough');
  await stopped;
  await assert.rejects(pauses.take(hour, stop.signal), (error) => error === 'enough');
});
