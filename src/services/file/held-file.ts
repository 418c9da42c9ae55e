// One file that somebody has open: its handles, the bytes that are locked, what clients cache of it, whether it is to be
// deleted. It judges who else may use it (opens-rules.ts, caching-rules.ts, range-rules.ts say how), and tells who waits
// that something has changed: a handle was closed, a client gave up what it cached or was too slow to say so.

import { access } from './access.js';
import { type BreakNotice, type Cache, Caches, ownKey, type Schedule } from './caches.js';
import type { BreakCause } from './caching-rules.js';
import {
  type Locked,
  type OpenHandle,
  type OpenRequest,
  type Refusal,
  type RestAdmitted,
  refused,
  type Waits,
} from './open-handles.js';
import {
  attributesOnly,
  type RestUse,
  readsPermissionsOnly,
  restConflict,
  sharingConflict,
} from './opens-rules.js';
import { RangeLocks } from './range-locks.js';
import type { Range, RangeLock, RangeUse } from './range-rules.js';

const wholeFile: Range = { offset: 0n, length: 2n ** 64n };

export interface LockLimits {
  readonly locksPerOpen: number;
  readonly locksPerFile: number;
}

export class HeldFile {
  readonly volume: string;
  readonly id: bigint;
  readonly handles = new Map<bigint, OpenHandle>();
  readonly locks = new RangeLocks();
  readonly caches: Caches;
  deletePending = false;
  /** Its last handle is closed and its record is being removed. */
  removing = false;
  #changed: { promise: Promise<void>; tell: () => void } | undefined;

  constructor(volume: string, id: bigint, schedule: Schedule, notify: (notice: BreakNotice) => void) {
    this.volume = volume;
    this.id = id;
    this.caches = new Caches({
      schedule,
      notify: (notice) => {
        notify(notice);
        this.handles.get(notice.open)?.owner.breaking(notice);
      },
      changed: () => this.tellChanged(),
    });
  }

  get isGoing(): boolean {
    return this.deletePending || this.removing;
  }

  /** Nothing: it may be opened so. */
  judgeOpen(request: OpenRequest): Waits | Refusal | undefined {
    const key = keyOf(request);
    const needed = request.overwrites ? request.access | access.writeData : request.access;
    const asked = { access: needed, share: request.share };
    const conflicts = [...this.handles.values()].filter((handle) => sharingConflict(asked, handle));
    if (conflicts.length > 0) return this.#violation(conflicts, key);
    if (attributesOnly(needed)) return undefined;
    // Reading the permissions alone is no use that the holder of a lease would notice.
    const only = readsPermissionsOnly(needed) ? (cache: Cache) => cache.kind === 'oplock' : undefined;
    const cause = request.overwrites ? 'overwrite' : 'open';
    return this.caches.break(cause, key, only) ? this.waits() : undefined;
  }

  /** A handle that stands in the way may be one that its client only caches: it is asked to give it up. */
  #violation(conflicts: readonly OpenHandle[], except: string | undefined): Waits | Refusal {
    const ofThem = (cache: Cache) => conflicts.some(({ id }) => cache.opens.has(id));
    return this.caches.break('sharingViolation', except, ofThem) ? this.waits() : refused('SharingViolation');
  }

  /** What the client of a new handle may cache. */
  grant(request: OpenRequest): Cache | undefined {
    const { wish, id } = request;
    if (wish.kind === 'none' || !request.cacheable) return undefined;
    const uses = !attributesOnly(request.access) || request.overwrites || request.creates;
    if (wish.kind === 'oplock' && !uses) return undefined;
    const sameKey = wish.kind === 'lease' ? this.caches.withKey(wish.key)?.opens : undefined;
    const otherOpens = [...this.handles.values()].some(
      (handle) => handle.id !== id && !sameKey?.has(handle.id) && !attributesOnly(handle.access),
    );
    const locked = this.locks.held > 0 && !request.overwrites;
    return this.caches.grant(id, wish, { otherOpens, locked });
  }

  /** Judges a REST request. `bytes`: what it reads or writes of the contents, if any. */
  admit(
    use: RestUse | undefined,
    cause: BreakCause | undefined,
    bytes?: { use: RangeUse; range?: Range },
  ): RestAdmitted {
    if (this.isGoing) return refused('DeletePending');
    const conflicts = use ? [...this.handles.values()].filter((handle) => restConflict(use, handle)) : [];
    if (conflicts.length > 0) return this.#violation(conflicts, undefined);
    const range = bytes?.range ?? wholeFile;
    if (bytes && this.locks.refusesRest(bytes.use, range)) return refused('FileLockConflict');
    if (cause && this.caches.break(cause, undefined)) return this.waits();
    return { outcome: 'admitted', done: bytes ? this.locks.begin(bytes.use, 0n, range) : () => {} };
  }

  /** Locks ranges for a handle: all or none; one alone may wait. */
  async lock(
    id: bigint,
    locks: readonly RangeLock[],
    mayWait: boolean,
    { locksPerFile, locksPerOpen }: LockLimits,
  ): Promise<Locked> {
    const count = locks.length;
    if (this.locks.held + count > locksPerFile || this.locks.heldBy(id) + count > locksPerOpen) {
      return refused('TooManyLocks');
    }
    const isTaken = await this.locks.take(locks);
    if (!this.handles.has(id)) {
      this.locks.releaseAll(id); // It was closed while work under way was waited for.
      return refused('HandleClosed');
    }
    if (isTaken) {
      this.caches.break('lock', this.caches.of(id)?.key);
      return { outcome: 'locked' };
    }
    const [only] = locks;
    if (!mayWait || !only) return refused('LockNotGranted');
    return { outcome: 'wait', wait: this.locks.wait(only) };
  }

  /** Begins to read or write bytes through a handle: nothing if a lock hinders it, else what ends it. */
  begin(id: bigint, use: RangeUse, range: Range): (() => void) | undefined {
    if (this.locks.hinders(use, id, range)) return undefined;
    if (use === 'write') this.caches.break('write', this.caches.of(id)?.key);
    return this.locks.begin(use, id, range);
  }

  /** The handle is closed, with all it held. */
  release(id: bigint): void {
    this.handles.delete(id);
    this.locks.releaseAll(id);
    this.caches.release(id);
    this.tellChanged();
  }

  waits(): Waits {
    return { outcome: 'wait', changed: this.changed };
  }

  /** Resolves at the next close, acknowledgement or time-out on the file. */
  get changed(): Promise<void> {
    if (!this.#changed) {
      let tell: () => void = () => {};
      const promise = new Promise<void>((resolve) => (tell = resolve));
      this.#changed = { promise, tell };
    }
    return this.#changed.promise;
  }

  tellChanged(): void {
    this.#changed?.tell();
    this.#changed = undefined;
  }
}

/** What the caches of an open are known by: its client's lease, or itself. */
export function keyOf({ wish, id }: OpenRequest): string {
  return wish.kind === 'lease' ? wish.key : ownKey(id);
}
