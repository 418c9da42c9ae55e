import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Files, hasCode, makeFolders, readWhole, realFiles, replaceWhole } from './files.js';
import { SimulatedDisk } from './files.simulated.js';

async function realFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-files-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const kinds: [string, (t: TestContext) => Promise<[Files, string]>][] = [
  ['the real disk', async (t) => [realFiles, await realFolder(t)]],
  ['the simulated disk', async () => [new SimulatedDisk(), '/']],
];

for (const [name, given] of kinds) {
  test(`${name}: what is written can be read, in pieces and in the middle`, async (t) => {
    const [files, folder] = await given(t);
    await using file = await files.open(join(folder, 'a'), 'new');
    await file.write([Buffer.from('one '), Buffer.from('two '), Buffer.from('three')], 0);
    await file.write(Buffer.from('2'), 6);
    await file.sync();
    const read = Buffer.alloc(20);
    assert.equal(await file.size(), 13);
    assert.equal(await file.read(read, 4), 9);
    assert.equal(read.toString('latin1', 0, 9), 'tw2 three');
    await file.truncate(3);
    assert.equal(await file.read(read, 0), 3);
    assert.equal(await file.read(read, 9), 0);
  });

  test(`${name}: names are made, listed, renamed and removed`, async (t) => {
    const [files, folder] = await given(t);
    const path = (child: string) => join(folder, child);
    await makeFolders(files, path('sub/deeper'));
    await makeFolders(files, path('sub/deeper'));
    await files.removeFolder(path('sub/deeper'));
    await replaceWhole(files, path('sub/b'), Buffer.from('old'));
    await replaceWhole(files, path('sub/b'), Buffer.from('new'));
    await files.rename(path('sub/b'), path('a'));
    await files.syncFolder(folder);
    assert.deepEqual(await files.list(folder), ['a', 'sub']);
    assert.deepEqual(await files.list(path('sub')), []);
    assert.equal((await readWhole(files, path('a')))?.toString(), 'new');
    assert.deepEqual(await files.status(path('a')), { kind: 'file', size: 3 });
    assert.equal((await files.status(path('sub')))?.kind, 'folder');
    await files.link(path('a'), path('sub/c'));
    await assert.rejects(files.link(path('a'), path('sub/c')), { code: 'EEXIST' });
    await files.remove(path('a'));
    assert.equal((await readWhole(files, path('sub/c')))?.toString(), 'new');
    await files.remove(path('sub/c'));
    await files.removeFolder(path('sub'));
    assert.equal(await files.status(path('a')), undefined);
    assert.equal(await readWhole(files, path('a')), undefined);
    assert.ok((await files.freeBytes(folder)) > 0);
  });

  test(`${name}: errors carry their code`, async (t) => {
    const [files, folder] = await given(t);
    const path = join(folder, 'a');
    await assert.rejects(files.open(path, 'read'), { code: 'ENOENT' });
    await assert.rejects(files.open(path, 'edit'), { code: 'ENOENT' });
    await (await files.open(path, 'new')).close();
    await assert.rejects(files.open(path, 'new'), (error) => hasCode(error, 'EEXIST'));
    await assert.rejects(files.rename(join(folder, 'none'), path), { code: 'ENOENT' });
    await assert.rejects(files.list(join(folder, 'none')), { code: 'ENOENT' });
    await assert.rejects(files.removeFolder(folder), { code: 'ENOTEMPTY' });
  });
}

test('files and folders are for their owner alone', { skip: process.platform === 'win32' }, async (t) => {
  const folder = await realFolder(t);
  await realFiles.makeFolder(join(folder, 'sub'));
  await replaceWhole(realFiles, join(folder, 'a'), Buffer.from('x'));
  assert.equal((await stat(join(folder, 'sub'))).mode & 0o777, 0o700);
  assert.equal((await stat(join(folder, 'a'))).mode & 0o777, 0o600);
});

test('a power cut keeps what was synced, whatever the seed', async () => {
  const disk = new SimulatedDisk();
  const file = await disk.open('/a', 'new');
  await file.write(Buffer.from('synced'), 0);
  await file.sync();
  await disk.syncFolder('/');
  await file.write(Buffer.alloc(5000, 'x'), 6);
  const sizes = new Set<number>();
  for (let seed = 0; seed < 50; seed++) {
    const content = await readWhole(disk.crash(seed), '/a');
    assert.equal(content?.toString('latin1', 0, 6), 'synced');
    sizes.add(content.length);
  }
  assert.ok(sizes.size > 3, 'unsynced writes are lost, kept and torn');
  assert.equal((await readWhole(disk.crash(0), '/a'))?.length, 6);
  assert.equal((await readWhole(disk.crash(1), '/a'))?.length, 5006);
});

test('a name that was not synced may be lost, with a file whose data was', async () => {
  const disk = new SimulatedDisk();
  const file = await disk.open('/a', 'new');
  await file.write(Buffer.from('data'), 0);
  await file.sync();
  assert.equal(await disk.crash(0).status('/a'), undefined);
  assert.equal((await disk.crash(1).status('/a'))?.size, 4);
});

test('what a failed sync stood for stays in doubt, also after one that succeeds', async () => {
  const disk = new SimulatedDisk();
  const file = await disk.open('/a', 'new');
  await disk.syncFolder('/');
  await file.write(Buffer.from('ab'), 0);
  disk.before = ({ name }) => {
    if (name === 'sync') throw Object.assign(new Error('disk'), { code: 'EIO' });
  };
  await assert.rejects(file.sync(), { code: 'EIO' });
  disk.before = undefined;
  await file.write(Buffer.from('cd'), 2);
  await file.sync();
  assert.equal((await readWhole(disk, '/a'))?.toString(), 'abcd');
  assert.equal((await readWhole(disk.crash(0), '/a'))?.toString('latin1'), '\0\0cd');
});

test('replacing a file leaves the old or the new content at every cut', async () => {
  const disk = new SimulatedDisk();
  await replaceWhole(disk, '/a', Buffer.from('old'));
  const found: string[] = [];
  const cuts: SimulatedDisk[] = [];
  const cut = () => {
    for (let seed = 0; seed < 20; seed++) cuts.push(disk.crash(seed));
  };
  disk.before = cut;
  await replaceWhole(disk, '/a', Buffer.alloc(2000, 'n'));
  for (const after of cuts) {
    const content = (await readWhole(after, '/a'))?.toString() ?? 'none';
    assert.ok(content === 'old' || content === 'n'.repeat(2000), content);
    found.push(content);
  }
  assert.equal(new Set(found).size, 2);
  assert.equal((await readWhole(disk.crash(0), '/a'))?.length, 2000);
});
