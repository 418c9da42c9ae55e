// How long a start takes, as whoever typed it sees it: from the command to the line that says it is ready.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProgram, temporaryFolder } from '../support/program.js';

const skip =
  process.env['LAZULI_FULL'] === '1'
    ? false
    : 'it measures time: LAZULI_FULL=1, on a machine with nothing else to do';

test('ready in under half a second, on a new folder and on one that is there', { skip }, async (t) => {
  const location = temporaryFolder(t);
  const times: number[] = [];
  for (let count = 0; count < 6; count++) {
    const began = performance.now();
    const program = await startProgram(t, ['-s', '-l', location]);
    times.push(performance.now() - began);
    await program.stop();
  }
  t.diagnostic(`${times.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  const [, , middle] = [...times].sort((a, b) => a - b);
  assert.ok((middle ?? 0) < 500);
});
