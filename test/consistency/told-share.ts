// A file service on a disk that loses what it is given now and then, and clients of its REST operations that write
// down what they were told.

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { seededRandom } from '#src/base/random.js';
import { mayRetry, OutcomeUnknownError, StateManager } from '#src/collections/index.js';
import { memoryDisk } from '#src/engine/disk.js';
import { FaultyDisk } from '#src/engine/faulty-disk.suite.js';
import { openEngineOn } from '#src/engine/level.js';
import { openExtents } from '#src/extents/extents.js';
import { AccountStore } from '#src/services/common/account-store.js';
import { openContentRows } from '#src/services/common/content-rows.js';
import { openContentStore } from '#src/services/common/content-store.js';
import { StorageError } from '#src/services/common/errors.js';
import { Garbage } from '#src/services/common/garbage.js';
import { createStore } from '#src/services/common/store.js';
import { verifyMaps } from '#src/services/common/verify-contents.js';
import { createDirectory } from '#src/services/file/directories.js';
import { FileRefused } from '#src/services/file/refusals.js';
import { type FileService, openFileService } from '#src/services/file/service.js';
import { createShare } from '#src/services/file/shares.js';
import { noWishes } from '#src/services/file/smb-properties.js';
import type { Target } from '#src/services/file/targets.js';
import { verifyShares } from '#src/services/file/verify-shares.js';
import { nowMs, type Recorded } from './history.js';
import { linearize } from './linearizable.js';
import type { Result } from './models.js';
import { type ShareCall, shareModel } from './share-model.js';
import { Refused, refusing, steadyClock } from './told.js';

export const shareKey = ['account', 'share'] as const;

export interface Faults {
  readonly seed: number;
  /** How many of the writes to disk fail; half of them turn up later. */
  readonly lost: number;
  /** How many of the operations are refused at their end. */
  readonly refused: number;
  /** How much of the time the thread has much to do. */
  readonly load: number;
}

export interface ToldShare extends AsyncDisposable {
  readonly faults: Faults;
  readonly disk: FaultyDisk;
  readonly service: FileService;
  readonly random: () => number;
  /** The disk works from now on, and everything that nobody needs is swept. */
  heal(): Promise<void>;
  /** Nobody works any more: nothing is held, and all that is stored holds together. */
  check(): Promise<void>;
}

export async function openToldShare(faults: Faults, objects: readonly string[]): Promise<ToldShare> {
  const { seed, lost, refused, load } = faults;
  const random = seededRandom(seed);
  const disk = new FaultyDisk(memoryDisk(), true);
  const clock = steadyClock();
  const engine = await openEngineOn(disk, { retryMs: 1, clock, isLoaded: () => random() < load });
  const state = await StateManager.open({ engine, freeze: false });
  let isFaulty = false;
  const store = refusing(createStore(state), () => isFaulty && random() < refused);
  const report = (error: unknown) => assert.ok(error instanceof Refused || mayFail(error), String(error));
  const extents = await openExtents({ memory: true, limitBytes: 256 * 1024 * 1024 }, { clock });
  const content = await openContentStore(store, extents, report);
  const garbage = await Garbage.open(store, report);
  const accounts = await AccountStore.open(store);
  const fetchSource = () => Promise.reject(new Error('nothing is fetched here'));
  const service = await openFileService({ store, garbage, accounts, content, fetchSource, report });
  const settings = { quotaGib: undefined, tier: undefined, snapshotDirectory: undefined, provisioned: [] };
  await createShare(service.store, shareKey, settings, []);
  for (const name of objects) await createDirectory(service, targetOf([name]), noWishes, []);
  isFaulty = true;
  disk.fate = () => {
    const drawn = random();
    return !isFaulty || drawn >= lost ? 'done' : drawn < lost / 2 ? 'gone' : 'turns up';
  };
  return {
    faults,
    disk,
    service,
    random,
    heal: async () => {
      isFaulty = false;
      await garbage.sweep();
      await content.reclaim.run();
    },
    check: async () => {
      assert.deepEqual((await verifyShares(service.store)).damage, []);
      await using tx = state.begin();
      assert.deepEqual(await verifyMaps(tx, await openContentRows(state)), []);
      await tx.abort();
      assert.deepEqual(state.inspect().transactions, []);
      assert.deepEqual(state.inspect().locks, []);
      const { breaks, ...open } = service.opens.counters;
      assert.deepEqual(open, { files: 0, handles: 0, locks: 0, caches: 0 });
    },
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

/** A failure that tells nothing of the operation but that it was not done, or that nobody knows. */
function mayFail(error: unknown): boolean {
  return error instanceof OutcomeUnknownError || mayRetry(error);
}

export function targetOf(path: readonly string[], snapshot?: number): Target {
  return { share: shareKey, path, snapshot, timeoutMs: 30_000 };
}

/** An SMB client stands in the way: that is not of the model. */
const hindrances: readonly string[] = [
  'SharingViolation',
  'DeletePending',
  'SMBDeletePending',
  'FileLockConflict',
  'ClientCacheFlushDelay',
  'HandleClosed',
  'AccessDenied',
];

export type Told<T> = Readonly<
  { kind: 'done'; value: T } | { kind: 'refused'; code: string } | { kind: 'not done' } | { kind: 'unknown' }
>;

/** What all clients were told. */
export class Histories {
  readonly records: Recorded<ShareCall, Result>[] = [];
  /** Calls that were refused because an SMB client stood in the way. */
  hindered = 0;

  /** What snapshots showed, and how to look again. */
  readonly snapshots: { object: string; shown: string; show(): Promise<string> }[] = [];

  /** How it ends, as a client is told of it. */
  async attempt<T>(run: () => Promise<T>): Promise<Told<T>> {
    try {
      return { kind: 'done', value: await run() };
    } catch (error) {
      if (error instanceof OutcomeUnknownError) return { kind: 'unknown' };
      if (error instanceof Refused || mayRetry(error)) return { kind: 'not done' };
      if (!(error instanceof StorageError || error instanceof FileRefused)) throw error;
      if (!hindrances.includes(error.code)) return { kind: 'refused', code: error.code };
      this.hindered++;
      return { kind: 'not done' };
    }
  }

  /** Makes a call and writes down what it was told. `answered`: a success is not known to be on disk, and left out. */
  async record<T>(
    client: string,
    object: string,
    call: ShareCall,
    run: () => Promise<T>,
    answered = false,
  ): Promise<T | undefined> {
    const startMs = nowMs();
    const told = await this.attempt(run);
    if (told.kind === 'unknown') this.add(client, object, call, startMs, undefined);
    if (told.kind === 'refused') this.add(client, object, call, startMs, { code: told.code });
    if (told.kind !== 'done') return undefined;
    const value = typeof told.value === 'string' ? { value: told.value } : {};
    if (!answered) this.add(client, object, call, startMs, { ok: true, ...value });
    return told.value;
  }

  /** `result`: nothing if nobody knows. */
  add(
    client: string,
    object: string,
    call: ShareCall,
    startMs: number,
    result: Result | undefined,
    endMs = nowMs(),
  ): void {
    const known = result === undefined ? { endMs: Number.POSITIVE_INFINITY } : { endMs, result };
    this.records.push({ client, object, call, startMs, wire: '', ...known });
  }

  async judge(): Promise<void> {
    for (const { object, shown, show } of this.snapshots) {
      assert.equal(await show(), shown, `a snapshot of ${object} changed`);
    }
    for (const object of new Set(this.records.map((record) => record.object))) {
      const history = this.records.filter((record) => record.object === object);
      const verdict = linearize(shareModel, history);
      if (verdict.kind === 'linearizable') continue;
      const lines = (records: readonly Recorded[]) =>
        records
          .map(({ client, call, result, startMs, endMs }) =>
            [client, startMs.toFixed(3), endMs.toFixed(3), JSON.stringify(call), JSON.stringify(result)].join(
              ' ',
            ),
          )
          .join('\n');
      const { order, stuck, state } = verdict;
      assert.fail(
        `${object}: ${verdict.kind} after ${order.length} of ${history.length}\n${lines(order.slice(-12))}\n--> ${state}\nnext:\n${lines(stuck)}`,
      );
    }
  }
}

export const slotBytes = [1024, 6144] as const;

/** A slot that holds this value. */
export function slotOf(value: string, bytes: number): Buffer {
  return Buffer.alloc(bytes, `${value};`);
}

export function slotsIn(content: Buffer, bytes: number): string[] {
  const slots: string[] = [];
  for (let at = 0; at < content.length; at += bytes) {
    const slot = content.subarray(at, at + bytes);
    const end = slot.indexOf(';');
    const value = end < 0 ? '' : slot.toString('utf8', 0, end);
    const isWhole = slot.equals(end < 0 ? Buffer.alloc(bytes) : slotOf(value, bytes));
    slots.push(isWhole ? value : `torn ${value}`);
  }
  return slots;
}

export function sizeOf(object: string): number {
  return slotBytes[object.charCodeAt(object.length - 1) % slotBytes.length] ?? slotBytes[0];
}

export async function sometimes(random: () => number, share: number): Promise<void> {
  if (random() < share) await turn();
}
