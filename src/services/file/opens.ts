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

import type { Cache, Schedule } from './caches.js';
import type { BreakCause } from './caching-rules.js';
import { HeldFile, keyOf, type LockLimits } from './held-file.js';
import {
  type HandleOwner,
  type Locked,
  type OpenHandle,
  type OpenRequest,
  type Reserved,
  type RestAdmitted,
  refused,
} from './open-handles.js';
import { afterClose, type RestUse } from './opens-rules.js';
import type { Range, RangeLock, RangeUse } from './range-rules.js';
import type { FileRefusal } from './refusals.js';

export interface OpenLimits extends LockLimits {
  readonly opens: number;
  readonly opensPerFile: number;
}

export const openLimits: OpenLimits = {
  opens: 262_144,
  opensPerFile: 2000,
  locksPerOpen: 10_000,
  locksPerFile: 50_000,
};

export class Opens {
  readonly #volumes = new Map<string, Map<bigint, HeldFile>>();
  readonly #handles = new Map<bigint, HeldFile>();
  /** Which file a client's lease key stands for: a key means one file. */
  readonly #leases = new Map<string, HeldFile>();
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
    const cache = file.grant(request);
    if (cache?.kind === 'lease') this.#leases.set(cache.key, file);
    return { outcome: 'open', cache };
  }

  #judge(file: HeldFile, request: OpenRequest): Reserved | undefined {
    if (file.isGoing) return refused('DeletePending');
    if (file.handles.size >= this.#limits.opensPerFile || this.#handles.size >= this.#limits.opens) {
      return refused('TooManyOpens');
    }
    const leased = this.#leases.get(keyOf(request));
    if (leased && leased !== file) return refused('InvalidParameter');
    return file.judgeOpen(request);
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

  #release(file: HeldFile, id: bigint): void {
    const cache = file.caches.of(id);
    this.#handles.delete(id);
    file.release(id);
    if (cache?.opens.size === 0) this.#leases.delete(cache.key);
    this.#forgetIfUnused(file);
  }

  isDeletePending(volume: string, id: bigint): boolean {
    return this.#file(volume, id)?.isGoing === true;
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
    return file.caches.break(cause, except) ? [file.changed] : [];
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
    return this.#handles.get(id)?.lock(id, locks, mayWait, this.#limits) ?? refused('HandleClosed');
  }

  /** Releases one lock of exactly this range. */
  async unlock(id: bigint, range: Range): Promise<boolean> {
    return this.#handles.get(id)?.locks.release(id, range) ?? false;
  }

  /** Begins to read or write bytes through a handle: nothing if a lock hinders it, else what ends it. */
  begin(id: bigint, use: RangeUse, range: Range): (() => void) | undefined {
    return this.#handles.get(id)?.begin(id, use, range);
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
    return file?.admit(use, cause, bytes) ?? { outcome: 'admitted', done: () => {} };
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

  #volume(volume: string): Map<bigint, HeldFile> {
    const known = this.#volumes.get(volume);
    if (known) return known;
    const made = new Map<bigint, HeldFile>();
    this.#volumes.set(volume, made);
    return made;
  }

  #file(volume: string, id: bigint): HeldFile | undefined {
    return this.#volumes.get(volume)?.get(id);
  }

  #newFile(volume: string, id: bigint): HeldFile {
    return new HeldFile(volume, id, this.#schedule, () => {
      this.#breaks++;
    });
  }

  #forgetIfUnused(file: HeldFile): void {
    if (file.handles.size > 0 || file.removing) return;
    const files = this.#volumes.get(file.volume);
    if (files?.get(file.id) !== file) return;
    files.delete(file.id);
    if (files.size === 0) this.#volumes.delete(file.volume);
  }
}
