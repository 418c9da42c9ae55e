// Whom the services are measured against: ourselves on a folder, Azurite as it comes, and a bare node:http
// server. Each is a process of its own, started on loopback and stopped by its process id.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

export const root = resolve(import.meta.dirname, '../..');
const azuriteVersion = '3.37.0';

export interface Target extends AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  /** All it stores. */
  readonly folder: string;
  /** From its start until it was ready. */
  readonly startMs: number;
  readonly ports: Readonly<Record<'blob' | 'queue' | 'table', number>>;
}

/** Ourselves: nobody else has files. */
export interface FileTarget extends Target {
  readonly ports: Target['ports'] & Readonly<Record<'file' | 'smb', number>>;
}

export async function startLazuli(): Promise<FileTarget> {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-bench-'));
  const services = ['blob', 'queue', 'table', 'file', 'smb', 'admin'];
  const args = [join(root, 'dist/server/main.js'), '--location', folder, '--silent', ...freePorts(services)];
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: quiet() });
  const port = await ready(child, 'Lazuli is ready');
  const ports = { ...webPorts(port), file: port('file'), smb: port('smb') };
  return { ...target('Lazuli', child, ports, folder, began), ports };
}

/** From the npm registry, into a folder of the benchmark's own. */
export async function startAzurite(): Promise<Target> {
  const home = join(root, 'bench/.azurite');
  if (!existsSync(join(home, 'node_modules/azurite'))) {
    await promisify(execFile)('npm', ['install', '--prefix', home, '--no-save', `azurite@${azuriteVersion}`]);
  }
  const folder = await mkdtemp(join(tmpdir(), 'azurite-bench-'));
  const main = join(home, 'node_modules/azurite/dist/src/azurite.js');
  const args = [main, '--location', folder, '--silent', '--skipApiVersionCheck'];
  args.push(...freePorts(['blob', 'queue', 'table']));
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: quiet() });
  const port = await ready(child, 'Table service is successfully listening');
  return target(`Azurite ${azuriteVersion}`, child, webPorts(port), folder, began);
}

/** A node:http server that does nothing but answer (bare.ts). */
export async function startBare(): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'bare-bench-'));
  const args = [join(import.meta.dirname, 'bare.js'), folder];
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: quiet() });
  const bare = (await ready(child, 'listens at'))('bare');
  return target('bare node:http', child, { blob: bare, queue: bare, table: bare }, folder, began);
}

/** Processor time that a process has used, all its threads together; nothing where there is no /proc. */
export function processorMs(pid: number): number | undefined {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10; // a hundred ticks a second, for all who ask
}

/** What a process has in memory, in megabytes: all of it, and without mapped files. */
export function memoryOf(pid: number): { residentMb: number; anonymousMb: number } | undefined {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const mb = (name: string) =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / 1024);
  return { residentMb: mb('VmRSS'), anonymousMb: mb('RssAnon') };
}

export interface SmbTarget extends AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  readonly login: string;
}

export const smbd = '/usr/sbin/smbd';

/** Samba's server as it comes, but for signing; it has to be started by root. Its share is `bench`, set up as told. */
export async function startSmbd(shareSettings: readonly string[] = []): Promise<SmbTarget> {
  const folder = await mkdtemp(join(tmpdir(), 'smbd-bench-'));
  const port = await freePort();
  const places = [
    'private dir',
    'lock directory',
    'state directory',
    'cache directory',
    'pid directory',
    'ncalrpc dir',
  ];
  const settings = [
    ...places.map((name) => `${name} = ${folder}/own`),
    ...[
      `log file = ${folder}/log`,
      `smb ports = ${port}`,
      'interfaces = 127.0.0.1',
      'bind interfaces only = yes',
    ],
    ...['server signing = mandatory', 'load printers = no', 'disable spoolss = yes'],
  ];
  const share = [`path = ${folder}/share`, 'read only = no', ...shareSettings];
  await mkdir(join(folder, 'own'));
  await mkdir(join(folder, 'share'));
  const conf = join(folder, 'smb.conf');
  await writeFile(conf, `[global]\n${settings.join('\n')}\n[bench]\n${share.join('\n')}\n`);
  const adding = promisify(execFile)('smbpasswd', ['-c', conf, '-a', '-s', 'root']);
  adding.child.stdin?.end('secret\nsecret\n');
  await adding;
  const child = spawn(smbd, ['-s', conf, '-F', '--no-process-group'], { stdio: 'ignore' });
  await listens(port);
  const { name, ...rest } = target('smbd', child, { blob: 0, queue: 0, table: 0 }, folder, 0);
  const { pid } = rest;
  return { name, pid, port, login: 'root%secret', [Symbol.asyncDispose]: rest[Symbol.asyncDispose] };
}

async function listens(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const connected = await new Promise<boolean>((done) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        done(true);
      }).on('error', () => done(false));
    });
    if (connected) return;
    await new Promise((again) => setTimeout(again, 50));
  }
  throw new Error('smbd does not listen');
}

function quiet(): NodeJS.ProcessEnv {
  const { AZURITE_ACCOUNTS: _, ...environment } = process.env;
  return { ...environment, NODE_ENV: 'production' };
}

/** Each takes one that is free: looked for here, somebody else might have it by then. */
function freePorts(services: readonly string[]): string[] {
  return services.flatMap((name) => [`--${name}Port`, '0']);
}

function webPorts(port: (service: string) => number): Target['ports'] {
  return { blob: port('blob'), queue: port('queue'), table: port('table') };
}

/** One that is ready now. */
function target(
  name: string,
  child: ChildProcess,
  ports: Target['ports'],
  folder: string,
  began: number,
): Target {
  return {
    name,
    pid: child.pid ?? 0,
    folder,
    startMs: performance.now() - began,
    ports,
    async [Symbol.asyncDispose]() {
      const gone = new Promise((done) => child.once('exit', done));
      child.kill('SIGKILL');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Once it has printed the line, where it says that each service listens. */
function ready(child: ChildProcess, line: string): Promise<(service: string) => number> {
  return new Promise((done, fail) => {
    let output = '';
    const port = (service: string): number => {
      const found = new RegExp(`^.*\\b${service} service .*listen.*:(\\d+)$`, 'im').exec(output);
      if (found === null) throw new Error(`it does not say where its ${service} service listens:\n${output}`);
      return Number(found[1]);
    };
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      if (output.includes(line)) done(port);
    });
    child.once('exit', (code) => fail(new Error(`it ended with ${code} before it was ready:\n${output}`)));
  });
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => done(port));
    });
    server.on('error', fail);
  });
}
