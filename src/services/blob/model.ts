// What the blob service is made of.
//
//   containers   [account, name]                 which incarnation has this name; changed by create and delete
//   deleted      [account, name, stamp]          containers that can be restored
//   properties   container id                    ETag, metadata, stored access policies, public access, lease
//   blobs        [container id, name]            the blob as it is now, or blocks that nobody has committed yet
//   snapshots    [container id, name, stamp]     and, with `deleted`, what soft delete keeps of a blob
//   versions     [container id, name, stamp]     what versioning keeps of it
//   blocks       [upload id, block id]           uncommitted blocks
//   block counts, block bytes    upload id       how many of those, and how long they are together
//   block names  [map, n]                        the list of blocks a blob was committed from (block-lists.ts)
//   tags         [account, tag, value, container, container id, blob]    which blobs have it (tag-index.ts)
//   copies       [container id, name]            copies from elsewhere that are under way (copy-targets.ts)
//   due          [time, what, container id, name, stamp]   what time makes garbage (due.ts)
//   usage        [container id, what, count or bytes]      what each container uses (usage.ts)
//
// A row of `blobs`, `snapshots` or `versions` is small: bytes lie elsewhere (content.ts), long lists too.
// A name's first row is where everybody who changes that name meets: its lock orders them. Who writes into a
// container has its entry checked at commit, so nothing is written under an id that was swept.

import type { Stamp } from '../../base/stamps.js';
import type { Counters, Dictionary, Transaction } from '../../collections/index.js';
import type { AccessPolicy } from '../common/access-policy.js';
import type { AccountSettings } from '../common/accounts.js';
import type { ContentMaps } from '../common/content-maps.js';
import type { PackedPiece } from '../common/content-rows.js';
import type { Contents } from '../common/contents.js';
import { StorageError } from '../common/errors.js';
import type { Garbage } from '../common/garbage.js';
import type { Lease } from '../common/lease.js';
import type { Metadata } from '../common/metadata.js';
import type { SliceRows } from '../common/slice-rows.js';
import type { PendingCopy } from '../common/sources.js';
import type { Store } from '../common/store.js';
import type { Tags } from '../common/tags-filter.js';
import type { BlockNames } from './block-lists.js';
import type { pageTiers } from './page-tiers.js';
import type { UsageKey } from './usage.js';

export interface ContainerEntry {
  readonly format: 1;
  readonly id: number;
}

export interface DeletedContainer {
  readonly id: number;
  readonly at: number;
  readonly until: number;
}

/** What anybody may read: nothing, the blobs whose names they know, or the list of them too. */
export type PublicAccess = 'none' | 'blob' | 'container';

/** Stays until all that was in the container is swept. */
export interface ContainerProperties {
  readonly container: ContainerKey;
  readonly stamp: Stamp;
  readonly metadata: Metadata;
  readonly policies: readonly AccessPolicy[];
  readonly publicAccess: PublicAccess;
  readonly lease: Lease;
}

export type BlobType = 'BlockBlob' | 'AppendBlob' | 'PageBlob';

/** Told with the content; each only if it was set. */
export interface ContentHeaders {
  readonly type?: string;
  readonly encoding?: string;
  readonly language?: string;
  readonly disposition?: string;
  readonly cacheControl?: string;
  readonly md5?: Uint8Array;
}

/** Where the bytes are (content.ts). */
export type BlobContent =
  | { readonly kind: 'empty' }
  | { readonly kind: 'piece'; readonly piece: PackedPiece }
  | { readonly kind: 'map'; readonly map: number }
  | {
      readonly kind: 'pages';
      readonly map: number;
      /** It is written in this one; what is kept shows all up to it. */
      readonly epoch: number;
      readonly isKept?: true;
      /** The newest epoch that something which is kept shows. */
      readonly newest?: number;
    };

export interface Upload {
  readonly id: number;
  /** All block ids of an upload have the same length. */
  readonly idLength: number;
  /** The key that they are encrypted with. */
  readonly key?: string;
  /** When a block last came, give or take `uploadTouchMs`: a week later they go. */
  readonly lastPut: number;
}

export type CopyStatus = 'success' | 'pending' | 'aborted' | 'failed';

export interface CopyState {
  readonly id: string;
  readonly source: string;
  readonly status: CopyStatus;
  readonly copied: number;
  readonly total: number;
  /** Milliseconds since 1970; not while it is pending. */
  readonly completed?: number;
  readonly description?: string;
}

/** Of a blob that holds the snapshots of another one. */
export interface IncrementalCopy {
  /** `account/container/name` of the other one, and its snapshot that was copied last. */
  readonly source: string;
  readonly snapshot: Stamp;
  /** The snapshot of this one that it became. */
  readonly target: Stamp;
}

export type AccessTier = 'Hot' | 'Cool' | 'Cold' | 'Archive';

/** Of a page blob in a premium account (page-tiers.ts). */
export type PageTier = (typeof pageTiers)[number];

export type RehydratePriority = 'Standard' | 'High';

export interface Tier {
  readonly name: AccessTier | PageTier;
  /** When it was set, in milliseconds since 1970. */
  readonly changed: number;
  /** On its way out of the archive, and when it will be there. */
  readonly rehydrating?: {
    readonly to: Exclude<AccessTier, 'Archive'>;
    readonly priority: RehydratePriority;
    readonly until: number;
  };
}

/** Nobody deletes or changes the blob before `until`; one that is locked can only be extended. */
export interface ImmutabilityPolicy {
  readonly until: number;
  readonly locked: boolean;
}

/** A field that is not there has its usual value: no tags, no copy, an available lease. */
export interface BlobRecord {
  readonly format: 1;
  readonly type: BlobType;
  /** ETag and Last-Modified. */
  readonly stamp: Stamp;
  readonly created: Stamp;
  readonly length: number;
  readonly content: BlobContent;
  readonly headers: ContentHeaders;
  readonly metadata: Metadata;
  readonly tags?: Tags;
  readonly lease?: Lease;
  readonly tier?: Tier;
  readonly copy?: CopyState;
  /** Of a blob that was written while versions were kept. */
  readonly version?: Stamp;
  /** Blocks that were put and not committed. */
  readonly upload?: Upload;
  /** Of an append blob. */
  readonly appends?: number;
  readonly sealed?: true;
  /** Of a page blob. */
  readonly sequence?: bigint;
  readonly incremental?: IncrementalCopy;
  readonly immutability?: ImmutabilityPolicy;
  readonly legalHold?: true;
  /** When it ends by itself (expiry.ts). */
  readonly expires?: number;
  /** When it was last read, where that is kept (last-access.ts). */
  readonly accessed?: number;
  /** The SHA-256, in Base64, of the customer's key that it is encrypted with (encryption.ts). */
  readonly key?: string;
}

/** Blocks were put under this name, and no blob is there yet. It can be leased, deleted, and nothing else. */
export interface UncommittedBlob {
  readonly format: 1;
  readonly type: 'uncommitted';
  readonly created: Stamp;
  readonly upload: Upload;
  readonly lease?: Lease;
}

/** What the row of a name has. */
export type Found = BlobRecord | UncommittedBlob | undefined;

/** A snapshot or a version. */
export interface KeptBlob extends BlobRecord {
  readonly deleted?: Deleted;
}

/** Soft-deleted: when, until when it can be restored, and whether it was the blob itself. */
export interface Deleted {
  readonly at: number;
  readonly until: number;
  readonly wasBase?: true;
}

export type ContainerKey = readonly [account: string, name: string];
export type DeletedContainerKey = readonly [account: string, name: string, stamp: Stamp];
export type BlobKey = readonly [container: number, name: string];
export type KeptKey = readonly [container: number, name: string, stamp: Stamp];
export type TagKey = readonly [
  account: string,
  tag: string,
  value: string,
  container: string,
  id: number,
  blob: string,
];
export type DueWhat = 'upload' | 'blob' | 'snapshot' | 'version' | 'container';
/** `where` is the container's id; of a container itself, its account. */
export type DueKey = readonly [
  time: number,
  what: DueWhat,
  where: number | string,
  name: string,
  stamp: Stamp,
];

/** Where a blob is: under which names, and in which row. */
export interface Place {
  readonly container: ContainerKey;
  readonly key: BlobKey;
}

export interface BlobStore extends Store {
  readonly containers: Dictionary<ContainerKey, ContainerEntry>;
  readonly deletedContainers: Dictionary<DeletedContainerKey, DeletedContainer>;
  readonly properties: Dictionary<number, ContainerProperties>;
  readonly blobs: Dictionary<BlobKey, BlobRecord | UncommittedBlob>;
  readonly snapshots: Dictionary<KeptKey, KeptBlob>;
  readonly versions: Dictionary<KeptKey, KeptBlob>;
  readonly blocks: Dictionary<readonly [upload: number, id: string], PackedPiece>;
  readonly blockCounts: Counters<number>;
  readonly blockBytes: Counters<number>;
  readonly blockNames: Dictionary<readonly [map: number, part: number], BlockNames>;
  readonly tags: Dictionary<TagKey, true>;
  readonly due: Dictionary<DueKey, true>;
  readonly usage: Counters<UsageKey>;
  readonly copies: Dictionary<BlobKey, PendingCopy>;
  readonly contents: Contents;
  readonly maps: ContentMaps;
  readonly slices: SliceRows;
  readonly garbage: Garbage;
  settings(account: string): AccountSettings;
  /** Days that a deleted blob can be restored; nothing: it cannot. */
  retentionDays(account: string): number | undefined;
  /** Whether what is deleted softly may be deleted for good before its time. */
  allowsPermanentDelete(account: string): boolean;
}

export interface BlobGround {
  readonly store: Store;
  readonly contents: Contents;
  readonly maps: ContentMaps;
  readonly slices: SliceRows;
  readonly garbage: Garbage;
  settings(account: string): AccountSettings;
  retentionDays(account: string): number | undefined;
  allowsPermanentDelete(account: string): boolean;
}

export async function openBlobStore({ store, ...ground }: BlobGround): Promise<BlobStore> {
  const { state } = store;
  const options = { system: true, count: false } as const;
  return {
    ...store,
    containers: await state.dictionary('$system/blob/containers', options),
    deletedContainers: await state.dictionary('$system/blob/deleted-containers', options),
    properties: await state.dictionary('$system/blob/properties', options),
    blobs: await state.dictionary('$system/blob/blobs', options),
    snapshots: await state.dictionary('$system/blob/snapshots', options),
    versions: await state.dictionary('$system/blob/versions', options),
    blocks: await state.dictionary('$system/blob/blocks', options),
    blockCounts: await state.counters('$system/blob/block-counts', { system: true }),
    blockBytes: await state.counters('$system/blob/block-bytes', { system: true }),
    blockNames: await state.dictionary('$system/blob/block-names', options),
    tags: await state.dictionary('$system/blob/tag-index', options),
    due: await state.dictionary('$system/blob/due', options),
    usage: await state.counters('$system/blob/usage', { system: true }),
    copies: await state.dictionary('$system/blob/copies', options),
    ...ground,
  };
}

/** The container's id. Who writes into it has it checked at commit; who only reads need not. */
export async function findContainer(
  store: BlobStore,
  tx: Transaction,
  key: ContainerKey,
  check: 'check' | 'read' = 'check',
): Promise<number> {
  const entry = await store.containers.get(tx, key, check === 'check' ? checked : unchecked);
  if (entry === undefined) throw new StorageError('ContainerNotFound');
  return entry.id;
}

/** Where a blob is that may be written. */
export async function findPlace(
  store: BlobStore,
  tx: Transaction,
  container: ContainerKey,
  name: string,
): Promise<Place> {
  return { container, key: [await findContainer(store, tx, container), name] };
}

const checked = { lock: 'none', check: true } as const;
const unchecked = { lock: 'none' } as const;

/** Whether the account has page blobs with tiers. */
export function isPremium(store: BlobStore, [account]: ContainerKey): boolean {
  return store.settings(account).sku.startsWith('Premium');
}

/** The lease that a record without one has is available, and is not stored. */
export function withLease<Record extends { readonly lease?: Lease }>(record: Record, lease: Lease): Record {
  if (record.lease === undefined && lease.state === 'available') return record;
  const { lease: _, ...rest } = record;
  return (lease.state === 'available' ? rest : { ...rest, lease }) as Record;
}
