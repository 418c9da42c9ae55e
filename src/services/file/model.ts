// What shares are made of.
//
//   shares       [account, name]                     which incarnation has this name, its epoch and its quota
//   properties   share                               what is set on it: metadata, policies, tier, lease
//   snapshots    [share, second]                     its snapshots, called by the second they were taken in
//   dropped      [share, epoch]                      snapshots that are deleted and not swept yet
//   deleted      [account, name, version]            shares that soft delete keeps
//   entries      [share, directory, NAME]            a file or directory, by its name in upper case
//   history      [share, directory, NAME, until]     what it was, for the snapshots up to this one
//   places       [share, file]                       where the entry of a file id is
//   oldPlaces    [share, file, until]                where it was, for the snapshots up to this one
//   staged       map                                 bytes of a copy that is not done yet
//   copies       [share, file]                       copies from elsewhere that are under way
//   permissions  [share, key]                        security descriptors
//   usage        share                               a counter: the lengths of all its files
//
// Everything inside is keyed by the share's id, which is never used again. Every operation reads the row of the
// share's name and has it checked at commit: it lands before the share is deleted or a snapshot is taken, or it is
// run again. A directory knows nothing of its children, so moving one costs the same whatever lies below it.
//
// Taking a snapshot adds one to the epoch of the share. An entry carries the epoch it was written in; who writes over
// an older one that a snapshot shows first puts it into the history (tree.ts).

import type { Stamp } from '../../base/stamps.js';
import type { Counters, Dictionary, Utf16 } from '../../collections/index.js';
import type { AccessPolicy } from '../common/access-policy.js';
import type { ContentStore } from '../common/content-store.js';
import type { Garbage } from '../common/garbage.js';
import type { Lease } from '../common/lease.js';
import type { Metadata } from '../common/metadata.js';
import type { PendingCopy } from '../common/sources.js';
import type { Store } from '../common/store.js';
import type { Ticks } from './file-system.js';

export type ShareKey = readonly [account: string, name: string];

/** The newest row of a share's name. */
export type ShareRow = LiveShare | DeletedName;

export interface LiveShare {
  readonly format: 1;
  readonly id: number;
  /** How many snapshots were taken of it. */
  readonly epoch: number;
  /** The newest one there is. */
  readonly newest: number | undefined;
  readonly quotaGib: number;
}

/** The name of a share that is gone; nobody can take it before `until`. */
export interface DeletedName {
  readonly format: 1;
  readonly until: number;
}

export interface ShareProperties {
  readonly stamp: Stamp;
  readonly created: Ticks;
  readonly metadata: Metadata;
  readonly policies: readonly AccessPolicy[];
  readonly tier: AccessTier;
  readonly tierChanged: number;
  readonly snapshotDirectory: boolean;
  /** Headers about provisioning, stored and told again. */
  readonly provisioned: readonly (readonly [name: string, value: string])[];
  readonly lease: Lease;
}

export const accessTiers = ['TransactionOptimized', 'Hot', 'Cool', 'Premium'] as const;
export type AccessTier = (typeof accessTiers)[number];

export interface ShareSnapshot extends ShareProperties {
  readonly epoch: number;
  readonly quotaGib: number;
}

export interface DeletedShare {
  readonly share: LiveShare;
  readonly deletedAt: number;
  /** When it is gone for good. */
  readonly until: number;
}

export interface HttpProperties {
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly contentLanguage: string | undefined;
  /** As the client gave it: never computed. */
  readonly contentMd5: string | undefined;
  readonly contentDisposition: string | undefined;
  readonly cacheControl: string | undefined;
}

export interface CopyState {
  readonly id: string;
  readonly source: string;
  readonly status: 'pending' | 'success' | 'aborted' | 'failed';
  readonly copied: number;
  readonly total: number;
  readonly completed: number | undefined;
  readonly description: string | undefined;
}

export type CopyKey = readonly [share: number, file: number];

export interface PendingFileCopy extends PendingCopy {
  /** What its share is called: only one that is there is written to. */
  readonly share: ShareKey;
}

export interface FileState {
  readonly length: number;
  /** Its bytes; nothing as long as all of them are holes. */
  readonly map: number | undefined;
  readonly http: HttpProperties;
  readonly lease: Lease;
  readonly copy: CopyState | undefined;
}

/** A file or a directory. */
export interface Entry {
  readonly format: 1;
  readonly id: number;
  readonly parent: number;
  /** As it was given. */
  readonly name: string;
  /** Written by `putEntry` alone. */
  readonly epoch: number;
  readonly stamp: Stamp;
  readonly attributes: number;
  readonly created: Ticks;
  readonly accessed: Ticks;
  readonly written: Ticks;
  readonly changed: Ticks;
  /** The key of its security descriptor. */
  readonly permission: string;
  readonly metadata: Metadata;
  /** Nothing: it is a directory. */
  readonly file: FileState | undefined;
}

export interface FileEntry extends Entry {
  readonly file: FileState;
}

export type EntryKey = readonly [share: number, directory: number, folded: Utf16];

export interface Place {
  readonly directory: number;
  readonly folded: string;
  readonly epoch: number;
}

export interface FileStore extends Store {
  readonly shares: Dictionary<ShareKey, ShareRow>;
  readonly properties: Dictionary<number, ShareProperties>;
  readonly snapshots: Dictionary<readonly [share: number, second: number], ShareSnapshot>;
  readonly dropped: Dictionary<readonly [share: number, epoch: number], true>;
  readonly deleted: Dictionary<readonly [account: string, name: string, version: number], DeletedShare>;
  readonly entries: Dictionary<EntryKey, Entry>;
  readonly history: Dictionary<
    readonly [share: number, directory: number, folded: Utf16, until: number],
    Entry
  >;
  readonly copies: Dictionary<CopyKey, PendingFileCopy>;
  readonly places: Dictionary<readonly [share: number, file: number], Place>;
  readonly oldPlaces: Dictionary<readonly [share: number, file: number, until: number], Place>;
  readonly staged: Dictionary<number, true>;
  readonly permissions: Dictionary<readonly [share: number, key: string], Uint8Array>;
  readonly usage: Counters<number>;
  readonly garbage: Garbage;
  readonly content: ContentStore;
}

export async function openFileStore(
  store: Store,
  garbage: Garbage,
  content: ContentStore,
): Promise<FileStore> {
  const { state } = store;
  const counted = { system: true } as const;
  const system = { system: true, count: false } as const;
  return {
    ...store,
    shares: await state.dictionary('$system/file/shares', counted),
    properties: await state.dictionary('$system/file/properties', system),
    snapshots: await state.dictionary('$system/file/snapshots', system),
    dropped: await state.dictionary('$system/file/dropped-snapshots', system),
    deleted: await state.dictionary('$system/file/deleted', system),
    entries: await state.dictionary('$system/file/entries', system),
    history: await state.dictionary('$system/file/history', system),
    places: await state.dictionary('$system/file/places', system),
    oldPlaces: await state.dictionary('$system/file/old-places', system),
    staged: await state.dictionary('$system/file/staged', system),
    copies: await state.dictionary('$system/file/copies', system),
    permissions: await state.dictionary('$system/file/permissions', system),
    usage: await state.counters('$system/file/usage', counted),
    garbage,
    content,
  };
}

/** The root of every share. Its entry lies where no child can be. */
export const rootDirectory = 0;
export const aboveRoot = -1;

export const gib = 2 ** 30;
export const largestFile = 4 * 2 ** 40;
