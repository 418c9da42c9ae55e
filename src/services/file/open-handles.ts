// A handle on a file or directory: what is asked for, who holds it, and how the lock table answers.

import type { BreakNotice, Cache, CacheWish } from './caches.js';
import type { LockWait } from './range-locks.js';
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
  /** When it was given back to a client that had lost its connection. */
  readonly reconnectedAt?: number;
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

export type Refusal = Readonly<{ outcome: 'refused'; code: FileRefusal }>;
/** Somebody has to give up what is cached first: at `changed` it is asked again. */
export type Waits = Readonly<{ outcome: 'wait'; changed: Promise<void> }>;

export type Reserved = Readonly<{ outcome: 'open'; cache: Cache | undefined }> | Waits | Refusal;

export type Locked = Readonly<{ outcome: 'locked' } | { outcome: 'wait'; wait: LockWait }> | Refusal;

/** A REST request that may go on; it ends its use of the file with `done`. */
export type RestAdmitted = Readonly<{ outcome: 'admitted'; done: () => void }> | Waits | Refusal;

export function refused(code: FileRefusal): Refusal {
  return { outcome: 'refused', code };
}
