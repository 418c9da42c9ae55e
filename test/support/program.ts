// The built program, started as a user would: its output, its addresses, how it ends.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestContext } from 'node:test';

export const root = resolve(import.meta.dirname, '../../..');
export const programPath = join(root, 'dist/server/main.js');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another name for the program. */
  readonly path?: string;
  /** On a free port, unless it is left to its own. */
  readonly withAdmin?: boolean;
}

export interface Program {
  readonly process: ChildProcess;
  /** What it has printed so far. */
  readonly output: { stdout: string; stderr: string };
  readonly urls: Readonly<Record<string, string>>;
  readonly token: string;
  readonly ended: Promise<Ended>;
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

type Cleanup = Pick<TestContext, 'after'>;

export function temporaryFolder(t: Cleanup): string {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function launch(args: readonly string[], { cwd, env, path = programPath }: ProgramOptions) {
  const { LAZULI_FULL: _, NO_COLOR: __, FORCE_COLOR: ___, ...inherited } = process.env;
  const child = spawn(process.execPath, [path, ...args], {
    cwd,
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (text) => (output.stdout += text));
  child.stderr.on('data', (text) => (output.stderr += text));
  const ended = new Promise<Ended>((done) => {
    child.on('close', (code, signal) => done({ code, signal, ...output }));
  });
  return { child, output, ended };
}

/** Runs to its end. */
export function run(args: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  return launch(args, options).ended;
}

/** Free ports, so that several can run: all but those that are given. */
export const freePorts = ['--blobPort=0', '--queuePort=0', '--tablePort=0', '--filePort=0', '--smbPort=0'];
const adminPort = '--adminPort=0';

/** Starts it and waits until it is ready. It is killed when the test is over, if it still runs. */
export async function startProgram(
  t: Cleanup,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<Program> {
  const { child, output, ended } = launch(
    [...freePorts, ...(options.withAdmin === false ? [] : [adminPort]), ...args],
    options,
  );
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await Promise.race([isReady(child, output), ended]);
  if (!output.stdout.includes('Lazuli is ready')) {
    throw new Error(`it did not start: ${output.stdout}${output.stderr}`);
  }
  return {
    process: child,
    output,
    urls: urlsOf(output.stdout),
    token: /^Admin token +(\S+)$/m.exec(output.stdout)?.[1] ?? '',
    ended,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

function isReady(child: ChildProcess, output: { stdout: string }): Promise<void> {
  return new Promise((done) => {
    child.stdout?.on('data', () => {
      if (output.stdout.includes('Lazuli is ready')) done();
    });
  });
}

function urlsOf(stdout: string): Record<string, string> {
  const found = stdout.matchAll(/^(\w+) service +listens at (\S+)$/gm);
  return Object.fromEntries([...found].map(([, name = '', url = '']) => [name.toLowerCase(), url]));
}
