// Shares as SMB has them: the real store against the plain one in memory, and what only the real one has.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#src/base/random.js';
import { attribute } from '#src/services/file/access.js';
import { type FileNode, rootId, type Volume } from '#src/services/file/file-system.js';
import { FileRefused } from '#src/services/file/refusals.js';
import { snapshotShare } from '#src/services/file/share-snapshots.js';
import { deleteShare, setShareProperties } from '#src/services/file/shares.js';
import { account, type GivenFiles, givenFiles } from '../support/file-service.js';
import { MemoryVolume } from '../support/memory-volume.js';

async function opened(files: GivenFiles, name = 'files'): Promise<Volume> {
  const volume = await files.volumes.open(account, name);
  assert.ok(volume);
  return volume;
}

const file = { directory: false, attributes: attribute.archive, security: undefined } as const;
const folder = { directory: true, attributes: attribute.directory, security: undefined } as const;
const anyTime = { keepWritten: false };

function create(volume: Volume, parent: bigint, name: string, kind: typeof file | typeof folder = file) {
  return volume.transaction((tx) => tx.create({ parent, name, ...kind }));
}

async function names(volume: Volume, directory = rootId): Promise<string[]> {
  return (await volume.children(directory, undefined, 1000)).map(({ name }) => name);
}

async function text(volume: Volume, id: bigint): Promise<string> {
  return Buffer.from(await volume.read(id, 0, 1000)).toString();
}

test('a name is found in any case and shown as it was given', async () => {
  await using files = await givenFiles();
  const volume = await opened(files);
  const { id } = await create(volume, rootId, 'Straße.TXT');
  assert.equal((await volume.child(rootId, 'sTRAßE.txt'))?.id, id);
  assert.deepEqual(await names(volume), ['Straße.TXT']);
  await volume.transaction((tx) => tx.move(id, rootId, 'STRAßE.txt'));
  assert.deepEqual(await names(volume), ['STRAßE.txt']);
  assert.equal((await volume.node(id))?.name, 'STRAßE.txt');
});

test('what a transaction wrote is undone where it fails', async () => {
  await using files = await givenFiles();
  const volume = await opened(files);
  const failed = volume.transaction(async (tx) => {
    await tx.create({ parent: rootId, name: 'a', ...file });
    throw new FileRefused('NameCollision');
  });
  await assert.rejects(failed, FileRefused);
  assert.deepEqual(await names(volume), []);
});

test('a snapshot shows files as they were, whatever becomes of them', async () => {
  await using files = await givenFiles();
  const volume = await opened(files);
  const dir = await create(volume, rootId, 'dir', folder);
  const [changed, moved, removed] = await Promise.all(
    ['changed', 'moved', 'removed'].map((name) => create(volume, dir.id, name)),
  );
  assert.ok(changed && moved && removed);
  for (const { id, name } of [changed, moved, removed]) {
    await volume.write(id, 0, Buffer.from(`${name} one`), anyTime);
  }
  const { second } = await snapshotShare(files.store, [account, 'files'], undefined);
  await volume.write(changed.id, 8, Buffer.from('two'), anyTime);
  await volume.transaction((tx) => tx.move(moved.id, rootId, 'elsewhere'));
  await volume.transaction((tx) => tx.remove(removed.id));
  await create(volume, dir.id, 'new');

  const [taken] = await files.volumes.snapshots(account, 'files');
  const old = await files.volumes.open(account, 'files', taken);
  assert.ok(old?.readOnly && taken !== undefined && second > 0);
  assert.deepEqual(await names(old), ['dir']);
  assert.deepEqual(await names(old, dir.id), ['changed', 'moved', 'removed']);
  assert.equal(await text(old, changed.id), 'changed one');
  assert.equal(await text(old, moved.id), 'moved one');
  assert.equal(await text(old, removed.id), 'removed one');
  assert.equal((await old.node(moved.id))?.parent, dir.id);
  assert.deepEqual(await names(volume), ['dir', 'elsewhere']);
  assert.deepEqual(await names(volume, dir.id), ['changed', 'new']);
  assert.equal(await text(volume, changed.id), 'changed two');
});

test('the quota is kept exactly', async () => {
  await using files = await givenFiles();
  const settings = { quotaGib: 1, tier: undefined, snapshotDirectory: undefined, provisioned: [] };
  await setShareProperties(files.store, [account, 'files'], undefined, settings);
  const volume = await opened(files);
  const { id } = await create(volume, rootId, 'a');
  await volume.transaction((tx) => tx.resize(id, 2 ** 30));
  assert.deepEqual(await volume.space(), { totalBytes: 2 ** 30, freeBytes: 0 });
  const { id: other } = await create(volume, rootId, 'b');
  const full = (error: unknown) => error instanceof FileRefused && error.code === 'DiskFull';
  await assert.rejects(volume.write(other, 0, Buffer.from('x'), anyTime), full);
  await volume.write(id, 5, Buffer.from('inside'), anyTime);
  await volume.transaction((tx) => tx.remove(id));
  await volume.write(other, 0, Buffer.from('x'), anyTime);
  assert.equal((await volume.space()).freeBytes, 2 ** 30 - 1);
});

test('a volume whose share was deleted is not found, also when the name is used again', async () => {
  await using files = await givenFiles();
  const volume = await opened(files);
  const deletion = {
    leaseId: undefined,
    snapshots: 'none',
    retentionDays: undefined,
    nameHeldMs: 0,
  } as const;
  await deleteShare(files.store, [account, 'files'], deletion);
  const gone = (error: unknown) => error instanceof FileRefused && error.code === 'ShareNotFound';
  await assert.rejects(volume.node(rootId), gone);
  assert.equal(await files.volumes.open(account, 'files'), undefined);
});

/** Random work, the same on both; what both show is compared. */
async function work(real: Volume, plain: Volume, seed: number, steps: number): Promise<void> {
  const random = seededRandom(seed);
  const upTo = (count: number) => Math.floor(random() * count);
  /** The same node has another id in each. */
  const nodes: [FileNode, FileNode][] = [];
  for (const volume of [real, plain]) assert.ok(await volume.node(rootId));
  const roots = [await real.node(rootId), await plain.node(rootId)] as [FileNode, FileNode];
  nodes.push(roots);
  for (let step = 0; step < steps; step++) {
    const at = upTo(nodes.length);
    const pair = nodes[at] as [FileNode, FileNode];
    const [one, other] = pair;
    const name = `f${upTo(30)}`;
    const kind = upTo(8);
    if (one.directory && kind < 4) {
      if (await real.child(one.id, name)) continue;
      const what = kind === 0 ? folder : file;
      nodes.push([await create(real, one.id, name, what), await create(plain, other.id, name, what)]);
    } else if (!one.directory && kind < 4) {
      const bytes = Buffer.from(Uint8Array.from({ length: 1 + upTo(9000) }, () => upTo(256)));
      const offset = upTo(20_000);
      await real.write(one.id, offset, bytes, anyTime);
      await plain.write(other.id, offset, bytes, anyTime);
    } else if (!one.directory && kind === 4) {
      const length = upTo(25_000);
      await real.transaction((tx) => tx.resize(one.id, length));
      await plain.transaction((tx) => tx.resize(other.id, length));
    } else if (!one.directory && kind === 5) {
      const [from, to] = [upTo(20_000), upTo(20_000)].sort((a, b) => a - b) as [number, number];
      await real.zero(one.id, from, to, anyTime);
      await plain.zero(other.id, from, to, anyTime);
    } else if (!one.directory && kind === 6) {
      await real.transaction((tx) => tx.remove(one.id));
      await plain.transaction((tx) => tx.remove(other.id));
      nodes.splice(at, 1);
    } else if (kind === 7 && one.id !== rootId && !one.directory) {
      const [parent, plainParent] = nodes[upTo(nodes.length)] as [FileNode, FileNode];
      if (!parent.directory || (await real.child(parent.id, name))) continue;
      await real.transaction((tx) => tx.move(one.id, parent.id, name));
      await plain.transaction((tx) => tx.move(other.id, plainParent.id, name));
    }
  }
  for (const [one, other] of nodes) {
    const [shown, expected] = [await real.node(one.id), await plain.node(other.id)];
    assert.equal(shown?.name, expected?.name);
    assert.equal(shown?.length, expected?.length);
    if (one.directory) {
      assert.deepEqual(await names(real, one.id), await names(plain, other.id));
    } else {
      const [read, wanted] = [await real.read(one.id, 0, 40_000), await plain.read(other.id, 0, 40_000)];
      assert.ok(Buffer.from(read).equals(Buffer.from(wanted)), `${shown?.name} has the same bytes`);
    }
  }
}

for (const seed of [1, 2, 3]) {
  test(`random work gives what a plain store gives (seed ${seed})`, async () => {
    await using files = await givenFiles();
    const plain = new MemoryVolume('plain', 'files', () => files.clock.now());
    await work(await opened(files), plain, seed, 400);
    assert.deepEqual(files.reported, []);
  });
}

test('all space is given back when everything that named it is gone', async () => {
  await using files = await givenFiles();
  const volume = await opened(files);
  const bytes = Buffer.alloc(20_000, 7);
  for (let round = 0; round < 4; round++) {
    const { id } = await create(volume, rootId, `file ${round}`);
    for (let at = 0; at < 5; at++) await volume.write(id, at * 7_000, bytes, anyTime);
    await snapshotShare(files.store, [account, 'files'], undefined);
    await volume.write(id, 3_000, bytes, anyTime);
    if (round % 2 === 0) await volume.transaction((tx) => tx.remove(id));
  }
  assert.ok((await files.liveBytes()) > 0);
  const deletion = { leaseId: undefined, retentionDays: undefined, nameHeldMs: 0 } as const;
  await deleteShare(files.store, [account, 'files'], { ...deletion, snapshots: 'include' });
  await files.sweep();
  await files.sweep();
  assert.deepEqual(files.reported, []);
  assert.equal(await files.liveBytes(), 0);
});
