// The newer features of the blob service, by Debian's azure-cli.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Storage, withoutAz as skip, withAz } from '../support/az.js';

interface Shown {
  readonly name: string;
  readonly versionId?: string;
  readonly deleted?: boolean;
  readonly tags?: Record<string, string>;
  readonly immutabilityPolicy?: { readonly policyMode: string | null };
  readonly hasLegalHold?: boolean;
  readonly properties: {
    readonly blobTier?: string;
    readonly blobType?: string;
    readonly contentLength?: number;
  };
}

async function withFiles(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-az-blob-'));
  try {
    await writeFile(join(folder, 'one.txt'), 'first');
    await writeFile(join(folder, 'two.txt'), 'second');
    await writeFile(join(folder, 'disk.bin'), Buffer.alloc(4096, 'd'));
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const blob = (name: string) => ['--container-name', 'photos', '--name', name];
const show = async (storage: Storage, name: string, ...more: string[]) =>
  (await storage('blob', 'show', ...blob(name), ...more)) as Shown;

test('az: tiers, page blobs, append blobs, tags', { skip }, async () => {
  await withFiles((folder) =>
    withAz('blob', async (storage) => {
      const file = join(folder, 'one.txt');
      await storage('container', 'create', '--name', 'photos');
      await storage('blob', 'upload', ...blob('a'), '--file', file, '--tier', 'Cool', '--tags', 'kind=cat');
      assert.equal((await show(storage, 'a')).properties.blobTier, 'Cool');
      await storage('blob', 'set-tier', ...blob('a'), '--tier', 'Archive');
      assert.equal((await show(storage, 'a')).properties.blobTier, 'Archive');
      await assert.rejects(storage('blob', 'download', ...blob('a'), '--file', file), /BlobArchived/);
      const disk = join(folder, 'disk.bin');
      await storage('blob', 'upload', ...blob('disk'), '--file', disk, '--type', 'page');
      const shown = await show(storage, 'disk');
      assert.deepEqual([shown.properties.blobType, shown.properties.contentLength], ['PageBlob', 4096]);
      await storage('blob', 'upload', ...blob('log'), '--file', file, '--type', 'append');
      assert.equal((await show(storage, 'log')).properties.blobType, 'AppendBlob');
      const listed = (await storage('blob', 'list', '-c', 'photos', '--include', 't')) as Shown[];
      assert.deepEqual(listed.find(({ name }) => name === 'a')?.tags, { kind: 'cat' });
    }),
  );
});

test('az: soft delete, undelete, batches', { skip }, async () => {
  await withFiles((folder) =>
    withAz('blob', async (storage) => {
      await storage(
        ...['blob', 'service-properties', 'delete-policy', 'update'],
        ...['--enable', 'true', '--days-retained', '3'],
      );
      await storage('container', 'create', '--name', 'photos');
      await storage('blob', 'upload-batch', '-d', 'photos', '-s', folder, '--pattern', '*.txt');
      await storage('blob', 'delete', ...blob('one.txt'));
      const exists = (await storage('blob', 'exists', ...blob('one.txt'))) as { exists: boolean };
      assert.equal(exists.exists, false);
      await storage('blob', 'undelete', ...blob('one.txt'));
      const down = join(folder, 'down');
      await mkdir(down);
      await storage('blob', 'download-batch', '-s', 'photos', '-d', down);
      assert.equal(await readFile(join(down, 'one.txt'), 'utf8'), 'first');
      assert.equal(await readFile(join(down, 'two.txt'), 'utf8'), 'second');
      await storage('blob', 'delete-batch', '-s', 'photos');
      assert.deepEqual(await storage('blob', 'list', '-c', 'photos'), []);
      const deleted = (await storage('blob', 'list', '-c', 'photos', '--include', 'd')) as Shown[];
      assert.deepEqual(
        deleted.map(({ name, deleted: isDeleted }) => [name, isDeleted]),
        [
          ['one.txt', true],
          ['two.txt', true],
        ],
      );
    }),
  );
});

test('az: versions, immutability, legal hold', { skip }, async () => {
  const settings = { versioning: true, versionLevelImmutability: true };
  await withFiles((folder) =>
    withAz(
      'blob',
      async (storage) => {
        await storage('container', 'create', '--name', 'photos');
        await storage('blob', 'upload', ...blob('a'), '--file', join(folder, 'one.txt'));
        await storage('blob', 'upload', ...blob('a'), '--file', join(folder, 'two.txt'), '--overwrite');
        const versions = (await storage('blob', 'list', '-c', 'photos', '--include', 'v')) as Shown[];
        assert.equal(versions.length, 2);
        const old = join(folder, 'old.txt');
        const version = ['--version-id', versions[0]?.versionId ?? ''];
        await storage('blob', 'download', ...blob('a'), ...version, '--file', old);
        assert.equal(await readFile(old, 'utf8'), 'first');
        await storage('blob', 'set-legal-hold', ...blob('a'), '--legal-hold', 'true');
        await assert.rejects(storage('blob', 'delete', ...blob('a')), /BlobImmutableDueToLegalHold/);
        await storage('blob', 'set-legal-hold', ...blob('a'), '--legal-hold', 'false');
        await storage(
          ...['blob', 'immutability-policy', 'set', ...blob('a')],
          ...['--expiry-time', '2099-01-01T00:00:00Z', '--policy-mode', 'Unlocked'],
        );
        assert.equal((await show(storage, 'a')).immutabilityPolicy?.policyMode, 'Unlocked');
        await assert.rejects(storage('blob', 'delete', ...blob('a')), /BlobImmutableDueToPolicy/);
        await storage('blob', 'immutability-policy', 'delete', ...blob('a'));
        await storage('blob', 'delete', ...blob('a'));
      },
      settings,
    ),
  );
});
