// A data folder of format 1, kept from the first version on: every later one opens it and finds everything.

import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { start } from '#src/server/start.js';
import { root, run, startProgram, temporaryFolder } from '../support/program.js';

const fixture = join(root, 'test/fixtures/format-1');
const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * 31) % 251));

test('a data folder of format 1 opens, and all that was stored is there', async (t) => {
  const location = temporaryFolder(t);
  cpSync(fixture, location, { recursive: true });
  await using server = await start({ location });
  const numbers = await server.state.dictionary<string, unknown>('numbers');
  const line = await server.state.queue<string>('line');
  await server.state.transaction(async (tx) => {
    assert.equal(await numbers.get(tx, 'one'), 1);
    assert.deepEqual(await numbers.get(tx, 'two'), { deep: [1, 'x', new Date(0)] });
    assert.equal(await line.tryPeek(tx), 'first');
    const { tables, blobs } = server.join(tx);
    const found = await tables.get('People', 'math', 'ada');
    assert.ok(found);
    const { etag, raw, ...ada } = found;
    assert.deepEqual(ada, {
      partitionKey: 'math',
      rowKey: 'ada',
      born: 1815,
      big: 9007199254740993n,
      score: 1.5,
      at: new Date(0),
    });
    assert.match(etag ?? '', /^W\/"datetime'/);
    assert.deepEqual([...(raw as Uint8Array)], [1, 2, 3]);
    assert.equal(String(await blobs.get('photos', 'small.txt')), 'a few bytes');
    assert.deepEqual(await blobs.get('photos', 'large.bin'), bytes);
  });
});

test('the program serves it, and finds nothing damaged in it', async (t) => {
  const location = temporaryFolder(t);
  cpSync(fixture, location, { recursive: true });
  assert.match((await run(['verify', '-l', location])).stdout, /^All is well: /);
  const program = await startProgram(t, ['-s', '-l', location]);
  assert.equal((await program.stop()).code, 0);
});
