// A process that tells on its standard output what is done, and is killed while it goes on.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** When: so long after its first line, or once it has told so many. */
export type When = { readonly afterMs: number } | { readonly afterLines: number };

/** Runs a script of this folder. The lines it told of until it was killed. */
export async function runAndKill(script: string, args: readonly string[], when: When): Promise<string[]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = () => child.kill('SIGKILL');
  let output = '';
  let lines = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output === '' && 'afterMs' in when) setTimeout(kill, when.afterMs);
    output += text;
    lines += text.split('\n').length - 1;
    if ('afterLines' in when && lines >= when.afterLines) kill();
  });
  const how = await new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ?? code)));
  assert.equal(how, 'SIGKILL', 'it ended by itself');
  // The last line may be cut off, and then was not told.
  return output.split('\n').slice(0, -1);
}
