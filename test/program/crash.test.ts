// SIGKILL at any time: nothing that was acknowledged is lost. Blobs, messages and entities are written by many at
// once, the program is killed in the middle, and all that was answered is asked for again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProgram, temporaryFolder } from '../support/program.js';
import { rest } from '../support/rest.js';

const wanted = process.env['LAZULI_FULL'] === '1' ? 1000 : 300;
const writers = 8;

interface Acknowledged {
  readonly blobs: Set<string>;
  readonly messages: Set<string>;
  readonly entities: Set<string>;
}

async function writeUntilGone(
  urls: Readonly<Record<string, string>>,
  writer: string,
  got: Acknowledged,
): Promise<void> {
  const headers = { 'x-ms-blob-type': 'BlockBlob' };
  for (let count = 0; ; count++) {
    const id = `${writer}-${count}`;
    const body = id.repeat(count % 3 === 0 ? 2000 : 1);
    const message = `<QueueMessage><MessageText>${id}</MessageText></QueueMessage>`;
    const entity = JSON.stringify({ PartitionKey: writer, RowKey: id, count });
    try {
      if (
        (await rest('blob', urls['blob'] ?? '', `/crash/${id}`, { method: 'PUT', headers, body })).status ===
        201
      )
        got.blobs.add(id);
      if (
        (await rest('queue', urls['queue'] ?? '', '/crash/messages', { method: 'POST', body: message }))
          .status === 201
      )
        got.messages.add(id);
      if (
        (await rest('table', urls['table'] ?? '', '/Crash', { method: 'POST', body: entity })).status === 201
      )
        got.entities.add(id);
    } catch {
      return; // it is gone
    }
  }
}

test(`killed in the middle: of ${wanted} acknowledged blobs, messages and entities each, none is lost`, async (t) => {
  const location = temporaryFolder(t);
  const got: Acknowledged = { blobs: new Set(), messages: new Set(), entities: new Set() };
  for (let round = 0; got.entities.size < wanted; round++) {
    const program = await startProgram(t, ['-s', '-l', location]);
    if (round === 0) {
      await rest('blob', program.urls['blob'] ?? '', '/crash?restype=container', { method: 'PUT' });
      await rest('queue', program.urls['queue'] ?? '', '/crash', { method: 'PUT' });
      await rest('table', program.urls['table'] ?? '', '/Tables', {
        method: 'POST',
        body: '{"TableName":"Crash"}',
      });
    }
    const before = got.entities.size;
    const writing = Array.from({ length: writers }, (_, at) =>
      writeUntilGone(program.urls, `w${round}x${at}`, got),
    );
    while (got.entities.size < before + wanted / 3) await new Promise((turn) => setImmediate(turn));
    await program.stop('SIGKILL');
    await Promise.all(writing);
  }
  const program = await startProgram(t, ['-s', '-l', location]);
  const lost: string[] = [];
  for (const id of got.blobs) {
    const answer = await rest('blob', program.urls['blob'] ?? '', `/crash/${id}`);
    const count = Number(id.split('-')[1]);
    if ((await answer.text()) !== id.repeat(count % 3 === 0 ? 2000 : 1)) lost.push(`blob ${id}`);
  }
  for (const id of got.entities) {
    const [writer] = id.split('-');
    const answer = await rest(
      'table',
      program.urls['table'] ?? '',
      `/Crash(PartitionKey='${writer}',RowKey='${id}')`,
    );
    if (answer.status !== 200) lost.push(`entity ${id}`);
    await answer.text();
  }
  const texts = await allMessages(program.urls['queue'] ?? '');
  for (const id of got.messages) if (!texts.has(id)) lost.push(`message ${id}`);
  assert.deepEqual(lost, []);
  assert.ok(got.blobs.size >= wanted && got.messages.size >= wanted && got.entities.size >= wanted);
  t.diagnostic(
    `acknowledged: ${got.blobs.size} blobs, ${got.messages.size} messages, ${got.entities.size} entities`,
  );
});

async function allMessages(url: string): Promise<Set<string>> {
  const texts = new Set<string>();
  for (;;) {
    const answer = await rest('queue', url, '/crash/messages?numofmessages=32&visibilitytimeout=3600');
    const found = [...(await answer.text()).matchAll(/<MessageText>([^<]*)</g)].map(([, text = '']) => text);
    if (found.length === 0) return texts;
    for (const text of found) texts.add(text);
  }
}

test('SIGTERM finishes what it took and leaves with 0', async (t) => {
  const program = await startProgram(t, ['-s', '-l', temporaryFolder(t)]);
  const url = program.urls['blob'] ?? '';
  await rest('blob', url, '/crash?restype=container', { method: 'PUT' });
  const headers = { 'x-ms-blob-type': 'BlockBlob' };
  const puts = Array.from({ length: 20 }, (_, at) =>
    rest('blob', url, `/crash/${at}`, { method: 'PUT', headers, body: 'x'.repeat(100_000) }),
  );
  await puts[0];
  const ended = program.stop('SIGTERM');
  for (const answer of await Promise.allSettled(puts)) {
    if (answer.status === 'fulfilled') assert.equal(answer.value.status, 201);
  }
  assert.deepEqual(await ended.then(({ code, signal, stderr }) => ({ code, signal, stderr })), {
    code: 0,
    signal: null,
    stderr: '',
  });
});
