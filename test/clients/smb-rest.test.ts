// REST while real SMB clients hold files open: smbtorture keeps one for each share mode, and one for each way to answer
// when its oplock is broken.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { cells } from '#src/base/cells.suite.js';
import { ticksOf } from '#src/services/file/file-system.js';
import { snapshotName } from '#src/smb/previous-versions.js';
import { missing, succeeds } from '../support/programs.js';
import { outcome, request, sharing, violation } from '../support/rest-requests.js';
import { gives, refuses } from '../support/server.js';
import { type SideBySide, sideBySide } from '../support/side-by-side.js';
import { account, accountKey } from '../support/smb-server.js';

const smbclient = '/usr/bin/smbclient';
const smbtorture = '/usr/bin/smbtorture';
const skip = missing(smbtorture);

/** Runs it until so many handles are open; it is ended with the test. */
async function holding(t: TestContext, tool: string, handles: number): Promise<SideBySide> {
  const it = await sideBySide(t, { signed: true });
  const args = ['-p', String(it.smb.port), '-U', `localhost\\${account}%${accountKey}`, `smb2.${tool}`];
  const child = spawn(smbtorture, ['//127.0.0.1/files', ...args], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('close', resolve));
  let over = false;
  ended.then(() => (over = true));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  while (it.smb.opens.counters.handles < handles) {
    assert.ok(!over, 'it holds the files');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return it;
}

test('REST while smbtorture holds a file in each share mode', { skip }, async (t) => {
  const it = await holding(t, 'hold-sharemode', 8);
  for (const { row, column, cell } of cells(sharing)) {
    const name = row === 'none' ? 'N' : row;
    const file = it.share.file(`sharemode_hold_test/${name}`);
    // The files are empty, so that some requests are refused for that: but not for the share mode.
    const answer = outcome(await request(column)({ ...it, file }));
    assert.equal(answer === violation, cell === 'X', `${column} of ${name}: ${answer}`);
  }
});

test('REST breaks the oplocks of smbtorture: it closes, or it keeps the file', { skip }, async (t) => {
  const it = await holding(t, 'hold-oplock', 4);
  const held = (name: string) => it.share.file(`oplock_test/${name}`);
  await gives(held('notshared_close').get(), 200);
  await refuses(held('notshared_noclose').get(), 409, 'SharingViolation');
  await gives(held('shared_noclose').get(), 200);
  await refuses(held('shared_noclose').delete(), 409, 'SharingViolation');
  await gives(held('shared_close').delete(), 202);
  assert.equal(it.smb.opens.counters.breaks >= 4, true);
});

test('smbclient reads a previous version', {
  skip: missing(smbclient),
}, async (t) => {
  const it = await sideBySide(t, { signed: true });
  const version = snapshotName(ticksOf(Date.parse(await it.share.snapshot())));
  await gives(it.file.write('HELLO'), 201);
  const login = ['-p', String(it.smb.port), '-U', `localhost\\${account}%${accountKey}`];
  const run = (commands: string) => succeeds(smbclient, ['//127.0.0.1/files', ...login, '-c', commands]);
  assert.match(await run(`get ${version}\\a.txt -; get a.txt -`), /^hello world[\s\S]*HELLO world/);
});
