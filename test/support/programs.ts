// Programs of other people, run against a server of ours: what they print, and that they succeed.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Debian's own interpreter: the Azure modules belong to it. */
export const python = '/usr/bin/python3';

/** Nothing where the program is there, else why the test cannot run. `npm run test:clients` fails on that. */
export function missing(...paths: readonly string[]): string | false {
  const absent = paths.filter((path) => !existsSync(path));
  if (absent.length === 0) return false;
  assert.notEqual(process.env['LAZULI_CLIENTS'], '1', `${absent.join(', ')} must be installed`);
  return `${absent.join(', ')} is not installed`;
}

export interface Ran {
  readonly status: number;
  readonly output: string;
  readonly errors: string;
}

export function run(
  program: string,
  args: readonly string[],
  options: { input?: string; env?: Record<string, string>; cwd?: string } = {},
): Promise<Ran> {
  const child = spawn(program, args, { env: { ...process.env, ...options.env }, cwd: options.cwd });
  child.stdin.end(options.input ?? '');
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => errors.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) =>
      resolve({
        status: status ?? -1,
        output: Buffer.concat(output).toString(),
        errors: Buffer.concat(errors).toString(),
      }),
    );
  });
}

/** The same; a failure fails the test with what the program said. */
export async function succeeds(
  program: string,
  args: readonly string[],
  options: Parameters<typeof run>[2] = {},
): Promise<string> {
  const { status, output, errors } = await run(program, args, options);
  assert.equal(status, 0, `${program} ${args.join(' ')}\n${output}\n${errors}`);
  return output;
}
