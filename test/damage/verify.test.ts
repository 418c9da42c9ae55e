// What `verifyStore` says of a sound store, and of one with a bit flipped in it.

import assert from 'node:assert/strict';
import { cp, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '#src/base/random.js';
import { FolderInUseError, FormatError } from '#src/engine/errors.js';
import { verifyStore } from '#src/engine/verify.js';
import { filesOf, flipBit, makeStore, openStore, temporaryFolder } from './damaged-store.js';

test('a sound store is found sound, and is left as it is', async (t) => {
  const folder = await temporaryFolder(t);
  const location = join(folder, 'store');
  const content = await makeStore(location, 'closed', 7);
  const storeFiles = filesOf(location).filter((file) => file.startsWith('store/'));
  const before = await Promise.all(storeFiles.map((file) => readFile(join(location, file))));
  const steps: number[] = [];
  const report = await verifyStore(location, { progress: ({ bytes }) => steps.push(bytes) });
  assert.deepEqual(report.damage, []);
  assert.ok(report.records >= content.size);
  assert.ok(report.tables > 1 && steps.length === report.tables);
  assert.equal(report.bytes, steps.at(-1));
  const after = await Promise.all(storeFiles.map((file) => readFile(join(location, file))));
  assert.deepEqual(after, before);
  await (await openStore(location)).close();
});

test('a flipped bit in a table, a log, CURRENT or MANIFEST is named', async (t) => {
  const folder = await temporaryFolder(t);
  const location = join(folder, 'store');
  await makeStore(location, 'killed', 7);
  const random = seededRandom(7);
  const files = filesOf(location).filter((file) => /\.ldb$|\.log$|CURRENT$|MANIFEST-\d+$/.test(file));
  for (const file of files.filter((file) => file.startsWith('store/'))) {
    const copy = join(folder, basename(file));
    await cp(location, copy, { recursive: true });
    const { size } = await stat(join(copy, file));
    await flipBit(join(copy, file), Math.floor(random() * size * 8));
    const { damage } = await verifyStore(copy);
    assert.ok(damage[0]?.message.includes(basename(file)), `${file}: ${damage[0]?.message}`);
  }
});

test('several damaged tables are all named', async (t) => {
  const folder = await temporaryFolder(t);
  const location = join(folder, 'store');
  await makeStore(location, 'closed', 7);
  const tables = filesOf(location).filter((file) => file.endsWith('.ldb'));
  for (const file of tables) await flipBit(join(location, file), 800);
  const { damage } = await verifyStore(location);
  assert.equal(damage.length, tables.length);
});

test('only a data folder that nobody uses is verified', async (t) => {
  const folder = await temporaryFolder(t);
  await assert.rejects(verifyStore(folder), FormatError);
  await using _engine = await openStore(join(folder, 'store'));
  await assert.rejects(verifyStore(join(folder, 'store')), FolderInUseError);
});
