// Debian's azure-cli against a running server.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { withoutAz as skip, withAz } from '../support/az.js';

test('az storage queue and message', { skip }, async () => {
  await withAz('queue', async (storage) => {
    await storage('queue', 'create', '--name', 'work');
    await storage('message', 'put', '--queue-name', 'work', '--content', 'hello');
    const [message] = (await storage('message', 'get', '--queue-name', 'work')) as {
      id: string;
      popReceipt: string;
      content: string;
    }[];
    assert.equal(message?.content, 'hello');
    await storage(
      'message',
      'delete',
      '--queue-name',
      'work',
      '--id',
      message?.id ?? '',
      '--pop-receipt',
      message?.popReceipt ?? '',
    );
    const queues = (await storage('queue', 'list')) as { name: string }[];
    assert.deepEqual(
      queues.map(({ name }) => name),
      ['work'],
    );
  });
});

test('az storage table and entity', { skip }, async () => {
  await withAz('table', async (storage) => {
    await storage('table', 'create', '--name', 'people');
    await storage(
      'entity',
      'insert',
      '--table-name',
      'people',
      '--entity',
      'PartitionKey=p',
      'RowKey=1',
      'v=5',
      'v@odata.type=Edm.Int32',
    );
    const found = (await storage('entity', 'query', '--table-name', 'people', '--filter', 'v eq 5')) as {
      items: unknown[];
    };
    assert.equal(found.items.length, 1);
    await storage(
      'entity',
      'delete',
      '--table-name',
      'people',
      '--partition-key',
      'p',
      '--row-key',
      '1',
      '--if-match',
      '*',
    );
    await storage('table', 'delete', '--name', 'people');
  });
});

test('az storage container and blob', { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-files-'));
  try {
    await withAz('blob', async (storage) => {
      const file = join(folder, 'up.txt');
      await writeFile(file, 'hello');
      const blob = ['--container-name', 'photos', '--name', 'a/up.txt'];
      await storage('container', 'create', '--name', 'photos');
      await storage('blob', 'upload', ...blob, '--file', file, '--metadata', 'colour=blue');
      const refused = storage('blob', 'upload', ...blob, '--file', file, '--if-none-match', '*');
      await assert.rejects(refused, /BlobAlreadyExists/);
      const lease = await storage(
        'blob',
        'lease',
        'acquire',
        '-c',
        'photos',
        '-b',
        'a/up.txt',
        '--lease-duration',
        '15',
      );
      await assert.rejects(storage('blob', 'delete', ...blob), /LeaseIdMissing/);
      await storage(
        'blob',
        'lease',
        'release',
        '-c',
        'photos',
        '-b',
        'a/up.txt',
        '--lease-id',
        String(lease),
      );
      await storage('blob', 'snapshot', '-c', 'photos', '-n', 'a/up.txt');
      await storage(
        'blob',
        'copy',
        'start',
        '--source-container',
        'photos',
        '--source-blob',
        'a/up.txt',
        '-c',
        'photos',
        '-b',
        'copy',
      );
      const listed = (await storage('blob', 'list', '-c', 'photos', '--include', 'ms')) as { name: string }[];
      assert.deepEqual(
        listed.map(({ name }) => name),
        ['a/up.txt', 'a/up.txt', 'copy'],
      );
      const down = join(folder, 'down.txt');
      await storage('blob', 'download', ...blob, '--file', down);
      assert.equal(await readFile(down, 'utf8'), 'hello');
      await storage('blob', 'delete', ...blob, '--delete-snapshots', 'include');
      await storage('container', 'delete', '--name', 'photos');
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
