// Deleting all data, or that of one account. A server that runs goes on with what is left: nothing.

import { UsageError } from './command-line.js';
import { serviceNames } from './config.js';
import type { OpenStore } from './open-store.js';

/** All that the account holds. The account stays, with its keys. */
export async function resetAccount(
  { service, accounts }: OpenStore,
  name: string,
): Promise<{ account: string }> {
  if (accounts.get(name) === undefined) throw new UsageError(`there is no account ${name}`);
  for (const one of serviceNames) await (await service(one)).clear(name);
  return { account: name };
}

/** Everything: what all accounts hold, and collections of programs that use the library. Accounts stay. */
export async function resetAll(store: OpenStore): Promise<{ accounts: string[] }> {
  const names = store.accounts.list().map(({ name }) => name);
  for (const name of names) await resetAccount(store, name);
  for (const collection of await store.state.list()) await store.state.remove(collection.name);
  return { accounts: names };
}
