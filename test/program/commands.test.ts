// The commands, on a server that runs and on a folder that nobody has open.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run, startProgram, temporaryFolder } from '../support/program.js';
import { rest } from '../support/rest.js';

const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await run([...args, '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
};

const blockBlob = { 'x-ms-blob-type': 'BlockBlob' };
const bytesOf = (count: number) => Buffer.from(Array.from({ length: count }, (_, at) => (at * 31) % 251));

async function fill(url: string, account = {}): Promise<void> {
  await rest('blob', url, '/photos?restype=container', { method: 'PUT', ...account });
  for (const [name, body] of [
    ['small', 'a few bytes'],
    ['large', bytesOf(200_000)],
  ] as const) {
    const { status } = await rest('blob', url, `/photos/${name}`, {
      method: 'PUT',
      headers: blockBlob,
      body,
      ...account,
    });
    assert.equal(status, 201);
  }
}

const content = async (url: string, name: string, account = {}) =>
  Buffer.from(await (await rest('blob', url, `/photos/${name}`, account)).arrayBuffer());

test('accounts come and go while a server runs; keys are told once', async (t) => {
  const location = temporaryFolder(t);
  const program = await startProgram(t, ['-s', '-l', location]);
  const url = program.urls['blob'] ?? '';
  const made = await json('account', 'create', 'mine', 'versioning=true', '-l', location);
  assert.equal(made.keys.length, 2);
  const as = (key: string) => ({ account: 'mine', key });
  await fill(url, as(made.keys[0]));
  assert.equal((await rest('blob', url, '/photos/small', as(made.keys[1]))).status, 200);

  const listed = await json('account', 'list', '-l', location);
  assert.deepEqual(
    listed.map(({ name }: { name: string }) => name),
    ['devstoreaccount1', 'mine'],
  );
  assert.equal(JSON.stringify(listed).includes(made.keys[0]), false);
  assert.equal(listed[1].settings.versioning, true);

  // Typed wrong, it changes nothing; a name that cannot be is a name that nobody has.
  const typed = await run(['account', 'rotate', 'mine', 'key2', '-l', location]);
  assert.equal(typed.stderr, 'lazuli: an account has keys 1 and 2, not key2\n');
  const nobody = await run(['account', 'rotate', 'No Body', '-l', location]);
  assert.match(nobody.stderr, /^lazuli: there is no account No/);
  assert.equal((await rest('blob', url, '/photos/small', as(made.keys[0]))).status, 200);

  const { key } = await json('account', 'rotate', 'mine', '1', '-l', location);
  assert.equal((await rest('blob', url, '/photos/small', as(made.keys[0]))).status, 403);
  assert.equal((await rest('blob', url, '/photos/small', as(key))).status, 200);

  const set = await json(
    'account',
    'set',
    'mine',
    'containerRetentionDays=7',
    'secondary=false',
    '-l',
    location,
  );
  assert.equal(set.settings.containerRetentionDays, 7);
  const [used] = await json('account', 'usage', 'mine', '-l', location);
  assert.equal(used.name, 'photos');
  assert.deepEqual(used.snapshots, { count: 0, bytes: 0 });
  const wrong = await run(['account', 'set', 'mine', 'versoning=true', '-l', location]);
  assert.match(wrong.stderr, /^lazuli: there is no setting versoning; there are /);

  const told = await json('connection-string', 'mine', '-l', location);
  assert.match(told.connectionString, new RegExp(`AccountName=mine;AccountKey=.*BlobEndpoint=${url}/mine;`));

  await json('account', 'delete', 'mine', '--yes', '-l', location);
  assert.equal((await rest('blob', url, '/photos/small', as(key))).status, 404);
  assert.match(
    (await run(['account', 'delete', 'mine', '--yes', '-l', location])).stderr,
    /there is no account mine/,
  );
  assert.match(
    (await run(['account', 'delete', 'devstoreaccount1', '-l', location])).stderr,
    /Nobody is here to ask: give --yes/,
  );
});

test('a listing of nothing says so; for a program it is an empty list', async (t) => {
  const location = temporaryFolder(t);
  await startProgram(t, ['-s', '-l', location]);
  const listings: (readonly [words: string, told: string])[] = [
    ['account usage', 'devstoreaccount1 has no containers.'],
    ['dead-letter list', 'No queue has one.'],
    ['index list', 'No table has one.'],
    ['account list', 'There are no accounts.'],
  ];
  for (const [words, told] of listings) {
    if (words === 'account list') await run(['account', 'delete', 'devstoreaccount1', '-y', '-l', location]);
    assert.equal((await run([...words.split(' '), '-l', location])).stdout, `${told}\n`);
    assert.deepEqual(await json(...words.split(' '), '-l', location), []);
  }
});

test('a backup of a server that serves, an incremental one on it, and a restore of both', async (t) => {
  const folder = temporaryFolder(t);
  const location = join(folder, 'data');
  const program = await startProgram(t, ['-s', '-l', location]);
  const url = program.urls['blob'] ?? '';
  await fill(url);
  const full = await json('backup', join(folder, 'backups/1'), '-l', location);
  assert.equal(full.kind, 'full');
  assert.ok(full.segmentBytes > 200_000);
  const body = bytesOf(100_000);
  await rest('blob', url, '/photos/later', { method: 'PUT', headers: blockBlob, body });
  await rest('blob', url, '/photos/small', { method: 'DELETE' });
  const step = await json('backup', join(folder, 'backups/2'), '--incremental', '-l', location);
  assert.equal(step.parent, full.id);
  await rest('blob', url, '/photos/large', { method: 'DELETE' });
  assert.match((await run(['backup', join(folder, 'backups/1'), '-l', location])).stderr, /is not empty/);
  assert.match((await run(['restore', join(folder, 'backups'), '-l', location])).stderr, /not empty|in use/);

  await json('restore', join(folder, 'backups'), '-l', join(folder, 'restored'));
  const restored = await startProgram(t, ['-s', '-l', join(folder, 'restored')]);
  const at = restored.urls['blob'] ?? '';
  assert.deepEqual(await content(at, 'large'), bytesOf(200_000));
  assert.deepEqual(await content(at, 'later'), body);
  assert.equal((await rest('blob', at, '/photos/small')).status, 404);
});

test('an incremental backup stands on one that was taken before the server was killed', async (t) => {
  const folder = temporaryFolder(t);
  const location = join(folder, 'data');
  const first = await startProgram(t, ['-s', '-l', location]);
  await fill(first.urls['blob'] ?? '');
  const full = await json('backup', join(folder, 'backups/1'), '-l', location);
  const put = (url: string, name: string, size: number) =>
    rest('blob', url, `/photos/${name}`, { method: 'PUT', headers: blockBlob, body: bytesOf(size) });
  await put(first.urls['blob'] ?? '', 'before', 150_000);
  await rest('blob', first.urls['blob'] ?? '', '/photos/small', { method: 'DELETE' });
  await first.stop('SIGKILL');

  const second = await startProgram(t, ['-s', '-l', location]);
  await put(second.urls['blob'] ?? '', 'after', 120_000);
  const step = await json('backup', join(folder, 'backups/2'), '--incremental', '-l', location);
  assert.equal(step.parent, full.id);

  await json('restore', join(folder, 'backups'), '-l', join(folder, 'restored'));
  const restored = await startProgram(t, ['-s', '-l', join(folder, 'restored')]);
  const at = restored.urls['blob'] ?? '';
  assert.deepEqual(await content(at, 'large'), bytesOf(200_000));
  assert.deepEqual(await content(at, 'before'), bytesOf(150_000));
  assert.deepEqual(await content(at, 'after'), bytesOf(120_000));
  assert.equal((await rest('blob', at, '/photos/small')).status, 404);
});

test('a backup in the data folder itself is refused, by whatever path, and makes nothing', async (t) => {
  const folder = temporaryFolder(t);
  const location = join(folder, 'data');
  const program = await startProgram(t, ['-s', '-l', location]);
  symlinkSync(location, join(folder, 'link'));
  const inside = ['data', 'data/lazuli', 'data/lazuli/extents/x', 'data/new/deep', 'link/new', 'x/../data/y'];
  for (const runs of [true, false]) {
    if (!runs) await program.stop();
    for (const name of inside) {
      const { code, stderr } = await run(['backup', `${folder}/${name}`, '-l', location]);
      assert.equal(code, 1, name);
      assert.match(
        stderr,
        /^lazuli: \S+ lies in the data folder \S+, and would be lost with it: back up to a folder/,
      );
    }
    assert.deepEqual(readdirSync(location), ['lazuli']);
    assert.equal((await run(['backup', join(folder, `data-${runs}`), '-l', location])).code, 0);
  }
});

test('a damaged backup is not restored', async (t) => {
  const folder = temporaryFolder(t);
  const location = join(folder, 'data');
  const program = await startProgram(t, ['-s', '-l', location]);
  await fill(program.urls['blob'] ?? '');
  await program.stop();
  await json('backup', join(folder, 'backup'), '-l', location);
  flip(firstIn(join(folder, 'backup/extents')), 1000);
  const ended = await run(['restore', join(folder, 'backup'), '-l', join(folder, 'restored')]);
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /does not match its checksum/);
  assert.equal(existsSync(join(folder, 'restored/lazuli/format')), false);
});

function firstIn(folder: string): string {
  return join(folder, readdirSync(folder)[0] ?? '');
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

test('verify reads everything, and names the blob whose bytes are damaged', async (t) => {
  const location = temporaryFolder(t);
  const program = await startProgram(t, ['-s', '-l', location]);
  await fill(program.urls['blob'] ?? '');
  const online = await json('verify', '-l', location);
  assert.deepEqual(online.damage, []);
  assert.ok(online.bytes >= 200_000);
  await program.stop();
  assert.deepEqual((await json('verify', '-l', location)).damage, []);
  flip(firstIn(join(location, 'lazuli/extents')), 50_000);
  const ended = await run(['verify', '-l', location]);
  assert.equal(ended.code, 1);
  assert.match(ended.stdout, /it belongs to blob devstoreaccount1\/photos\/large/);
});

for (const runs of [true, false]) {
  const where = runs ? 'on a server that runs' : 'on a folder that nobody has open';

  test(`reset deletes the data of one account or of all and leaves accounts and keys, ${where}`, async (t) => {
    const location = temporaryFolder(t);
    let program = await startProgram(t, ['-s', '-l', location]);
    const { keys } = await json('account', 'create', 'mine', 'versioning=true', '-l', location);
    const mine = { account: 'mine', key: keys[0] };
    const accounts = await json('account', 'list', '-l', location);
    /** The command, and the address of the server after it. */
    const reset = async (...words: string[]) => {
      if (!runs) await program.stop();
      await json('reset', ...words, '--yes', '-l', location);
      if (!runs) program = await startProgram(t, ['-s', '-l', location]);
      return program.urls['blob'] ?? '';
    };
    const status = async (url: string, account = {}) =>
      (await rest('blob', url, '/photos/small', account)).status;

    await fill(program.urls['blob'] ?? '');
    await fill(program.urls['blob'] ?? '', mine);
    let url = await reset('mine');
    assert.deepEqual([await status(url), await status(url, mine)], [200, 404]);
    await fill(url, mine);
    url = await reset();
    assert.deepEqual([await status(url), await status(url, mine)], [404, 404]);
    assert.deepEqual(await json('account', 'list', '-l', location), accounts);
    await fill(url, mine);
    url = await reset('--everything');
    assert.deepEqual([await status(url), await status(url, mine)], [404, 404]);
    const [only, ...others] = await json('account', 'list', '-l', location);
    assert.deepEqual([only.name, others], ['devstoreaccount1', []]);
  });
}

test('reset --everything removes the files, also of a damaged store; without, it says so', async (t) => {
  const location = temporaryFolder(t);
  const program = await startProgram(t, ['-s', '-l', location]);
  await fill(program.urls['blob'] ?? '');
  await program.stop();
  writeFileSync(join(location, 'lazuli/format'), 'no format');
  const plain = await run(['reset', '--yes', '-l', location]);
  assert.equal(plain.code, 1);
  assert.match(plain.stderr, /lazuli reset --everything deletes the files/);
  await json('reset', '--everything', '--yes', '-l', location);
  assert.deepEqual(
    readdirSync(join(location, 'lazuli')),
    ['lock'],
    'which a server that starts now may hold',
  );
  assert.match((await run(['reset', '--yes', '-l', location])).stderr, /there is no data in/);
  const one = await run(['reset', 'mine', '--everything', '--yes', '-l', location]);
  assert.match(one.stderr, /lazuli account delete mine/);
});

test('where there is no data, commands say so and make nothing', async (t) => {
  const folder = temporaryFolder(t);
  // A folder of that name which is not ours, as one has who keeps the sources beside the projects.
  mkdirSync(join(folder, 'other/lazuli'), { recursive: true });
  writeFileSync(join(folder, 'other/lazuli/package.json'), '{}');
  const before = readdirSync(folder, { recursive: true });
  const commands = [
    ['connection-string'],
    ['account', 'list'],
    ['account', 'usage', 'devstoreaccount1'],
    ['account', 'rotate', 'devstoreaccount1'],
    ['dead-letter', 'list'],
    ['index', 'list'],
    ['verify'],
    ['backup', join(folder, 'backup')],
    ['reset', '--yes'],
    ['reset', '--everything', '--yes'],
  ];
  for (const location of [join(folder, 'mistyped'), join(folder, 'other')]) {
    for (const command of commands) {
      const { code, stderr } = await run([...command, '-l', location]);
      assert.equal(code, 1, command.join(' '));
      assert.ok(stderr.startsWith(`lazuli: there is no data in ${location}: give the --location`), stderr);
    }
  }
  assert.deepEqual(readdirSync(folder, { recursive: true }), before);
});

test('a second start on the same folder is refused with the process that has it', async (t) => {
  const location = temporaryFolder(t);
  const program = await startProgram(t, ['-s', '-l', location]);
  const ended = await run(['-l', location]);
  assert.equal(ended.code, 1);
  assert.match(
    ended.stderr,
    new RegExp(`^lazuli: .* is in use by process ${program.process.pid}, which started at `),
  );
});
