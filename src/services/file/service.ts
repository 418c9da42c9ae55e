// The file service as protocols see it: the store, the lock table, shares as SMB has them, and what accounts have set.

import type { AccountStore } from '../common/account-store.js';
import type { Ground } from '../common/ground.js';
import { PendingCopies } from '../common/pending-copies.js';
import type { FetchSource } from '../common/sources.js';
import type { Schedule } from './caches.js';
import type { ChangeListener } from './changes.js';
import type { Volumes } from './file-system.js';
import { copyTargets } from './foreign-copies.js';
import { type CopyKey, type FileStore, openFileStore, type PendingFileCopy } from './model.js';
import { Opens } from './opens.js';
import { dropStaged } from './staged-bytes.js';
import { registerSweeps, sweepDeleted } from './sweep.js';
import { ShareVolumes } from './volumes.js';

export interface FileService {
  readonly store: FileStore;
  readonly accounts: AccountStore;
  readonly opens: Opens;
  readonly volumes: Volumes;
  /** Copies from elsewhere that are under way. */
  readonly pending: PendingCopies<CopyKey, PendingFileCopy>;
  readonly fetchSource: FetchSource;
  /** Told of changes over REST. */
  readonly listeners: Set<ChangeListener>;
  close(): Promise<void>;
}

const sweepMs = 30_000;

export async function openFileService(ground: Ground): Promise<FileService> {
  const store = await openFileStore(ground.store, ground.garbage, ground.content);
  registerSweeps(store);
  await dropStaged(store);
  let sweeping: Promise<void> | undefined;
  const sweep = () => {
    sweeping ??= sweepDeleted(store)
      .catch((error) => ground.report(error))
      .finally(() => {
        sweeping = undefined;
      });
  };
  const timer = setInterval(sweep, sweepMs).unref();
  const { accounts } = ground;
  const listeners = new Set<ChangeListener>();
  const targets = copyTargets({ store, accounts, listeners });
  const pending = new PendingCopies(targets, ground.fetchSource, ground.report);
  ground.garbage.also(async () => pending.wake());
  await pending.resume();
  return {
    store,
    accounts,
    opens: new Opens(schedule),
    volumes: new ShareVolumes(store),
    pending,
    fetchSource: ground.fetchSource,
    listeners,
    close: async () => {
      clearInterval(timer);
      await pending.close();
      await sweeping;
    },
  };
}

const schedule: Schedule = (ms, run) => {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
};
