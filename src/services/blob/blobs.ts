// What every kind of blob can do: be put, read, given properties and metadata, leased.

import type { Transaction } from '../../collections/index.js';
import type { Body } from '../common/body.js';
import { type Conditions, checkConditions } from '../common/conditions.js';
import type { ContentReader } from '../common/content-reader.js';
import { orThrow, StorageError } from '../common/errors.js';
import { availableLease, type Lease, type LeaseAction, step } from '../common/lease.js';
import { checkMetadata, type Metadata } from '../common/metadata.js';
import type { Tags } from '../common/tags-filter.js';
import { type BlobAddress, findBlob, findWithContent } from './address.js';
import { type ByteSlice, nameContent, noContent, openContent } from './content.js';
import { type CustomerKey, checkKey, type EncryptedReader, openEncrypted } from './encryption.js';
import { type Expiry, lockBlob, withExpiry } from './expiry.js';
import {
  admitCreate,
  admitRead,
  admitWrite,
  type CreateGuards,
  checkNoPendingCopy,
  checkNotIncremental,
  checkOnline,
  committed,
  existing,
  type Guards,
} from './guards.js';
import { changeVersion, replaceBlob } from './history.js';
import {
  type AccessTier,
  type BlobKey,
  type BlobRecord,
  type BlobStore,
  type BlobType,
  type ContainerKey,
  type ContentHeaders,
  type Found,
  findContainer,
  findPlace,
  type ImmutabilityPolicy,
  type PageTier,
  type Place,
  withLease,
} from './model.js';
import { writeRow } from './rows.js';
import { hasSnapshots } from './snapshots.js';
import { observeTier } from './tier.js';

/** What a request says of the blob that it makes. */
export interface NewBlob {
  readonly headers: ContentHeaders;
  readonly metadata: Metadata;
  readonly tags: Tags;
  readonly tier: AccessTier | PageTier | undefined;
  readonly immutability?: ImmutabilityPolicy | undefined;
  readonly legalHold?: boolean | undefined;
  /** The hash of the customer's key that the content is encrypted with. */
  readonly key?: string | undefined;
  /** When it ends by itself; left out: as what it replaces. */
  readonly expiry?: Expiry | undefined;
}

/** Makes a blob, or replaces what is there in one step. The body is nobody's if this fails. */
export function putBlob(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  fresh: NewBlob,
  body: Body,
  guards: CreateGuards,
): Promise<BlobRecord> {
  return createBlob(store, container, name, 'BlockBlob', fresh, guards, async (tx) => ({
    content: await nameContent(store, tx, body),
    length: body.length,
  }));
}

export function putAppendBlob(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  fresh: NewBlob,
  guards: CreateGuards,
): Promise<BlobRecord> {
  return createBlob(store, container, name, 'AppendBlob', fresh, guards, async () => ({
    content: noContent,
    length: 0,
    appends: 0,
  }));
}

/** A page blob of zeros. */
export function putPageBlob(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  { length, sequence }: { readonly length: number; readonly sequence: bigint },
  fresh: NewBlob,
  guards: CreateGuards,
): Promise<BlobRecord> {
  return createBlob(store, container, name, 'PageBlob', fresh, guards, async (tx) => ({
    content: { kind: 'pages', map: await store.maps.create(tx), epoch: 0 },
    length,
    sequence,
  }));
}

type MadeContent = Pick<BlobRecord, 'content' | 'length' | 'appends' | 'sequence'>;

function createBlob(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  type: BlobType,
  fresh: NewBlob,
  guards: CreateGuards,
  make: (tx: Transaction) => Promise<MadeContent>,
): Promise<BlobRecord> {
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const found = await lockBlob(store, tx, place);
    const lease = admitCreate(found, guards, tx.now);
    if (found !== undefined) await checkTypeChange(store, tx, place.key, found, type);
    const made = withLease(makeBlob(tx, found, type, fresh, await make(tx)), lease);
    return replaceBlob(store, tx, place, found, await withExpiry(store, tx, place, made, fresh.expiry));
  });
}

/** The record of a blob that is made now, in place of what was found. */
export function makeBlob(
  tx: Transaction,
  found: Found,
  type: BlobType,
  { headers, metadata, tags, tier, immutability, legalHold, key }: NewBlob,
  content: MadeContent,
): BlobRecord {
  const old = committed(found);
  const stamp = tx.stamp(old?.stamp);
  const created = old?.type === 'BlockBlob' && type === 'BlockBlob' ? old.created : stamp;
  const inherited = old?.type === type ? observeTier(old.tier, tx.now) : undefined;
  const named = tier === undefined ? inherited : { name: tier, changed: tx.now };
  return {
    format: 1,
    type,
    stamp,
    created,
    ...content,
    headers,
    metadata,
    ...(tags.length > 0 ? { tags } : {}),
    ...(named !== undefined && type !== 'AppendBlob' ? { tier: named } : {}),
    ...(immutability === undefined ? {} : { immutability }),
    ...(legalHold ? { legalHold } : {}),
    ...(key === undefined ? {} : { key }),
    ...(old?.expires === undefined ? {} : { expires: old.expires }),
  };
}

/** A name keeps its type for as long as there are snapshots of it. */
export async function checkTypeChange(
  store: BlobStore,
  tx: Transaction,
  key: BlobKey,
  found: Found,
  type: BlobType,
): Promise<void> {
  const old = committed(found);
  if (old === undefined || old.type === type) return;
  if (await hasSnapshots(store, tx, key)) throw new StorageError('SnapshotsPresent');
}

export interface ReadBlob {
  readonly blob: BlobRecord;
  readonly now: number;
  /** What was selected; nothing where only properties were asked for. */
  readonly slice: ByteSlice | undefined;
  /** Its bytes; nothing where it is empty. To be read to its end, or disposed. */
  readonly reader: BlobReader | undefined;
}

export type BlobReader = ContentReader | EncryptedReader;

/** The blob as it is at one moment. `select` says which of its bytes are wanted, knowing how many there are. */
export async function readBlob(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
  guards: Guards,
  select?: (blob: BlobRecord) => ByteSlice,
): Promise<ReadBlob> {
  let reader: BlobReader | undefined;
  try {
    return await store.run(async (tx) => {
      reader?.[Symbol.dispose](); // of a run that was in vain
      reader = undefined;
      const id = await findContainer(store, tx, container, 'read');
      const find = select === undefined ? findBlob : findWithContent;
      const blob = await find(store, tx, id, address);
      if (select !== undefined) {
        checkNotIncremental(blob);
        checkOnline(blob, tx.now);
      }
      admitRead(blob, guards, tx.now);
      checkKey(blob, guards.key);
      const slice = select?.(blob);
      reader = slice && (await openBytes(store, tx, blob, slice, guards.key));
      return { blob, now: tx.now, slice, reader };
    });
  } catch (error) {
    reader?.[Symbol.dispose]();
    throw error;
  }
}

function openBytes(
  store: BlobStore,
  tx: Transaction,
  { content }: BlobRecord,
  slice: ByteSlice,
  key: CustomerKey | undefined,
): Promise<BlobReader | undefined> {
  if (key === undefined) return openContent(store, tx, content, slice);
  return openEncrypted(store, tx, content, slice, key);
}

export function setMetadata(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  metadata: Metadata,
  guards: Guards,
): Promise<BlobRecord> {
  checkMetadata(metadata);
  return store.run(async (tx) => {
    const { place, old, lease } = await findForWrite(store, tx, container, name, guards);
    checkKey(old, guards.key);
    const { copy: _, ...kept } = old;
    const stamp = tx.stamp(old.stamp);
    return changeVersion(store, tx, place, old, withLease({ ...kept, metadata, stamp }, lease), stamp);
  });
}

/** A blob that exists and may be written, locked. */
export async function findForWrite(
  store: BlobStore,
  tx: Transaction,
  container: ContainerKey,
  name: string,
  guards: Guards,
): Promise<{ place: Place; old: BlobRecord; lease: Lease }> {
  const place = await findPlace(store, tx, container, name);
  const old = existing(await lockBlob(store, tx, place));
  return { place, old, lease: admitWrite(old, guards, tx.now) };
}

export interface LeasedBlob {
  readonly stamp: number;
  readonly lease: Lease;
  readonly now: number;
}

/** A name that has only uncommitted blocks can be leased too. */
export function leaseBlob(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  action: LeaseAction,
  conditions: Conditions,
): Promise<LeasedBlob> {
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const found = await lockBlob(store, tx, place);
    if (found === undefined) throw new StorageError('BlobNotFound');
    const blob = committed(found);
    if (blob !== undefined) checkNoPendingCopy(blob);
    checkConditions(conditions, blob === undefined ? 'create' : 'write', blob);
    const lease = orThrow(step(found.lease ?? availableLease, action, tx.now));
    await writeRow(store, tx, place.key, found, withLease(found, lease));
    return { stamp: blob?.stamp ?? found.created, lease, now: tx.now };
  });
}
