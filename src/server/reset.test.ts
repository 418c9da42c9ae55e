import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenStore } from './open-store.js';
import { removeAccount } from './reset.js';

test('what was let in while an account was being cleared goes with it', async () => {
  const held = new Set(['early']);
  const store = {
    service: async () => ({ clear: async () => held.clear() }),
    accounts: { get: () => ({}), remove: async () => void held.add('late') },
  } as unknown as OpenStore;
  await removeAccount(store, 'mine');
  assert.deepEqual([...held], []);
});
