// The admin port: health, metrics, who may ask for what; the clock and faults for people's tests.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { developmentAccount } from '#src/services/common/accounts.js';
import { type Program, root, startProgram, temporaryFolder } from '../support/program.js';
import { rest } from '../support/rest.js';

interface Asked {
  readonly method?: string;
  readonly host?: string;
  readonly token?: string;
  readonly body?: unknown;
}

function ask(program: Program, path: string, { method = 'GET', host, token, body }: Asked = {}) {
  const headers = {
    ...(host !== undefined && { Host: host }),
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  return new Promise<{ status: number; text: string }>((done, failed) => {
    const request = http.request(`${program.urls['admin']}${path}`, { method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => (text += chunk));
      answer.on('end', () => done({ status: answer.statusCode ?? 0, text }));
    });
    request.on('error', failed);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

test('live, ready and metrics are open; what changes or tells more needs the token', async (t) => {
  const program = await startProgram(t, ['-s', '-l', temporaryFolder(t)]);
  assert.deepEqual(JSON.parse((await ask(program, '/health/live')).text), { live: true });
  assert.deepEqual(JSON.parse((await ask(program, '/health/ready')).text), { ready: true, state: 'open' });
  assert.equal((await ask(program, '/api/state')).status, 401);
  assert.equal((await ask(program, '/api/accounts', { token: 'wrong' })).status, 401);
  assert.equal((await ask(program, '/api/reset', { method: 'POST' })).status, 401);
  assert.equal((await ask(program, '/nothing')).status, 404);
  const { status, text } = await ask(program, '/api/state', { token: program.token });
  assert.equal(status, 200);
  assert.equal(JSON.parse(text).health.state, 'open');
});

test('the page shows services and requests to whoever opens it, and neither token nor keys', async (t) => {
  const program = await startProgram(t, ['-s', '-l', temporaryFolder(t)]);
  assert.match((await ask(program, '/')).text, /None yet/);
  const put = () => rest('blob', program.urls['blob'] ?? '', '/photos?restype=container', { method: 'PUT' });
  assert.deepEqual([(await put()).status, (await put()).status], [201, 409]);
  const { status, text } = await ask(program, '/');
  assert.equal(status, 200);
  assert.match(text, /^<!doctype html>/);
  for (const url of Object.values(program.urls)) assert.ok(text.includes(`<td>${url}</td>`), url);
  assert.match(text, /<td>blob<\/td><td>Create Container<\/td><td>2<\/td><td>1<\/td>/);
  assert.ok(!text.includes(program.token) && !text.includes(developmentAccount.keys[0]));
  assert.equal((await ask(program, '/', { host: 'evil.example' })).status, 421);
});

test('a page of another site that points its name here is refused', async (t) => {
  const program = await startProgram(t, ['-s', '--inMemoryPersistence']);
  for (const host of ['evil.example', 'evil.example:10005', '127.0.0.1.evil.example']) {
    assert.equal((await ask(program, '/metrics', { host })).status, 421);
  }
  for (const host of ['localhost', 'localhost:1', '[::1]:5', '127.0.0.1']) {
    assert.equal((await ask(program, '/metrics', { host })).status, 200);
  }
});

test('metrics count requests by service, operation and code, with latency, bytes, groups and locks', async (t) => {
  const program = await startProgram(t, ['-s', '-l', temporaryFolder(t)]);
  const url = program.urls['blob'] ?? '';
  for (let count = 0; count < 2; count++)
    await rest('blob', url, '/photos?restype=container', { method: 'PUT' });
  const headers = { 'x-ms-blob-type': 'BlockBlob' };
  await rest('blob', url, '/photos/cat', { method: 'PUT', headers, body: 'x'.repeat(1000) });
  assert.equal((await (await rest('blob', url, '/photos/cat')).text()).length, 1000);
  const { text } = await ask(program, '/metrics');
  const value = (name: string, labels: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name}${labels} `))
        ?.split(' ')
        .at(-1),
    );
  assert.equal(value('lazuli_requests_total', '{service="blob",operation="Create Container",code="201"}'), 1);
  assert.equal(
    value(
      'lazuli_requests_total',
      '{service="blob",operation="Create Container",code="ContainerAlreadyExists"}',
    ),
    1,
  );
  assert.equal(value('lazuli_request_bytes_total', '{service="blob",operation="Put Blob",code="201"}'), 1000);
  assert.equal(
    value('lazuli_response_bytes_total', '{service="blob",operation="Get Blob",code="200"}'),
    1000,
  );
  assert.equal(value('lazuli_request_seconds_count', '{service="blob",operation="Create Container"}'), 2);
  assert.equal(value('lazuli_request_seconds_bucket', '{service="blob",operation="Put Blob",le="+Inf"}'), 1);
  assert.ok(value('lazuli_group_commits_count', '') >= 2);
  assert.ok(value('lazuli_group_write_seconds_sum', '') > 0);
  assert.equal(value('lazuli_conflicts_total', ''), 0);
  assert.equal(value('lazuli_lock_waits_total', ''), 0);
  assert.match(text, /^process_cpu_seconds_total /m);
});

test('the clock moves leases, with --testing alone', async (t) => {
  for (const [flags, status] of [
    [['--testing'], 200],
    [[], 400],
  ] as const) {
    const program = await startProgram(t, ['-s', '--inMemoryPersistence', ...flags]);
    const url = program.urls['blob'] ?? '';
    await rest('blob', url, '/photos?restype=container', { method: 'PUT' });
    const lease = { method: 'PUT', headers: { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '60' } };
    assert.equal((await rest('blob', url, '/photos?restype=container&comp=lease', lease)).status, 201);
    assert.equal((await rest('blob', url, '/photos?restype=container&comp=lease', lease)).status, 409);
    const moved = await ask(program, '/api/clock', {
      method: 'POST',
      token: program.token,
      body: { shiftMs: 61_000 },
    });
    assert.equal(moved.status, status);
    const again = await rest('blob', url, '/photos?restype=container&comp=lease', lease);
    assert.equal(again.status, status === 200 ? 201 : 409);
  }
});

test('calls that make no sense are refused, and change nothing', async (t) => {
  const program = await startProgram(t, ['-s', '--inMemoryPersistence', '--testing']);
  const { token } = program;
  const refused: (readonly [path: string, body: unknown, error: RegExp])[] = [
    ['/api/clock', { shiftMs: 1e300 }, /from 1970 to 9999/],
    ['/api/clock', { shiftMs: -9e15 }, /from 1970 to 9999/],
    ['/api/clock', { shiftMs: 'x' }, /number of milliseconds/],
    ['/api/clock', [], /no object/],
    ['/api/faults', { delayMs: -5 }, /from 0 to/],
    ['/api/faults', { delayMs: 1e12 }, /from 0 to/],
    ['/api/accounts', { name: 'mine', settings: null }, /settings is an object/],
    ['/api/accounts', { name: 'mine', settings: 5 }, /settings is an object/],
    ['/api/backup', { folder: '/dev/null/x' }, /ENOTDIR/],
  ];
  for (const [path, body, error] of refused) {
    const { status, text } = await ask(program, path, { method: 'POST', token, body });
    assert.equal(status, 400, text);
    assert.match(JSON.parse(text).error, error);
  }
  const { text } = await ask(program, '/api/clock', { method: 'POST', token, body: { shiftMs: 0 } });
  assert.ok(Math.abs(Date.parse(JSON.parse(text).now) - Date.now()) < 60_000, text);
});

test('keys that are rotated at the same time are all new', async (t) => {
  const program = await startProgram(t, ['-s', '--inMemoryPersistence']);
  const { token } = program;
  const rotate = async (key: number) => {
    const path = '/api/accounts/devstoreaccount1/rotate';
    const { text } = await ask(program, path, { method: 'POST', token, body: { key } });
    return JSON.parse(text).key as string;
  };
  for (let round = 0; round < 10; round++) {
    const keys = await Promise.all([rotate(1), rotate(2)]);
    for (const key of keys) {
      const listed = await rest('blob', program.urls['blob'] ?? '', '/?comp=list', { key });
      assert.equal(listed.status, 200, 'a key that was told is good');
    }
  }
});

test('faults: late, busy, broken before and after', async (t) => {
  const program = await startProgram(t, ['-s', '--inMemoryPersistence', '--testing']);
  const url = program.urls['blob'] ?? '';
  const fault = (body: object) => ask(program, '/api/faults', { method: 'POST', token: program.token, body });
  const create = (name: string) => rest('blob', url, `/${name}?restype=container`, { method: 'PUT' });

  await fault({ service: 'blob', operation: 'Create Container', answer: 'busy', times: 1 });
  const busy = await create('one');
  assert.equal(`${busy.status} ${busy.headers.get('x-ms-error-code')}`, '503 ServerBusy');
  assert.equal((await create('one')).status, 201);

  await fault({ operation: 'Create Container', answer: 'break before', times: 1 });
  await assert.rejects(create('two'));
  assert.equal((await create('two')).status, 201);

  await fault({ operation: 'Create Container', container: 'three', answer: 'break after' });
  await assert.rejects(create('three'));
  assert.equal((await create('four')).status, 201, 'another container is not meant');
  await ask(program, '/api/faults', { method: 'DELETE', token: program.token });
  assert.equal((await create('three')).status, 409, 'it was made, and nobody was told');

  await fault({ operation: 'Create Container', delayMs: 300, times: 1 });
  const began = performance.now();
  assert.equal((await create('five')).status, 201);
  assert.ok(performance.now() - began >= 290);

  assert.equal((await fault({ operation: 'Put Blob', wrong: 1 })).status, 400);
  assert.equal((await fault({ operation: 'Put Blob' })).status, 400);
});

test('a dead-letter queue is set by an admin call, and a wrong one is refused', async (t) => {
  const program = await startProgram(t, ['-s', '--inMemoryPersistence', '--testing']);
  const { token } = program;
  const account = 'devstoreaccount1';
  const set = (body: unknown) => ask(program, '/api/dead-letter', { method: 'PUT', token, body });
  const wrong = await set({ account, queue: 'nothing', target: 'dead' });
  assert.ok(wrong.status >= 400, wrong.text);
  assert.ok((await set({ account, queue: 'work', target: 'dead', afterDequeues: 0 })).status >= 400);
  assert.equal((await ask(program, '/api/dead-letter', { method: 'PUT', body: {} })).status, 401);
});

test('the health check of the Dockerfile tells a server that is ready from none', async (t) => {
  const [, words = '[]'] =
    /^HEALTHCHECK .*? CMD (\[.*\])$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
  const host = '127.0.0.77'; // the usual port, where nobody else has it
  const [program = '', ...args]: string[] = JSON.parse(words.replaceAll('127.0.0.1', host));
  const check = () => spawnSync(program, args).status;
  assert.equal(check(), 1);
  const server = await startProgram(
    t,
    ['-s', '--inMemoryPersistence', '--adminHost', host, '--adminPort', '10005'],
    {
      withAdmin: false,
    },
  );
  assert.equal(check(), 0);
  await server.stop();
});
