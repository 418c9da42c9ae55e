// `lazuli dead-letter` and `lazuli index`, on a server that runs and on a folder that nobody has open.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { run, startProgram, temporaryFolder } from '../support/program.js';
import { rest } from '../support/rest.js';

async function json(...args: string[]) {
  const { code, stdout, stderr } = await run([...args, '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

async function fails(told: RegExp, ...args: string[]): Promise<void> {
  const { code, stderr } = await run(args);
  assert.equal(code, 1);
  assert.match(stderr, told);
}

const account = 'devstoreaccount1';

test('dead letters are set, listed and taken back; a message then goes where it should', async (t) => {
  const location = temporaryFolder(t);
  const at = ['-l', location];
  const program = await startProgram(t, ['-s', '--testing', ...at]);
  const url = program.urls['queue'] ?? '';
  const queue = (path: string, method = 'GET', body?: string) =>
    rest('queue', url, path, { method, ...(body && { body }) });
  for (const name of ['work', 'dead']) assert.equal((await queue(`/${name}`, 'PUT')).status, 201);
  await fails(/^lazuli: The specified queue does not exist/, 'dead-letter', 'set', 'work', 'none', ...at);
  await fails(/needs another queue: lazuli dead-letter set <queue>/, 'dead-letter', 'set', 'work', ...at);
  await fails(/afterDequeues is a whole number above 0/, 'dead-letter', 'set', 'work', 'dead', '0', ...at);
  await fails(
    /dead-letter has no command put; there are:\n {2}dead-letter list\n/,
    'dead-letter',
    'put',
    ...at,
  );
  const rule = { account, queue: 'work', afterDequeues: 1, target: 'dead' };
  assert.deepEqual(await json('dead-letter', 'set', 'work', 'dead', '1', ...at), rule);
  assert.deepEqual(await json('dead-letter', 'list', ...at), [rule]);

  const message = '<QueueMessage><MessageText>m</MessageText></QueueMessage>';
  assert.equal((await queue('/work/messages', 'POST', message)).status, 201);
  assert.match(await (await queue('/work/messages?visibilitytimeout=1')).text(), /MessageText>m</);
  await fetch(`${program.urls['admin'] ?? ''}/api/clock`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${program.token}` },
    body: JSON.stringify({ shiftMs: 2000 }),
  });
  assert.doesNotMatch(await (await queue('/work/messages')).text(), /MessageText/);
  assert.match(await (await queue('/dead/messages?peekonly=true')).text(), /MessageText>m</);

  assert.equal(
    (await run(['dead-letter', 'delete', 'work', ...at])).stdout,
    'Messages of work stay there.\n',
  );
  assert.equal((await run(['dead-letter', 'list', ...at])).stdout, 'No queue has one.\n');
});

test('an index is made, told of, used and deleted, and outlives a restart', async (t) => {
  const location = temporaryFolder(t);
  const at = ['-l', location];
  const first = await startProgram(t, ['-s', ...at]);
  const table = (url: string, path: string, method = 'GET', body?: object) =>
    rest('table', url, path, { method, ...(body && { body: JSON.stringify(body) }) });
  const url = first.urls['table'] ?? '';
  assert.equal((await table(url, '/Tables', 'POST', { TableName: 'People' })).status, 201);
  for (let n = 0; n < 30; n++) {
    const person = { PartitionKey: `p${n % 3}`, RowKey: `r${n}`, age: n % 10 };
    assert.equal((await table(url, '/People', 'POST', person)).status, 201);
  }
  await fails(/The table specified does not exist/, 'index', 'create', 'Nobody', 'age', ...at);
  await fails(/RowKey needs no index/, 'index', 'create', 'People', 'RowKey', ...at);
  await fails(/has no index on age/, 'index', 'delete', 'People', 'age', ...at);
  const made = await json('index', 'create', 'people', 'age', ...at);
  assert.deepEqual(
    { ...made, state: '', done: 0 },
    { account, table: 'People', property: 'age', state: '', done: 0 },
  );
  await first.stop();
  assert.match(
    (await run(['index', 'create', 'People', 'name', ...at])).stdout,
    /will be built when the server runs/,
  );

  const second = await startProgram(t, ['-s', ...at]);
  const listed = async () => (await json('index', 'list', ...at)) as { property: string; state: string }[];
  while ((await listed()).some(({ state }) => state !== 'ready')) await delay(50);
  assert.deepEqual(
    (await listed()).map(({ property }) => property),
    ['age', 'name'],
  );
  const found = await table(second.urls['table'] ?? '', '/People()?$filter=age%20eq%207&$select=RowKey');
  const { value } = (await found.json()) as { value: { RowKey: string }[] };
  assert.deepEqual(
    value.map(({ RowKey }) => RowKey),
    ['r27', 'r7', 'r17'],
  );
  const verified = await json('verify', ...at);
  assert.deepEqual([verified.indexRows, verified.damage], [30, []]);
  await json('index', 'delete', 'People', 'age', ...at);
  assert.deepEqual(
    (await listed()).map(({ property }) => property),
    ['name'],
  );
});
