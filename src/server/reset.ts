// Deleting all data, or that of one account. A server that runs goes on with what is left: nothing.

import { UsageError } from './command-line.js';
import { serviceNames } from './config.js';
import type { OpenStore } from './open-store.js';

/** All that the account holds. The account stays, with its keys. */
export async function resetAccount(store: OpenStore, name: string): Promise<{ account: string }> {
  if (store.accounts.get(name) === undefined) throw new UsageError(`there is no account ${name}`);
  await clear(store, name);
  return { account: name };
}

/** The account and all that it holds, also what was let in while it was being cleared. */
export async function removeAccount(store: OpenStore, name: string): Promise<void> {
  await resetAccount(store, name);
  await store.accounts.remove(name);
  await clear(store, name);
}

async function clear({ service }: OpenStore, name: string): Promise<void> {
  for (const one of serviceNames) await (await service(one)).clear(name);
}

/**
 * What all accounts hold, and collections of programs that use the library. Accounts stay, with their keys and
 * settings; with `everything` they go too, and those are there that a new store would have.
 */
export async function resetAll(store: OpenStore, everything = false): Promise<{ accounts: string[] }> {
  for (const { name } of store.accounts.list())
    await (everything ? removeAccount : resetAccount)(store, name);
  for (const collection of await store.state.list()) await store.state.remove(collection.name);
  await store.ensureAccounts();
  return { accounts: store.accounts.list().map(({ name }) => name) };
}
