// Copies. One whose source is a blob of this server is done in the one transaction that reads the source and writes
// the target, and no byte moves, as both name the same content. One from elsewhere begins here, and goes on in
// the background (copy-targets.ts).

import type { Transaction } from '../../collections/index.js';
import type { Body } from '../common/body.js';
import { type Conditions, checkConditions } from '../common/conditions.js';
import { StorageError } from '../common/errors.js';
import { checkMetadata, type Metadata } from '../common/metadata.js';
import { type PendingCopy, pendingCopy, type ToldSource } from '../common/sources.js';
import type { Tags } from '../common/tags-filter.js';
import { type BlobAddress, findBlob } from './address.js';
import { makeBlob, type NewBlob } from './blobs.js';
import { nameContent, noContent, shareContent } from './content.js';
import { checkKey } from './encryption.js';
import { lockBlob } from './expiry.js';
import {
  admitCreate,
  type CreateGuards,
  checkOnline,
  checkType,
  committed,
  existing,
  useLease,
} from './guards.js';
import { replaceBlob } from './history.js';
import {
  type AccessTier,
  type BlobContent,
  type BlobKey,
  type BlobRecord,
  type BlobStore,
  type BlobType,
  type ContainerKey,
  type ContentHeaders,
  type CopyState,
  findContainer,
  findPlace,
  type ImmutabilityPolicy,
  type PageTier,
  withLease,
} from './model.js';
import { seen, writeRow } from './rows.js';

export interface CopySource {
  readonly container: ContainerKey;
  readonly address: BlobAddress;
  /** As the client named it, told with the target's properties. */
  readonly url: string;
  readonly conditions: Conditions;
}

export interface CopyOptions {
  readonly id: string;
  /** None: the source's. */
  readonly metadata: Metadata;
  /** 'source': copied too. */
  readonly tags: Tags | 'source';
  readonly tier: AccessTier | PageTier | undefined;
  readonly seal: boolean | undefined;
  readonly immutability: ImmutabilityPolicy | undefined;
  readonly legalHold: boolean;
  /** Only block blobs, up to this length: the synchronous copy. */
  readonly blockBlobLimit?: number;
}

export function copyBlob(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  source: CopySource,
  options: CopyOptions,
  guards: CreateGuards,
): Promise<BlobRecord> {
  checkMetadata(options.metadata);
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const found = await lockBlob(store, tx, place);
    const original = await findSource(store, tx, source);
    const lease = admitCreate(found, guards, tx.now, 'copy');
    checkSource(original, source, options, tx.now);
    const old = committed(found);
    if (old !== undefined) checkType(old, original.type);
    const content = { content: await copyContent(store, tx, original), length: original.length };
    const fresh = {
      headers: original.headers,
      metadata: options.metadata.length > 0 ? options.metadata : original.metadata,
      tags: options.tags === 'source' ? (original.tags ?? []) : options.tags,
      tier: options.tier,
      immutability: options.immutability,
      legalHold: options.legalHold,
    };
    const made = makeBlob(tx, found, original.type, fresh, { ...content, ...ofType(original) });
    const sealed = original.type === 'AppendBlob' && (options.seal ?? original.sealed);
    const copy = copiedState(tx, source, original, options.id);
    const blob = { ...made, copy, ...(sealed ? { sealed: true as const } : {}) };
    return replaceBlob(store, tx, place, found, withLease(blob, lease));
  });
}

/** Of a copy that is done. */
export function copiedState(
  tx: Transaction,
  { url }: Pick<CopySource, 'url'>,
  { length }: Pick<BlobRecord, 'length'>,
  id: string,
): CopyState {
  return { id, source: url, status: 'success', copied: length, total: length, completed: tx.now };
}

/** What only blobs of one type have. */
function ofType({ type, appends, sequence }: BlobRecord): Pick<BlobRecord, 'appends' | 'sequence'> {
  if (type === 'AppendBlob') return { appends: appends ?? 0 };
  return type === 'PageBlob' ? { sequence: sequence ?? 0n } : {};
}

/** The source, which must be the same when the copy commits. */
export async function findSource(
  store: BlobStore,
  tx: Transaction,
  { container, address }: CopySource,
): Promise<BlobRecord> {
  try {
    const id = await findContainer(store, tx, container);
    return await findBlob(store, tx, id, address, 'check');
  } catch (error) {
    if (error instanceof StorageError) throw missingSource();
    throw error;
  }
}

export function missingSource(): StorageError {
  return new StorageError('CannotVerifyCopySource', {
    status: 404,
    message: 'The specified resource does not exist.',
  });
}

function checkSource(
  original: BlobRecord,
  { conditions }: CopySource,
  { tier, blockBlobLimit }: CopyOptions,
  now: number,
): void {
  checkConditions(conditions, 'copySource', original);
  checkKey(original, undefined);
  if (tier === undefined || tier === 'Archive') checkOnline(original, now);
  if (blockBlobLimit === undefined) return;
  if (original.type !== 'BlockBlob') throw new StorageError('InvalidSourceBlobType');
  if (original.length > blockBlobLimit) {
    throw new StorageError('CannotVerifyCopySource', {
      status: 409,
      message: `The source of a synchronous copy has at most ${blockBlobLimit} bytes.`,
    });
  }
}

/** The map of an append or page blob is written further: a copy has one of its own, of the same pieces. */
export async function copyContent(store: BlobStore, tx: Transaction, blob: BlobRecord): Promise<BlobContent> {
  const { type, content, length } = blob;
  if (type === 'BlockBlob' || content.kind === 'empty' || content.kind === 'piece') {
    await shareContent(store, tx, content);
    return content;
  }
  const copied = await store.maps.create(tx);
  const snapshot = content.kind === 'pages' && content.isKept ? content.epoch : undefined;
  for (let at = 0; at < length; ) {
    const page = await store.slices.shown(tx, content.map, { start: at, end: length }, snapshot);
    await store.maps.fill(tx, copied, page.slices, { start: at, end: page.end });
    at = page.end;
  }
  return content.kind === 'pages' ? { kind: 'pages', map: copied, epoch: 0 } : { kind: 'map', map: copied };
}

/** What is told of a source that is not a blob of this server. */
export interface ForeignSource extends ToldSource {
  readonly type: BlobType;
  readonly length: number;
  readonly headers: ContentHeaders;
  readonly metadata: Metadata;
}

/** Makes the target, empty and pending. */
export function beginCopy(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  source: ForeignSource,
  options: CopyOptions,
  guards: CreateGuards,
): Promise<{ blob: BlobRecord; key: BlobKey; copy: PendingCopy }> {
  checkMetadata(options.metadata);
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const found = await lockBlob(store, tx, place);
    const lease = admitCreate(found, guards, tx.now, 'copy');
    const old = committed(found);
    if (old !== undefined) checkType(old, source.type);
    const made = makeBlob(tx, found, source.type, freshOf(source, options), await emptyOf(store, tx, source));
    const state: CopyState = {
      id: options.id,
      source: source.url,
      status: 'pending',
      copied: 0,
      total: source.length,
    };
    const blob = await replaceBlob(store, tx, place, found, withLease({ ...made, copy: state }, lease));
    const copy = pendingCopy(source, options.id, tx.now);
    await store.copies.set(tx, place.key, copy);
    return { blob, key: place.key, copy };
  });
}

/** The target as it is now, to tell how its copy ended; nothing if it is gone. */
export function currentBlob(store: BlobStore, key: BlobKey): Promise<BlobRecord | undefined> {
  return store.run(async (tx) => committed(seen(await store.blobs.get(tx, key, { lock: 'none' }), tx)));
}

function freshOf(
  { headers, metadata }: Pick<ForeignSource, 'headers' | 'metadata'>,
  options: CopyOptions,
): NewBlob {
  return {
    headers,
    metadata: options.metadata.length > 0 ? options.metadata : metadata,
    tags: options.tags === 'source' ? [] : options.tags,
    tier: options.tier,
    immutability: options.immutability,
    legalHold: options.legalHold,
  };
}

/** A page blob has its size from the beginning, and zeros. */
async function emptyOf(
  store: BlobStore,
  tx: Transaction,
  { type, length }: ForeignSource,
): Promise<Pick<BlobRecord, 'content' | 'length' | 'appends' | 'sequence'>> {
  if (type === 'BlockBlob') return { content: noContent, length: 0 };
  if (type === 'AppendBlob') return { content: noContent, length: 0, appends: 1 };
  return { content: { kind: 'pages', map: await store.maps.create(tx), epoch: 0 }, length, sequence: 0n };
}

/** The same with bytes that came already: a synchronous copy from another server. */
export function copyBody(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  source: Pick<ForeignSource, 'url' | 'headers' | 'metadata'>,
  body: Body,
  options: CopyOptions,
  guards: CreateGuards,
): Promise<BlobRecord> {
  checkMetadata(options.metadata);
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const found = await lockBlob(store, tx, place);
    const lease = admitCreate(found, guards, tx.now, 'copy');
    const old = committed(found);
    if (old !== undefined) checkType(old, 'BlockBlob');
    const content = { content: await nameContent(store, tx, body), length: body.length };
    const made = makeBlob(tx, found, 'BlockBlob', freshOf(source, options), content);
    const copy = copiedState(tx, source, body, options.id);
    return replaceBlob(store, tx, place, found, withLease({ ...made, copy }, lease));
  });
}

/** Leaves an empty blob with the metadata that the copy gave it. */
export function abortCopy(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  copyId: string,
  leaseId: string | undefined,
): Promise<void> {
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, name);
    const old = existing(await lockBlob(store, tx, place));
    if (old.copy?.status !== 'pending') throw new StorageError('NoPendingCopyOperation');
    if (old.copy.id !== copyId) throw new StorageError('CopyIdMismatch');
    const lease = useLease(old, leaseId, 'required', tx.now);
    const { description: _, ...state } = old.copy;
    const copy = { ...state, status: 'aborted' as const, completed: tx.now };
    await store.copies.delete(tx, place.key);
    const ended = withLease({ ...old, copy, stamp: tx.stamp(old.stamp) }, lease);
    await writeRow(store, tx, place.key, old, ended);
  });
}
