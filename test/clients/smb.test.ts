// Real clients against the SMB server: smbclient and impacket. Runs with `npm run test:clients`; what is not installed is skipped and named.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { account, accountKey, givenSmb, schedule, secondKey, startSmb } from '../support/smb-server.js';

const smbclient = '/usr/bin/smbclient';
const python = '/usr/bin/python3';
const impacket = '/usr/lib/python3/dist-packages/impacket';

type Finished = { code: number; output: string };

function run(file: string, args: readonly string[], cwd?: string): Promise<Finished> {
  return new Promise((resolve) => {
    const options = { timeout: 240_000, maxBuffer: 64 * 1024 * 1024, ...(cwd ? { cwd } : {}) };
    execFile(file, args, options, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: `${stdout}${stderr}` });
    });
  });
}

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'lazuli-smb-'));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

function client(
  port: number,
  commands: string,
  more: readonly string[] = [],
  cwd?: string,
): Promise<Finished> {
  const login = ['-U', `localhost\\${account}%${accountKey}`];
  const anyDialect = '--option=client min protocol=SMB2_02';
  const where = ['//127.0.0.1/files', '-p', String(port)];
  return run(smbclient, [...where, ...login, anyDialect, ...more, '-c', commands], cwd);
}

const noClient = !existsSync(smbclient) && 'smbclient is not installed';
const noImpacket = !existsSync(impacket) && 'impacket is not installed';

for (const dialect of ['SMB2_02', 'SMB2_10', 'SMB3_00', 'SMB3_02', 'SMB3_11']) {
  test(`smbclient connects with ${dialect}`, { skip: noClient }, async (t) => {
    const { port } = await givenSmb(t);
    assert.deepEqual(await client(port, '', ['-m', dialect]), { code: 0, output: '' });
  });
}

test('either key of the account is its password; anything else is refused', { skip: noClient }, async (t) => {
  const { port } = await givenSmb(t);
  const login = (password: string, user = account) =>
    run(smbclient, ['//127.0.0.1/files', '-p', String(port), '-U', `${user}%${password}`, '-c', '']);
  assert.equal((await login(secondKey)).code, 0);
  assert.match((await login('wrong')).output, /NT_STATUS_LOGON_FAILURE/);
  assert.match((await login(accountKey, 'nobody')).output, /NT_STATUS_LOGON_FAILURE/);
});

test('smbclient writes, lists, reads, renames and deletes', { skip: noClient }, async (t) => {
  const { port } = await givenSmb(t);
  const cwd = await folder(t);
  const bytes = randomBytes(20_000_003);
  await writeFile(join(cwd, 'a'), bytes);
  const work =
    'mkdir d; cd d; put a b; ls; get b c; allinfo b; rename b e; setmode e +r; setmode e -r; ' +
    'utimes e -1 -1 -1 -1; volume; du; scopy e f; get f g; del e; del f; cd ..; rmdir d; ls';
  const { code, output } = await client(port, work, [], cwd);
  assert.equal(code, 0, output);
  assert.match(output, /b +A 20000003 /);
  assert.match(output, /Volume: \|files\|/);
  assert.deepEqual(await readFile(join(cwd, 'c')), bytes);
  assert.deepEqual(await readFile(join(cwd, 'g')), bytes);
  assert.doesNotMatch(output, /NT_STATUS_(?!OBJECT_NAME_NOT_FOUND getting alt name)/);
});

test('smbclient lists the shares of the account', { skip: noClient }, async (t) => {
  const { port } = await givenSmb(t);
  const login = ['-U', `localhost\\${account}%${accountKey}`];
  const { code, output } = await run(smbclient, ['-L', '//127.0.0.1', '-p', String(port), ...login]);
  assert.equal(code, 0, output);
  assert.match(output, /files +Disk[\s\S]*other +Disk[\s\S]*IPC\$ +IPC/);
});

const ciphers = ['AES-128-GCM', 'AES-256-GCM', 'AES-128-CCM', 'AES-256-CCM'];
for (const cipher of ciphers) {
  test(`smbclient encrypts with ${cipher}, where encryption is required`, { skip: noClient }, async (t) => {
    const { port } = await givenSmb(t, { encryptionRequired: true });
    const cwd = await folder(t);
    const bytes = randomBytes(3_000_001);
    await writeFile(join(cwd, 'a'), bytes);
    const options = [
      '-m',
      'SMB3_11',
      '--client-protection=encrypt',
      `--option=client smb3 encryption algorithms=${cipher}`,
    ];
    const { code, output } = await client(port, 'put a b; get b c; del b', options, cwd);
    assert.equal(code, 0, output);
    assert.deepEqual(await readFile(join(cwd, 'c')), bytes);
  });
}

test('encryption required: a client that cannot encrypt is refused', { skip: noClient }, async (t) => {
  const { port } = await givenSmb(t, { encryptionRequired: true });
  assert.match((await client(port, 'ls', ['-m', 'SMB2_10'])).output, /NT_STATUS_ACCESS_DENIED/);
});

test('smbclient signs with AES-CMAC in 3.1.1', { skip: noClient }, async (t) => {
  const { port } = await givenSmb(t);
  const options = ['-m', 'SMB3_11', '--option=client smb3 signing algorithms=AES-128-CMAC'];
  const { code, output } = await client(port, 'ls', options);
  assert.equal(code, 0, output);
});

test('ten failed logons from one address delay the answers', { skip: noClient }, async (t) => {
  let penalties = 0;
  const counting = (ms: number, run: () => void) => {
    if (ms === 1000) penalties++;
    return schedule(ms, run);
  };
  const { port, close } = await startSmb({ schedule: counting });
  t.after(close);
  const fail = () =>
    run(smbclient, ['//127.0.0.1/files', '-p', String(port), '-U', 'nobody%wrong', '-c', '']);
  for (let attempt = 1; attempt < 10; attempt++) await fail();
  assert.equal(penalties, 0);
  const begun = performance.now();
  await fail();
  assert.equal(penalties, 1);
  assert(performance.now() - begun >= 1000);
});

const impacketScript = `
import sys
from impacket.smbconnection import SMBConnection
from io import BytesIO
port, account, key = int(sys.argv[1]), sys.argv[2], sys.argv[3]
for dialect in (0x0202, 0x0210, 0x0300):
    c = SMBConnection('127.0.0.1', '127.0.0.1', sess_port=port, preferredDialect=dialect)
    c.login(account, key)
    assert c.getDialect() == dialect
    assert 'files' in [s['shi1_netname'][:-1] for s in c.listShares()]
    c.createDirectory('files', 'imp')
    c.putFile('files', 'imp\\\\a.txt', BytesIO(b'hello' * 10000).read)
    assert [f.get_longname() for f in c.listPath('files', 'imp\\\\*')] == ['.', '..', 'a.txt']
    out = BytesIO(); c.getFile('files', 'imp\\\\a.txt', out.write)
    assert out.getvalue() == b'hello' * 10000
    c.rename('files', 'imp\\\\a.txt', 'imp\\\\b.txt')
    c.deleteFile('files', 'imp\\\\b.txt')
    c.deleteDirectory('files', 'imp')
    c.logoff()
print('done')
`;

test('impacket opens, writes, reads, lists, renames and deletes', { skip: noImpacket }, async (t) => {
  const { port } = await givenSmb(t);
  const { code, output } = await run(python, ['-c', impacketScript, String(port), account, accountKey]);
  assert.equal(code, 0, output);
  assert.match(output, /^done$/m);
});

test('clients that are killed leave nothing behind', { skip: noClient }, async (t) => {
  const { server, opens, port } = await givenSmb(t);
  const cwd = await folder(t);
  await writeFile(join(cwd, 'a'), randomBytes(8_000_000));
  const login = ['-U', `localhost\\${account}%${accountKey}`];
  const where = ['//127.0.0.1/files', '-p', String(port)];
  for (let round = 0; round < 3; round++) {
    const clients = Array.from({ length: 6 }, (_, index) => {
      const work = `put a ${round}-${index}; `.repeat(20);
      return spawn(smbclient, [...where, ...login, '-c', work], { cwd, stdio: 'ignore' });
    });
    while (opens.counters.handles < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const client of clients) client.kill('SIGKILL');
    while (server.counters.connections > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const { code, output } = await client(port, 'ls');
  assert.equal(code, 0, output);
});
