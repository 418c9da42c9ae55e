// Many files open at once, up to the limits and not beyond.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenFiles } from '../support/file-service.js';
import { connectSmb, openSmb, type SmbHandle, statusOf, tryOpen } from '../support/smb-files.js';
import { startSmb } from '../support/smb-server.js';

const settings = { signingRequired: false };

test('a thousand files are open at once; a client that is gone leaves none', async (t) => {
  const smb = await startSmb({ settings });
  t.after(() => smb.close());
  const clients = await Promise.all(Array.from({ length: 10 }, () => connectSmb(smb.port)));
  const each = 120;
  const openAll = clients.map(async (client, number) => {
    const handles: SmbHandle[] = [];
    for (let index = 0; index < each; index++) {
      const handle = await openSmb(client, `f${number}-${index}`, { disposition: 'create' });
      assert.equal(await handle.write(`${number} ${index}`), 'SUCCESS');
      handles.push(handle);
    }
    return handles;
  });
  const all = await Promise.all(openAll);
  assert.equal(smb.opens.counters.handles, clients.length * each);
  for (const [number, handles] of all.entries()) {
    assert.equal(await handles[each - 1]?.read(), `${number} ${each - 1}`);
  }
  for (const client of clients) client.close();
  while (smb.server.counters.connections > 0 || smb.opens.counters.handles > 0) {
    await new Promise(setImmediate);
  }
  assert.deepEqual(smb.bugs, []);
});

test('a session that has too many open is refused one more until it closes one', async (t) => {
  const files = await givenFiles();
  t.after(() => files[Symbol.asyncDispose]());
  const smb = await startSmb({ settings, limits: { opensPerSession: 20 } }, files);
  t.after(() => smb.close());
  const client = await connectSmb(smb.port);
  const first = await openSmb(client, 'a', { disposition: 'create' });
  for (let index = 1; index < 20; index++) await openSmb(client, 'a');
  assert.equal(statusOf(await tryOpen(client, 'a')), 'TOO_MANY_OPENED_FILES');
  assert.equal(await first.close(), 'SUCCESS');
  assert.equal(statusOf(await tryOpen(client, 'a')), 'SUCCESS');
});
