// `lazuli reset`: deletes all data, or that of one account. A store that no server has open is removed as files: that
// works for a damaged one too.

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { realFiles } from '../../base/files.js';
import { claimFolder } from '../../engine/owner.js';
import { remote } from '../admin/client.js';
import { type CommandLine, UsageError } from '../command-line.js';
import { dataFolder } from '../data-folder.js';
import { client, confirm, reach } from './reach.js';

export async function reset(line: CommandLine): Promise<number> {
  const at = reach(line);
  const account = line.words[0] ?? at.values.text('account');
  const { store } = dataFolder(at.location);
  if (!existsSync(store)) throw new UsageError(`there is no data in ${at.location}: give --location`);
  const what = account === undefined ? `all data in ${at.location}` : `all that ${account} holds`;
  await confirm(at, `Delete ${what}`);
  const running = await remote(dataFolder(at.location));
  if (account !== undefined) {
    await using admin = running ?? (await client(at));
    await admin.call('POST', `/api/accounts/${account}/reset`);
  } else if (running !== undefined) await running.call('POST', '/api/reset');
  else {
    const release = await claimFolder(realFiles, store);
    await release();
    await rm(store, { recursive: true });
  }
  at.tell({ deleted: what }, [`Deleted: ${what}.`]);
  return 0;
}
