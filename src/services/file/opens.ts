// The lock table of files: who has which file open, over SMB or REST, and what follows from it. One table
// for each server; keyed by the id of the share (never its name, which can be used again) and of the file.
//
// It is asked inside the transaction that holds the lock on the file's record, so nobody else decides about
// the same file meanwhile. An open that must wait for a client to give up what it caches is told `wait`:
// its transaction ends, it waits for `changed` and begins again.
//
//   reserve ──> open ──────────── close ──> forgotten
//      │         └─ marked for deletion ── last close ──> being removed ── removed ──> forgotten
//      └─ withdraw: the transaction failed, as if it had never been
//
// Nothing here is stored: a crash closes all handles, and a file that was marked stays. Memory follows open
// handles; the numbers of handles and locks are bounded.

import { access } from './access.js';
import { type BreakNotice, type Cache, Caches, type CacheWish, ownKey, type Schedule } from './caches.js';
import { type BreakCause, caching } from './caching-rules.js';
import {
  afterClose,
  attributesOnly,
  type RestUse,
  readsPermissionsOnly,
  restConflict,
  sharingConflict,
} from './opens-rules.js';
import { type LockWait, RangeLocks } from './range-locks.js';
import type { Range, RangeLock, RangeUse } from './range-rules.js';
import type { FileRefusal } from './refusals.js';

export interface OpenRequest {
  /** Chosen by the caller; unique in this table. */
  readonly id: bigint;
  readonly volume: string;
  readonly file: bigint;
  readonly access: number;
  readonly share: number;
  /** The open truncates or replaces a file that exists. */
  readonly overwrites: boolean;
  /** The file is new: then even an open of its attributes alone may cache. */
  readonly creates: boolean;
  readonly deleteOnClose: boolean;
  readonly wish: CacheWish;
  /** Not a directory nor in a snapshot: only then the wish can be granted. */
  readonly cacheable: boolean;
  readonly owner: HandleOwner;
}

/** Who holds a handle: what List Handles shows, and who is told. */
export interface HandleOwner {
  readonly sessionId: bigint;
  readonly client: string;
  readonly clientName: string;
  readonly openedAt: number;
  breaking(notice: BreakNotice): void;
  /** The handle was closed by somebody else. */
  closed(): void;
}

export interface OpenHandle {
  readonly id: bigint;
  readonly volume: string;
  readonly file: bigint;
  readonly access: number;
  readonly share: number;
  deleteOnClose: boolean;
  owner: HandleOwner;
}

export type Reserved = Readonly<
  | { outcome: 'open'; cache: Cache | undefined }
  | { outcome: 'wait'; changed: Promise<void> }
  | { outcome: 'refused'; code: FileRefusal }
>;

export type Locked = Readonly<
  { outcome: 'locked' } | { outcome: 'wait'; wait: LockWait } | { outcome: 'refused'; code: FileRefusal }
>;

/** A REST request that may go on; it ends its use of the file with `done`. */
export type RestAdmitted = Readonly<
  | { outcome: 'admitted'; done: () => void }
  | { outcome: 'wait'; changed: Promise<void> }
  | { outcome: 'refused'; code: FileRefusal }
>;

export interface OpenLimits {
  readonly opens: number;
  readonly opensPerFile: number;
  readonly locksPerOpen: number;
  readonly locksPerFile: number;
}

export const openLimits: OpenLimits = {
  opens: 262_144,
  opensPerFile: 2000,
  locksPerOpen: 10_000,
  locksPerFile: 50_000,
};

interface OpenFile {
  readonly volume: string;
  readonly id: bigint;
  readonly handles: Map<bigint, OpenHandle>;
  readonly locks: RangeLocks;
  readonly caches: Caches;
  deletePending: boolean;
  /** Its last handle is closed and its record is being removed. */
  removing: boolean;
  changed: { promise: Promise<void>; tell: () => void } | undefined;
}

const wholeFile: Range = { offset: 0n, length: 2n ** 64n };

export class Opens {
  readonly #volumes = new Map<string, Map<bigint, OpenFile>>();
  readonly #handles = new Map<bigint, OpenFile>();
  /** Which file a client's lease key stands for: a key means one file. */
  readonly #leases = new Map<string, OpenFile>();
  readonly #schedule: Schedule;
  readonly #limits: OpenLimits;
  #breaks = 0;

  constructor(schedule: Schedule, limits: OpenLimits = openLimits) {
    this.#schedule = schedule;
    this.#limits = limits;
  }

  /** Judges a new open and registers it if it may be. */
  async reserve(request: OpenRequest): Promise<Reserved> {
    const file = this.#file(request.volume, request.file) ?? this.#newFile(request.volume, request.file);
    const outcome = this.#judge(file, request);
    if (outcome) {
      this.#forgetIfUnused(file);
      return outcome;
    }
    const { id, volume, access, share, deleteOnClose, owner } = request;
    file.handles.set(id, { id, volume, file: file.id, access, share, deleteOnClose, owner });
    this.#handles.set(id, file);
    this.#volume(volume).set(file.id, file);
    return { outcome: 'open', cache: this.#grant(file, request) };
  }

  #judge(file: OpenFile, request: OpenRequest): Reserved | undefined {
    if (file.deletePending || file.removing) return refused('DeletePending');
    if (file.handles.size >= this.#limits.opensPerFile || this.#handles.size >= this.#limits.opens) {
      return refused('TooManyOpens');
    }
    const key = request.wish.kind === 'lease' ? request.wish.key : ownKey(request.id);
    const leased = this.#leases.get(key);
    if (leased && leased !== file) return refused('InvalidParameter');

    const needed = request.overwrites ? request.access | access.writeData : request.access;
    const conflicts = conflicting(file, { access: needed, share: request.share });
    if (conflicts.length > 0) {
      const ofThem = (cache: Cache) => conflicts.some(({ id }) => cache.opens.has(id));
      return file.caches.break('sharingViolation', key, ofThem) ? waits(file) : refused('SharingViolation');
    }
    if (attributesOnly(needed)) return undefined;
    // Reading the permissions alone is no use that the holder of a lease would notice.
    const only = readsPermissionsOnly(needed) ? (cache: Cache) => cache.kind === 'oplock' : undefined;
    return file.caches.break(request.overwrites ? 'overwrite' : 'open', key, only) ? waits(file) : undefined;
  }

  #grant(file: OpenFile, request: OpenRequest): Cache | undefined {
    const { wish, id } = request;
    if (wish.kind === 'none' || !request.cacheable) return undefined;
    const uses = !attributesOnly(request.access) || request.overwrites || request.creates;
    if (wish.kind === 'oplock' && !uses) return undefined;
    const sameKey = wish.kind === 'lease' ? file.caches.withKey(wish.key)?.opens : undefined;
    const otherOpens = [...file.handles.values()].some(
      (handle) => handle.id !== id && !sameKey?.has(handle.id) && !attributesOnly(handle.access),
    );
    const locked = file.locks.held > 0 && !request.overwrites;
    const cache = file.caches.grant(id, wish, { otherOpens, locked });
    if (cache?.kind === 'lease') this.#leases.set(cache.key, file);
    return cache;
  }

  /** Takes back a reservation whose transaction failed. */
  async withdraw(id: bigint): Promise<void> {
    const file = this.#handles.get(id);
    if (file) this.#release(file, id);
  }

  handle(id: bigint): OpenHandle | undefined {
    return this.#handles.get(id)?.handles.get(id);
  }

  /** Another connection serves the handle from now on, or none for a while. */
  setOwner(id: bigint, owner: HandleOwner): void {
    const handle = this.handle(id);
    if (handle) handle.owner = owner;
  }

  /** The oplock or lease that a handle has a part in. */
  cacheOf(id: bigint): Cache | undefined {
    return this.#handles.get(id)?.caches.of(id);
  }

  /**
   * Closes a handle. `remove`: it was the last one of a file marked for deletion, the caller removes the
   * record and then calls `removed`; until then every open of it is refused.
   */
  async close(id: bigint, forced = false): Promise<'remove' | 'kept'> {
    const file = this.#handles.get(id);
    const handle = file?.handles.get(id);
    if (!file || !handle) return 'kept';
    const after = afterClose({
      deletePending: file.deletePending,
      handleDeletes: handle.deleteOnClose,
      handlesLeft: file.handles.size - 1,
      forced,
    });
    file.deletePending = after === 'marked' || after === 'remove';
    file.removing = after === 'remove';
    this.#release(file, id);
    if (forced) handle.owner.closed();
    return after === 'remove' ? 'remove' : 'kept';
  }

  /** The record of a file whose last handle closed is gone, or stays after all. */
  async removed(volume: string, id: bigint): Promise<void> {
    const file = this.#file(volume, id);
    if (!file) return;
    file.removing = false;
    file.deletePending = false;
    this.#forgetIfUnused(file);
  }

  #release(file: OpenFile, id: bigint): void {
    const cache = file.caches.of(id);
    file.handles.delete(id);
    this.#handles.delete(id);
    file.locks.releaseAll(id);
    file.caches.release(id);
    if (cache?.opens.size === 0) this.#leases.delete(cache.key);
    tellChanged(file);
    this.#forgetIfUnused(file);
  }

  isDeletePending(volume: string, id: bigint): boolean {
    const file = this.#file(volume, id);
    return file !== undefined && (file.deletePending || file.removing);
  }

  /** Marks a file for deletion through one of its handles, or takes the mark away. */
  async setDeletePending(id: bigint, pending: boolean): Promise<void> {
    const file = this.#handles.get(id);
    if (file) file.deletePending = pending;
  }

  async setDeleteOnClose(id: bigint, deletes: boolean): Promise<void> {
    const handle = this.handle(id);
    if (handle) handle.deleteOnClose = deletes;
  }

  /** All handles of a file. */
  handles(volume: string, id: bigint): OpenHandle[] {
    return [...(this.#file(volume, id)?.handles.values() ?? [])];
  }

  /** The ids of all files of a share that are open. */
  openFiles(volume: string): bigint[] {
    return [...(this.#volumes.get(volume)?.values() ?? [])]
      .filter(({ handles }) => handles.size > 0)
      .map(({ id }) => id);
  }

  /** Breaks what a change takes from others' caches. A promise: the change has to wait for it. */
  async break(volume: string, id: bigint, cause: BreakCause, by?: bigint): Promise<Promise<void>[]> {
    const file = this.#file(volume, id);
    if (!file) return [];
    const except = by === undefined ? undefined : file.caches.of(by)?.key;
    return file.caches.break(cause, except) ? [changedOf(file)] : [];
  }

  /** The client of an open or lease says what it keeps. */
  async acknowledge(
    cache: Readonly<{ open: bigint } | { key: string }>,
    state: number,
  ): Promise<Readonly<{ ok: true; state: number } | { ok: false; code: FileRefusal }>> {
    const found =
      'open' in cache
        ? this.#handles.get(cache.open)?.caches.of(cache.open)
        : this.#leases.get(cache.key)?.caches.withKey(cache.key);
    const file = 'open' in cache ? this.#handles.get(cache.open) : this.#leases.get(cache.key);
    if (!found || !file) return { ok: false, code: 'LeaseNotFound' };
    const code = file.caches.acknowledge(found, state);
    return code ? { ok: false, code } : { ok: true, state };
  }

  /** Locks ranges for a handle: all or none; one alone may wait. */
  async lock(id: bigint, locks: readonly RangeLock[], mayWait: boolean): Promise<Locked> {
    const file = this.#handles.get(id);
    if (!file) return refused('HandleClosed');
    if (
      file.locks.held + locks.length > this.#limits.locksPerFile ||
      file.locks.heldBy(id) + locks.length > this.#limits.locksPerOpen
    ) {
      return refused('TooManyLocks');
    }
    const taken = await file.locks.take(locks);
    if (taken) {
      file.caches.break('lock', file.caches.of(id)?.key);
      return { outcome: 'locked' };
    }
    const [only] = locks;
    if (!mayWait || !only) return refused('LockNotGranted');
    return { outcome: 'wait', wait: file.locks.wait(only) };
  }

  /** Releases one lock of exactly this range. */
  async unlock(id: bigint, range: Range): Promise<boolean> {
    return this.#handles.get(id)?.locks.release(id, range) ?? false;
  }

  /** Begins to read or write bytes through a handle: nothing if a lock hinders it, else what ends it. */
  begin(id: bigint, use: RangeUse, range: Range): (() => void) | undefined {
    const file = this.#handles.get(id);
    if (!file || file.locks.hinders(use, id, range)) return undefined;
    if (use === 'write') file.caches.break('write', file.caches.of(id)?.key);
    return file.locks.begin(use, id, range);
  }

  /** Judges a REST request that uses a file. `bytes`: what it reads or writes of the contents, if any. */
  async admit(
    volume: string,
    id: bigint,
    use: RestUse | undefined,
    cause: BreakCause | undefined,
    bytes?: { use: RangeUse; range?: Range },
  ): Promise<RestAdmitted> {
    const file = this.#file(volume, id);
    if (!file) return { outcome: 'admitted', done: () => {} };
    if (file.deletePending || file.removing) return refused('DeletePending');
    const conflicts = use ? [...file.handles.values()].filter((handle) => restConflict(use, handle)) : [];
    if (conflicts.length > 0) {
      const ofThem = (cache: Cache) => conflicts.some((handle) => cache.opens.has(handle.id));
      return file.caches.break('sharingViolation', undefined, ofThem)
        ? waits(file)
        : refused('SharingViolation');
    }
    const range = bytes?.range ?? wholeFile;
    if (bytes && file.locks.refusesRest(bytes.use, range)) return refused('FileLockConflict');
    if (cause && file.caches.break(cause, undefined)) return waits(file);
    return { outcome: 'admitted', done: bytes ? file.locks.begin(bytes.use, 0n, range) : () => {} };
  }

  /** Numbers for metrics and tests; all are zero when nobody has a file open. */
  get counters(): Readonly<{
    files: number;
    handles: number;
    locks: number;
    caches: number;
    breaks: number;
  }> {
    const files = [...this.#volumes.values()].flatMap((volume) => [...volume.values()]);
    return {
      files: files.length,
      handles: this.#handles.size,
      locks: files.reduce((sum, file) => sum + file.locks.held, 0),
      caches: files.reduce((sum, file) => sum + file.caches.count, 0),
      breaks: this.#breaks,
    };
  }

  #volume(volume: string): Map<bigint, OpenFile> {
    const known = this.#volumes.get(volume);
    if (known) return known;
    const made = new Map<bigint, OpenFile>();
    this.#volumes.set(volume, made);
    return made;
  }

  #file(volume: string, id: bigint): OpenFile | undefined {
    return this.#volumes.get(volume)?.get(id);
  }

  #newFile(volume: string, id: bigint): OpenFile {
    const handles = new Map<bigint, OpenHandle>();
    const caches = new Caches({
      schedule: this.#schedule,
      notify: (notice) => {
        this.#breaks++;
        handles.get(notice.open)?.owner.breaking(notice);
      },
      changed: () => tellChanged(file),
    });
    const locks = new RangeLocks();
    const file: OpenFile = {
      ...{ volume, id, handles, locks, caches },
      ...{ deletePending: false, removing: false, changed: undefined },
    };
    return file;
  }

  #forgetIfUnused(file: OpenFile): void {
    if (file.handles.size > 0 || file.removing) return;
    const files = this.#volumes.get(file.volume);
    if (files?.get(file.id) !== file) return;
    files.delete(file.id);
    if (files.size === 0) this.#volumes.delete(file.volume);
  }
}

function conflicting(file: OpenFile, asked: { access: number; share: number }): OpenHandle[] {
  return [...file.handles.values()].filter((handle) => sharingConflict(asked, handle));
}

function refused(code: FileRefusal): Readonly<{ outcome: 'refused'; code: FileRefusal }> {
  return { outcome: 'refused', code };
}

function waits(file: OpenFile): Readonly<{ outcome: 'wait'; changed: Promise<void> }> {
  return { outcome: 'wait', changed: changedOf(file) };
}

/** Resolves at the next close, acknowledgement or time-out on the file. */
function changedOf(file: OpenFile): Promise<void> {
  if (!file.changed) {
    let tell: () => void = () => {};
    const promise = new Promise<void>((resolve) => (tell = resolve));
    file.changed = { promise, tell };
  }
  return file.changed.promise;
}

function tellChanged(file: OpenFile): void {
  file.changed?.tell();
  file.changed = undefined;
}

/** What an open of this kind of oplock caches. */
export const oplockStates = {
  levelII: caching.read,
  exclusive: caching.read | caching.write,
  batch: caching.read | caching.write | caching.handle,
} as const;
