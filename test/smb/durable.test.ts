// Durable handles over the wire: kept when the connection is lost, given back to their client, closed when their time is
// up or somebody needs the file.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { share } from '#src/services/file/access.js';
import type { SmbLimits } from '#src/smb/limits.js';
import { durableReconnectV1, durableReconnectV2, durableRequestV2 } from '#src/smb/wire/create-contexts.js';
import { gives } from '../support/server.js';
import { sideBySide } from '../support/side-by-side.js';
import type { SmbClient } from '../support/smb-client.js';
import { connectSmb, openedSmb, openSmb, type SmbHandle, statusOf, tryOpen } from '../support/smb-files.js';
import { startSmb } from '../support/smb-server.js';

const guid = Buffer.alloc(16, 7);
const first: [string, Buffer] = ['DHnQ', Buffer.alloc(16)];

function second(timeoutMs: number): [string, Buffer] {
  return ['DH2Q', durableRequestV2.make({ timeoutMs, flags: 0, createGuid: guid })];
}

function backFor({ fileId }: SmbHandle): [string, Buffer] {
  return ['DHnC', durableReconnectV1.make({ fileId })];
}

const durable = { disposition: 'openIf', oplock: 'batch', contexts: [first] } as const;

/** Time passes only when it is told to. */
async function given(t: TestContext, limits: Partial<SmbLimits> = {}) {
  const timers = new Set<{ ms: number; run: () => void }>();
  const schedule = (ms: number, run: () => void) => {
    const timer = { ms, run };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const smb = await startSmb({ schedule, limits, settings: { signingRequired: false } });
  t.after(async () => {
    await smb.close();
    assert.deepEqual(smb.bugs, []);
    assert.equal(smb.server.counters.durables, 0);
    assert.equal(smb.opens.counters.handles, 0);
  });
  const pass = (ms: number) => {
    for (const timer of [...timers].filter((timer) => timer.ms === ms)) timer.run();
  };
  return { smb, pass };
}

async function lose(client: SmbClient, smb: { server: { counters: { durables: number } } }): Promise<void> {
  client.close();
  while (smb.server.counters.durables === 0) await new Promise(setImmediate);
}

async function eventually(is: () => boolean): Promise<void> {
  while (!is()) await new Promise(setImmediate);
}

test('a handle whose connection is lost is given back with its locks and what it had written', async (t) => {
  const { smb } = await given(t);
  const before = await connectSmb(smb.port);
  const handle = await openSmb(before, 'a', durable);
  assert.equal(await handle.write('kept'), 'SUCCESS');
  assert.equal(await handle.lock(0, 1, 'exclusive'), 'SUCCESS');
  await lose(before, smb);
  assert.equal(smb.opens.counters.locks, 1);

  const client = await connectSmb(smb.port);
  const back = openedSmb(client, await tryOpen(client, '', { contexts: [backFor(handle)] }));
  assert.equal(await back.read(), 'kept');
  assert.equal(await back.lock(0, 1, 'unlock'), 'SUCCESS');
  assert.equal(await back.close(), 'SUCCESS');
  const again = await tryOpen(client, '', { contexts: [backFor(handle)] });
  assert.equal(statusOf(again), 'OBJECT_NAME_NOT_FOUND');
});

test('it waits as long as was agreed, and no longer', async (t) => {
  const { smb, pass } = await given(t);
  for (const [asked, waits] of [
    [0, 60_000],
    [2000, 2000],
    [4_000_000_000, 300_000],
  ] as const) {
    const client = await connectSmb(smb.port, 0x0300);
    const handle = await openSmb(client, 'a', { ...durable, contexts: [second(asked)] });
    await lose(client, smb);
    pass(waits - 1);
    assert.equal(smb.server.counters.durables, 1);
    pass(waits);
    await eventually(() => smb.opens.counters.handles === 0);
    const late = await connectSmb(smb.port, 0x0300);
    const { fileId } = handle;
    const back: [string, Buffer] = ['DH2C', durableReconnectV2.make({ fileId, createGuid: guid, flags: 0 })];
    assert.equal(statusOf(await tryOpen(late, 'a', { contexts: [back] })), 'OBJECT_NAME_NOT_FOUND');
    late.close();
  }
});

test('somebody else who needs the file gets it, and the handle is gone', async (t) => {
  const { smb } = await given(t);
  const client = await connectSmb(smb.port);
  const handle = await openSmb(client, 'a', { ...durable, share: 0 });
  await lose(client, smb);
  const other = await connectSmb(smb.port);
  const needed = await openSmb(other, 'a', { share: share.all, waits: true });
  assert.equal(smb.server.counters.durables, 0);
  const back = await tryOpen(other, 'a', { contexts: [backFor(handle)] });
  assert.equal(statusOf(back), 'OBJECT_NAME_NOT_FOUND');
  assert.equal(await needed.close(), 'SUCCESS');
});

test('REST that needs the file closes a handle that waits, and goes on', async (t) => {
  const { file, smb } = await sideBySide(t);
  const client = await connectSmb(smb.port);
  await openSmb(client, 'a.txt', { ...durable, share: 0 });
  await lose(client, smb);
  assert.equal((await file.delete()).status, 202);
  assert.equal(smb.server.counters.durables, 0);
});

test('only a batch oplock makes a handle durable; without one it is closed at once', async (t) => {
  const { smb } = await given(t);
  for (const oplock of ['none', 'levelTwo', 'exclusive'] as const) {
    const client = await connectSmb(smb.port);
    await openSmb(client, 'a', { ...durable, oplock });
    client.close();
    await eventually(() => smb.server.counters.connections === 0 && smb.opens.counters.handles === 0);
    assert.equal(smb.server.counters.durables, 0);
  }
});

test('a guid that is in use is refused; a request that is sent again finds its handle', async (t) => {
  const { smb } = await given(t);
  const client = await connectSmb(smb.port, 0x0300);
  const asked = { ...durable, contexts: [second(0)] };
  const handle = await openSmb(client, 'a', asked);
  assert.equal(statusOf(await tryOpen(client, 'b', asked)), 'DUPLICATE_OBJECTID');
  const again = openedSmb(client, await tryOpen(client, 'a', { ...asked, replay: true }));
  assert.deepEqual(again.fileId, handle.fileId);
  assert.equal(await handle.close(), 'SUCCESS');
  assert.equal(statusOf(await tryOpen(client, 'b', asked)), 'SUCCESS');
});

test('List Handles tells when a handle was given back', async (t) => {
  const { file, smb } = await sideBySide(t);
  const before = await connectSmb(smb.port);
  const handle = await openSmb(before, 'a.txt', durable);
  const times = async () => {
    const { text } = await gives(file.get('comp=listhandles'), 200);
    const time = (name: string) => new RegExp(`<${name}>([^<]+)<`).exec(text)?.[1];
    return { opened: time('OpenTime'), reconnected: time('LastReconnectTime') };
  };
  const { opened, reconnected } = await times();
  assert.equal(reconnected, undefined);
  await lose(before, smb);
  const client = await connectSmb(smb.port);
  const back = openedSmb(client, await tryOpen(client, '', { contexts: [backFor(handle)] }));
  const after = await times();
  assert.equal(after.opened, opened);
  assert.match(after.reconnected ?? '', / GMT$/);
  await back.close();
});

test('no more wait than the server has room for: the rest are closed', async (t) => {
  const { smb } = await given(t, { durables: 2 });
  const client = await connectSmb(smb.port);
  for (const name of ['a', 'b', 'c']) await openSmb(client, name, durable);
  await lose(client, smb);
  await eventually(() => smb.opens.counters.handles === 2);
  assert.equal(smb.server.counters.durables, 2);
});
