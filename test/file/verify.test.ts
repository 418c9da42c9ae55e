// Shares that do not hold together are found.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rootDirectory } from '#src/services/file/model.js';
import { verifyShares } from '#src/services/file/verify-shares.js';
import { given } from '../support/given-file.js';
import { gives } from '../support/server.js';

test('a share that holds together, and the ways in which it might not', async (t) => {
  const { service, share } = await given(t, { file: 'd/a.txt', directory: 'd/e' });
  const { store } = service;
  assert.deepEqual(await verifyShares(store), { entries: 4, damage: [] });

  const volume = await service.volumes.open(share.server.account.name, 'files');
  const id = Number(volume?.id);
  const file = Number(await share.file('d/a.txt').id());
  const add = (bytes: number) => store.run((tx) => store.usage.add(tx, id, bytes));
  await add(5);
  const name = 'share devstoreaccount1/files';
  const damage = async () => (await verifyShares(store)).damage;
  assert.deepEqual(await damage(), [`${name}: its files have 11 bytes, and its usage is 16`]);
  await add(-5);

  const place = await store.run((tx) => store.places.get(tx, [id, file]));
  assert.ok(place);
  await store.run((tx) => store.places.delete(tx, [id, file]));
  assert.deepEqual(await damage(), [
    `${name}: the id of a.txt leads elsewhere`,
    `${name}: there are 2 places for 3 entries`,
  ]);
  await store.run((tx) => store.places.set(tx, [id, file], { ...place, directory: rootDirectory }));
  assert.deepEqual(await damage(), [`${name}: the id of a.txt leads elsewhere`]);
  await store.run((tx) => store.places.set(tx, [id, file], place));
  assert.deepEqual(await damage(), []);
  await gives(share.delete(), 202);
  assert.deepEqual(await verifyShares(store), { entries: 0, damage: [] });
});
