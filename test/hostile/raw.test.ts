// Bytes that are hardly HTTP, names that reach out of the data folder, clients that are slow, huge or many. The server
// answers or closes, keeps within its memory, and serves everybody else meanwhile.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ServiceName } from '#src/http/call.js';
import { Wire } from '../support/wire.js';
import { Spoiler } from './spoil.js';
import {
  account,
  checkWell,
  effort,
  givenTarget,
  makeState,
  secret,
  seed,
  send,
  sendWith,
  withSas,
} from './target.js';
import { names, values } from './words.js';

const mebibyte = 1024 * 1024;
const services = ['blob', 'queue', 'table', 'file'] as const;
const limit = { timeout: 600_000 };

const requests: readonly (readonly [ServiceName, string])[] = [
  [
    'blob',
    `GET ${withSas(`/${account}/box/thing`)} HTTP/1.1\r\nHost: 127.0.0.1\r\nx-ms-version: 2025-01-05\r\nRange: bytes=0-3\r\n\r\n`,
  ],
  [
    'blob',
    `PUT ${withSas(`/${account}/box/thing`)} HTTP/1.1\r\nHost: 127.0.0.1\r\nx-ms-version: 2025-01-05\r\nx-ms-blob-type: BlockBlob\r\nContent-Length: 5\r\n\r\nhello`,
  ],
  [
    'blob',
    `PUT ${withSas(`/${account}/box/thing`)} HTTP/1.1\r\nHost: 127.0.0.1\r\nx-ms-version: 2025-01-05\r\nx-ms-blob-type: BlockBlob\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  ],
  [
    'queue',
    `POST ${withSas(`/${account}/box/messages`)} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 68\r\n\r\n<QueueMessage><MessageText>hello to you</MessageText></QueueMessage>`,
  ],
  [
    'table',
    `GET ${withSas(`/${account}/box()?$filter=PartitionKey%20eq%20'p'`)} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n`,
  ],
  [
    'file',
    `OPTIONS /${account}/box HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://a\r\nAccess-Control-Request-Method: GET\r\n\r\n`,
  ],
];

const insertions = [
  ...values.filter((value) => value.length < 400),
  ...[
    '\r\n',
    '\n',
    '\r',
    '\0',
    '\r\n\r\n',
    ': ',
    'HTTP/0.9',
    'HTTP/9.9',
    'Content-Length: 99999999999999999999\r\n',
    'Content-Length: -1\r\n',
  ],
  ...[
    'Content-Length: 3\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Transfer-Encoding: gzip, chunked\r\n',
    'Expect: 100-continue\r\n',
    'Host: a\r\n',
  ],
  ...[
    'Connection: upgrade\r\nUpgrade: h2c\r\n',
    'Connection: close\r\n',
    'fffffffffffffffff\r\n',
    `X: ${'y'.repeat(70_000)}\r\n`,
  ],
];

test(`${800 * effort} requests spoilt as bytes (seed ${seed})`, limit, async (t) => {
  const target = await givenTarget(t);
  const { program } = target;
  await makeState(program);
  for (const [service, bytes] of requests) {
    const answer = await sendWith(program, service, 10_000, bytes.split(' ')[0], (wire) => wire.send(bytes));
    // A body must tell its length, and no rule allows the origin; the others are served.
    const isUnderstood = typeof answer !== 'string' && [200, 201, 206, 403, 411].includes(answer.status);
    assert.ok(isUnderstood, `unspoilt it is understood: ${bytes} ${JSON.stringify(answer)}`);
  }
  const spoiler = new Spoiler(seed);
  const wrong: string[] = [];
  const outcomes = new Map<string, number>();
  for (let count = 0; count < 800 * effort && !program.hasEnded; count += 20) {
    const sent = Array.from({ length: 20 }, () => {
      const [service, bytes] = spoiler.pick(requests);
      const to = spoiler.chance(0.8) ? service : spoiler.pick(services);
      return { to, bytes: spoiler.spoil(bytes, insertions) };
    });
    const answers = await Promise.all(
      // What is sent ends there: a request that is not whole is known to be so.
      sent.map(({ to, bytes }) =>
        sendWith(program, to, 10_000, bytes.split(' ')[0], (wire) => wire.send(bytes).finish()),
      ),
    );
    answers.forEach((answer, index) => {
      const outcome = typeof answer === 'string' ? answer : String(answer.status);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      const isBug =
        typeof answer === 'string'
          ? answer !== 'closed'
          : answer.headers.get('x-ms-error-code') === 'InternalError';
      if (isBug) wrong.push(`${outcome}: ${JSON.stringify(sent[index]).slice(0, 1500)}`);
    });
  }
  t.diagnostic(
    [...outcomes]
      .sort()
      .map(([outcome, count]) => `${outcome} x ${count}`)
      .join(', '),
  );
  assert.deepEqual(wrong.slice(0, 10), []);
  await checkWell(target);
});

/** Everything that is not in the data folder, with its content. */
function outside(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .map((entry) => ({ path: join(entry.parentPath, entry.name), isFile: entry.isFile() }))
    .filter(({ path }) => !path.startsWith(join(folder, 'inner', 'data')))
    .map(({ path, isFile }) => `${path} ${isFile ? readFileSync(path, 'utf8') : ''}`)
    .sort();
}

test(
  'no name reads or writes outside the data folder, or makes a file of its own in it',
  limit,
  async (t) => {
    const target = await givenTarget(t);
    const { program, folder } = target;
    await makeState(program);
    const before = outside(folder);
    const put = { 'x-ms-blob-type': 'BlockBlob' };
    const file = { 'x-ms-type': 'file', 'x-ms-content-length': '10' };
    const json = { 'Content-Type': 'application/json' };
    for (const name of names) {
      const tries: [ServiceName, string, string, Record<string, string>, string][] = [
        ['blob', 'PUT', `/${name}?restype=container`, {}, ''],
        ['blob', 'PUT', `/box/${name}`, put, 'written'],
        ['blob', 'GET', `/box/${name}`, {}, ''],
        ['blob', 'GET', `/${name}`, {}, ''],
        ['blob', 'PUT', '/box/copied', { 'x-ms-copy-source': `file://${folder}/secret.txt` }, ''],
        [
          'blob',
          'PUT',
          '/box/copied',
          { 'x-ms-copy-source': `http://127.0.0.1:${program.ports.blob}/${account}/${name}` },
          '',
        ],
        ['queue', 'PUT', `/${name}`, {}, ''],
        ['table', 'POST', '/Tables', json, JSON.stringify({ TableName: name })],
        ['table', 'POST', '/box', json, JSON.stringify({ PartitionKey: name, RowKey: name })],
        ['file', 'PUT', `/${name}?restype=share`, {}, ''],
        ['file', 'PUT', `/box/${name}`, file, ''],
        ['file', 'PUT', `/box/${name}?restype=directory`, {}, ''],
        ['file', 'GET', `/box/${name}`, {}, ''],
        [
          'file',
          'PUT',
          '/box/renamed?comp=rename',
          { 'x-ms-file-rename-source': `http://127.0.0.1/${account}/box/${name}` },
          '',
        ],
      ];
      for (const [service, method, path, headers, body] of tries) {
        const answer = await send(
          program,
          service,
          { method, target: `/${account}${path}`, headers, body },
          10_000,
        );
        assert.notEqual(answer, 'hung', `${method} ${path}`);
        if (typeof answer !== 'string') assert.ok(!answer.text.includes(secret), `${method} ${path}`);
      }
    }
    assert.deepEqual(outside(folder), before);
    const made = readdirSync(program.location, { recursive: true, encoding: 'utf8' });
    // Files are named by us: by number, by LevelDB, or by one of a few words.
    const known =
      /^(lazuli|lazuli\/[\w.-]+|lazuli\/(store|lock)\/([\w-]+)(\.(log|ldb|dbtmp|old))?|lazuli\/extents\/[\w.-]+)$/;
    assert.deepEqual(
      made.filter((path) => !known.test(path)),
      [],
    );
    await checkWell(target);
  },
);

test('slow clients, clients that read nothing, and 2,000 connections hold nobody up', limit, async (t) => {
  const target = await givenTarget(t);
  const { program } = target;
  await makeState(program);
  const large = Buffer.alloc(32 * mebibyte, 'x').toString();
  const stored = await send(
    program,
    'blob',
    {
      method: 'PUT',
      target: `/${account}/box/large`,
      headers: { 'x-ms-blob-type': 'BlockBlob' },
      body: large,
    },
    60_000,
  );
  assert.equal(typeof stored === 'string' ? stored : stored.status, 201);

  const wires: Wire[] = [];
  t.after(() => {
    for (const wire of wires) wire.close();
  });
  const open = async (service: ServiceName) => {
    const wire = await Wire.open({ port: program.ports[service] });
    wires.push(wire);
    return wire;
  };
  const before = program.memoryBytes;
  // Heads that never end, bodies that never come, answers that nobody reads.
  for (let count = 0; count < 100; count++) {
    (await open('blob')).send(`GET /${account}/box/thing HTTP/1.1\r\nHost: a\r\nX-Slow: `);
    (await open('blob')).send(
      `PUT ${withSas(`/${account}/box/slow${count}`)} HTTP/1.1\r\nHost: a\r\nx-ms-blob-type: BlockBlob\r\nContent-Length: 5000000000\r\n\r\nx`,
    );
    (await open('queue')).send(
      `POST ${withSas(`/${account}/box/messages`)} HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n<QueueMessage>`,
    );
    (await open('blob')).pause().send(`GET ${withSas(`/${account}/box/large`)} HTTP/1.1\r\nHost: a\r\n\r\n`);
  }
  for (let count = 0; count < 400; count++) for (const service of services) await open(service);
  assert.ok(wires.length >= 2000);

  const times: number[] = [];
  for (let count = 0; count < 50; count++) {
    const start = performance.now();
    const answer = await send(program, 'blob', { method: 'GET', target: `/${account}/box/thing` }, 10_000);
    times.push(performance.now() - start);
    assert.equal(typeof answer === 'string' ? answer : answer.status, 200);
  }
  const grown = (program.memoryBytes - before) / mebibyte;
  times.sort((a, b) => a - b);
  t.diagnostic(
    `${wires.length} connections: ${grown.toFixed(0)} MiB more, a read takes ${times[25]?.toFixed(1)} ms, at most ${times.at(-1)?.toFixed(1)} ms`,
  );
  assert.ok(grown < 400, `it holds ${grown} MiB more`);
  for (const wire of wires.splice(0)) wire.abort();
  await checkWell(target);
});
