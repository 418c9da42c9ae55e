// The protocol below files: negotiation, sessions, message ids, chains, limits, each as a client meets it.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { SmbOptions } from '#src/smb/server.js';
import { type Status, statuses } from '#src/smb/status.js';
import * as files from '#src/smb/wire/files.js';
import { emptyBody, flags } from '#src/smb/wire/header.js';
import { utf16 } from '#src/smb/wire/struct.js';
import { type Answer, SmbClient } from '../support/smb-client.js';
import { accountKey, startSmb } from '../support/smb-server.js';

const unsigned = { settings: { signingRequired: false } };

async function given(t: TestContext, options: Partial<SmbOptions> = unsigned) {
  const started = await startSmb(options);
  t.after(async () => {
    await started.close();
    assert.deepEqual(started.bugs, []);
    assert.equal(started.opens.counters.handles, 0);
  });
  return { ...started, client: await SmbClient.connect(started.port) };
}

async function loggedOn(t: TestContext, options: Partial<SmbOptions> = unsigned) {
  const started = await given(t, options);
  await started.client.negotiate();
  answers(await started.client.logOn(), 'SUCCESS');
  answers(await started.client.connectTree(), 'SUCCESS');
  return started;
}

function answers(answer: Answer | undefined, status: Status): void {
  const name = Object.entries(statuses).find(([, value]) => value === answer?.status)?.[0];
  assert.equal(answer ? name : 'closed', status);
}

async function closes(client: SmbClient): Promise<void> {
  assert.equal(await client.answer(), undefined);
}

const dialectOf = (answer: Answer | undefined) => answer?.message.readUInt16LE(64 + 4);

test('the highest dialect in common is chosen', async (t) => {
  const { port } = await given(t);
  for (const [offered, chosen] of [
    [[0x0202], 0x0202],
    [[0x0202, 0x0210, 0x0300], 0x0300],
    [[0x0302, 0x0202], 0x0302],
    [[0x0210, 0x9999], 0x0210],
  ] as const) {
    const client = await SmbClient.connect(port);
    assert.equal(dialectOf(await client.negotiate(offered)), chosen);
    client.close();
  }
});

test('no dialect in common is not supported, none at all is wrong, 3.1.1 needs its contexts', async (t) => {
  const { port } = await given(t);
  const negotiate = async (dialects: readonly number[]) =>
    (await SmbClient.connect(port)).negotiate(dialects);
  answers(await negotiate([0x0999]), 'NOT_SUPPORTED');
  answers(await negotiate([]), 'INVALID_PARAMETER');
  answers(await negotiate([0x0311]), 'INVALID_PARAMETER');
});

test('a second negotiation, or a request before the first, ends the connection', async (t) => {
  const { client, port } = await given(t);
  await client.negotiate();
  client.send(client.message('negotiate', Buffer.alloc(36)));
  await closes(client);
  const other = await SmbClient.connect(port);
  other.send(other.message('echo', emptyBody.make({})));
  await closes(other);
});

function smb1Negotiate(...dialects: readonly string[]): Buffer {
  const list = Buffer.from(dialects.map((name) => `\x02${name}\0`).join(''), 'latin1');
  const head = Buffer.alloc(35);
  head.write('\xffSMB\x72', 'latin1');
  head.writeUInt16LE(list.length, 33);
  return Buffer.concat([head, list]);
}

test('the old negotiation leads to the new one', async (t) => {
  const { client, port } = await given(t);
  client.send(smb1Negotiate('NT LM 0.12', 'SMB 2.002', 'SMB 2.???'));
  assert.equal(dialectOf(await client.answer()), 0x02ff);
  client.nextId = 1n;
  assert.equal(dialectOf(await client.negotiate([0x0210])), 0x0210);

  const only = await SmbClient.connect(port);
  only.send(smb1Negotiate('NT LM 0.12', 'SMB 2.002'));
  assert.equal(dialectOf(await only.answer()), 0x0202);
  only.nextId = 1n;
  answers(await only.logOn(), 'SUCCESS');

  const old = await SmbClient.connect(port);
  old.send(smb1Negotiate('NT LM 0.12'));
  await closes(old);
});

test('an echo needs no session', async (t) => {
  const { client } = await given(t);
  await client.negotiate();
  answers(await client.request('echo', emptyBody.make({})), 'SUCCESS');
});

test('a message id that was used, or not granted, ends the connection', async (t) => {
  for (const messageId of [0n, 999_999n]) {
    const { client } = await given(t);
    await client.negotiate();
    client.send(client.message('echo', emptyBody.make({}), { messageId }));
    await closes(client);
  }
});

test('where signing is required an unsigned request is refused and the connection lives', async (t) => {
  const { client } = await given(t, {});
  await client.negotiate();
  answers(await client.logOn(), 'SUCCESS');
  answers(await client.connectTree(), 'ACCESS_DENIED');
  answers(await client.request('echo', emptyBody.make({}), { sessionId: 0n }), 'SUCCESS');
});

test('a wrong key is refused, and the session is gone', async (t) => {
  const { client, server } = await given(t);
  await client.negotiate();
  answers(await client.logOn('wrong'), 'LOGON_FAILURE');
  answers(await client.connectTree(), 'USER_SESSION_DELETED');
  answers(await client.logOn(accountKey, 'nobody'), 'LOGON_FAILURE');
  answers(await client.logOn(accountKey, ''), 'LOGON_FAILURE');
  assert.equal(server.counters.sessions, 0);
});

test('the eleventh failed logon is answered a second later', async (t) => {
  const waits: number[] = [];
  const schedule = (ms: number, run: () => void) => {
    if (ms === 1000) {
      waits.push(ms);
      setImmediate(run);
    }
    return () => {};
  };
  const { client } = await given(t, { ...unsigned, schedule, now: () => 1000 });
  await client.negotiate();
  for (let attempt = 1; attempt <= 11; attempt++) {
    answers(await client.logOn('wrong'), 'LOGON_FAILURE');
    assert.equal(waits.length, Math.max(0, attempt - 9), `attempt ${attempt}`);
  }
});

test('shares: unknown, malformed, and the pipes', async (t) => {
  const { client } = await loggedOn(t);
  answers(await client.connectTree('nothing'), 'BAD_NETWORK_NAME');
  answers(await client.connectTree('files\\more'), 'BAD_NETWORK_NAME');
  answers(await client.connectTree('FILES'), 'SUCCESS');
  answers(await client.connectTree('ipc$'), 'SUCCESS');
  answers(await client.request('treeDisconnect', emptyBody.make({})), 'SUCCESS');
  answers(await client.request('treeDisconnect', emptyBody.make({})), 'NETWORK_NAME_DELETED');
  answers(await client.request('logoff', emptyBody.make({})), 'SUCCESS');
  answers(await client.request('logoff', emptyBody.make({})), 'USER_SESSION_DELETED');
});

test('sessions of a connection and shares of a session are bounded', async (t) => {
  const { client } = await given(t, {
    ...unsigned,
    limits: { sessionsPerConnection: 2, treesPerSession: 2 },
  });
  await client.negotiate();
  answers(await client.logOn(), 'SUCCESS');
  answers(await client.logOn(), 'SUCCESS');
  const second = client.sessionId;
  answers(await client.logOn(), 'INSUFFICIENT_RESOURCES');
  client.sessionId = second;
  answers(await client.connectTree(), 'SUCCESS');
  answers(await client.connectTree(), 'SUCCESS');
  answers(await client.connectTree(), 'INSUFFICIENT_RESOURCES');
});

test('connections of one address are bounded', async (t) => {
  const { port } = await given(t, { ...unsigned, limits: { connectionsPerAddress: 1 } });
  await closes(await SmbClient.connect(port));
});

test('a server that stops does not wait for answers that are late as a penalty', async (t) => {
  const asked: number[] = [];
  const schedule = (ms: number) => {
    asked.push(ms);
    return () => {};
  };
  const { client, close } = await given(t, { ...unsigned, schedule });
  await client.negotiate();
  for (let attempt = 1; attempt < 10; attempt++) answers(await client.logOn('wrong'), 'LOGON_FAILURE');
  const late = client.logOn('wrong');
  while (!asked.includes(1000)) await new Promise((resolve) => setImmediate(resolve));
  await close();
  assert.equal(await late, undefined);
});

test('a client that says nothing is sent away, first after 10 s, then after 30 s', async (t) => {
  const timers: { ms: number; run: () => void }[] = [];
  const schedule = (ms: number, run: () => void) => {
    const timer = { ms, run };
    timers.push(timer);
    return () => void timers.splice(timers.indexOf(timer), 1);
  };
  const { client } = await given(t, { ...unsigned, schedule });
  await client.negotiate();
  assert.deepEqual(
    timers.map(({ ms }) => ms),
    [30_000],
  );
  timers[0]?.run();
  await closes(client);
});

const create = (name: string) =>
  files.createRequest.make({
    ...{
      securityFlags: 0,
      oplockLevel: 0,
      impersonationLevel: 2,
      smbCreateFlags: 0n,
      desiredAccess: 0x001f01ff,
    },
    ...{
      fileAttributes: 0x80,
      shareAccess: 7,
      disposition: 3,
      options: 0,
      name: utf16(name),
      contexts: Buffer.alloc(0),
    },
  });
const close = files.closeRequest.make({ flags: 0, fileId: Buffer.alloc(16, 0xff) });

function chain(
  client: SmbClient,
  ...messages: readonly [Parameters<SmbClient['message']>[0], Buffer][]
): void {
  const pieces = messages.map(([command, body], index) => {
    const message = client.message(command, body, { flags: index === 0 ? 0 : flags.related });
    if (index === messages.length - 1) return message;
    const padded = Buffer.concat([message, Buffer.alloc((8 - (message.length % 8)) % 8)]);
    padded.writeUInt32LE(padded.length, 20);
    return padded;
  });
  client.send(Buffer.concat(pieces));
}

test('a chain hands its file on; closed twice it is closed', async (t) => {
  const { client } = await loggedOn(t);
  chain(client, ['create', create('a')], ['close', close], ['close', close]);
  answers(await client.answer(), 'SUCCESS');
  answers(await client.answer(), 'SUCCESS');
  answers(await client.answer(), 'FILE_CLOSED');
});

test('a chain whose create fails fails with the same status', async (t) => {
  const { client } = await loggedOn(t);
  chain(
    client,
    ['create', create('missing\\a')],
    ['flush', files.flushRequest.make({ fileId: Buffer.alloc(16, 0xff) })],
    ['close', close],
  );
  for (let index = 0; index < 3; index++) answers(await client.answer(), 'OBJECT_PATH_NOT_FOUND');
});

test('a connection that is lost closes what it had open', async (t) => {
  const { client, opens, server } = await loggedOn(t);
  answers(await client.request('create', create('a')), 'SUCCESS');
  assert.equal(opens.counters.handles, 1);
  client.close();
  while (server.counters.connections > 0) await new Promise((resolve) => setImmediate(resolve));
  while (opens.counters.handles > 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(server.counters.sessions, 0);
});
