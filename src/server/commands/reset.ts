// `lazuli reset`: deletes all data, or that of one account; accounts stay with their keys, whether a server runs or
// not. With `--everything` they go too, and a store that no server has open is removed as files: that works for a
// damaged one as well.

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { realFiles } from '../../base/files.js';
import { DamageError } from '../../engine/errors.js';
import { claimFolder } from '../../engine/owner.js';
import { remote } from '../admin/client.js';
import { type CommandLine, UsageError } from '../command-line.js';
import { dataFolder } from '../data-folder.js';
import { openStore } from '../open-store.js';
import { resetAccount, resetAll } from '../reset.js';
import { confirm, reach, requireData } from './reach.js';

export async function reset(line: CommandLine): Promise<number> {
  const at = reach(line);
  const account = line.words[0] ?? at.values.text('account');
  const everything = at.values.flag('everything');
  if (account !== undefined && everything)
    throw new UsageError(`--everything is of no single account: lazuli account delete ${account}`);
  const folder = dataFolder(at.location);
  requireData(at.location);
  const what = everything
    ? `all data and all accounts in ${at.location}`
    : account === undefined
      ? `all data in ${at.location}; accounts and keys stay`
      : `all that ${account} holds; the account and its keys stay`;
  await confirm(at, `Delete ${what}`);
  const running = await remote(folder);
  if (running !== undefined) {
    const path = account === undefined ? '/api/reset' : `/api/accounts/${encodeURIComponent(account)}/reset`;
    await running.call('POST', path, { everything });
  } else if (everything) await removeFiles(folder.store);
  else await empty(at.location, account);
  at.tell({ deleted: what }, [`Deleted ${what}.`]);
  return 0;
}

/** Also a part of the space is given back at once; the rest is when a server runs. */
async function empty(location: string, account: string | undefined): Promise<void> {
  const store = await openStore({ data: { location }, accounts: [] }).catch((error: unknown) => {
    if (!(error instanceof DamageError)) throw error;
    throw new UsageError(
      `${error.message}\nlazuli reset --everything deletes the files of a damaged store, with accounts and keys`,
    );
  });
  try {
    await (account === undefined ? resetAll(store) : resetAccount(store, account));
    await store.sweep();
  } finally {
    await store.close();
  }
}

async function removeFiles(store: string): Promise<void> {
  const release = await claimFolder(realFiles, store);
  // The lock stays where it is: a server that starts meanwhile may have taken it, and must lose nothing.
  for (const name of await readdir(store)) {
    if (name !== 'lock') await rm(join(store, name), { recursive: true });
  }
  await release();
}
