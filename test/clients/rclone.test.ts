// rclone against a running server: it lists, compares and syncs by names, sizes, times and MD5.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { signSas } from '#src/http/auth/sign.js';
import { start } from '#src/server/start.js';
import { developmentAccount } from '#src/services/common/accounts.js';
import { missing, succeeds } from '../support/programs.js';

const rclone = '/usr/bin/rclone';
const skip = missing(rclone);

/** This rclone takes a key for Azure's own addresses alone; a SAS for any. */
function sas(): string {
  const fields = { sv: '2020-08-04', ss: 'b', srt: 'sco', sp: 'rwdlac', se: '2099-01-01T00:00:00Z' };
  const { name, keys } = developmentAccount;
  return signSas({ service: 'blob', account: name }, fields, Buffer.from(keys[0], 'base64'));
}

test('rclone copies a tree up, lists, checks, syncs and removes it', { skip }, async () => {
  const server = await start({ services: ['blob'] });
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-rclone-'));
  const env = {
    RCLONE_CONFIG: join(folder, 'rclone.conf'),
    RCLONE_CONFIG_LZ_TYPE: 'azureblob',
    RCLONE_CONFIG_LZ_SAS_URL: `${server.urls.blob}/${developmentAccount.name}?${sas()}`,
    RCLONE_CONFIG_LZ_CHUNK_SIZE: '1Mi',
  };
  const run = (...args: string[]) => succeeds(rclone, args, { env });
  try {
    await writeFile(env.RCLONE_CONFIG, '');
    const up = join(folder, 'up');
    await mkdir(join(up, 'deep', 'er'), { recursive: true });
    await writeFile(join(up, 'small.txt'), 'hello');
    await writeFile(join(up, 'deep', 'er', 'söme name.bin'), Buffer.alloc(5_000_000, 'x'));
    await run('copy', up, 'lz:tree');
    await run('check', up, 'lz:tree');
    assert.deepEqual((await run('lsf', '-R', '--files-only', 'lz:tree')).trim().split('\n').sort(), [
      'deep/er/söme name.bin',
      'small.txt',
    ]);
    await writeFile(join(up, 'small.txt'), 'changed');
    await rm(join(up, 'deep'), { recursive: true });
    await run('sync', up, 'lz:tree');
    assert.equal((await run('lsf', '-R', '--files-only', 'lz:tree')).trim(), 'small.txt');
    await run('copyto', 'lz:tree/small.txt', 'lz:tree/again.txt');
    const down = join(folder, 'down');
    await run('copy', 'lz:tree', down);
    assert.equal(await readFile(join(down, 'again.txt'), 'utf8'), 'changed');
    await run('purge', 'lz:tree');
    assert.equal((await run('lsd', 'lz:')).trim(), '');
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
