import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Files, realFiles } from '../base/files.js';
import { SimulatedDisk } from '../base/files.simulated.js';
import { seededRandom } from '../base/random.js';
import { folderDisk } from './disk.js';
import type { BackupOptions, Engine, Reader, Snapshot } from './engine.js';
import {
  BackupInProgressError,
  BrokenChainError,
  DamageError,
  FormatError,
  MissingFullBackupError,
  OlderBackupError,
} from './errors.js';
import { inspectFolder } from './format.js';
import { type EngineOptions, openEngine, openEngineOn } from './level.js';
import { flipped } from './leveldb/made.suite.js';
import { restore, verifyChain } from './restore.js';

async function temporary(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-backup-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function open(location: string, options: EngineOptions = {}): Promise<Engine> {
  return openEngineOn(await folderDisk(location, { reserveBytes: 0 }), { floorBytes: 0, ...options });
}

interface Given {
  readonly folder: string;
  readonly engine: Engine;
  write(rows: Record<string, string | undefined>): Promise<void>;
  backup(name: string, kind: BackupOptions['kind']): ReturnType<Engine['backup']>;
}

async function given(t: TestContext, options: EngineOptions = {}): Promise<Given> {
  const folder = await temporary(t);
  const engine = await open(join(folder, 'store'), options);
  t.after(() => engine.close());
  return {
    folder,
    engine,
    async write(rows) {
      const writes = Object.entries(rows).map(([key, value]) => ({
        key: Buffer.from(key),
        value: value === undefined ? undefined : Buffer.from(value),
      }));
      await (await engine.commit({ writes })).durable;
    },
    backup: (name, kind) => engine.backup(join(folder, 'backups', name), { kind }),
  };
}

/** All rows, with their versions. */
async function rowsOf(reader: Reader): Promise<string[]> {
  const { rows, more } = await reader.range(Buffer.alloc(0), undefined, { limit: 100_000, maxBytes: 1e9 });
  assert.equal(more, false);
  return rows.map(({ key, value, version }) => `${key}=${value}@${version}`);
}

async function restored(t: TestContext, from: string | string[]): Promise<Engine> {
  const location = join(await temporary(t), 'restored');
  await restore(from, location);
  const engine = await open(location);
  t.after(() => engine.close());
  return engine;
}

test('a full backup, restored elsewhere, has every row with its version, and goes on above', async (t) => {
  const { folder, engine, write, backup } = await given(t);
  await write({ a: '1', b: '2', gone: 'x' });
  await write({ b: '22', gone: undefined, c: 'c'.repeat(2_000_000) });
  await (await engine.commit({ adds: [{ key: Buffer.from('count'), amount: 5 }] })).durable;
  const stamp = engine.stamps.draw(Date.UTC(2100, 0) * 1000);
  const info = await backup('1', 'full');
  assert.equal(info.kind, 'full');
  assert.equal(info.parent, info.id);
  const before = await rowsOf(engine);
  assert.equal(before.length, 4);
  const copy = await restored(t, join(folder, 'backups'));
  assert.deepEqual(await rowsOf(copy), before);
  assert.ok(copy.stamps.draw() > stamp, 'stamps go on above');
  const { version } = await copy.commit({ writes: [{ key: Buffer.from('z'), value: Buffer.from('z') }] });
  assert.ok(version > info.lastVersion, 'versions go on above');
});

test('a backup taken under load is the snapshot of one instant', async (t) => {
  const { folder, engine } = await given(t);
  const random = seededRandom(4);
  let stop = false;
  let commits = 0;
  const writers = Array.from({ length: 8 }, async () => {
    while (!stop) {
      const key = Buffer.from(`key ${Math.floor(random() * 300)}`);
      const value = random() < 0.2 ? undefined : Buffer.from(`${random()}`.repeat(20));
      await (await engine.commit({ writes: [{ key, value }] })).durable;
      commits++;
    }
  });
  const moreCommits = async (count: number) => {
    for (const end = commits + count; commits < end; ) await new Promise((resolve) => setImmediate(resolve));
  };
  let shown: string[] = [];
  const during = async (snapshot: Snapshot) => {
    shown = await rowsOf(snapshot);
  };
  const expected: string[][] = [];
  for (const [index, kind] of (
    ['full', 'incremental', 'incremental', 'full', 'incremental'] as const
  ).entries()) {
    await moreCommits(100);
    await engine.backup(join(folder, String(index)), { kind, during });
    expected.push(shown);
  }
  stop = true;
  await Promise.all(writers);
  for (const [index, chain] of [[0], [0, 1], [0, 1, 2], [3], [3, 4]].entries()) {
    const copy = await restored(
      t,
      chain.map((link) => join(folder, String(link))),
    );
    assert.deepEqual(await rowsOf(copy), expected[index]);
  }
});

test('incremental backups hold what changed, and a chain of them is restored', async (t) => {
  const { folder, engine, write, backup } = await given(t);
  await write(
    Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`key ${index}`, 'v'.repeat(100)])),
  );
  const full = await backup('0', 'full');
  const sizes: number[] = [];
  let last = full;
  for (let index = 1; index <= 4; index++) {
    await write({
      [`key ${index}`]: `new ${index}`,
      [`key ${index + 100}`]: undefined,
      [`added ${index}`]: 'a',
    });
    await write({ hot: String(index), [`added ${index - 1}`]: undefined });
    const info = await backup(String(index), 'incremental');
    assert.equal(info.parent, last.id);
    assert.equal(info.firstVersion, last.lastVersion + 1);
    last = info;
    sizes.push((await readFile(join(folder, 'backups', String(index), 'rows'))).length);
  }
  assert.ok(Math.max(...sizes) < 1000, 'only what changed is copied');
  const copy = await restored(t, join(folder, 'backups'));
  assert.deepEqual(await rowsOf(copy), await rowsOf(engine));
});

test('the chain outlives a restart, and is given up if too much changes', async (t) => {
  const folder = await temporary(t);
  const location = join(folder, 'store');
  const options = { maxChangeLogBytes: 2000 };
  const put = async (engine: Engine, key: string) => {
    const writes = [{ key: Buffer.from(key), value: Buffer.from(key) }];
    await (await engine.commit({ writes })).durable;
  };
  {
    await using engine = await open(location, options);
    await put(engine, 'a');
    await engine.backup(join(folder, '0'), { kind: 'full' });
    await put(engine, 'b');
  }
  await using engine = await open(location, options);
  await put(engine, 'c');
  await engine.backup(join(folder, '1'), { kind: 'incremental' });
  assert.deepEqual(
    await rowsOf(await restored(t, [join(folder, '0'), join(folder, '1')])),
    await rowsOf(engine),
  );
  for (let index = 0; index < 100; index++) await put(engine, `a key of some length ${index}`);
  await assert.rejects(engine.backup(join(folder, '2'), { kind: 'incremental' }), MissingFullBackupError);
  await engine.backup(join(folder, '3'), { kind: 'full' });
  await put(engine, 'd');
  await engine.backup(join(folder, '4'), { kind: 'incremental' });
  assert.deepEqual(
    await rowsOf(await restored(t, [join(folder, '3'), join(folder, '4')])),
    await rowsOf(engine),
  );
});

test('an incremental backup without a full one is refused, also in a restored store', async (t) => {
  const { folder, write, backup } = await given(t);
  await write({ a: '1' });
  await assert.rejects(backup('0', 'incremental'), MissingFullBackupError);
  await backup('0', 'full');
  await backup('1', 'incremental');
  const copy = await restored(t, join(folder, 'backups'));
  await assert.rejects(copy.backup(join(folder, '2'), { kind: 'incremental' }), MissingFullBackupError);
});

test('a first full backup that fails is none to stand on', async (t) => {
  const { folder, engine, write, backup } = await given(t);
  await write({ a: '1' });
  const during = async () => Promise.reject(new Error('no room'));
  await assert.rejects(engine.backup(join(folder, 'failed'), { kind: 'full', during }), /no room/);
  await assert.rejects(backup('0', 'incremental'), MissingFullBackupError);
  await backup('0', 'full');
  await backup('1', 'incremental');
});

test('one backup at a time, into an empty folder', async (t) => {
  const { folder, engine, write, backup } = await given(t);
  await write({ a: '1' });
  const running = backup('0', 'full');
  await assert.rejects(backup('1', 'full'), BackupInProgressError);
  await running;
  await assert.rejects(backup('0', 'full'), FormatError);
  const aborted = AbortSignal.abort(new Error('no more'));
  const other = join(folder, 'other');
  await assert.rejects(engine.backup(other, { kind: 'full', signal: aborted }), /no more/);
  assert.deepEqual(await readdir(other), []);
  const failing = async () => Promise.reject(new Error('no room'));
  await assert.rejects(engine.backup(other, { kind: 'full', during: failing }), /no room/);
  await engine.backup(other, { kind: 'incremental' });
});

/** A full backup and three that stand on it, in folders 0 to 3. */
async function chain(t: TestContext): Promise<Given & { path: (index: number | string) => string }> {
  const store = await given(t);
  for (let index = 0; index < 4; index++) {
    await store.write({ [`key ${index}`]: 'v' });
    await store.backup(String(index), index === 0 ? 'full' : 'incremental');
  }
  return { ...store, path: (index) => join(store.folder, 'backups', String(index)) };
}

test('what is not one chain is refused, and says why', async (t) => {
  const { folder, engine, path } = await chain(t);
  await assert.rejects(verifyChain(join(folder, 'none')), MissingFullBackupError);
  await assert.rejects(verifyChain([path(1), path(2)]), MissingFullBackupError);
  await assert.rejects(verifyChain([path(0), path(2), path(3)]), (error) => {
    assert.ok(error instanceof BrokenChainError);
    assert.match(error.message, /on which .* stands, is missing/);
    return true;
  });
  await engine.backup(path(9), { kind: 'full' });
  await assert.rejects(verifyChain(join(folder, 'backups')), MissingFullBackupError);
  await engine.backup(path(10), { kind: 'incremental' });
  await assert.rejects(verifyChain([path(0), path(1), path(10)]), BrokenChainError);
  assert.equal((await verifyChain([path(9), path(10)])).length, 2);
});

test('a backup that no other stands on is passed over', async (t) => {
  const { folder, engine, path } = await chain(t);
  // As if the process had ended after the files of one were written and before the chain was stored.
  await engine.close();
  await cp(join(folder, 'store'), join(folder, 'earlier'), { recursive: true });
  const [stale, real] = [await open(join(folder, 'store')), await open(join(folder, 'earlier'))];
  await stale.backup(path('stale'), { kind: 'incremental' });
  await stale.close();
  await (await real.commit({ writes: [{ key: Buffer.from('later'), value: Buffer.from('x') }] })).durable;
  await real.backup(path('real'), { kind: 'incremental' });
  const used = await verifyChain(join(folder, 'backups'));
  assert.deepEqual(
    used.map(({ folder }) => folder),
    [0, 1, 2, 3, 'real'].map(path),
  );
  assert.deepEqual(await rowsOf(await restored(t, join(folder, 'backups'))), await rowsOf(real));
  await real.close();
});

test('every flipped bit in a backup is found before anything is written', async (t) => {
  const { folder, path } = await chain(t);
  const target = join(folder, 'target');
  for (const file of [
    join(path(0), 'backup.metadata'),
    join(path(1), 'incremental.metadata'),
    join(path(2), 'rows'),
  ]) {
    const good = await readFile(file);
    for (let bit = 0; bit < good.length * 8; bit += 29) {
      await writeFile(file, flipped(good, bit));
      await assert.rejects(restore(join(folder, 'backups'), target), (error) => {
        assert.ok(error instanceof DamageError && error.message.includes(file), `bit ${bit}: ${error}`);
        return true;
      });
    }
    await writeFile(file, good.subarray(0, -1));
    await assert.rejects(verifyChain(join(folder, 'backups')), DamageError);
    await writeFile(file, good);
  }
  await rm(join(path(3), 'rows'));
  await assert.rejects(verifyChain(join(folder, 'backups')), /3.rows: it is missing/);
  assert.deepEqual((await readdir(folder)).sort(), ['backups', 'store']);
});

test('a restore goes into an empty folder, and what belongs to it comes along', async (t) => {
  const { folder, path } = await chain(t);
  const target = join(folder, 'target');
  await assert.rejects(restore(path(0), join(folder, 'store')), FormatError);
  await restore(join(folder, 'backups'), target, {
    also: async (backups, into) => {
      assert.equal(backups.length, 4);
      await writeFile(join(into, 'extents'), 'bytes');
    },
  });
  assert.equal(await readFile(join(target, 'extents'), 'utf8'), 'bytes');
  await assert.rejects(restore(path(0), target), FormatError);
});

test('a restore that is cut off leaves no store, and is begun again', async (t) => {
  const { folder, engine } = await chain(t);
  const target = join(folder, 'target');
  const cutOff = async () => Promise.reject(new Error('cut off'));
  await assert.rejects(restore(join(folder, 'backups'), target, { also: cutOff }), /cut off/);
  assert.ok((await readdir(target)).includes('restoring'));
  await assert.rejects(open(target), /was being restored .* and that was cut off\. Restore it again/);
  await restore(join(folder, 'backups'), target);
  assert.deepEqual((await readdir(target)).sort(), ['durable', 'format', 'lock', 'store']);
  await using copy = await open(target);
  assert.deepEqual(await rowsOf(copy), await rowsOf(engine));
});

test('wherever a backup is cut off by a power cut, it is whole or it is none', async () => {
  const disk = new SimulatedDisk();
  await using engine = await openEngine({ memory: true }, { files: disk });
  const cuts: { ended: number; disk: SimulatedDisk }[] = [];
  let ended = 0;
  disk.before = () => {
    for (let seed = 0; seed < 12; seed++) cuts.push({ ended, disk: disk.crash(seed) });
  };
  for (const kind of ['full', 'incremental', 'incremental'] as const) {
    const writes = [{ key: Buffer.from(`key ${ended}`), value: Buffer.alloc(3000, ended) }];
    await engine.commit({ writes });
    await engine.backup(`/backups/${ended}`, { kind });
    ended++;
  }
  cuts.push({ ended, disk: disk.crash(0) });
  const lengths = new Set<number>();
  for (const cut of cuts) {
    const length = await verifyChain('/', { files: cut.disk }).then(
      (chain) => chain.length,
      (error) => (error instanceof MissingFullBackupError ? 0 : Promise.reject(error)),
    );
    assert.ok(length >= cut.ended, 'a backup that was taken is there');
    lengths.add(length);
  }
  assert.deepEqual([...lengths].sort(), [0, 1, 2, 3]);
});

test('wherever a restore is cut off, there is a whole store or none, and it can be begun again', async (t) => {
  const { folder, engine } = await chain(t);
  const expected = await rowsOf(engine);
  let ended = false;
  const step = process.env.LAZULI_FULL ? 1 : 3;
  for (let calls = 1; !ended; calls += step) {
    const target = join(folder, `target ${calls}`);
    ended = await restore(join(folder, 'backups'), target, { files: cutAfter(calls) }).then(
      () => true,
      () => false,
    );
    const state = await inspectFolder(realFiles, target);
    if (state.kind !== 'ours') {
      assert.equal(ended, false);
      await restore(join(folder, 'backups'), target);
    }
    await using copy = await open(target);
    assert.deepEqual(await rowsOf(copy), expected);
  }
});

/** The real files, until so many calls have changed something; then every such call fails. */
function cutAfter(calls: number): Files {
  let left = calls;
  const counted =
    <Parameters extends unknown[]>(call: (...parameters: Parameters) => Promise<void>) =>
    async (...parameters: Parameters) => {
      if (left-- <= 0) throw new Error('the power is off');
      return call(...parameters);
    };
  const { rename, remove, removeFolder, makeFolder, syncFolder } = realFiles;
  return {
    ...realFiles,
    rename: counted(rename),
    remove: counted(remove),
    removeFolder: counted(removeFolder),
    makeFolder: counted(makeFolder),
    syncFolder: counted(syncFolder),
  };
}

test('wherever a restore over a store is cut off, there is the old store, the new one, or one that does not open until it is done again', async (t) => {
  const { folder, engine, write, backup } = await given(t);
  await write({ a: 'backed up' });
  await backup('1', 'full');
  await write({ a: 'old' });
  const old = await rowsOf(engine);
  await engine.close();
  const backups = join(folder, 'backups');
  const outcomes = new Set<string>();
  for (let calls = 0; !outcomes.has('done'); calls += 3) {
    const target = join(folder, `target-${calls}`);
    await cp(join(folder, 'store'), target, { recursive: true });
    const attempt = restore(backups, target, { files: cutAfter(calls), replace: 'always' });
    const done = await attempt.then(
      () => true,
      () => false,
    );
    outcomes.add(done ? 'done' : await outcomeOf(target, old));
    if (!done) await restore(backups, target, { replace: 'always' });
    const now = await open(target);
    assert.match((await rowsOf(now)).join(), /^a=backed up@/);
    await now.close();
    await rm(target, { recursive: true });
  }
  assert.deepEqual([...outcomes].sort(), ['done', 'new', 'old', 'refused']);
});

async function outcomeOf(target: string, old: readonly string[]): Promise<'old' | 'new' | 'refused'> {
  try {
    const engine = await open(target);
    const rows = (await rowsOf(engine)).join();
    await engine.close();
    if (rows === old.join()) return 'old';
    assert.match(rows, /^a=backed up@\d+$/);
    return 'new';
  } catch (error) {
    assert.ok(error instanceof FormatError, String(error));
    assert.match(error.message, /that was cut off\. Restore it again/);
    return 'refused';
  }
}

test('a store is replaced only where that is said, and by an older backup only where that is said too', async (t) => {
  const { folder, engine, write, backup } = await given(t);
  await write({ a: '1' });
  await backup('1', 'full');
  await engine.close();
  const backups = join(folder, 'backups');
  const store = join(folder, 'store');
  await assert.rejects(restore(backups, store), FormatError);
  await assert.rejects(restore(backups, store, { replace: 'older' }), OlderBackupError);
  await restore(backups, store, { replace: 'always' });
});

test('a backup that is not accepted is removed and does not count', async (t) => {
  const { folder, engine, write, backup } = await given(t);
  const first = await backup('1', 'full');
  await write({ a: '1' });
  const options = { kind: 'incremental', accept: () => Promise.reject(new Error('no')) } as const;
  await assert.rejects(engine.backup(join(folder, 'backups', '2'), options), /no/);
  assert.deepEqual(await readdir(join(folder, 'backups', '2')), []);
  assert.equal((await backup('3', 'incremental')).parent, first.id);
});
