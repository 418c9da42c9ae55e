// A copy that is pending is somebody's, until its end is stored.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Body } from './body.js';
import { type CopyTargets, PendingCopies } from './pending-copies.js';
import type { PendingCopy } from './sources.js';

const copy: PendingCopy = {
  id: 'one',
  url: 'http://elsewhere/blob',
  own: undefined,
  etag: undefined,
  began: 0,
};

function given(finish: () => Promise<void>) {
  const pending = new Map([['target', copy]]);
  const errors: unknown[] = [];
  const targets: CopyTargets<string, PendingCopy> = {
    all: async () => [...pending],
    now: () => 0,
    receive: async () => ({ [Symbol.dispose]: () => {} }) as Body,
    tell: async () => {},
    finish: async (key) => {
      await finish();
      pending.delete(key);
    },
    fail: () => Promise.reject(new Error('injected: it cannot be stored')),
  };
  let fetched = 0;
  const fetchSource = async () => {
    fetched++;
    return {
      status: 200,
      headers: { 'content-length': '0' },
      body: (async function* () {})(),
      discard: () => {},
    };
  };
  const copies = new PendingCopies(targets, fetchSource, (error) => errors.push(error));
  return { copies, pending, errors, fetched: () => fetched };
}

test('a copy whose end could not be stored goes on when it is looked at again', async () => {
  let isBroken = true;
  const { copies, pending, errors } = given(async () => {
    if (isBroken) throw new Error('injected: it cannot be stored');
  });
  await copies.start('target', copy);
  assert.equal(errors.length, 1);
  assert.equal(pending.size, 1);
  isBroken = false;
  await copies.wake();
  for (let turns = 0; turns < 100 && pending.size > 0; turns++) await turn();
  assert.equal(pending.size, 0);
});

test('a copy under way is not begun again, and none once they are closed', async () => {
  let goOn = (): void => {};
  const { copies, fetched } = given(
    () =>
      new Promise((resolve) => {
        goOn = resolve;
      }),
  );
  const ended = copies.start('target', copy);
  await copies.wake();
  await turn();
  goOn();
  await ended;
  assert.equal(fetched(), 1);
  await copies.close();
  await copies.wake();
  assert.equal(fetched(), 1);
});
