// Hostile input: messages cut short, altered and put together at random never reach the process. The
// server answers with a status or closes the connection, and afterwards nothing is left open.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fileIdBytes } from '#src/smb/open.js';
import { makeCreateContexts } from '#src/smb/wire/create-contexts.js';
import * as files from '#src/smb/wire/files.js';
import { type Command, emptyBody } from '#src/smb/wire/header.js';
import { basicInfo, renameInfo } from '#src/smb/wire/info.js';
import { utf16 } from '#src/smb/wire/struct.js';
import { SmbClient } from '../support/smb-client.js';
import { startSmb, type TestServer } from '../support/smb-server.js';
import { recordedSessions } from '../support/smb-vectors.js';

const seed = Number(process.env.LAZULI_SEED ?? 20260401);
const full = process.env.LAZULI_FULL === '1';

/** Numbers that follow from the seed alone. */
function generator(start: number): (below: number) => number {
  let state = start >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

async function given(t: TestContext): Promise<TestServer> {
  const started = await startSmb({ settings: { signingRequired: false } });
  t.diagnostic(`seed ${seed}`);
  t.after(async () => {
    await started.close();
    assert.deepEqual(started.bugs, []);
    const { connections, sessions, trees, opens, watches } = started.server.counters;
    assert.deepEqual([connections, sessions, trees, opens, watches], [0, 0, 0, 0, 0]);
    const { files: open, handles, locks, caches } = started.opens.counters;
    assert.deepEqual([open, handles, locks, caches], [0, 0, 0, 0]);
  });
  return started;
}

/** Whether the server still answers somebody who speaks properly. */
async function stillServes(port: number): Promise<void> {
  const client = await SmbClient.connect(port);
  await client.negotiate();
  assert.equal((await client.logOn())?.status, 0);
  assert.equal((await client.connectTree())?.status, 0);
  client.close();
}

function alter(message: Buffer, random: (below: number) => number): Buffer {
  const altered = Buffer.from(message);
  const times = 1 + random(4);
  for (let time = 0; time < times; time++) {
    const at = random(altered.length);
    const way = random(4);
    if (way === 0) altered[at] = (altered[at] ?? 0) ^ (1 << random(8));
    else if (way === 1) altered[at] = random(256);
    else if (way === 2 && at + 4 <= altered.length)
      altered.writeUInt32LE([0, 0xffffffff, 0x7fffffff, 64, 65536][random(5)] ?? 0, at);
    else if (at + 2 <= altered.length) altered.writeUInt16LE([0, 0xffff, 0x7fff, 64, 8][random(5)] ?? 0, at);
  }
  return random(3) === 0 ? altered.subarray(0, random(altered.length) + 1) : altered;
}

test('recorded messages, cut and altered, on fresh connections', async (t) => {
  const { port } = await given(t);
  const random = generator(seed);
  const messages = recordedSessions.flatMap(({ messages }) =>
    messages.filter(({ from }) => from === 'client').map(({ bytes }) => bytes),
  );
  for (let round = 0; round < (full ? 20_000 : 600); round++) {
    const client = await SmbClient.connect(port);
    const first = messages[random(4) === 0 ? random(messages.length) : 0] as Buffer;
    client.send(random(2) === 0 ? first : alter(first, random));
    for (let more = random(4); more > 0; more--)
      client.send(alter(messages[random(messages.length)] as Buffer, random));
    if (random(8) === 0) client.raw(Buffer.from([random(256), random(256), random(256), random(256)]));
    // Whatever comes, it comes soon: an echo that is valid or not is answered or the connection is closed.
    client.raw(Buffer.from([0x00, 0x00, 0x00, 0x04, 1, 2, 3, 4]));
    while (await client.answer());
    client.close();
  }
  await stillServes(port);
});

const all = { access: 0x001f01ff, share: 7 };

function createBody(
  name: string,
  options: Partial<{ options: number; disposition: number; level: number; contexts: Buffer }> = {},
): Buffer {
  return files.createRequest.make({
    ...{ securityFlags: 0, oplockLevel: options.level ?? 0, impersonationLevel: 2, smbCreateFlags: 0n },
    ...{
      desiredAccess: all.access,
      fileAttributes: 0x80,
      shareAccess: all.share,
      disposition: options.disposition ?? 3,
    },
    ...{ options: options.options ?? 0, name: utf16(name), contexts: options.contexts ?? Buffer.alloc(0) },
  });
}

/** One valid request of each kind, for a file or directory that is open. */
function corpus(file: Buffer, directory: Buffer): [Command, Buffer][] {
  const lease = makeCreateContexts([
    ['RqLs', Buffer.concat([Buffer.alloc(16, 7), Buffer.from([7, 0, 0, 0]), Buffer.alloc(12)])],
    ['MxAc', Buffer.alloc(0)],
    ['QFid', Buffer.alloc(0)],
  ]);
  const context = (tag: string, data: Buffer) => makeCreateContexts([[tag, data]]);
  const name = utf16('renamed');
  const rename = Buffer.concat([
    renameInfo.make({ replace: 1, rootDirectory: 0n, nameLength: name.length }),
    name,
  ]);
  const times = basicInfo.make({ created: 0n, accessed: 0n, written: 0n, changed: 0n, attributes: 0x20 });
  const lock = (flags: number) =>
    Buffer.concat([
      files.lockRequest.make({ lockCount: 1, lockSequence: 0, fileId: file }),
      files.lockElement.make({ offset: 0n, length: 10n, flags }),
    ]);
  const set = (infoClass: number, buffer: Buffer): [Command, Buffer] => [
    'setInfo',
    files.setInfoRequest.make({ infoType: 1, infoClass, additional: 0, fileId: file, buffer }),
  ];
  const query = (infoType: number, infoClass: number): [Command, Buffer] => [
    'queryInfo',
    files.queryInfoRequest.make({
      ...{
        infoType,
        infoClass,
        outputLength: 1024,
        inputOffset: 0,
        inputLength: 0,
        additional: 7,
        flags: 0,
        fileId: file,
      },
    }),
  ];
  const control = (code: number, input: Buffer): [Command, Buffer] => [
    'ioctl',
    files.ioctlRequest.make({
      ...{
        code,
        fileId: file,
        input,
        maxInput: 0,
        outputOffset: 0,
        outputLength: 0,
        maxOutput: 4096,
        flags: 1,
      },
    }),
  ];
  const channel = { channel: 0, remainingBytes: 0, channelOffset: 0, channelLength: 0 };
  return [
    ['create', createBody('file0', { level: 9, contexts: context('DHnQ', Buffer.alloc(16)) })],
    ['create', createBody('file1', { level: 9, contexts: context('DH2Q', Buffer.alloc(32, 1)) })],
    ['create', createBody('', { contexts: context('DHnC', file) })],
    ['create', createBody('', { contexts: context('DH2C', Buffer.concat([file, Buffer.alloc(20)])) })],
    ['create', createBody('made', { contexts: lease, level: 0xff })],
    ['create', createBody('folder', { options: 1 })],
    ['create', createBody('made', { level: 9, disposition: 5 })],
    [
      'read',
      files.readRequest.make({
        padding: 80,
        flags: 0,
        length: 1000,
        offset: 0n,
        fileId: file,
        minimumCount: 0,
        ...channel,
      }),
    ],
    [
      'write',
      files.writeRequest.make({ offset: 5n, fileId: file, flags: 0, data: Buffer.alloc(500, 1), ...channel }),
    ],
    ['flush', files.flushRequest.make({ fileId: file })],
    ['lock', lock(2 | 0x10)],
    ['lock', lock(4)],
    control(0x001440f2, Buffer.alloc(56, 1)),
    control(0x00140078, Buffer.alloc(0)),
    control(0x000940cf, Buffer.alloc(16)),
    control(0x000980c8, Buffer.alloc(16)),
    control(0x00140204, Buffer.alloc(30)),
    control(0x0011c017, Buffer.alloc(100, 5)),
    [
      'queryDirectory',
      files.queryDirectoryRequest.make({
        infoClass: 37,
        flags: 1,
        fileIndex: 0,
        fileId: directory,
        name: utf16('*'),
        outputLength: 4096,
      }),
    ],
    ...[4, 5, 9, 18, 22, 34, 48].map((infoClass) => query(1, infoClass)),
    ...[1, 3, 5, 7, 11].map((infoClass) => query(2, infoClass)),
    query(3, 0),
    set(4, times),
    set(10, rename),
    set(13, Buffer.from([0])),
    set(20, Buffer.from([100, 0, 0, 0, 0, 0, 0, 0])),
    [
      'setInfo',
      files.setInfoRequest.make({
        infoType: 3,
        infoClass: 0,
        additional: 7,
        fileId: file,
        buffer: Buffer.alloc(60, 1),
      }),
    ],
    ['oplockBreak', files.oplockBreak.make({ level: 0, fileId: file })],
    ['oplockBreak', files.leaseBreakAck.make({ flags: 0, leaseKey: Buffer.alloc(16, 7), state: 1 })],
    ['echo', emptyBody.make({})],
    ['cancel', emptyBody.make({})],
    ['close', files.closeRequest.make({ flags: 1, fileId: file })],
  ];
}

async function opened(client: SmbClient, name: string, options: number): Promise<Buffer | undefined> {
  const answer = await client.request('create', createBody(name, { options }));
  return answer?.status === 0 ? Buffer.from(answer.message.subarray(64 + 64, 64 + 80)) : undefined;
}

async function ready(port: number): Promise<SmbClient> {
  const client = await SmbClient.connect(port);
  await client.negotiate();
  await client.logOn();
  await client.connectTree();
  return client;
}

test('requests of a user who is logged on, altered, alone and in chains', async (t) => {
  const { port } = await given(t);
  const random = generator(seed + 1);
  let client = await ready(port);
  let answered = 0;
  for (let round = 0; round < (full ? 60_000 : 1500); round++) {
    if (client.closed || round % 97 === 0) {
      client.close();
      client = await ready(port);
    }
    const file = (await opened(client, `file${random(3)}`, 0x40)) ?? fileIdBytes(1n);
    const directory = (await opened(client, 'd', 1)) ?? fileIdBytes(2n);
    const requests = corpus(file, directory);
    const [command, body] = requests[random(requests.length)] as [Command, Buffer];
    const altered = alter(body, random);
    client.send(client.message(command, altered));
    if (command === 'cancel') continue;
    const answer = await client.answer();
    if (answer) answered++;
  }
  assert(answered > 500, `${answered} were answered`);
  client.close();
  await stillServes(port);
});

test('headers, altered', async (t) => {
  const { port } = await given(t);
  const random = generator(seed + 2);
  for (let round = 0; round < (full ? 10_000 : 200); round++) {
    const client = await ready(port);
    const file = (await opened(client, 'file', 0x40)) ?? fileIdBytes(1n);
    const requests = corpus(file, file);
    const pick = () => requests[random(requests.length)] as [Command, Buffer];
    const messages = Array.from({ length: 1 + random(4) }, () => client.message(...pick()));
    const chained = Buffer.concat(
      messages.map((message, index) => {
        const padded = Buffer.concat([message, Buffer.alloc((8 - (message.length % 8)) % 8)]);
        if (index < messages.length - 1) padded.writeUInt32LE(padded.length, 20);
        if (index > 0) padded.writeUInt32LE(4, 16);
        for (let time = random(3); time > 0; time--) padded[4 + random(60)] = random(256);
        return padded;
      }),
    );
    client.send(chained);
    client.raw(Buffer.from([0x42, 0, 0, 0])); // Ends the connection once all before it is done.
    while (await client.answer());
    client.close();
  }
  await stillServes(port);
});
