// `--seed file.json`: accounts, containers, queues, tables, blobs, messages and entities that are to be there. It can
// be run again: what is there already stays, blobs and entities are put as the file has them, and messages go only
// into a queue that the file has just made.
//
//   { "accounts": [{
//       "name": "devstoreaccount1",               with "keys" it is made if it is missing
//       "containers": { "photos": { "cat.txt": "text", "cat.png": { "file": "./cat.png", "type": "image/png" } } },
//       "queues": { "work": ["first message"] },
//       "tables": { "People": [{ "PartitionKey": "math", "RowKey": "ada", "born": 1815 }] } }] }

import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { readInsert } from '../http/table/entity-reader.js';
import { createAccount } from '../services/common/accounts.js';
import { orThrow, StorageError } from '../services/common/errors.js';
import { writeEntity } from '../services/table/entities.js';
import { tableKey } from '../services/table/model.js';
import { UsageError } from './command-line.js';
import { type Joined, join, joinable } from './join.js';
import type { OpenStore } from './open-store.js';
import { readSeed, type SeedAccount, type SeedBlob } from './seed-file.js';
import { opened } from './services.js';

export async function seedFrom(store: OpenStore, path: string): Promise<void> {
  const accounts = readSeed(path);
  for (const name of joinable) await store.service(name);
  for (const account of accounts) await seedAccount(store, account, dirname(path));
}

async function seedAccount(store: OpenStore, account: SeedAccount, folder: string): Promise<void> {
  const { name, keys, containers = {}, queues = {}, tables = {} } = account;
  if (keys !== undefined) await store.accounts.ensure(createAccount(name, keys));
  if (store.accounts.get(name) === undefined) {
    throw new UsageError(`--seed: there is no account ${name}: give its keys in the file`);
  }
  const step = (work: (joined: Joined) => Promise<void>) =>
    store.store.run((tx) => work(join(store, tx, name)));
  for (const [container, blobs] of Object.entries(containers)) {
    await telling(`container ${container}`, 'ContainerAlreadyExists', () =>
      step((joined) => joined.blobs.create(container)),
    );
    for (const [blob, content] of Object.entries(blobs))
      await telling(`blob ${container}/${blob}`, undefined, () =>
        step((joined) => putBlob(joined, container, blob, content, folder)),
      );
  }
  for (const [queue, messages] of Object.entries(queues)) {
    await telling(`queue ${queue}`, 'QueueAlreadyExists', () =>
      step((joined) => makeQueue(joined, store, [name, queue], messages)),
    );
  }
  for (const [table, entities] of Object.entries(tables)) {
    await telling(`table ${table}`, 'TableAlreadyExists', () =>
      step((joined) => joined.tables.create(table)),
    );
    for (const [at, entity] of entities.entries())
      await telling(`entity ${at + 1} of table ${table}`, undefined, () =>
        putEntity(store, name, table, entity),
      );
  }
}

/** A refusal is told with what it is about; that it is there already is none. */
async function telling(what: string, unless: string | undefined, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    if (error.code !== unless) throw new UsageError(`--seed: ${what}: ${error.code}: ${error.message}`);
  }
}

async function putBlob(
  { blobs }: Joined,
  container: string,
  name: string,
  given: string | SeedBlob,
  folder: string,
): Promise<void> {
  const blob = typeof given === 'string' ? { text: given, type: 'text/plain' } : given;
  const content =
    blob.file !== undefined
      ? await readFile(resolve(folder, blob.file))
      : blob.base64 !== undefined
        ? Buffer.from(blob.base64, 'base64')
        : Buffer.from(blob.text ?? '');
  await blobs.put(container, name, content, {
    headers: blob.type === undefined ? {} : { type: blob.type },
    metadata: Object.entries(('metadata' in blob && blob.metadata) || {}),
  });
}

async function makeQueue(
  { queues }: Joined,
  store: OpenStore,
  [account, queue]: readonly [string, string],
  messages: readonly string[],
): Promise<void> {
  const { store: queueStore } = await opened(store, 'queue');
  if (await queueStore.run((tx) => queueStore.queues.has(tx, [account, queue], { lock: 'none' }))) return;
  await queues.create(queue);
  for (const text of messages) await queues.put(queue, text);
}

/** As Insert Entity takes it: `{ "PartitionKey": ..., "Count@odata.type": "Edm.Int64", "Count": "1" }`. */
async function putEntity(store: OpenStore, account: string, table: string, entity: object): Promise<void> {
  const { store: tables } = await opened(store, 'table');
  const input = orThrow(readInsert(Buffer.from(JSON.stringify(entity))));
  await writeEntity(tables, tableKey(account, table), { kind: 'replace', entity: input, match: undefined });
}
