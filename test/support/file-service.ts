// A file service on a store in memory, without any protocol.

import { SystemClock } from '#src/base/clock.js';
import { StateManager } from '#src/collections/index.js';
import { openEngine } from '#src/engine/level.js';
import { openExtents } from '#src/extents/extents.js';
import { AccountStore } from '#src/services/common/account-store.js';
import { openContentStore } from '#src/services/common/content-store.js';
import { Garbage } from '#src/services/common/garbage.js';
import { createStore } from '#src/services/common/store.js';
import { type FileService, openFileService } from '#src/services/file/service.js';
import { createShare } from '#src/services/file/shares.js';

export const account = 'devstoreaccount1';

export interface GivenFiles extends FileService, AsyncDisposable {
  readonly clock: SystemClock;
  /** What went wrong in the background. */
  readonly reported: unknown[];
  readonly state: StateManager;
  /** Gives back all space that nobody needs. */
  sweep(): Promise<void>;
  /** What the bytes of all files take. */
  liveBytes(): Promise<number>;
}

const fetchSource = () => Promise.reject(new Error('nothing is fetched here'));

export async function givenFiles(shares: readonly string[] = ['files', 'other']): Promise<GivenFiles> {
  const clock = new SystemClock();
  const engine = await openEngine({ memory: true }, { clock });
  const state = await StateManager.open({ engine, freeze: false });
  const store = createStore(state);
  const reported: unknown[] = [];
  const report = (error: unknown) => void reported.push(error);
  const extents = await openExtents({ memory: true, limitBytes: 256 * 1024 * 1024 }, { clock });
  const content = await openContentStore(store, extents, report);
  const garbage = await Garbage.open(store, report);
  const accounts = await AccountStore.open(store);
  const service = await openFileService({ store, garbage, accounts, content, fetchSource, report });
  const settings = { quotaGib: undefined, tier: undefined, snapshotDirectory: undefined, provisioned: [] };
  for (const name of shares) await createShare(service.store, [account, name], settings, []);
  const live = await state.counters<number>('$system/live', { system: true });
  return {
    ...service,
    ...{ clock, reported, state },
    sweep: async () => {
      await garbage.sweep();
      await content.reclaim.run();
    },
    liveBytes: () =>
      store.run(async (tx) => {
        let sum = 0;
        for (const { number } of extents.segments()) sum += await live.get(tx, number);
        return sum;
      }),
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await garbage.close();
      await content.reclaim.stop();
      await state.close();
      await engine.close();
      await extents.close();
    },
  };
}
