// The embedded engine: LevelDB, on disk or in memory, behind an overlay of what is ordered and not yet durable.
//
//   commit   checks the reads, draws a version, puts the writes into the overlay: one synchronous step
//   groups   write the overlay to disk, one synced batch at a time, and take from it what is there
//   readers  look into the overlay first, then into LevelDB
//
// Each group also stores the last version, the last stamp and the clock, so that a start goes on above them.
// A version is never drawn twice: a start begins `maxAhead` above the last one stored, no more than that many
// are drawn ahead of the disk, and the new beginning is on disk before the first is drawn.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapKey } from '../base/bytes.js';
import { SystemClock } from '../base/clock.js';
import { type Files, realFiles } from '../base/files.js';
import { Stamps } from '../base/stamps.js';
import { type BackupSource, Backups } from './backup.js';
import { ChangeLog } from './change-log.js';
import { type Disk, folderDisk, memoryDisk } from './disk.js';
import type {
  Awaitable,
  BackupInfo,
  BackupOptions,
  Change,
  CheckedPage,
  Committed,
  DurableCommit,
  Engine,
  Health,
  Key,
  NamedKey,
  Page,
  RangeOptions,
  Snapshot,
  Version,
  Versioned,
} from './engine.js';
import { ClosedError, LostError } from './errors.js';
import { type Group, type GroupInfo, Groups, type GroupWriter } from './groups.js';
import type { Moment } from './handle.js';
import { Listeners } from './listeners.js';
import { LiveStore } from './live-store.js';
import { type Marks, marksOperation } from './marks.js';
import { Newest } from './newest.js';
import { maxAhead, Ordering, readOnly } from './ordering.js';
import { encodeRecord } from './record.js';
import { LevelSnapshot } from './snapshot.js';
import { Space } from './space.js';
import { inEachTurn, type Operation } from './store.js';
import { LevelPage } from './watches.js';

export interface EngineOptions {
  readonly clock?: SystemClock;
  readonly stamps?: Stamps;
  /** New data is refused while less is free; 256 MiB unless given. */
  readonly floorBytes?: number;
  /** How long after a failed attempt the next one is made to open the store again. */
  readonly retryMs?: number;
  /** How much may be noted for incremental backups before the next one must be full; 256 MiB unless given. */
  readonly maxChangeLogBytes?: number;
  /** The disk, backups included. */
  readonly files?: Files;
  /** Told of each group that reached the disk. */
  readonly wrote?: (group: GroupInfo) => void;
  /** Whether this thread has had more to do than to wait since it was last asked, see groups.ts; measured unless given. */
  readonly isLoaded?: () => boolean;
}

const defaultFloorBytes = 256 * 1024 * 1024;
const defaultChangeLogBytes = 256 * 1024 * 1024;
const tickMs = 1000;

export async function openEngine(
  where: { readonly location: string } | { readonly memory: true },
  options: EngineOptions = {},
): Promise<Engine> {
  if ('location' in where) return openEngineOn(await folderDisk(where.location, options), options);
  // What this thread does itself takes no turns with it: timers and sockets would never get theirs.
  return openEngineOn(memoryDisk(), { isLoaded: () => false, ...options });
}

/** On a disk of the caller's: for tests that make it fail. */
export async function openEngineOn(disk: Disk, options: EngineOptions = {}): Promise<Engine> {
  const engine = new LevelEngine(disk, options);
  try {
    await engine.open();
  } catch (error) {
    await disk.close();
    throw error;
  }
  return engine;
}

class LevelEngine implements Engine, GroupWriter {
  readonly clock: SystemClock;
  readonly stamps: Stamps;
  readonly #live: LiveStore;
  readonly #space: Space;
  readonly #groups: Groups;
  readonly #newest: Newest;
  readonly #ordering: Ordering;
  readonly #changeLog: ChangeLog;
  readonly #backups: Backups;
  readonly #changed = new Listeners<DurableCommit>();
  readonly #wasReset = new Listeners<void>();
  readonly #wrote: EngineOptions['wrote'];
  #timer: NodeJS.Timeout | undefined;
  #closed: Promise<void> | undefined;

  constructor(disk: Disk, options: EngineOptions) {
    this.clock = options.clock ?? new SystemClock();
    this.stamps = options.stamps ?? new Stamps(this.clock);
    this.#wrote = options.wrote;
    this.#groups = new Groups(this, options.isLoaded);
    this.#space = new Space(disk, options.floorBytes ?? defaultFloorBytes);
    this.#changeLog = new ChangeLog(options.maxChangeLogBytes ?? defaultChangeLogBytes);
    this.#backups = new Backups(this.#backupSource(), this.#changeLog, options.files ?? realFiles);
    this.#live = new LiveStore(disk, {
      load: (store) => this.#changeLog.load(store),
      marks: (found) => this.#marksAfter(found),
      reopened: () => this.#reopened(),
      retryMs: options.retryMs ?? tickMs,
    });
    this.#newest = new Newest(this.#live, this.#groups);
    this.#ordering = new Ordering(this.#live, this.#newest, this.#groups, this.#space);
  }

  async open(): Promise<void> {
    await this.#live.open();
    await this.#space.ask();
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  get(key: Key): Awaitable<Versioned> {
    return this.find({ key, name: mapKey(key) });
  }

  find(key: NamedKey): Awaitable<Versioned> {
    const handle = this.#newest.handle();
    if (handle === undefined) return this.#newest.later(() => this.find(key));
    return this.#newest.find(handle, key);
  }

  getMany(keys: readonly Key[]): Awaitable<readonly Versioned[]> {
    const handle = this.#newest.handle();
    if (handle === undefined) return this.#newest.later(() => this.getMany(keys));
    return keys.map((key) => this.#newest.find(handle, { key, name: mapKey(key) }));
  }

  async range(from: Key, to: Key | undefined, options?: RangeOptions): Promise<Page> {
    const handle = this.#newest.handle();
    if (handle === undefined) return this.#newest.later(() => this.range(from, to, options));
    const page = await handle.page(this.#newest.view(), { from, to, options });
    // What was lost while it was read was never there: who has seen it is told of losses no more.
    return this.#groups.isLost(page.seen) ? this.range(from, to, options) : page;
  }

  async checkedRange(from: Key, to: Key | undefined, options?: RangeOptions): Promise<CheckedPage> {
    const watch = this.#newest.watches.begin(from, to, options?.reverse ?? false);
    try {
      const page = await this.range(from, to, options);
      watch.cover(page.more ? page.rows.at(-1)?.key : undefined);
      return new LevelPage(page, watch);
    } catch (error) {
      watch[Symbol.dispose]();
      throw error;
    }
  }

  snapshot(): Snapshot {
    const moment = this.#newest.openHandle().moment(this.#newest.view());
    return new LevelSnapshot(moment, this.#groups.newest, this.#assertKept);
  }

  readonly #assertKept = ({ seen, moment }: { seen: Version; moment: Moment }): void => {
    if (this.#newest.closing) throw new ClosedError('The store was closed.');
    if (moment.handle.retired || this.#groups.isLost(seen)) {
      throw new LostError('A write to disk failed, and the snapshot went with it. Take a new one.');
    }
  };

  commit(change: Change): Awaitable<Committed> {
    return this.#ordering.commit(change);
  }

  settled(version: Version): Promise<void> | undefined {
    return this.#groups.settled(version);
  }

  // ---- to disk

  async write(group: Group): Promise<void> {
    this.#newest.active = false;
    this.#space.note(group.bytes);
    const operations: Operation[] = [];
    for (const { key, value, version } of group.entries()) {
      const added = operations.push(
        value === undefined
          ? { type: 'del', key }
          : { type: 'put', key, value: encodeRecord(key, value, version) },
      );
      if (added % inEachTurn === 0) await nextTurn();
    }
    operations.push(...this.#changeLog.operations(group.lastVersion, group.entries()));
    operations.push(marksOperation(this.#marks(group.lastVersion)));
    return this.#live.write(operations);
  }

  durable(group: Group, ms: number): void {
    this.#live.handle?.changed();
    this.#newest.stored(group);
    this.#wrote?.({ commits: group.commits.length, bytes: group.bytes, ms });
    if (this.#changed.any) for (const commit of group.commits) this.#changed.tell(commit);
  }

  lost(reason: 'store' | 'after', cause: unknown): void {
    if (reason === 'store') this.#live.fail(cause);
    this.#reset();
  }

  #reopened(): void {
    void this.#space.ask();
    this.#reset();
  }

  #reset(): void {
    this.#newest.reset();
    this.#wasReset.tell();
  }

  #marks(version: Version): Marks {
    return { version, stamp: this.stamps.last, clock: this.clock.unshifted() };
  }

  #marksAfter(found: Marks): Marks {
    this.clock.raiseTo(found.clock);
    this.stamps.raiseTo(found.stamp);
    const { lastVersion } = this.#groups;
    // After a failure one above the last, which was lost: what is seen from now on must not be taken for that.
    this.#groups.startAbove(lastVersion === 0 ? found.version + maxAhead : lastVersion + 1);
    return this.#marks(this.#groups.lastVersion);
  }

  /** The clock is stored at least each second while anything happens. */
  #tick(): void {
    if (this.#newest.active && this.#live.writable && this.#groups.list.length === 0) this.#groups.touch();
    this.#space.note(0);
    void this.#space.keepReserve();
    void this.#backups.tidy();
  }

  // ---- the rest of the contract

  changes(listener: (commit: DurableCommit) => void): () => void {
    return this.#changed.add(listener);
  }

  resets(listener: () => void): () => void {
    return this.#wasReset.add(listener);
  }

  health(): Health {
    const { freeBytes, low } = this.#space;
    const { damage, cause, writable } = this.#live;
    const state = this.#newest.closing ? 'closed' : !writable ? 'failed' : low ? 'full' : 'open';
    return {
      state,
      freeBytes,
      waitingBytes: this.#groups.bytes,
      ...(state === 'failed' && { cause }),
      ...(damage && { damage }),
    };
  }

  backup(folder: string, options: BackupOptions): Promise<BackupInfo> {
    return this.#backups.take(folder, options);
  }

  #backupSource(): BackupSource {
    return {
      snapshot: () => this.snapshot(),
      settled: (version) => this.settled(version),
      marks: (version) => this.#marks(version),
      store: () => this.#newest.openHandle().store,
      flush: async () => {
        if (!this.#live.writable) throw readOnly(this.#live.cause);
        await this.#groups.touch();
      },
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#newest.closing = true;
    clearInterval(this.#timer);
    while (this.#groups.list.length > 0) {
      await this.#groups.list.at(-1)?.durable.catch(() => {});
    }
    await this.#live.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
