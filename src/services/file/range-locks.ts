// The byte-range locks of one open file, who waits for one, and the reading and writing under way.
//
//   1. Locks of one request are granted together or not at all.
//   2. Waiters are granted in order of arrival, as soon as nothing held hinders them.
//   3. A lock is not granted while bytes under it are being read or written by somebody whom it would
//      hinder: that work began first and is let finish, so a holder never sees its range change.

import {
  lockConflict,
  lockHinders,
  lockRefusesRest,
  lockToRelease,
  type Range,
  type RangeLock,
  type RangeUse,
} from './range-rules.js';
import { type FileRefusal, FileRefused } from './refusals.js';

/** A lock that has to be waited for. Rejects if it is given up. */
export interface LockWait {
  readonly granted: Promise<void>;
  giveUp(code: FileRefusal): void;
}

interface Waiter {
  readonly lock: RangeLock;
  grant(): void;
  reject(error: FileRefused): void;
}

interface Work {
  readonly use: RangeUse;
  readonly owner: bigint;
  readonly range: Range;
  readonly done: Promise<void>;
}

export class RangeLocks {
  #held: RangeLock[] = [];
  #waiting: Waiter[] = [];
  readonly #work = new Set<Work>();

  get held(): number {
    return this.#held.length;
  }

  heldBy(owner: bigint): number {
    return this.#held.reduce((count, lock) => (lock.owner === owner ? count + 1 : count), 0);
  }

  /** Takes all or none, now. */
  async take(asked: readonly RangeLock[]): Promise<boolean> {
    // Nothing is awaited after the last look, or work could begin before the lock is there.
    while (this.#underWay(asked).length > 0) await this.#settle(asked);
    const taken: RangeLock[] = [];
    for (const lock of asked) {
      if ([...this.#held, ...taken].some((held) => lockConflict(held, lock))) return false;
      taken.push(lock);
    }
    this.#held.push(...taken);
    return true;
  }

  /** Queues for one lock. */
  wait(lock: RangeLock): LockWait {
    const { promise, resolve, reject } = withResolvers();
    const waiter: Waiter = { lock, grant: resolve, reject };
    this.#waiting.push(waiter);
    const giveUp = (code: FileRefusal) => {
      const at = this.#waiting.indexOf(waiter);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      reject(new FileRefused(code));
    };
    return { granted: promise, giveUp };
  }

  /** Removes one lock of exactly this range. */
  release(owner: bigint, range: Range): boolean {
    const at = lockToRelease(this.#held, owner, range);
    if (at < 0) return false;
    this.#held.splice(at, 1);
    this.#grantWaiting();
    return true;
  }

  /** A handle is gone: its locks too, and its waits end. */
  releaseAll(owner: bigint): void {
    this.#held = this.#held.filter((lock) => lock.owner !== owner);
    const ended = this.#waiting.filter(({ lock }) => lock.owner === owner);
    this.#waiting = this.#waiting.filter(({ lock }) => lock.owner !== owner);
    for (const waiter of ended) waiter.reject(new FileRefused('RangeNotLocked'));
    this.#grantWaiting();
  }

  hinders(use: RangeUse, owner: bigint, range: Range): boolean {
    return this.#held.some((lock) => lockHinders(lock, use, owner, range));
  }

  refusesRest(use: RangeUse, range: Range): boolean {
    return this.#held.some((lock) => lockRefusesRest(lock, use, range));
  }

  /** Marks bytes as being read or written; the function given back ends it. */
  begin(use: RangeUse, owner: bigint, range: Range): () => void {
    const { promise, resolve } = withResolvers();
    const work: Work = { use, owner, range, done: promise };
    this.#work.add(work);
    return () => {
      this.#work.delete(work);
      resolve();
    };
  }

  #underWay(asked: readonly RangeLock[]): Work[] {
    if (this.#work.size === 0) return [];
    return [...this.#work].filter(({ use, owner, range }) =>
      asked.some((lock) => lockHinders(lock, use, owner, range)),
    );
  }

  async #settle(asked: readonly RangeLock[]): Promise<void> {
    for (let work = this.#underWay(asked); work.length > 0; work = this.#underWay(asked)) {
      await Promise.all(work.map(({ done }) => done));
    }
  }

  #grantWaiting(): void {
    for (const waiter of [...this.#waiting]) {
      if (this.#held.some((held) => lockConflict(held, waiter.lock))) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      this.#held.push(waiter.lock);
      void this.#settle([waiter.lock]).then(waiter.grant);
    }
  }
}

function withResolvers(): {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: Error) => void;
} {
  let resolve: () => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
