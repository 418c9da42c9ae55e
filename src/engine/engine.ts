// The contract of the store: an ordered map from byte keys to values, each with the version of the commit
// that wrote it. There is one history. A commit is first ordered: its place is fixed and every reader sees
// it. Then it is durable: on disk. Rules live above this contract; engines know how to store.

import type { Awaitable } from '../base/awaitable.js';
import type { SystemClock } from '../base/clock.js';
import type { Stamps } from '../base/stamps.js';

export type { Awaitable } from '../base/awaitable.js';

export type Key = Uint8Array;

/** A key and its name, as `mapKey` tells it. The bytes may be made only when they are asked for (keys.ts). */
export interface NamedKey {
  readonly key: Key;
  readonly name: string;
}

/** The commit that wrote a value; 0: absent. Never drawn twice. Above the engine compared for equality only. */
export type Version = number;

/** What stands under a key. */
export interface Versioned {
  /** Not to be written to; nothing where the key is absent. */
  readonly value: Uint8Array | undefined;
  readonly version: Version;
  /** The commit that made it so if it may not be durable yet, also for an absent key, else 0: who tells of it outside waits for `settled(seen)`. */
  readonly seen: Version;
}

export interface Row {
  readonly key: Key;
  /** Empty where only keys were asked for. */
  readonly value: Uint8Array;
  readonly version: Version;
}

export interface RangeOptions {
  readonly reverse?: boolean;
  /** At most so many rows; 1,000 unless given. */
  readonly limit?: number;
  /** The page ends after the row that brings it to so many bytes; 4 MiB unless given. */
  readonly maxBytes?: number;
  readonly keysOnly?: boolean;
}

/** Rows of one moment, in the order asked for. */
export interface Page {
  readonly rows: readonly Row[];
  /** Whether the range goes on behind the last row. */
  readonly more: boolean;
  /** The newest commit that this answer depends on, removals included. */
  readonly seen: Version;
}

/** A page that can be checked at commit. Closed by the commit that names it, however that ends, or by hand. */
export interface CheckedPage extends Page, Disposable {}

export interface Reader {
  get(key: Key): Awaitable<Versioned>;
  /** In the order of `keys`. */
  getMany(keys: readonly Key[]): Awaitable<readonly Versioned[]>;
  /** From `from` up to but not including `to` (nothing: to the end). */
  range(from: Key, to: Key | undefined, options?: RangeOptions): Awaitable<Page>;
}

/** Fixed: all that was ordered when it was taken, nothing later. Takes no lock, never blocks a writer. */
export interface Snapshot extends Reader, Disposable {
  /** The newest commit in it. */
  readonly seen: Version;
}

export interface KeyRead {
  readonly key: Key;
  readonly version: Version;
  /** The caller has held a lock on it ever since: not looked at again unless something was lost meanwhile. */
  readonly locked?: boolean;
}

export interface Write {
  readonly key: Key;
  /** As `mapKey` tells it, where the caller has that already. */
  readonly name?: string;
  /** Nothing: remove. The engine keeps it: not to be changed afterwards. */
  readonly value: Uint8Array | undefined;
}

export interface Add {
  readonly key: Key;
  readonly amount: number;
  /** The counter must not exceed this, else the commit is refused with a `LimitError`. */
  readonly max?: number;
}

export interface Change {
  readonly reads?: readonly KeyRead[];
  /** Pages from `checkedRange`: each must still be what it was. */
  readonly pages?: readonly CheckedPage[];
  readonly writes?: readonly Write[];
  /** Amounts for counters: they lock nothing and conflict with nothing. A key is a counter or a value, never both. */
  readonly adds?: readonly Add[];
  /** What must be on disk before this may be. If it rejects, the commit is lost with all that came after it. */
  readonly after?: Promise<unknown> | undefined;
  /** It gives space back, like a delete that leaves a note for the sweeper: let through when the disk is nearly full. */
  readonly frees?: boolean;
}

export interface Committed {
  readonly version: Version;
  /** On disk, and only now may a client be told. Rejects with `LostError`: the outcome is unknown. */
  readonly durable: Promise<void>;
}

export interface DurableCommit {
  readonly version: Version;
  readonly writes: readonly Write[];
}

export interface BackupOptions {
  readonly kind: 'full' | 'incremental';
  /**
   * Called with the snapshot the backup is of, while it is open, and the id of the one it stands on, if any: what else
   * belongs to that instant is copied here, and is on disk when the promise resolves.
   */
  readonly during?: (snapshot: Snapshot, parent: string | undefined) => Promise<void>;
  /** Called when all of it is on disk and before it counts. If this rejects, it does not, and its files are removed. */
  readonly accept?: (info: BackupInfo) => Promise<void>;
  readonly signal?: AbortSignal;
  readonly progress?: (done: { rows: number; bytes: number }) => void;
}

export interface BackupInfo {
  readonly kind: 'full' | 'incremental';
  readonly id: string;
  /** Its own id for a full one. */
  readonly parent: string;
  readonly firstVersion: Version;
  readonly lastVersion: Version;
}

export interface Health {
  /** `full`: new data is refused, what frees space is not. `failed`: all writes are refused, until the disk works. */
  readonly state: 'open' | 'full' | 'failed' | 'closed';
  /** Why, where it failed. */
  readonly cause?: unknown;
  /** What was found damaged since the start. Reads of what it may touch throw it; the rest goes on. */
  readonly damage?: Error;
  readonly freeBytes: number;
  /** How much is ordered and waits for the disk. */
  readonly waitingBytes: number;
}

export interface Engine extends Reader, AsyncDisposable {
  /** The clock and the stamps, set on from the last values stored; each group stores them again. */
  readonly clock: SystemClock;
  readonly stamps: Stamps;

  /** As `get`, for who has the key's name already. */
  find(key: NamedKey): Awaitable<Versioned>;

  /** The same state, fixed. Dispose it soon. */
  snapshot(): Snapshot;

  /** A range of the newest state that a commit can check: no key in what it covers has changed, come or gone. */
  checkedRange(from: Key, to: Key | undefined, options?: RangeOptions): Awaitable<CheckedPage>;

  /**
   * Judged and applied at one moment, all or nothing; a commit that only reads is judged as well.
   * Refused with `ConflictError` if a read no longer holds. Resolves when ordered; what need not wait is done,
   * or thrown, at once. A key does not begin with 0xff.
   */
  commit(change: Change): Awaitable<Committed>;

  /** Nothing if all up to `version` is on disk, else a promise of that, which rejects if it was lost. */
  settled(version: Version): Promise<void> | undefined;

  /** Each commit, in order, once it is durable. The result ends it. */
  changes(listener: (commit: DurableCommit) => void): () => void;

  /**
   * Called when ordered commits were lost, and again when the store was opened anew and some of them may have
   * turned up: what is kept in memory beside the store is then to be read again. The result ends it.
   */
  resets(listener: () => void): () => void;

  /** How it is; nothing is awaited. */
  health(): Health;

  /** A consistent copy of one instant into an empty folder while work goes on. */
  backup(folder: string, options: BackupOptions): Promise<BackupInfo>;

  /** Ends when all that is ordered is durable or lost. */
  close(): Promise<void>;
}

/** The largest key and value an engine takes. */
export const maxKeyBytes = 16 * 1024;
export const maxValueBytes = 16 * 1024 * 1024;
/** The largest change, keys and values together. */
export const maxChangeBytes = 64 * 1024 * 1024;
