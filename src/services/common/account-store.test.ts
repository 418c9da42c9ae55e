// What is known of accounts is what is stored, also after the disk has failed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { StateManager } from '../../collections/index.js';
import { memoryDisk } from '../../engine/disk.js';
import { FaultyDisk } from '../../engine/faulty-disk.suite.js';
import { openEngineOn } from '../../engine/level.js';
import { AccountStore } from './account-store.js';
import { developmentAccount } from './accounts.js';
import { createStore } from './store.js';

for (const fate of ['gone', 'turns up'] as const) {
  test(`a change of an account that fails and is ${fate} is known as it is stored`, async () => {
    const disk = new FaultyDisk(memoryDisk(), true);
    await using engine = await openEngineOn(disk, { retryMs: 1 });
    await using state = await StateManager.open({ engine });
    const store = createStore(state);
    const accounts = await AccountStore.open(store);
    await accounts.create(developmentAccount);
    const { name } = developmentAccount;
    const key = Buffer.alloc(64).toString('base64');
    disk.fate = () => fate;
    await assert.rejects(accounts.changeKey(name, 1, key), { name: 'OutcomeUnknownError' });
    disk.fate = () => 'done';
    while (engine.health().state !== 'open') await turn();
    await accounts.changeServiceSettings(name, 'blob', {
      deleteRetention: { days: 3, allowPermanentDelete: false },
    });
    const expected = fate === 'gone' ? developmentAccount.keys[0] : key;
    for (let turns = 0; turns < 10_000 && accounts.get(name)?.keys[0] !== expected; turns++) await turn();
    const stored = await AccountStore.open(store);
    assert.deepEqual(accounts.list(), stored.list());
    assert.equal(accounts.get(name)?.keys[0], expected);
    assert.equal(accounts.serviceSettings(name, 'blob').deleteRetention.days, 3);
  });
}
