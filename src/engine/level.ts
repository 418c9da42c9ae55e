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
import { Stamps } from '../base/stamps.js';
import { measureChange, onlyReads } from './change.js';
import { decodeCounter, encodeCounter } from './counter.js';
import type {
  Add,
  Awaitable,
  BackupInfo,
  Change,
  CheckedPage,
  Committed,
  DurableCommit,
  Engine,
  Key,
  Page,
  RangeOptions,
  Snapshot,
  Version,
  Versioned,
  Write,
} from './engine.js';
import { ClosedError, ConflictError, EngineError, LimitError, LostError, ReadOnlyError } from './errors.js';
import { type Group, Groups, type GroupWriter } from './groups.js';
import { loadMarks, marksOperation } from './marks.js';
import type { View } from './overlay.js';
import { readPage } from './page-reader.js';
import { encodeRecord } from './record.js';
import { LevelSnapshot, readStored, SharedSnapshot } from './snapshots.js';
import { type Operation, openLevelStore, openMemoryStore, type Store } from './store.js';
import { type Watch, Watches } from './watches.js';

export interface EngineOptions {
  readonly clock?: SystemClock;
  readonly stamps?: Stamps;
}

/** At most so much waits for the disk; then `commit` waits. */
const maxWaitingBytes = 32 * 1024 * 1024;
/** At most so many versions are drawn ahead of the disk. */
const maxAhead = 1 << 20;
const marksIntervalMs = 1000;

export async function openEngine(
  where: { readonly location: string } | { readonly memory: true },
  options: EngineOptions = {},
): Promise<Engine> {
  const store = 'location' in where ? await openLevelStore(where.location) : await openMemoryStore();
  const clock = options.clock ?? new SystemClock();
  const stamps = options.stamps ?? new Stamps(clock);
  const marks = loadMarks(store);
  clock.raiseTo(marks.clock);
  stamps.raiseTo(marks.stamp);
  const version = marks.version + maxAhead;
  await store.write([marksOperation({ version, stamp: stamps.last, clock: clock.unshifted() })]);
  return new LevelEngine(store, clock, stamps, version);
}

class LevelPage implements CheckedPage {
  readonly rows: Page['rows'];
  readonly more: boolean;
  readonly seen: Version;
  readonly watch: Watch;

  constructor({ rows, more, seen }: Page, watch: Watch) {
    this.rows = rows;
    this.more = more;
    this.seen = seen;
    this.watch = watch;
  }

  [Symbol.dispose](): void {
    this.watch[Symbol.dispose]();
  }
}

class LevelEngine implements Engine, GroupWriter {
  readonly clock: SystemClock;
  readonly stamps: Stamps;
  readonly #store: Store;
  readonly #groups: Groups;
  readonly #watches = new Watches();
  readonly #listeners = new Set<(commit: DurableCommit) => void>();
  readonly #timer: NodeJS.Timeout;
  #state: 'open' | 'read-only' | 'closed' = 'open';
  #shared: SharedSnapshot | undefined;
  /** The newest version that a view was taken at. */
  #viewed: Version = 0;
  /** Whether anything was done since the marks were last stored. */
  #active = false;

  constructor(store: Store, clock: SystemClock, stamps: Stamps, version: Version) {
    this.#store = store;
    this.clock = clock;
    this.stamps = stamps;
    this.#groups = new Groups(this, version);
    this.#timer = setInterval(() => this.#storeMarks(), marksIntervalMs).unref();
  }

  get(key: Key): Versioned {
    this.#assertOpen();
    this.#active = true;
    return this.#newest(key);
  }

  getMany(keys: readonly Key[]): readonly Versioned[] {
    return keys.map((key) => this.get(key));
  }

  range(from: Key, to: Key | undefined, options?: RangeOptions): Promise<Page> {
    this.#assertOpen();
    this.#active = true;
    return readPage(this.#store, undefined, this.#view(), { from, to }, options);
  }

  snapshot(): Snapshot {
    this.#assertOpen();
    this.#active = true;
    this.#shared ??= new SharedSnapshot(this.#store).hold();
    return new LevelSnapshot(this.#shared, this.#view(), this.#groups.newest, this.#assertKept);
  }

  async checkedRange(from: Key, to: Key | undefined, options?: RangeOptions): Promise<CheckedPage> {
    this.#assertOpen();
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

  commit(change: Change): Awaitable<Committed> {
    const bytes = measureChange(change);
    return this.#mustWait() ? this.#commitLater(change, bytes) : this.#commit(change, bytes);
  }

  settled(version: Version): Promise<void> | undefined {
    return this.#groups.settled(version);
  }

  changes(listener: (commit: DurableCommit) => void): () => void {
    const own = (commit: DurableCommit): void => listener(commit);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  backup(): Promise<BackupInfo> {
    return Promise.reject(new EngineError('This engine has no backup yet.'));
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    clearInterval(this.#timer);
    while (this.#groups.list.length > 0) {
      await this.#groups.list.at(-1)?.durable.catch(() => {});
    }
    this.#dropShared();
    await this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // ---- reading

  #newest(key: Key): Versioned {
    const layers = this.#groups.list;
    if (layers.length > 0) {
      const name = mapKey(key);
      for (let index = layers.length - 1; index >= 0; index--) {
        const entry = layers[index]?.newest(name);
        if (entry === undefined) continue;
        const { value, version } = entry;
        return { value, version: value === undefined ? 0 : version, seen: version };
      }
    }
    return readStored(this.#store, key, undefined);
  }

  #view(): View {
    this.#viewed = this.#groups.lastVersion;
    return { layers: this.#groups.list, version: this.#viewed };
  }

  readonly #assertKept = (seen: Version): void => {
    this.#assertOpen();
    if (this.#groups.isLost(seen)) {
      throw new LostError('The snapshot shows changes that were lost when a write to disk failed.');
    }
  };

  #assertOpen(): void {
    if (this.#state === 'closed') throw new ClosedError('The store was closed.');
  }

  #dropShared(): void {
    this.#shared?.release();
    this.#shared = undefined;
  }

  // ---- committing

  #mustWait(): boolean {
    const { bytes, lastVersion, durableVersion } = this.#groups;
    return bytes > maxWaitingBytes || lastVersion - durableVersion >= maxAhead - 1;
  }

  async #commitLater(change: Change, bytes: number): Promise<Committed> {
    while (this.#mustWait()) await this.#groups.list[0]?.durable.catch(() => {});
    return this.#commit(change, bytes);
  }

  #commit(change: Change, bytes: number): Committed {
    this.#assertOpen();
    this.#active = true;
    const seen = this.#judge(change);
    if (onlyReads(change)) {
      this.#closePages(change);
      const durable = this.#groups.settled(seen) ?? Promise.resolve();
      return { version: this.#groups.newest, durable };
    }
    if (this.#state === 'read-only') {
      throw new ReadOnlyError('Writes are refused for now, because a write to disk failed. Try again later.');
    }
    const counters = this.#count(change.adds ?? []);
    this.#closePages(change);
    const group = this.#groups.next(change.after);
    const version = group.lastVersion;
    const writes = change.writes ?? [];
    for (const { key, value } of writes) this.#put(group, key, value, version);
    for (const { key, value } of counters) this.#put(group, key, value, version);
    return this.#groups.ordered(group, { version, writes }, bytes);
  }

  /** The newest commit that the reads depend on, or a conflict. */
  #judge({ reads, pages }: Change): Version {
    const { lastLost } = this.#groups;
    let seen = 0;
    for (const { key, version, locked } of reads ?? []) {
      if (locked === true && (lastLost === 0 || version > lastLost)) {
        seen = Math.max(seen, version);
        continue;
      }
      const now = this.#newest(key);
      if (now.version !== version) throw new ConflictError('Somebody else has changed what was read.');
      seen = Math.max(seen, now.seen);
    }
    for (const page of pages ?? []) {
      const { watch } = page as LevelPage;
      if (watch.broken) throw new ConflictError('Somebody else has changed a range that was read.');
      seen = Math.max(seen, page.seen);
    }
    return seen;
  }

  /** What the counters become, or a refusal. */
  #count(adds: readonly Add[]): Write[] {
    const counters = new Map<string, { key: Key; value: Uint8Array; count: number }>();
    for (const { key, amount, max } of adds) {
      const name = mapKey(key);
      const count = (counters.get(name)?.count ?? decodeCounter(this.#newest(key).value)) + amount;
      if (max !== undefined && amount > 0 && count > max) throw new LimitError(key);
      counters.set(name, { key, count, value: encodeCounter(count) });
    }
    return [...counters.values()];
  }

  #put(group: Group, key: Key, value: Uint8Array | undefined, version: Version): void {
    group.put(key, value, version, this.#viewed);
    this.#watches.wrote(key);
  }

  #closePages({ pages }: Change): void {
    for (const page of pages ?? []) page[Symbol.dispose]();
  }

  // ---- to disk

  write(group: Group): Promise<void> {
    this.#active = false;
    const operations: Operation[] = [];
    for (const { key, value, version } of group.entries()) {
      operations.push(
        value === undefined
          ? { type: 'del', key }
          : { type: 'put', key, value: encodeRecord(key, value, version) },
      );
    }
    operations.push(
      marksOperation({
        version: group.lastVersion,
        stamp: this.stamps.last,
        clock: this.clock.unshifted(),
      }),
    );
    return this.#store.write(operations);
  }

  durable(group: Group): void {
    this.#dropShared();
    if (this.#listeners.size === 0) return;
    for (const commit of group.commits) {
      for (const listener of this.#listeners) listener(commit);
    }
  }

  lost(reason: 'store' | 'after'): void {
    if (reason === 'store' && this.#state === 'open') this.#state = 'read-only';
    this.#watches.breakAll();
  }

  /** The clock is stored at least each second while anything happens. */
  #storeMarks(): void {
    if (this.#active && this.#state === 'open' && this.#groups.list.length === 0) this.#groups.touch();
  }
}
