// Every option of Azurite's works unchanged, and ours beside them: each is given to the built program, and what it
// promises is seen.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { signRequest } from '#src/http/auth/sign.js';
import { newestVersion } from '#src/http/versions.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import { freePorts, programPath, root, run, startProgram, temporaryFolder } from '../support/program.js';
import { rest } from '../support/rest.js';

const tls = join(root, 'test/fixtures/tls');

async function putContainer(url: string, name = 'photos', options = {}): Promise<number> {
  return (await rest('blob', url, `/${name}?restype=container`, { method: 'PUT', ...options })).status;
}

for (const flag of ['-l', '--location']) {
  test(`${flag}: the data lies there, and is there again`, async (t) => {
    const location = join(temporaryFolder(t), 'data');
    const first = await startProgram(t, [flag, location, '--silent']);
    assert.equal(await putContainer(first.urls['blob'] ?? ''), 201);
    assert.equal((await first.stop()).code, 0);
    assert.ok(existsSync(join(location, 'lazuli/format')));
    const second = await startProgram(t, [flag, location, '--silent']);
    assert.equal(await putContainer(second.urls['blob'] ?? ''), 409);
  });
}

test('without a location the data lies in ./lazuli-data', async (t) => {
  const cwd = temporaryFolder(t);
  await startProgram(t, ['-s'], { cwd });
  assert.ok(existsSync(join(cwd, 'lazuli-data/lazuli/format')));
});

test('-s: no line for a request; without it there is one', async (t) => {
  for (const silent of [true, false]) {
    const program = await startProgram(t, ['--inMemoryPersistence', ...(silent ? ['-s'] : [])]);
    await putContainer(program.urls['blob'] ?? '');
    const { stdout } = await program.stop();
    assert.equal(/PUT \/devstoreaccount1\/photos\?restype=container 201 /.test(stdout), !silent);
  }
});

for (const flag of ['-d', '--debug']) {
  test(`${flag}: a log of all that happens`, async (t) => {
    const file = join(temporaryFolder(t), 'logs/debug.log');
    const program = await startProgram(t, ['--inMemoryPersistence', '-s', flag, file]);
    await putContainer(program.urls['blob'] ?? '', 'photos', {
      headers: { 'x-ms-client-request-id': 'mine' },
    });
    await program.stop();
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const request = lines.find(({ msg }) => msg === 'request');
    assert.equal(request.operation, 'Create Container');
    assert.equal(request.clientRequestId, 'mine');
    assert.equal(request.status, 201);
    assert.ok(lines.some(({ msg }) => msg.includes('Lazuli is ready')));
  });
}

for (const flags of [
  ['-L'],
  ['--loose'],
  ['--skipApiVersionCheck'],
  ['--disableTelemetry'],
  ['--disableTelemetry=true'],
]) {
  test(`${flags}: taken, and everything works as without`, async (t) => {
    const program = await startProgram(t, ['--inMemoryPersistence', ...flags]);
    assert.equal(
      await putContainer(program.urls['blob'] ?? '', 'a-1', { headers: { 'x-ms-version': '2099-01-01' } }),
      201,
    );
  });
}

for (const flag of ['-v', '--version']) {
  test(`${flag}: the version alone`, async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    assert.deepEqual(await run([flag]), { code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
  });
}

for (const service of ['blob', 'queue', 'table'] as const) {
  test(`--${service}Host, --${service}Port and --${service}KeepAliveTimeout`, async (t) => {
    const program = await startProgram(t, [
      '--inMemoryPersistence',
      `--${service}Host`,
      '127.0.0.2',
      `--${service}KeepAliveTimeout`,
      '7',
    ]);
    const url = program.urls[service] ?? '';
    assert.match(url, /^http:\/\/127\.0\.0\.2:\d+$/);
    const answer = await rest(service, url, service === 'table' ? '/Tables' : '/?comp=list');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('keep-alive'), 'timeout=7');
  });

  test(`a port of ${service} that is taken is an error that says what to do`, async (t) => {
    const port = await takenPort(t);
    const ended = await run(['--inMemoryPersistence', `--${service}Port`, String(port), ...others(service)]);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, new RegExp(`^lazuli: 127\\.0\\.0\\.1:${port} is in use, .*--${service}Port`));
  });
}

function others(service: string): string[] {
  return ['blob', 'queue', 'table', 'file', 'smb', 'admin']
    .filter((name) => name !== service)
    .map((name) => `--${name}Port=0`);
}

async function takenPort(t: { after(done: () => void): void }, port = 0): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  t.after(() => server.close());
  return (server.address() as { port: number }).port;
}

test('the admin port, taken and not asked for, is left out with a line that says so', async (t) => {
  await takenPort(t, 10005).catch(() => {}); // if somebody else has it, just as well
  const program = await startProgram(t, ['--inMemoryPersistence'], { withAdmin: false });
  assert.match(program.output.stdout, /^Admin is not served: 127\.0\.0\.1:10005 is in use; --adminPort /m);
  assert.equal(program.urls['admin'], undefined);
  const port = await takenPort(t);
  const asked = await run(['--inMemoryPersistence', ...freePorts, '--adminPort', String(port)]);
  assert.match(asked.stderr, /^lazuli: .* is in use, so the admin service cannot listen there/);
});

for (const [what, args] of [
  ['a certificate and its key', ['--cert', join(tls, 'cert.pem'), '--key', join(tls, 'key.pem')]],
  ['a .pfx', ['--cert', join(tls, 'both.pfx'), '--pwd', 'secret']],
] as const) {
  test(`--cert with ${what}: HTTPS`, async (t) => {
    const program = await startProgram(t, ['--inMemoryPersistence', ...args]);
    assert.match(program.urls['blob'] ?? '', /^https:/);
    assert.equal(await statusOver(program.urls['blob'] ?? ''), 404);
  });
}

test('--devCert: HTTPS with a certificate that is made once and fits localhost', async (t) => {
  const location = temporaryFolder(t);
  const program = await startProgram(t, ['-l', location, '--devCert']);
  const ca = readFileSync(join(location, 'lazuli-certificate.pem'), 'utf8');
  const url = (program.urls['blob'] ?? '').replace('127.0.0.1', 'localhost');
  assert.equal(await statusOver(url, ca), 404);
  assert.equal(await statusOver(program.urls['blob'] ?? '', ca), 404);
  await program.stop();
  await startProgram(t, ['-l', location, '--devCert']);
  assert.equal(readFileSync(join(location, 'lazuli-certificate.pem'), 'utf8'), ca);
});

/** Of a request without a signature, trusting this certificate alone, or any. */
function statusOver(url: string, ca?: string): Promise<number> {
  return new Promise((done, failed) => {
    const request = https.get(
      `${url}/devstoreaccount1/?comp=list`,
      ca === undefined ? { rejectUnauthorized: false } : { ca },
      (answer) => {
        answer.resume();
        done(answer.statusCode ?? 0);
      },
    );
    request.on('error', failed);
  });
}

test('--oauth basic takes a token that nobody has signed', async (t) => {
  const program = await startProgram(t, ['--inMemoryPersistence', '--devCert', '--oauth', 'basic']);
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    aud: 'https://storage.azure.com',
    iss: 'https://sts.windows.net/ab1f708d-50f6-404c-a006-d71b2ac7a606/',
    oid: '00000000-0000-0000-0000-000000000001',
    nbf: now - 60,
    iat: now - 60,
    exp: now + 600,
  };
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}.c2ln`;
  const status = await new Promise<number>((done, failed) => {
    const headers = { Authorization: `Bearer ${token}`, 'x-ms-version': '2021-12-02' };
    const url = `${program.urls['blob']}/devstoreaccount1/?comp=list`;
    https
      .get(url, { headers, rejectUnauthorized: false }, (answer) => {
        answer.resume();
        done(answer.statusCode ?? 0);
      })
      .on('error', failed);
  });
  assert.equal(status, 200);
});

test('--disableProductStyleUrl: the account is in the path, whatever the host', async (t) => {
  for (const [flags, status] of [
    [[], 200],
    [['--disableProductStyleUrl'], 404],
  ] as const) {
    const program = await startProgram(t, ['--inMemoryPersistence', ...flags]);
    assert.equal(await listByHost(Number(new URL(program.urls['blob'] ?? '').port)), status);
  }
});

/** Lists containers at `devstoreaccount1.blob.localhost`. */
function listByHost(port: number): Promise<number> {
  const headers: Record<string, string> = {
    Host: `devstoreaccount1.blob.localhost:${port}`,
    'x-ms-date': new Date().toUTCString(),
    'x-ms-version': newestVersion,
  };
  const { name, keys } = developmentAccount;
  const rawHeaders = Object.entries(headers).flat();
  const signed = {
    service: 'blob',
    verb: 'GET',
    account: name,
    rawPath: '/',
    rawQuery: 'comp=list',
  } as const;
  headers['Authorization'] = signRequest(
    'SharedKey',
    { ...signed, rawHeaders, version: newestVersion },
    Buffer.from(keys[0], 'base64'),
  );
  return new Promise((done, failed) => {
    const sent = http.get({ host: '127.0.0.1', port, path: '/?comp=list', headers }, (answer) => {
      answer.resume();
      done(answer.statusCode ?? 0);
    });
    sent.on('error', failed);
  });
}

test('--inMemoryPersistence: nothing is written; --extentMemoryLimit bounds what is held', async (t) => {
  const cwd = temporaryFolder(t);
  const program = await startProgram(t, ['--inMemoryPersistence', '--extentMemoryLimit', '2', '-s'], { cwd });
  const url = program.urls['blob'] ?? '';
  await putContainer(url);
  const body = Buffer.alloc(1024 * 1024, 1);
  const headers = { 'x-ms-blob-type': 'BlockBlob' };
  const statuses = [];
  for (let count = 0; count < 4; count++) {
    statuses.push((await rest('blob', url, `/photos/${count}`, { method: 'PUT', headers, body })).status);
  }
  assert.equal(statuses[0], 201);
  assert.equal(statuses.at(-1), 503);
  assert.equal(existsSync(join(cwd, 'lazuli-data')), false);
});

const key = Buffer.from('a key of ours').toString('base64');

test('AZURITE_ACCOUNTS replaces the development account', async (t) => {
  const env = { AZURITE_ACCOUNTS: `first:${key};second:${key}:${key}` };
  const program = await startProgram(t, ['--inMemoryPersistence'], { env });
  const url = program.urls['blob'] ?? '';
  assert.equal(await putContainer(url, 'photos', { account: 'first', key }), 201);
  assert.equal(await putContainer(url, 'photos', { account: 'second', key }), 201);
  assert.notEqual(await putContainer(url), 201);
});

test('AZURITE_SKIP_API_VERSION_CHECK is taken, AZURITE_DB refused with the reason', async (t) => {
  await startProgram(t, ['--inMemoryPersistence'], { env: { AZURITE_SKIP_API_VERSION_CHECK: 'true' } });
  const ended = await run(['--inMemoryPersistence'], { env: { AZURITE_DB: 'mysql://somewhere' } });
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /^lazuli: AZURITE_DB is set, but .* --location\n$/);
});

for (const service of ['blob', 'queue', 'table']) {
  test(`lazuli ${service} and azurite-${service} start that service alone`, async (t) => {
    const link = join(temporaryFolder(t), `azurite-${service}`);
    symlinkSync(programPath, link);
    for (const program of [
      await startProgram(t, [service, '--inMemoryPersistence']),
      await startProgram(t, ['--inMemoryPersistence'], { path: link }),
    ]) {
      assert.deepEqual(Object.keys(program.urls), [service, 'admin']);
      await program.stop();
    }
  });
}

// biome-ignore format: a table
const refusals: readonly (readonly [args: readonly string[], message: RegExp])[] = [
  [['--blobprot', '1'],                              /there is no option --blobprot; did you mean --blobPort\?/],
  [['--blobPort'],                                   /--blobPort needs a value: --blobPort <port>/],
  [['--blobPort', '99999'],                          /--blobPort is a number from 0 to 65535, not 99999/],
  [['--inMemoryPersistence', '-l', 'x'],             /--location has no meaning: give one of them/],
  [['--extentMemoryLimit', '5'],                     /goes with --inMemoryPersistence/],
  [['--oauth', 'basic', '--inMemoryPersistence'],    /needs HTTPS/],
  [['--oauth', 'full'],                              /--oauth takes basic, not full/],
  [['--key', 'k'],                                   /--key and --pwd go with --cert/],
  [['--cert', 'c.pem'],                              /--cert needs --key/],
  [['--cert', 'no.pfx'],                             /no.pfx cannot be read/],
  [['--copySources', 'all'],                         /--copySources is public or any, not all/],
  [['--smbAclMode', 'on'],                           /--smbAclMode is superuser or enforce, not on/],
  [['strat'],                                        /there is no command strat; did you mean start\?/],
  [['--seed', 'no.json', '--inMemoryPersistence', '--blobPort=0', '--queuePort=0', '--tablePort=0'], /no.json cannot be read/],
];
for (const [args, message] of refusals) {
  test(`lazuli ${args.join(' ')} is refused in one sentence`, async (t) => {
    const ended = await run(args, { cwd: temporaryFolder(t) });
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, message);
    assert.match(ended.stderr, /^lazuli: [^\n]*\n$/);
  });
}

test('the published key beyond loopback: a warning if told on the command line, else refused', async (t) => {
  const told = await startProgram(t, ['--inMemoryPersistence', '--blobHost', '0.0.0.0']);
  assert.match(
    told.output.stdout,
    /Warning: others than this machine reach blob with the key of devstoreaccount1/,
  );
  const env = { LAZULI_BLOB_HOST: '0.0.0.0' };
  const ended = await run(['--inMemoryPersistence', '--blobPort=0', '--queuePort=0', '--tablePort=0'], {
    env,
  });
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /everybody knows: give accounts of your own/);
  await startProgram(t, ['--inMemoryPersistence'], { env: { ...env, AZURITE_ACCOUNTS: `mine:${key}` } });
});

test('lazuli.json in the location, in the folder, or by --config; the command line counts first', async (t) => {
  const cwd = temporaryFolder(t);
  const location = join(cwd, 'data');
  mkdirSync(location);
  const file = {
    blobHost: '127.0.0.3',
    queueHost: '127.0.0.3',
    accounts: [{ name: 'mine', keys: [key], settings: { versioning: true } }],
  };
  writeFileSync(join(location, 'lazuli.json'), JSON.stringify(file));
  const program = await startProgram(t, ['-l', location, '--queueHost', '127.0.0.4'], {
    env: { LAZULI_TABLE_HOST: '127.0.0.5' },
  });
  assert.match(program.urls['blob'] ?? '', /127\.0\.0\.3/);
  assert.match(program.urls['queue'] ?? '', /127\.0\.0\.4/);
  assert.match(program.urls['table'] ?? '', /127\.0\.0\.5/);
  assert.equal(await putContainer(program.urls['blob'] ?? '', 'photos', { account: 'mine', key }), 201);
  const listed = await run(['account', 'list', '--json', '-l', location]);
  assert.equal(JSON.parse(listed.stdout)[0].settings.versioning, true);
  writeFileSync(join(location, 'lazuli.json'), '{ "blobPrt": 1 }');
  assert.match((await run(['-l', location])).stderr, /there is no option blobPrt; did you mean blobPort\?/);
});

test('what cannot be opened or read is told in one line, without a stack', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'file.pem');
  writeFileSync(file, 'nothing that anybody can use');
  symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'));
  const refused: (readonly [args: string[], message: RegExp])[] = [
    [['-l', file], /ENOTDIR.*file\.pem/],
    [['-l', join(folder, 'dangling')], /dangling/],
    [['--inMemoryPersistence', '-d', folder], /EISDIR/],
    [['--inMemoryPersistence', '--cert', file, '--key', file], /--cert and --key.* are no certificate/],
    [['verify', '-l', file], /there is no data in|ENOTDIR/],
    [['backup', join(file, 'x'), '-l', folder], /there is no data in/],
  ];
  for (const [args, message] of refused) {
    const isCommand = !args[0]?.startsWith('-');
    const { code, stderr } = await run(isCommand ? args : [...freePorts, '--adminPort=0', ...args]);
    assert.equal(code, 1, stderr);
    assert.match(stderr, message);
    assert.match(stderr, /^lazuli: [^\n]*\n$/);
  }
});

test('a workspace of Azurite is left alone, and taking it over is offered', async (t) => {
  const location = temporaryFolder(t);
  writeFileSync(join(location, '__azurite_db_blob__.json'), '{}');
  const program = await startProgram(t, ['-l', location]);
  assert.match(program.output.stdout, new RegExp(`lazuli import-azurite --location ${location}`));
  assert.equal(readFileSync(join(location, '__azurite_db_blob__.json'), 'utf8'), '{}');
});

test('--fileHost, --filePort, --smbHost and --smbPort: shares over REST and SMB, loaded when they are needed', async (t) => {
  const program = await startProgram(t, [
    '--inMemoryPersistence',
    '--fileHost',
    '127.0.0.2',
    '--smbHost',
    '127.0.0.3',
  ]);
  const url = program.urls['file'] ?? '';
  assert.match(url, /^http:\/\/127\.0\.0\.2:\d+$/);
  assert.equal((await rest('file', url, '/docs?restype=share', { method: 'PUT' })).status, 201);
  const { hostname, port } = new URL((program.urls['smb'] ?? '').replace('smb:', 'http:'));
  assert.equal(hostname, '127.0.0.3');
  const answer = await new Promise<Buffer>((done, failed) => {
    const socket = connect(Number(port), hostname, () => socket.write(smbNegotiate));
    socket.once('data', (bytes) => {
      socket.destroy();
      done(bytes);
    });
    socket.on('error', failed);
  });
  assert.equal(answer.toString('latin1', 4, 8), '\xfeSMB');
});

/** A negotiate of SMB 2.1, as short as it can be. */
const smbNegotiate = (() => {
  const header = Buffer.alloc(64);
  header.write('\xfeSMB', 0, 'latin1');
  header.writeUInt16LE(64, 4);
  const body = Buffer.alloc(38);
  body.writeUInt16LE(36, 0);
  body.writeUInt16LE(1, 2);
  body.writeUInt16LE(1, 4);
  body.writeUInt16LE(0x0210, 36);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(header.length + body.length);
  return Buffer.concat([length, header, body]);
})();
