// Rows of every service, some of them altered where they lie: a start, a read, a write and a sweep that meet one give
// what was stored or say that it is damaged. Nothing else breaks, nobody waits for ever, and the server goes on.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { ClassicLevel } from 'classic-level';
import { DamageError } from '#src/base/errors.js';
import { storeFolder } from '#src/engine/disk.js';
import type { ServiceName } from '#src/http/call.js';
import { loopback } from '#src/server/config.js';
import { dataFolder } from '#src/server/data-folder.js';
import { type RunningServer, serve } from '#src/server/serve.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import { Spoiler } from '../hostile/spoil.js';
import { account, withSas } from '../hostile/target.js';
import { ask, type WireAnswer } from '../support/wire.js';

const rounds = process.env.LAZULI_FULL === '1' ? 300 : 15;
const seed = 11;
const json = { 'Content-Type': 'application/json', Accept: 'application/json;odata=nometadata' };
const block = { 'x-ms-blob-type': 'BlockBlob' };
const long = 'some bytes '.repeat(3000);

type Asked = readonly [ServiceName, string, string, Record<string, string>?, string?];

/** One of each kind of row. */
const fill: readonly Asked[] = [
  ['blob', 'PUT', '/box?restype=container', { 'x-ms-meta-a': 'b' }],
  ['blob', 'PUT', '/box/small', { ...block, 'x-ms-tags': 'a=b' }, 'small'],
  ['blob', 'PUT', '/box/large', block, long],
  ['blob', 'PUT', '/box/blocks?comp=block&blockid=MDAwMQ%3D%3D', {}, long],
  ['blob', 'PUT', '/box/large?comp=snapshot'],
  ['blob', 'PUT', '/box/log', { 'x-ms-blob-type': 'AppendBlob' }],
  ['blob', 'PUT', '/box/log?comp=appendblock', {}, long],
  ['blob', 'PUT', '/box/pages', { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '8192' }],
  [
    'blob',
    'PUT',
    '/box/pages?comp=page',
    { 'x-ms-page-write': 'update', Range: 'bytes=0-511' },
    'p'.repeat(512),
  ],
  ['blob', 'PUT', '/old?restype=container'],
  ['blob', 'PUT', '/old/gone', block, long],
  ['blob', 'DELETE', '/old?restype=container'],
  ['queue', 'PUT', '/box'],
  ['queue', 'POST', '/box/messages', {}, '<QueueMessage><MessageText>one</MessageText></QueueMessage>'],
  ['queue', 'POST', '/box/messages', {}, `<QueueMessage><MessageText>${long}</MessageText></QueueMessage>`],
  ['table', 'POST', '/Tables', json, '{"TableName":"box"}'],
  ['table', 'POST', '/box', json, '{"PartitionKey":"p","RowKey":"1","a":1,"b":"x"}'],
  ['table', 'POST', '/box', json, '{"PartitionKey":"p","RowKey":"2","a":1.5}'],
  ['file', 'PUT', '/box?restype=share'],
  ['file', 'PUT', '/box/folder?restype=directory'],
  ['file', 'PUT', '/box/folder/file', { 'x-ms-type': 'file', 'x-ms-content-length': '9000' }],
  [
    'file',
    'PUT',
    '/box/folder/file?comp=range',
    { 'x-ms-write': 'update', 'x-ms-range': 'bytes=0-8999' },
    'f'.repeat(9000),
  ],
  ['file', 'PUT', '/box?restype=share&comp=snapshot'],
];

const looks: readonly Asked[] = [
  ['blob', 'GET', '/?comp=list&include=metadata'],
  ['blob', 'GET', '/box?restype=container&comp=list&include=snapshots,metadata,uncommittedblobs,tags'],
  ...['small', 'large', 'log', 'pages'].map((name) => ['blob', 'GET', `/box/${name}`] as const),
  ['blob', 'GET', '/box/blocks?comp=blocklist&blocklisttype=all'],
  ['blob', 'GET', `/?comp=blobs&where=${encodeURIComponent(`"a" = 'b'`)}`],
  ['blob', 'GET', '/box/pages?comp=pagelist'],
  ['blob', 'GET', '/?restype=service&comp=properties'],
  ['queue', 'GET', '/?comp=list'],
  ['queue', 'GET', '/box?comp=metadata'],
  ['queue', 'GET', '/box/messages?peekonly=true&numofmessages=32'],
  ['queue', 'GET', '/box/messages?numofmessages=32'],
  ['table', 'GET', '/Tables', json],
  ['table', 'GET', '/box()', json],
  ['table', 'GET', "/box(PartitionKey='p',RowKey='1')", json],
  ['file', 'GET', '/?comp=list&include=snapshots,metadata'],
  ['file', 'GET', '/box/folder?restype=directory&comp=list'],
  ['file', 'GET', '/box/folder/file'],
  ['file', 'GET', '/box/folder/file?comp=rangelist'],
  ['blob', 'PUT', '/box/small', block, 'again'],
  ['blob', 'PUT', '/box/log?comp=appendblock', {}, 'more'],
  ['blob', 'DELETE', '/box/pages'],
  ['queue', 'POST', '/box/messages', {}, '<QueueMessage><MessageText>x</MessageText></QueueMessage>'],
  ['table', 'PUT', "/box(PartitionKey='p',RowKey='2')", json, '{"a":2}'],
  ['file', 'DELETE', '/box/folder/file'],
];

async function start(location: string, failures: unknown[]): Promise<RunningServer> {
  const address = { host: loopback, port: 0 };
  return serve(
    {
      data: { location },
      services: { blob: address, queue: address, table: address, file: address },
      accounts: [developmentAccount],
      pathStyleOnly: false,
    },
    { failed: (error) => failures.push(error) },
  );
}

function send(
  server: RunningServer,
  [service, method, path, headers = {}, body = '']: Asked,
): Promise<WireAnswer> {
  const port = Number(new URL(server.urls[service] ?? '').port);
  const answer = ask(
    { port },
    {
      method,
      target: withSas(`/${account}${path}`),
      headers: { 'x-ms-version': '2025-01-05', ...headers },
      body,
    },
  );
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`${method} ${path} was not answered`)), 30_000).unref();
  });
  return Promise.race([answer, late]);
}

/** Some rows get other bytes, as a disk would give them back; how many. */
async function alter(location: string, spoiler: Spoiler): Promise<number> {
  const level = new ClassicLevel<Buffer, Buffer>(join(dataFolder(location).store, storeFolder), {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
  });
  let altered = 0;
  for (const [key, value] of await level.iterator().all()) {
    // What says which collections there are is read at every start, which then ends.
    if (!spoiler.chance(key.toString('latin1').startsWith('@c\0') ? 0.003 : 0.15)) continue;
    const spoilt = Buffer.from(spoiler.spoil(value.toString('latin1'), ['\0', '\xff', '\xc0']), 'latin1');
    if (spoilt.equals(value)) continue;
    await level.put(key, spoilt);
    altered++;
  }
  await level.close();
  return altered;
}

/** An answer may break off where the damage is found late. */
async function lookAt(server: RunningServer, asked: Asked): Promise<string> {
  try {
    const { status, headers } = await send(server, asked);
    return `${status} ${headers.get('x-ms-error-code') ?? ''}`.trim();
  } catch (error) {
    if (String(error).includes('the connection was closed')) return 'closed';
    throw error;
  }
}

test(`altered rows are damage and nothing worse, ${rounds} times (seed ${seed})`, {
  timeout: 900_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-altered-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const made = join(folder, 'made');
  const unexpected: unknown[] = [];
  const server = await start(made, unexpected);
  for (const asked of fill) {
    const { status, text } = await send(server, asked);
    assert.ok(status < 300, `${asked[1]} ${asked[2]}: ${status} ${text}`);
  }
  for (const asked of looks.slice(0, 18)) assert.match(await lookAt(server, asked), /^20/, asked[2]);
  await server.stop();
  assert.deepEqual(unexpected, []);

  const spoiler = new Spoiler(seed);
  const outcomes = new Map<string, number>();
  const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  for (let round = 0; round < rounds; round++) {
    const copy = join(folder, `round-${round}`);
    cpSync(made, copy, { recursive: true, filter: (path) => basename(path) !== 'reserve' });
    if ((await alter(copy, spoiler)) === 0) continue;
    for (const outcome of await tryAll(copy, round)) count(outcome);
    rmSync(copy, { recursive: true });
  }
  t.diagnostic([...outcomes].map(([outcome, times]) => `${outcome} x ${times}`).join(', '));
  assert.ok((outcomes.get('200') ?? 0) > rounds && (outcomes.get('500 InternalError') ?? 0) > 0);
});

async function tryAll(location: string, round: number): Promise<string[]> {
  const failures: unknown[] = [];
  const outcomes: string[] = [];
  try {
    const server = await start(location, failures);
    for (const asked of looks) outcomes.push(await lookAt(server, asked));
    await server.sweep().catch((error: unknown) => failures.push(error));
    await server.stop();
  } catch (error) {
    failures.push(error);
    outcomes.push('no start');
  }
  const others = failures.filter((error) => !isDamage(error));
  assert.deepEqual(others, [], `round ${round}: what is no damage`);
  return outcomes;
}

function isDamage(error: unknown): boolean {
  return error instanceof DamageError || (error instanceof Error && isDamage(error.cause));
}
