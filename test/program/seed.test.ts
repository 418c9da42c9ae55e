// --seed: what the file names is there after the start, and after the next one.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
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
