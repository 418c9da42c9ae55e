// `lazuli reset`: deletes all data, or that of one account. A store that no server has open is removed as files: that
// works for a damaged one too.

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { realFiles } from '../../base/files.js';
import { claimFolder } from '../../engine/owner.js';
import { remote } from '../admin/client.js';
import type { CommandLine } from '../command-line.js';
import { dataFolder } from '../data-folder.js';
import { client, confirm, reach, requireData } from './reach.js';

export async function reset(line: CommandLine): Promise<number> {
  const at = reach(line);
  const account = line.words[0] ?? at.values.text('account');
  const { store } = dataFolder(at.location);
  requireData(at.location);
  const what = account === undefined ? `all data in ${at.location}` : `all that ${account} holds`;
  await confirm(at, `Delete ${what}`);
  const running = await remote(dataFolder(at.location));
  if (account !== undefined) {
    await using admin = running ?? (await client(at));
    await admin.call('POST', `/api/accounts/${encodeURIComponent(account)}/reset`);
  } else if (running !== undefined) await running.call('POST', '/api/reset');
  else {
    const release = await claimFolder(realFiles, store);
    // The lock stays where it is: a server that starts meanwhile may have taken it, and must lose nothing.
    for (const name of await readdir(store)) {
      if (name !== 'lock') await rm(join(store, name), { recursive: true });
    }
    await release();
  }
  at.tell({ deleted: what }, [`Deleted: ${what}.`]);
  return 0;
}
