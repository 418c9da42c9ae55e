// What is installed: few packages, few megabytes, nothing to compile, and it runs from where npm puts it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root, run, startProgram, temporaryFolder } from '../support/program.js';

interface Lock {
  readonly packages: Readonly<
    Record<string, { dev?: boolean; optional?: boolean; hasInstallScript?: boolean }>
  >;
}

const mostPackages = 60;
const mostBytes = 40 * 1024 * 1024;

function needed(): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  return Object.entries(packages).flatMap(([path, { dev }]) => (path === '' || dev ? [] : [path]));
}

function sizeOf(path: string): number {
  const status = statSync(path);
  if (!status.isDirectory()) return status.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

/** Without what lies in folders of their own below. */
function ownSize(path: string): number {
  return readdirSync(path)
    .filter((name) => name !== 'node_modules')
    .reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

function packed(): { name: string; size: number }[] {
  const text = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ files }] = JSON.parse(text) as [{ files: { path: string; size: number }[] }];
  return files.map(({ path, size }) => ({ name: path, size }));
}

test(`under ${mostPackages} packages and ${mostBytes / 1024 / 1024} MB, all told`, (t) => {
  const packages = needed().filter((path) => existsSync(join(root, path)));
  const files = packed();
  const bytes =
    packages.reduce((sum, path) => sum + ownSize(join(root, path)), 0) +
    files.reduce((sum, { size }) => sum + size, 0);
  t.diagnostic(`${packages.length + 1} packages, ${(bytes / 1024 / 1024).toFixed(1)} MB`);
  assert.ok(packages.length + 1 < mostPackages);
  assert.ok(bytes < mostBytes);
});

test('the package holds the program, its types, its schema and its documents, and no tests', () => {
  const names = packed().map(({ name }) => name);
  for (const name of [
    'dist/server/main.js',
    'dist/server/start.d.ts',
    'lazuli.schema.json',
    'README.md',
    'LICENSE',
  ]) {
    assert.ok(names.includes(name), `${name} is packed`);
  }
  assert.deepEqual(
    names.filter((name) => /\.(test|suite)\.|fixtures|tsbuildinfo/.test(name)),
    [],
  );
});

test('what was packed, beside what it needs and nothing else, starts and serves', async (t) => {
  const folder = temporaryFolder(t);
  const home = join(folder, 'node_modules/lazuli');
  for (const { name } of packed()) cpSync(join(root, name), join(home, name));
  mkdirSync(join(folder, 'data'));
  for (const path of needed().filter((path) => existsSync(join(root, path)))) {
    cpSync(join(root, path), join(folder, path), { recursive: true, dereference: true });
  }
  const path = join(home, 'dist/server/main.js');
  assert.match((await run(['--help'], { path })).stdout, /^Lazuli /);
  const program = await startProgram(t, ['-s', '-l', join(folder, 'data'), '-d', join(folder, 'debug.log')], {
    path,
  });
  const metrics = await fetch(`${program.urls['admin']}/metrics`);
  assert.equal(metrics.status, 200);
  assert.equal((await program.stop()).code, 0);
});

test('every command that the package names is there', () => {
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  for (const name of ['lazuli', 'lazuli-blob', 'lazuli-queue', 'lazuli-table']) {
    assert.ok(existsSync(join(root, bin[name] ?? 'missing')), `${name} is a command`);
  }
});

test('the unit of systemd is valid', (t) => {
  try {
    execFileSync('systemd-analyze', ['--version'], { stdio: 'ignore' });
  } catch {
    return t.skip('there is no systemd-analyze');
  }
  const unit = join(root, 'packaging/lazuli.service');
  const output = execFileSync('systemd-analyze', ['verify', '--man=no', unit], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  assert.equal(output, '');
});

const inContainer = 'unshare';
test('as process 1 it stops on SIGTERM', async (t) => {
  const folder = temporaryFolder(t);
  const script = `"${process.execPath}" "${join(root, 'dist/server/main.js')}" -s -l "${folder}" --blobPort=0 --queuePort=0 --tablePort=0 --filePort=0 --smbPort=0 --adminPort=0`;
  try {
    execFileSync(inContainer, ['--fork', '--pid', '--mount-proc', 'true'], { stdio: 'ignore' });
  } catch {
    return t.skip('process namespaces cannot be made here');
  }
  const { spawn } = await import('node:child_process');
  // `exec` makes the program process 1 of its namespace; --kill-child passes nothing on but our SIGTERM below.
  const child = spawn(inContainer, ['--fork', '--pid', '--mount-proc', 'sh', '-c', `exec ${script}`]);
  const ended = new Promise<number | null>((done) => child.on('close', (code) => done(code)));
  t.after(() => child.kill('SIGKILL'));
  await new Promise<void>((done) =>
    child.stdout.on('data', (text) => String(text).includes('is ready') && done()),
  );
  const inside = execFileSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' }).trim();
  process.kill(Number(inside), 'SIGTERM');
  assert.equal(await ended, 0);
});
