// --seed: what the file names is there after the start, and after the next one.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore } from '#src/server/open-store.js';
import { seedFrom } from '#src/server/seed.js';
import { readSeed } from '#src/server/seed-file.js';
import { run, startProgram, temporaryFolder } from '../support/program.js';
import { rest } from '../support/rest.js';

const key = Buffer.from('a key').toString('base64');

test('accounts, containers, blobs, queues with messages, tables with entities; it can be run again', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'seed.json');
  writeFileSync(join(folder, 'cat.bin'), Buffer.of(1, 2, 3));
  const seed = {
    accounts: [
      {
        name: 'seeded',
        keys: [key],
        containers: {
          photos: {
            'a.txt': 'text',
            'cat.bin': { file: 'cat.bin', type: 'image/x-cat', metadata: { colour: 'black' } },
          },
        },
        queues: { work: ['first', 'second'] },
        tables: {
          People: [
            { PartitionKey: 'math', RowKey: 'ada', born: 1815, 'big@odata.type': 'Edm.Int64', big: '1' },
          ],
        },
      },
    ],
  };
  writeFileSync(path, JSON.stringify(seed));
  const as = { account: 'seeded', key };
  for (let round = 0; round < 2; round++) {
    const { urls, stop } = await startProgram(t, ['-s', '-l', join(folder, 'data'), '--seed', path]);
    const blob = await rest('blob', urls['blob'] ?? '', '/photos/cat.bin', as);
    assert.deepEqual(Buffer.from(await blob.arrayBuffer()), Buffer.of(1, 2, 3));
    assert.equal(blob.headers.get('content-type'), 'image/x-cat');
    assert.equal(blob.headers.get('x-ms-meta-colour'), 'black');
    const queue = await rest(
      'queue',
      urls['queue'] ?? '',
      '/work/messages?peekonly=true&numofmessages=32',
      as,
    );
    assert.equal([...(await queue.text()).matchAll(/<MessageText>/g)].length, 2);
    const entity = await rest('table', urls['table'] ?? '', "/People(PartitionKey='math',RowKey='ada')", as);
    assert.equal(((await entity.json()) as { born: number }).born, 1815);
    await stop();
  }
  writeFileSync(path, JSON.stringify({ accounts: [{ name: 'seeded', containers: { 'BAD NAME': {} } }] }));
  const ended = await run([
    '--inMemoryPersistence',
    '--blobPort=0',
    '--queuePort=0',
    '--tablePort=0',
    '--adminPort=0',
    '--seed',
    path,
  ]);
  assert.match(ended.stderr, /^lazuli: --seed: there is no account seeded: give its keys in the file\n$/);
});

test('a seed that is wrong says where, in one line', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'seed.json');
  const of = (rest: object) => ({ accounts: [{ name: 'devstoreaccount1', ...rest }] });
  const blob = (content: unknown) => of({ containers: { photos: { a: content } } });
  const seeds: (readonly [seed: unknown, message: RegExp])[] = [
    [null, /no list of accounts/],
    [{ accounts: [null] }, /an account is an object with name/],
    [{ accounts: [{ keys: [key] }] }, /an account has no name/],
    [of({ keys: 5 }), /keys of an account is a list/],
    [of({ queue: {} }), /an account has no queue; it has name/],
    [of({ containers: { photos: null } }), /containers of an account is an object/],
    [of({ queues: { work: 'x' } }), /queues of an account/],
    [of({ queues: { work: [5] } }), /queues of an account/],
    [of({ tables: { People: [null] } }), /tables of an account/],
    [blob(5), /blob photos\/a is an object with text/],
    [blob({ txt: 'x' }), /blob photos\/a has no txt/],
    [blob({ base64: '!!!' }), /base64 of blob photos\/a is in Base64/],
    [blob({ text: 'x', file: 'y' }), /has text and file: give one/],
    [blob({ metadata: { b: 5 } }), /metadata of blob photos\/a/],
  ];
  for (const [seed, message] of seeds) {
    writeFileSync(path, JSON.stringify(seed));
    assert.throws(() => readSeed(path), { name: 'UsageError', message });
  }
  const store = await openStore({ data: { memory: true, extentLimitBytes: 1024 * 1024 }, accounts: [] });
  t.after(() => store.close());
  const refusals: (readonly [seed: unknown, message: RegExp])[] = [
    [of({ containers: { p: {} } }), /container p: OutOfRangeInput/],
    [of({ containers: { photos: { '': 'x' } } }), /blob photos\/: InvalidUri/],
    [blob({ text: 'x', metadata: { 'b a': 'x' } }), /blob photos\/a: InvalidMetadata/],
    [blob({ file: 'nope' }), /ENOENT.*nope/],
    [of({ tables: { People: [{ RowKey: 'x' }] } }), /entity 1 of table People: PropertiesNeedValue/],
  ];
  for (const [seed, message] of refusals) {
    writeFileSync(path, JSON.stringify(seed));
    await assert.rejects(seedFrom(store, path), message);
  }
});
