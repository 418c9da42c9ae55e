import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { realFiles } from '../base/files.js';
import { FolderInUseError, UnavailableError } from './errors.js';
import { claimFolder, currentOwner } from './owner.js';

async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-owner-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const refused = (pid: number) => (error: unknown) => {
  assert.ok(error instanceof FolderInUseError);
  assert.match(
    error.message,
    new RegExp(`in use by process ${pid}, which started at 20\\d\\d-.*Z\\. Stop that`),
  );
  return true;
};

/** Another process that claims the folder and holds it until it is killed. */
async function otherOwner(t: TestContext, folder: string) {
  const program = `
    import { realFiles } from '${import.meta.resolve('../base/files.js')}';
    import { claimFolder } from '${import.meta.resolve('./owner.js')}';
    await claimFolder(realFiles, ${JSON.stringify(folder)});
    console.log('claimed');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return {
    pid: child.pid ?? 0,
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

test('a folder has one owner at a time, in one process and by any of its names', async (t) => {
  const folder = await emptyFolder(t);
  const alias = `${folder}-alias`;
  await symlink(folder, alias);
  t.after(() => rm(alias));
  const release = await claimFolder(realFiles, folder);
  await assert.rejects(claimFolder(realFiles, folder), refused(process.pid));
  await assert.rejects(claimFolder(realFiles, alias), refused(process.pid));
  assert.equal((await currentOwner(realFiles, folder))?.pid, process.pid);
  await release();
  assert.equal(await currentOwner(realFiles, folder), undefined);
  await (await claimFolder(realFiles, alias))();
});

test('another process is named, and locks nobody out once it is killed', async (t) => {
  const folder = await emptyFolder(t);
  const other = await otherOwner(t, folder);
  await assert.rejects(claimFolder(realFiles, folder), refused(other.pid));
  await other.kill();
  assert.equal((await currentOwner(realFiles, folder))?.pid, other.pid, 'the kill left its owner file');
  await (await claimFolder(realFiles, folder))();
});

test('an owner file that names a living process means nothing without the lock', async (t) => {
  const folder = await emptyFolder(t);
  const stale = { pid: process.pid, started: new Date(0).toISOString(), host: 'here' };
  await writeFile(join(folder, 'owner'), JSON.stringify(stale));
  await (await claimFolder(realFiles, folder))();
});

test('damage to the owner file or to the lock locks nobody out, and refuses a second owner all the same', async (t) => {
  const folder = await emptyFolder(t);
  await (await claimFolder(realFiles, folder))();
  await writeFile(join(folder, 'owner'), 'no json');
  for (const name of await readdir(join(folder, 'lock'))) {
    const path = join(folder, 'lock', name);
    const content = await readFile(path);
    await writeFile(
      path,
      content.map((byte) => byte ^ 0x10),
    );
  }
  const release = await claimFolder(realFiles, folder);
  await writeFile(join(folder, 'owner'), '{"pid":');
  await assert.rejects(claimFolder(realFiles, folder), /in use by another process\. Stop it/);
  await release();
});

test('what ownership writes is for its owner alone', { skip: process.platform === 'win32' }, async (t) => {
  const folder = await emptyFolder(t);
  const release = await claimFolder(realFiles, folder);
  assert.equal((await stat(join(folder, 'owner'))).mode & 0o777, 0o600);
  assert.equal((await stat(join(folder, 'lock'))).mode & 0o777, 0o700);
  await release();
});

test('what keeps it from being locked is told, with what to do', async (t) => {
  const folder = await emptyFolder(t);
  await mkdir(join(folder, 'lock/MANIFEST-000001'), { recursive: true }); // where LevelDB wants a file
  await assert.rejects(claimFolder(realFiles, folder), (error) => {
    assert.ok(error instanceof UnavailableError);
    assert.match(error.message, /^The data folder \S+ cannot be locked \(.*lock.*\)\. Mend that, or choose/);
    return true;
  });
});
