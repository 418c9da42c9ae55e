// Takes over what Azurite has kept: accounts, containers, blobs with their blocks and snapshots, queues with their
// messages, tables with their entities. Times are kept, so a Last-Modified stays what it was; ETags are of another
// form and change. What has a name that is taken here is left alone, and said so.
//
// It can be cut off at any time and run again. Which containers, queues and tables are under way is stored with them,
// and how many messages of a queue have come; a blob or an entity that is there came with its transaction.

import { randomBytes } from 'node:crypto';
import { parseIsoTime } from '../../base/times.js';
import type { Dictionary, Transaction } from '../../collections/index.js';
import type { AccessPolicy } from '../../services/common/access-policy.js';
import { createAccount, newKey } from '../../services/common/accounts.js';
import type { Store } from '../../services/common/store.js';
import type { Progress } from '../admin/calls.js';
import { UsageError } from '../command-line.js';
import type { OpenStore } from '../open-store.js';
import { importBlobs } from './blobs.js';
import { importQueues } from './queues.js';
import { importTables } from './tables.js';
import { type AzuritePolicy, Workspace } from './workspace.js';

export interface ImportReport {
  readonly counts: Readonly<Record<string, number>>;
  /** What could not be taken over, a sentence each. */
  readonly notes: readonly string[];
}

/** What the parts of an import share. */
export interface Import {
  readonly workspace: Workspace;
  readonly store: OpenStore;
  readonly underWay: UnderWay;
  count(what: string): void;
  note(text: string): void;
}

type Place = readonly [kind: 'container' | 'queue' | 'table', account: string, name: string];

/** What was begun and is not finished, with the number of messages that have come. */
export class UnderWay {
  readonly #store: Store;
  readonly #rows: Dictionary<Place, number>;

  private constructor(store: Store, rows: Dictionary<Place, number>) {
    this.#store = store;
    this.#rows = rows;
  }

  static async open(store: Store): Promise<UnderWay> {
    const rows = await store.state.dictionary<Place, number>('$system/importing', {
      system: true,
      count: false,
    });
    return new UnderWay(store, rows);
  }

  /** Nothing if it is not under way. */
  done(place: Place): Promise<number | undefined> {
    return this.#store.run((tx) => this.#rows.get(tx, place, { lock: 'none' }));
  }

  /** Together with what has come. */
  async note(tx: Transaction, place: Place, done: number): Promise<void> {
    await this.#rows.set(tx, place, done);
  }

  async finish(place: Place): Promise<void> {
    await this.#store.run((tx) => this.#rows.delete(tx, place));
  }
}

export async function importAzurite(
  store: OpenStore,
  folder: string,
  progress: (done: Progress) => void,
): Promise<ImportReport> {
  const counts: Record<string, number> = {};
  const notes: string[] = [];
  let done = 0;
  const run: Import = {
    workspace: await Workspace.open(folder),
    store,
    underWay: await UnderWay.open(store.store),
    count(what) {
      counts[what] = (counts[what] ?? 0) + 1;
      progress({ what: 'things', done: ++done });
    },
    note: (text) => notes.push(text),
  };
  for (const name of run.workspace.accounts) {
    if (store.accounts.get(name) !== undefined) continue;
    await store.accounts.create(createAccount(name, [newKey(randomBytes), newKey(randomBytes)]));
    run.note(`account ${name} has new keys, as Azurite does not keep them: lazuli connection-string ${name}`);
  }
  for (const [service, account] of run.workspace.serviceProperties) {
    run.note(
      `the ${service} service properties of ${account} (CORS and the like) were left out: set them again`,
    );
  }
  await importBlobs(run);
  await importQueues(run);
  await importTables(run);
  return { counts, notes };
}

export function policiesOf(acl: readonly AzuritePolicy[] = []): AccessPolicy[] {
  return acl.map(({ id, accessPolicy }) => ({
    id,
    start: accessPolicy?.start,
    expiry: accessPolicy?.expiry,
    permission: accessPolicy?.permission,
  }));
}

/** A time as a stamp, in microseconds. */
export function stampOf(time: string): number {
  const parsed = parseIsoTime(time);
  if (parsed === undefined) throw new UsageError(`${time} is not a time`);
  return parsed.ms * 1000 + Math.floor(parsed.ticks / 10);
}
