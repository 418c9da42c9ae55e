// SMB of the built program on a folder: what it keeps when it is killed, and rclone on it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { developmentAccount } from '#src/services/common/accounts.js';
import { type Program, startProgram, temporaryFolder } from '../support/program.js';
import { missing, python, run, succeeds } from '../support/programs.js';
import { rest } from '../support/rest.js';

const impacket = '/usr/lib/python3/dist-packages/impacket';
const rclone = '/usr/bin/rclone';
const smbclient = '/usr/bin/smbclient';
const { name: account } = developmentAccount;
const [key] = developmentAccount.keys;

async function startWithShare(t: TestContext, location: string): Promise<Program> {
  const program = await startProgram(t, ['-s', '-l', location]);
  const made = await rest('file', program.urls['file'] ?? '', '/files?restype=share', { method: 'PUT' });
  assert.ok(made.status === 201 || made.status === 409, await made.text());
  return program;
}

const portOf = ({ urls }: Program) => new URL(urls['smb'] ?? '').port;

// Writes files of four blocks, closes some, flushes others, says so; and fills one block again and again.
const writer = `
import sys
from impacket.smbconnection import SMBConnection
port, account, key, writer = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
c = SMBConnection('127.0.0.1', '127.0.0.1', sess_port=port, preferredDialect=0x0210) # signs faster
c.login(account, key)
tree = c.connectTree('files')
smb = c.getSMBServer()
again = c.createFile(tree, 'again-' + writer)
count = 0
while True:
    name = '%s-%d' % (writer, count)
    f = c.createFile(tree, name)
    for block in range(4):
        smb.write(tree, f, (name + ' ').encode().ljust(16) * 4096, block * 65536, 65536)
    if count % 2: smb.flush(tree, f)
    else: c.closeFile(tree, f)
    print('file', name, flush=True)
    if count % 2:
        c.closeFile(tree, f)
        c.rename('files', name, name + '-renamed')
        print('renamed', name, flush=True)
    smb.write(tree, again, bytes([count % 256]) * 65536, 0, 65536)
    smb.flush(tree, again)
    print('again', count, flush=True)
    count += 1
`;

interface Told {
  readonly files: Set<string>;
  readonly renamed: Set<string>;
  again: number;
}

/** What a client was told before the server was gone. */
function write(port: string, id: string): { readonly told: Told; readonly ended: Promise<unknown> } {
  const told: Told = { files: new Set(), renamed: new Set(), again: -1 };
  const child = spawn(python, ['-c', writer, port, account, key, id], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [what, name = ''] = line.split(' ');
    if (what === 'file') told.files.add(name);
    if (what === 'renamed') told.renamed.add(name);
    if (what === 'again') told.again = Number(name);
  });
  return { told, ended: new Promise((resolve) => child.on('close', resolve)) };
}

const wanted = process.env['LAZULI_FULL'] === '1' ? 300 : 30;

test('killed while SMB clients write: what was closed, flushed or renamed is there, and no write is half there', {
  skip: missing(python, impacket),
}, async (t) => {
  const location = temporaryFolder(t);
  const written = new Map<string, Told>();
  for (let round = 0; round < 3; round++) {
    const program = await startWithShare(t, location);
    const clients = ['a', 'b', 'c'].map((id) => ({
      id: `${id}${round}`,
      ...write(portOf(program), `${id}${round}`),
    }));
    while (clients.some(({ told }) => told.files.size < wanted))
      await new Promise((turn) => setTimeout(turn, 5));
    await program.stop('SIGKILL');
    await Promise.all(clients.map(({ ended }) => ended));
    for (const { id, told } of clients) written.set(id, told);
  }
  const program = await startWithShare(t, location);
  const read = async (name: string) => {
    const answer = await rest('file', program.urls['file'] ?? '', `/files/${name}`);
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const wrong: string[] = [];
  let checked = 0;
  for (const [id, { files, renamed, again }] of written) {
    for (const name of files) {
      const plain = await read(name);
      const found = plain.status === 200 && !renamed.has(name) ? plain : await read(`${name}-renamed`);
      if (!found.bytes.equals(Buffer.from(`${name} `.padEnd(16).repeat(4 * 4096)))) wrong.push(name);
      if (renamed.has(name) && plain.status !== 404) wrong.push(`${name} under both names`);
      checked++;
    }
    const { bytes } = await read(`again-${id}`);
    // The last that was flushed, or the next one, which was on its way.
    if (![again, again + 1].some((count) => bytes.equals(Buffer.alloc(65536, count % 256))))
      wrong.push(`again-${id}`);
  }
  assert.deepEqual(wrong, []);
  t.diagnostic(`${checked} files`);
  const port = portOf(program);
  const { told, ended } = write(port, 'after');
  while (told.again < 1) await new Promise((turn) => setTimeout(turn, 5));
  await program.stop('SIGTERM');
  await ended;
});

test('rclone copies a tree over SMB, lists, checks, syncs and removes it', {
  skip: missing(rclone),
}, async (t) => {
  const folder = temporaryFolder(t);
  const program = await startWithShare(t, join(folder, 'data'));
  const env = {
    RCLONE_CONFIG: join(folder, 'rclone.conf'),
    RCLONE_CONFIG_LZ_TYPE: 'smb',
    RCLONE_CONFIG_LZ_HOST: '127.0.0.1',
    RCLONE_CONFIG_LZ_PORT: portOf(program),
    RCLONE_CONFIG_LZ_USER: account,
    RCLONE_CONFIG_LZ_PASS: (await succeeds(rclone, ['obscure', key])).trim(),
  };
  writeFileSync(env.RCLONE_CONFIG, '');
  const run = (...args: string[]) => succeeds(rclone, args, { env });
  const up = join(folder, 'up');
  mkdirSync(join(up, 'deep', 'er'), { recursive: true });
  writeFileSync(join(up, 'small.txt'), 'hello');
  writeFileSync(join(up, 'empty'), '');
  writeFileSync(join(up, 'deep', 'er', 'söme name.bin'), Buffer.alloc(20_000_000, 'xyz'));
  await run('copy', up, 'lz:files/tree');
  await run('check', '--download', up, 'lz:files/tree');
  const files = async () =>
    (await run('lsf', '-R', '--files-only', 'lz:files/tree')).trim().split('\n').sort();
  assert.deepEqual(await files(), ['deep/er/söme name.bin', 'empty', 'small.txt']);
  writeFileSync(join(up, 'small.txt'), 'changed');
  rmSync(join(up, 'deep'), { recursive: true });
  await run('sync', up, 'lz:files/tree');
  assert.deepEqual(await files(), ['empty', 'small.txt']);
  await run('moveto', 'lz:files/tree/small.txt', 'lz:files/tree/moved.txt');
  await run('copy', 'lz:files/tree', join(folder, 'down'));
  assert.equal(readFileSync(join(folder, 'down', 'moved.txt'), 'utf8'), 'changed');
  const over = await rest('file', program.urls['file'] ?? '', '/files/tree/moved.txt');
  assert.equal(await over.text(), 'changed', 'REST sees the same');
  await run('purge', 'lz:files/tree');
  assert.equal((await run('lsf', 'lz:files')).trim(), '');
});

// biome-ignore format: a table
const aclModes: readonly (readonly [from: string, args: readonly string[], env: Record<string, string>, file: object, refused: boolean])[] = [
  ['nowhere',          [],                            {},                                   {},                        false],
  ['the command line', ['--smbAclMode', 'enforce'],   {},                                   {},                        true],
  ['the environment',  [],                            { LAZULI_SMB_ACL_MODE: 'enforce' },   {},                        true],
  ['lazuli.json',      [],                            {},                                   { smbAclMode: 'enforce' }, true],
  ['all of them',      ['--smbAclMode', 'superuser'], { LAZULI_SMB_ACL_MODE: 'enforce' },   { smbAclMode: 'enforce' }, false],
];
for (const [from, args, env, file, refused] of aclModes) {
  const skip = missing(smbclient);
  const does = refused ? 'refused over SMB' : 'allowed';
  test(`the ACL mode from ${from}: overwriting what can only be read is ${does}`, { skip }, async (t) => {
    const location = temporaryFolder(t);
    writeFileSync(join(location, 'lazuli.json'), JSON.stringify(file));
    const program = await startProgram(t, ['-s', '-l', location, ...args], { env });
    const url = program.urls['file'] ?? '';
    const put = (path: string, headers: Record<string, string> = {}) =>
      rest('file', url, path, { method: 'PUT', headers });
    assert.equal((await put('/files?restype=share')).status, 201);
    const permission = { 'x-ms-file-permission': 'O:BAG:BAD:(A;;FR;;;AU)' };
    const made = await put('/files/f', { 'x-ms-type': 'file', 'x-ms-content-length': '1', ...permission });
    assert.equal(made.status, 201, await made.text());
    writeFileSync(join(location, 'local'), 'new');
    const where = ['//127.0.0.1/files', '-p', portOf(program), '-U', `localhost\\${account}%${key}`];
    const { output, errors } = await run(smbclient, [...where, '-c', 'put local f'], { cwd: location });
    assert.equal(/ACCESS_DENIED/.test(output + errors), refused, output + errors);
    const { length } = await (await rest('file', url, '/files/f', {})).text();
    assert.equal(length, refused ? 1 : 3);
  });
}
