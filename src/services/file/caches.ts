// The oplocks and leases of one open file: granted, broken, acknowledged.
//
//   held ── a cause takes something away ──> breaking ── acknowledged, closed or timed out ──> held
//                                               └── a further cause wants more: told after the first is done
//
// A holder that has nothing but R loses it at once and is only told. Whoever must wait for a break waits
// for `changed` of the file and looks again: by then the holder may have closed its handle.

import {
  type BreakCause,
  breakFor,
  breakNeedsAck,
  breaksItself,
  type CacheKind,
  caching,
  canWait,
  grantState,
  nextStep,
  upgradeState,
} from './caching-rules.js';
import type { FileRefusal } from './refusals.js';

/** What a new open asks to cache. A lease is shared by all opens of one client with the same key. */
export type CacheWish = Readonly<
  | { kind: 'none' }
  | { kind: 'oplock'; state: number }
  | { kind: 'lease'; key: string; state: number; epoch: number | undefined }
>;

export interface BreakNotice {
  readonly kind: CacheKind;
  /** The open whose oplock it is; for a lease any of its opens. */
  readonly open: bigint;
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly epoch: number | undefined;
  readonly needsAck: boolean;
}

export interface Cache {
  readonly kind: CacheKind;
  /** The lease key; an oplock has that of its open alone. */
  readonly key: string;
  state: number;
  /** Counts changes of state, where the client asked for it. */
  epoch: number | undefined;
  readonly opens: Set<bigint>;
  /** To what it is being broken, what is wanted in the end, and whether somebody waits for it. */
  breaking: { to: number; next: number; waited: boolean; stop: () => void } | undefined;
}

/** How a break that nobody acknowledges ends. */
export type Schedule = (ms: number, run: () => void) => () => void;

export const breakTimeoutMs = 35_000;

export interface CachesHost {
  readonly schedule: Schedule;
  notify(notice: BreakNotice): void;
  changed(): void;
}

export class Caches {
  readonly #all: Cache[] = [];
  readonly #host: CachesHost;

  constructor(host: CachesHost) {
    this.#host = host;
  }

  get count(): number {
    return this.#all.length;
  }

  /** The cache that an open has a part in. */
  of(open: bigint): Cache | undefined {
    return this.#all.find((cache) => cache.opens.has(open));
  }

  withKey(key: string): Cache | undefined {
    return this.#all.find((cache) => cache.key === key);
  }

  /** Gives a new open what the file allows. Ask after all breaks that the open causes are done. */
  grant(open: bigint, wish: CacheWish, file: { otherOpens: boolean; locked: boolean }): Cache | undefined {
    if (wish.kind === 'none') return undefined;
    const key = wish.kind === 'lease' ? wish.key : ownKey(open);
    const own = this.withKey(key);
    const others = this.#all.filter((cache) => cache !== own);
    const state = grantState(wish.state, { kind: wish.kind, others, ...file });
    if (own) {
      own.opens.add(open);
      const upgraded = own.breaking ? own.state : upgradeState(own.state, wish.state, state);
      if (upgraded !== own.state) own.epoch = nextEpoch(own.epoch);
      own.state = upgraded;
      return own;
    }
    if (state === caching.none && wish.kind === 'oplock') return undefined;
    const epoch = wish.kind === 'lease' ? nextEpoch(wish.epoch) : undefined;
    const cache: Cache = { kind: wish.kind, key, state, epoch, opens: new Set([open]), breaking: undefined };
    this.#all.push(cache);
    return cache;
  }

  /**
   * Breaks what a cause takes away, from everybody but the holder of `except`. Tells whether the cause has
   * to wait.
   */
  break(cause: BreakCause, except: string | undefined, only?: (cache: Cache) => boolean): boolean {
    let wait = false;
    for (const cache of [...this.#all]) {
      if (cache.key === except && !breaksItself(cause, cache.kind, cache.state)) continue;
      if (only && !only(cache)) continue;
      const due = breakFor(cause, cache.kind, cache.state);
      // Whoever comes while a break is waited for waits along: nobody overtakes.
      if (cache.breaking?.waited && canWait(cause)) wait = true;
      if (!due) continue;
      wait ||= due.wait;
      this.#lower(cache, due.to, due.to, due.wait);
    }
    return wait;
  }

  #lower(cache: Cache, to: number, next: number, waited: boolean, goesOn = false): void {
    if (cache.breaking) {
      cache.breaking.next &= to;
      cache.breaking.waited ||= waited;
      return;
    }
    const from = cache.state;
    const needsAck = breakNeedsAck(from);
    // One break in several steps counts as one change.
    if (!goesOn) cache.epoch = nextEpoch(cache.epoch);
    if (needsAck) {
      const stop = this.#host.schedule(breakTimeoutMs, () => this.#settle(cache, caching.none));
      cache.breaking = { to, next, waited, stop };
    } else {
      cache.state = to;
    }
    const [open = 0n] = cache.opens;
    const { kind, key, epoch } = cache;
    this.#host.notify({ kind, open, key, from, to, epoch, needsAck });
    if (!needsAck && cache.kind === 'oplock' && to === caching.none) this.#drop(cache);
  }

  /** The holder says what it keeps. Gives back why not, or nothing. */
  acknowledge(cache: Cache, state: number): FileRefusal | undefined {
    if (!cache.breaking) return 'LeaseNotBreaking';
    if (state & ~cache.breaking.to) return 'LeaseStateTooStrong';
    this.#settle(cache, state);
    return undefined;
  }

  #settle(cache: Cache, state: number): void {
    const { next = state, waited = false } = cache.breaking ?? {};
    cache.breaking?.stop();
    cache.breaking = undefined;
    cache.state = state;
    if (state & ~next) this.#lower(cache, nextStep(state, state & next), next, waited, true);
    if (cache.kind === 'oplock' && cache.state === caching.none) this.#drop(cache);
    if (!cache.breaking) this.#host.changed();
  }

  /** An open is gone. The last one of a cache takes it along, which ends a break as well. */
  release(open: bigint): void {
    const cache = this.of(open);
    if (!cache) return;
    cache.opens.delete(open);
    if (cache.opens.size === 0) this.#drop(cache);
  }

  #drop(cache: Cache): void {
    cache.breaking?.stop();
    cache.breaking = undefined;
    const at = this.#all.indexOf(cache);
    if (at >= 0) this.#all.splice(at, 1);
  }
}

function nextEpoch(epoch: number | undefined): number | undefined {
  return epoch === undefined ? undefined : (epoch + 1) & 0xffff;
}

export function ownKey(open: bigint): string {
  return `open ${open}`;
}
