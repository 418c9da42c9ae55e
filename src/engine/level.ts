// The embedded engine: LevelDB, on disk or in memory, behind an overlay of what is ordered and not yet durable.
//
//   commit   checks the reads, draws a version, puts the writes into the overlay: one synchronous step
//   groups   write the overlay to disk, one synced batch at a time, and take from it what is there
//   readers  look into the overlay first, then into LevelDB
//
// Each group also stores the last version, the last stamp and the clock, so that a start goes on above them.
// A version is never drawn twice: a start begins `maxAhead` above the last one stored, no more than that many
// are drawn ahead of the disk, and the new beginning is on disk before the first is drawn.

import { mapKey } from '../base/bytes.js';
import { SystemClock } from '../base/clock.js';
import { type Files, realFiles } from '../base/files.js';
import { Stamps } from '../base/stamps.js';
import { type BackupSource, Backups } from './backup.js';
import { measureChange, onlyFrees, onlyReads } from './change.js';
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
  Page,
  RangeOptions,
  Snapshot,
  Version,
  Versioned,
} from './engine.js';
import { ClosedError, LostError, ReadOnlyError, UnavailableError } from './errors.js';
import { type Group, Groups, type GroupWriter } from './groups.js';
import { type Handle, type Moment, shown } from './handle.js';
import { LiveStore } from './live-store.js';
import { type Marks, marksOperation } from './marks.js';
import { newestIn, type View } from './overlay.js';
import { encodeRecord } from './record.js';
import { LevelSnapshot } from './snapshot.js';
import { Space } from './space.js';
import type { Operation } from './store.js';
import { countUp, judgeReads, type Seen } from './verdict.js';
import { KnownVersions } from './versions.js';
import { LevelPage, Watches } from './watches.js';

export interface EngineOptions {
  readonly clock?: SystemClock;
  readonly stamps?: Stamps;
  /** New data is refused while less is free; 256 MiB unless given. */
  readonly floorBytes?: number;
  /** How long after a failed attempt the next one is made to open the store again. */
  readonly retryMs?: number;
  /** How much may be noted for incremental backups before the next one must be full; 256 MiB unless given. */
  readonly maxChangeLogBytes?: number;
  /** Where backups are written. */
  readonly files?: Files;
}

/** At most so much waits for the disk; then `commit` waits. */
const maxWaitingBytes = 32 * 1024 * 1024;
/** At most so many versions are drawn ahead of the disk. */
const maxAhead = 1 << 20;
const defaultFloorBytes = 256 * 1024 * 1024;
const defaultChangeLogBytes = 256 * 1024 * 1024;
const tickMs = 1000;

export async function openEngine(
  where: { readonly location: string } | { readonly memory: true },
  options: EngineOptions = {},
): Promise<Engine> {
  return openEngineOn('location' in where ? await folderDisk(where.location) : memoryDisk(), options);
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
  readonly #groups = new Groups(this);
  readonly #watches = new Watches();
  readonly #changeLog: ChangeLog;
  readonly #backups: Backups;
  readonly #known = new KnownVersions();
  readonly #changeListeners = new Set<(commit: DurableCommit) => void>();
  readonly #resetListeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #closing = false;
  /** The newest version that a view was taken at. */
  #viewed: Version = 0;
  /** Whether anything was done since the marks were last stored. */
  #active = false;

  constructor(disk: Disk, options: EngineOptions) {
    this.clock = options.clock ?? new SystemClock();
    this.stamps = options.stamps ?? new Stamps(this.clock);
    this.#space = new Space(disk, options.floorBytes ?? defaultFloorBytes);
    this.#changeLog = new ChangeLog(options.maxChangeLogBytes ?? defaultChangeLogBytes);
    this.#backups = new Backups(this.#backupSource(), this.#changeLog, options.files ?? realFiles);
    this.#live = new LiveStore(disk, {
      load: (store) => this.#changeLog.load(store),
      marks: (found) => this.#marksAfter(found),
      reopened: () => this.#reopened(),
      retryMs: options.retryMs ?? tickMs,
    });
  }

  async open(): Promise<void> {
    await this.#live.open();
    await this.#space.ask();
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  // ---- reading

  get(key: Key): Awaitable<Versioned> {
    const handle = this.#handle();
    return handle === undefined ? this.#later(() => this.get(key)) : this.#newest(handle, key);
  }

  getMany(keys: readonly Key[]): Awaitable<readonly Versioned[]> {
    const handle = this.#handle();
    if (handle === undefined) return this.#later(() => this.getMany(keys));
    return keys.map((key) => this.#newest(handle, key));
  }

  range(from: Key, to: Key | undefined, options?: RangeOptions): Promise<Page> {
    const handle = this.#handle();
    if (handle === undefined) return this.#later(() => this.range(from, to, options));
    return handle.page(this.#view(), { from, to, options });
  }

  snapshot(): Snapshot {
    const handle = this.#handle();
    if (handle === undefined) throw new UnavailableError('The store is being opened again. Try again.');
    return new LevelSnapshot(handle.moment(this.#view()), this.#groups.newest, this.#assertKept);
  }

  async checkedRange(from: Key, to: Key | undefined, options?: RangeOptions): Promise<CheckedPage> {
    const watch = this.#watches.begin(from, to, options?.reverse ?? false);
    try {
      const page = await this.range(from, to, options);
      watch.cover(page.more ? page.rows.at(-1)?.key : undefined);
      return new LevelPage(page, watch);
    } catch (error) {
      watch[Symbol.dispose]();
      throw error;
    }
  }

  /** Nothing while the store is being opened again. */
  #handle(): Handle | undefined {
    if (this.#closing) throw new ClosedError('The store was closed.');
    this.#active = true;
    return this.#live.handle;
  }

  async #later<T>(read: () => Awaitable<T>): Promise<T> {
    await this.#live.opened;
    return read();
  }

  #newest(handle: Handle, key: Key): Versioned {
    const name = mapKey(key);
    const entry = newestIn(this.#groups.list, name);
    if (entry !== undefined) return shown(entry);
    const found = handle.get(key);
    this.#known.set(name, found.version);
    return found;
  }

  /** The version alone, mostly without going to the store. */
  #newestVersion(handle: Handle, key: Key): Seen {
    const name = mapKey(key);
    const entry = newestIn(this.#groups.list, name);
    if (entry !== undefined) return shown(entry);
    const version = this.#known.get(name);
    return version === undefined ? this.#newest(handle, key) : { version, seen: 0 };
  }

  #view(): View {
    this.#viewed = this.#groups.lastVersion;
    return { layers: this.#groups.list, version: this.#viewed };
  }

  readonly #assertKept = ({ seen, moment }: { seen: Version; moment: Moment }): void => {
    if (this.#closing) throw new ClosedError('The store was closed.');
    if (moment.handle.retired || this.#groups.isLost(seen)) {
      throw new LostError('A write to disk failed, and the snapshot went with it. Take a new one.');
    }
  };

  // ---- committing

  commit(change: Change): Awaitable<Committed> {
    const bytes = measureChange(change);
    if (this.#mustWait()) return this.#commitLater(change, bytes);
    try {
      return this.#commit(change, bytes);
    } finally {
      closePages(change);
    }
  }

  settled(version: Version): Promise<void> | undefined {
    return this.#groups.settled(version);
  }

  #mustWait(): boolean {
    const { bytes, lastVersion, durableVersion } = this.#groups;
    return bytes > maxWaitingBytes || lastVersion - durableVersion >= maxAhead - 1;
  }

  async #commitLater(change: Change, bytes: number): Promise<Committed> {
    try {
      while (this.#mustWait()) await this.#groups.list[0]?.durable.catch(() => {});
      return this.#commit(change, bytes);
    } finally {
      closePages(change);
    }
  }

  #commit(change: Change, bytes: number): Committed {
    const judged = onlyReads(change);
    if (!judged && !this.#closing && !this.#live.writable) throw readOnly(this.#live.cause);
    const handle = this.#handle();
    if (handle === undefined) throw readOnly(this.#live.cause);
    const seen = judgeReads(change, (key) => this.#newestVersion(handle, key), this.#groups.lastLost);
    if (judged) {
      return { version: this.#groups.newest, durable: this.#groups.settled(seen) ?? Promise.resolve() };
    }
    if (this.#space.low && !onlyFrees(change)) this.#refuseFull();
    const counters = countUp(change.adds ?? [], (key) => this.#newest(handle, key));
    const group = this.#groups.next(change.after);
    const version = group.lastVersion;
    const writes = change.writes ?? [];
    for (const { key, value } of writes) this.#put(group, key, value, version);
    for (const { key, value } of counters) this.#put(group, key, value, version);
    return this.#groups.ordered(group, { version, writes }, bytes);
  }

  #put(group: Group, key: Key, value: Uint8Array | undefined, version: Version): void {
    const name = mapKey(key);
    group.put(name, { key, value, version }, this.#viewed);
    this.#known.forget(name);
    this.#watches.wrote(name);
  }

  #refuseFull(): never {
    this.#space.note(0);
    throw new ReadOnlyError(
      `The disk is nearly full: ${this.#space.freeBytes} bytes are free. New data is refused until something is deleted.`,
    );
  }

  // ---- to disk

  write(group: Group): Promise<void> {
    this.#active = false;
    this.#space.note(group.bytes);
    const operations: Operation[] = [];
    for (const { key, value, version } of group.entries()) {
      operations.push(
        value === undefined
          ? { type: 'del', key }
          : { type: 'put', key, value: encodeRecord(key, value, version) },
      );
    }
    operations.push(...this.#changeLog.operations(group.lastVersion, group.entries()));
    operations.push(marksOperation(this.#marks(group.lastVersion)));
    return this.#live.write(operations);
  }

  durable(group: Group): void {
    this.#live.handle?.changed();
    if (this.#changeListeners.size === 0) return;
    for (const commit of group.commits) {
      for (const listener of this.#changeListeners) listener(commit);
    }
  }

  lost(reason: 'store' | 'after', cause: unknown): void {
    if (reason === 'store') this.#live.fail(cause);
    this.#reset();
  }

  #marks(version: Version): Marks {
    return { version, stamp: this.stamps.last, clock: this.clock.unshifted() };
  }

  #marksAfter(found: Marks): Marks {
    this.clock.raiseTo(found.clock);
    this.stamps.raiseTo(found.stamp);
    const { lastVersion } = this.#groups;
    this.#groups.startAbove(lastVersion === 0 ? found.version + maxAhead : lastVersion);
    return this.#marks(this.#groups.lastVersion);
  }

  #reopened(): void {
    void this.#space.ask();
    this.#reset();
  }

  #reset(): void {
    this.#known.clear();
    this.#watches.breakAll();
    for (const listener of this.#resetListeners) listener();
  }

  /** The clock is stored at least each second while anything happens. */
  #tick(): void {
    if (this.#active && this.#live.writable && this.#groups.list.length === 0) this.#groups.touch();
    this.#space.note(0);
    void this.#space.keepReserve();
    void this.#backups.tidy();
  }

  // ---- the rest of the contract

  changes(listener: (commit: DurableCommit) => void): () => void {
    return subscribe(this.#changeListeners, (commit) => listener(commit));
  }

  resets(listener: () => void): () => void {
    return subscribe(this.#resetListeners, () => listener());
  }

  health(): Health {
    const { low } = this.#space;
    const { damage, cause, writable } = this.#live;
    const state = this.#closing ? 'closed' : !writable ? 'failed' : low ? 'full' : 'open';
    return {
      state,
      freeBytes: this.#space.freeBytes,
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
      store: () => {
        const handle = this.#handle();
        if (handle === undefined) throw new UnavailableError('The store is being opened again. Try again.');
        return handle.store;
      },
      flush: async () => {
        if (!this.#live.writable) throw readOnly(this.#live.cause);
        await this.#groups.touch();
      },
    };
  }

  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
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

function closePages({ pages }: Change): void {
  for (const page of pages ?? []) page[Symbol.dispose]();
}

/** The same function given twice is two listeners. */
function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function readOnly(cause: unknown): ReadOnlyError {
  return new ReadOnlyError('Writes are refused for now, because a write to disk failed. Try again later.', {
    cause,
  });
}
