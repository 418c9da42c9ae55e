// What is on the screen: within 80 columns, coloured only where that is wanted.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { programPath, run, startProgram, temporaryFolder } from '../support/program.js';
import { rest } from '../support/rest.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are
const colour = /\x1b\[\d+m/g;

test('the lines at start fit 80 columns, with and without colour, and are otherwise the same', async (t) => {
  const shown: string[] = [];
  for (const env of [{}, { FORCE_COLOR: '1' }] as Record<string, string>[]) {
    const program = await startProgram(t, ['-l', './data'], { cwd: temporaryFolder(t), env });
    const { stdout } = program.output;
    assert.equal(colour.test(stdout), 'FORCE_COLOR' in env);
    colour.lastIndex = 0;
    shown.push(
      stdout
        .replaceAll(colour, '')
        .replaceAll(/:\d+$/gm, ':PORT')
        .replaceAll(/^(Admin token +).*$/gm, '$1TOKEN'),
    );
    await program.stop();
  }
  assert.equal(shown[0], shown[1]);
  for (const line of shown[0]?.split('\n') ?? []) assert.ok(line.length <= 80, line);
  assert.deepEqual(
    shown[0]?.split('\n').map((line) => line.split(/ {2,}| service/)[0]),
    ['Blob', 'Queue', 'Table', 'File', 'SMB', 'Admin', 'Admin token', 'Data', 'Lazuli is ready', ''],
  );
});

test('what commands print fits 80 columns, but for keys and connection strings', async (t) => {
  const location = temporaryFolder(t);
  for (const args of [['account', 'create', 'mine'], ['account', 'list'], ['verify'], ['--help']]) {
    const { code, stdout, stderr } = await run([...args, '-l', location]);
    assert.equal(code, 0, stderr);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80 || /^key \d/.test(line), line);
  }
});

test('nobody reads on: a command ends as it would have, a server goes on', async (t) => {
  const location = temporaryFolder(t);
  const program = await startProgram(t, ['-l', location]);
  program.process.stdout?.destroy();
  program.process.stderr?.destroy();
  const container = (name: string) =>
    rest('blob', program.urls['blob'] ?? '', `/${name}?restype=container`, { method: 'PUT' });
  for (const name of ['first', 'second', 'third']) assert.equal((await container(name)).status, 201);

  const command = spawn(process.execPath, [programPath, 'account', 'list', '-l', location]);
  command.stdout.destroy();
  let stderr = '';
  command.stderr.on('data', (text) => (stderr += text));
  assert.deepEqual(await once(command, 'close'), [0, null]);
  assert.equal(stderr, '');
});
