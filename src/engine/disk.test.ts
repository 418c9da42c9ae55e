// What `openEngine` makes of a folder before it is read.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { seededRandom } from '../base/random.js';
import { folderDisk } from './disk.js';
import type { Engine } from './engine.js';
import { DamageError, FolderInUseError, FormatError } from './errors.js';
import { openEngine, openEngineOn } from './level.js';
import { flipped } from './leveldb/made.suite.js';

async function temporary(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-disk-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function open(location: string, bytesBeforeOpen = 1e9): Promise<Engine> {
  const disk = await folderDisk(location, { reserveBytes: 0, guard: { bytesBeforeOpen } });
  return openEngineOn(disk, { floorBytes: 0 });
}

async function put(engine: Engine, ...keys: string[]): Promise<void> {
  const writes = keys.map((key) => ({ key: Buffer.from(key), value: Buffer.from(key.repeat(50)) }));
  await (await engine.commit({ writes })).durable;
}

test('a folder is made with those above it, for its owner alone, and used again', async (t) => {
  const location = join(await temporary(t), 'deep', 'data');
  await using engine = await open(location);
  await put(engine, 'a');
  await engine.close();
  if (process.platform !== 'win32') {
    for (const name of ['', '..', 'store', 'lock']) {
      assert.equal((await stat(join(location, name))).mode & 0o777, 0o700, name);
    }
    for (const name of ['format', 'durable']) {
      assert.equal((await stat(join(location, name))).mode & 0o777, 0o600, name);
    }
  }
  await using again = await open(location);
  assert.equal((await again.get(Buffer.from('a'))).value?.length, 50);
});

test('a second engine on the same folder is refused and harms nothing', async (t) => {
  const location = await temporary(t);
  await using engine = await open(location);
  await put(engine, 'a');
  await assert.rejects(openEngine({ location }), (error) => {
    assert.ok(error instanceof FolderInUseError);
    assert.match(error.message, new RegExp(`process ${process.pid}, which started at`));
    return true;
  });
  await put(engine, 'b');
  await engine.close();
  await (await open(location)).close();
});

test('a folder with other files in it is left as it is', async (t) => {
  const location = await temporary(t);
  await writeFile(join(location, 'photo.jpg'), 'a photo');
  await assert.rejects(openEngine({ location }), FormatError);
  assert.deepEqual(await readdir(location), ['photo.jpg']);
});

test('a store that is refused as damaged is left as it is, and not in use', async (t) => {
  const location = await temporary(t);
  await using engine = await open(location);
  await put(engine, 'a');
  await engine.close();
  const log = join(
    location,
    'store',
    (await readdir(join(location, 'store'))).find((name) => name.endsWith('.log')) ?? '',
  );
  const good = await readFile(log);
  await writeFile(log, flipped(good, good.length * 8 - 9));
  const names = await readdir(join(location, 'store'));
  for (let time = 0; time < 2; time++) await assert.rejects(open(location), DamageError);
  assert.deepEqual(await readdir(join(location, 'store')), names);
  await writeFile(log, good);
  await using again = await open(location);
  assert.equal((await again.get(Buffer.from('a'))).value?.length, 50);
});

test('damage that is found later is told, and what it does not touch is served', async (t) => {
  const location = await temporary(t);
  const random = seededRandom(9);
  const noise = () => Buffer.from(Array.from({ length: 200 }, () => random() * 256));
  const many = (prefix: string) => Array.from({ length: 300 }, (_, index) => `${prefix} ${index + 100}`);
  for (const keys of [many('a'), many('x'), []]) {
    await using engine = await open(location);
    const writes = keys.map((key) => ({ key: Buffer.from(key), value: noise() }));
    await (await engine.commit({ writes })).durable;
  }
  const store = join(location, 'store');
  for (const name of (await readdir(store)).filter((name) => name.endsWith('.ldb'))) {
    const content = await readFile(join(store, name));
    if (content.includes('x 100')) await writeFile(join(store, name), flipped(content, 1000));
  }
  await using engine = await open(location, 0);
  assert.equal((await engine.get(Buffer.from('a 100'))).value?.length, 200);
  assert.throws(() => engine.get(Buffer.from('x 100')), DamageError);
  await assert.rejects(async () => engine.range(Buffer.from('a'), undefined), DamageError);
  assert.ok(engine.health().damage instanceof DamageError);
  await put(engine, 'c');
  assert.equal((await engine.get(Buffer.from('c'))).value?.length, 50);
});
