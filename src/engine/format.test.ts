import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWhole, replaceWhole } from '../base/files.js';
import { SimulatedDisk } from '../base/files.simulated.js';
import { DamageError, FormatError } from './errors.js';
import { checkFolder, inspectFolder, type Migration, prepareFolder } from './format.js';

async function diskWith(names: Record<string, string>): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk();
  await disk.makeFolder('/data');
  await disk.syncFolder('/');
  for (const [name, content] of Object.entries(names)) {
    await replaceWhole(disk, `/data/${name}`, Buffer.from(content));
  }
  return disk;
}

async function contents(disk: SimulatedDisk): Promise<Record<string, string | undefined>> {
  const names = await disk.list('/data');
  const found = await Promise.all(
    names.map(async (name) => [name, (await readWhole(disk, `/data/${name}`))?.toString()] as const),
  );
  return Object.fromEntries(found);
}

const written = 'lazuli data folder\nformat 1\ncheck ';

test('an empty folder is made ours, once', async () => {
  const disk = await diskWith({});
  assert.deepEqual(await inspectFolder(disk, '/data'), { kind: 'empty' });
  assert.deepEqual(await inspectFolder(disk, '/none'), { kind: 'empty' });
  await prepareFolder(disk, '/data');
  const first = await contents(disk);
  assert.ok(first.format?.startsWith(written));
  await prepareFolder(disk, '/data');
  assert.deepEqual(await contents(disk), first);
  assert.deepEqual(await inspectFolder(disk, '/data'), { kind: 'ours', version: 1 });
});

test('what a start that was cut off leaves behind is no foreign file', async () => {
  const disk = await diskWith({ owner: '{}', 'owner.new': '', 'format.new': '', 'lost+found': '' });
  await prepareFolder(disk, '/data');
  assert.equal((await inspectFolder(disk, '/data')).kind, 'ours');
});

test('a folder with anything else in it is refused and left as it is', async () => {
  const disk = await diskWith({ 'thesis.txt': 'years of work', a: '', b: '', c: '' });
  const before = await contents(disk);
  const refused = (error: unknown) =>
    error instanceof FormatError &&
    /holds other files \(a, b, c, \.\.\.\)\. Choose an empty/.test(error.message);
  await assert.rejects(checkFolder(disk, '/data'), refused);
  await assert.rejects(prepareFolder(disk, '/data'), refused);
  assert.deepEqual(await contents(disk), before);
  await assert.rejects(checkFolder(disk, '/data/a'), /\/data\/a is not a folder/);
});

test('a newer format is refused and left as it is', async () => {
  const disk = await diskWith({});
  await prepareFolder(disk, '/data', { version: 3, migrations: [] });
  const before = await contents(disk);
  await assert.rejects(
    prepareFolder(disk, '/data'),
    /in format 3 by a newer version .* up to 1\. Start the newer/,
  );
  assert.deepEqual(await contents(disk), before);
});

test('every flipped bit in the marker is found', async () => {
  const disk = await diskWith({});
  await prepareFolder(disk, '/data');
  const good = (await readWhole(disk, '/data/format')) ?? Buffer.alloc(0);
  for (let bit = 0; bit < good.length * 8; bit++) {
    const bad = Buffer.from(good);
    bad[bit >> 3] = (bad[bit >> 3] as number) ^ (1 << (bit & 7));
    await replaceWhole(disk, '/data/format', bad);
    await assert.rejects(checkFolder(disk, '/data'), DamageError);
  }
});

/** Versions 2 and 3 that never were: 2 renamed a file, 3 wrote its size into another. */
const madeUp: Migration[] = [
  {
    to: 2,
    async run(files, folder) {
      if ((await files.status(`${folder}/old`)) === undefined) return;
      await files.rename(`${folder}/old`, `${folder}/new`);
      await files.syncFolder(folder);
    },
  },
  {
    to: 3,
    async run(files, folder) {
      const size = (await files.status(`${folder}/new`))?.size;
      await replaceWhole(files, `${folder}/size`, Buffer.from(String(size)));
    },
  },
];

test('an older folder is brought up step by step, also if the power is cut anywhere', async () => {
  const target = { version: 3, migrations: madeUp };
  const disk = await diskWith({});
  await prepareFolder(disk, '/data');
  await replaceWhole(disk, '/data/old', Buffer.from('content'));
  const cuts = [disk.crash(0)];
  disk.before = () => cuts.push(...[0, 1, 2, 3, 4, 5].map((seed) => disk.crash(seed)));
  await prepareFolder(disk, '/data', target);
  cuts.push(disk.crash(0));
  assert.ok(cuts.length > 50);
  for (const cut of cuts) {
    await prepareFolder(cut, '/data', target);
    const { format, ...rest } = await contents(cut);
    assert.match(format ?? '', /format 3/);
    delete rest['format.new'];
    delete rest['size.new'];
    assert.deepEqual(rest, { new: 'content', size: '7' });
  }
});

test('a version that no step leads on from is refused', async () => {
  const disk = await diskWith({});
  await prepareFolder(disk, '/data');
  await assert.rejects(
    prepareFolder(disk, '/data', { version: 3, migrations: madeUp.slice(1) }),
    /in format 1, which this version of Lazuli cannot bring up/,
  );
});
