// Copies whose source is a blob of this server: done in the one transaction that reads the source and writes the
// target, and no byte moves, as both name the same content.

import type { Transaction } from '../../collections/index.js';
import { type Conditions, checkConditions } from '../common/conditions.js';
import { StorageError } from '../common/errors.js';
import { checkMetadata, type Metadata } from '../common/metadata.js';
import type { Tags } from '../common/tags-filter.js';
import { type BlobAddress, findBlob } from './address.js';
import { makeBlob } from './blobs.js';
import { shareContent } from './content.js';
import {
  admitCreate,
  type CreateGuards,
  checkOnline,
  checkType,
  committed,
  existing,
  useLease,
} from './guards.js';
import {
  type AccessTier,
  type BlobContent,
  type BlobKey,
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  findContainer,
  withLease,
} from './model.js';
import { replaceBlob } from './replace.js';

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
  readonly tier: AccessTier | undefined;
  readonly seal: boolean | undefined;
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
    const key: BlobKey = [await findContainer(store, tx, container), name];
    const found = await store.blobs.get(tx, key, { lock: 'update' });
    const original = await findSource(store, tx, source);
    const lease = admitCreate(found, guards, tx.now, 'copy');
    checkSource(original, source, options);
    const old = committed(found);
    if (old !== undefined) checkType(old, original.type);
    const content = await copyContent(store, tx, original);
    const fresh = {
      headers: original.headers,
      metadata: options.metadata.length > 0 ? options.metadata : original.metadata,
      tags: options.tags === 'source' ? (original.tags ?? []) : options.tags,
      tier: options.tier,
    };
    const made = makeBlob(tx, found, original.type, fresh, { content, length: original.length });
    const blob = withLease(
      { ...made, ...ofAppends(original, options.seal), ...done(tx, source, original, options) },
      lease,
    );
    await replaceBlob(store, tx, key, found, blob);
    return blob;
  });
}

function done(
  tx: Transaction,
  { url }: CopySource,
  { length }: BlobRecord,
  { id }: CopyOptions,
): Pick<BlobRecord, 'copy'> {
  return {
    copy: { id, source: url, status: 'success', copied: length, total: length, completed: tx.now },
  };
}

function ofAppends(
  { type, appends, sealed }: BlobRecord,
  seal: boolean | undefined,
): Pick<BlobRecord, 'appends' | 'sealed'> {
  if (type !== 'AppendBlob') return {};
  return { appends: appends ?? 0, ...((seal ?? sealed) ? { sealed: true as const } : {}) };
}

/** The source, which must be the same when the copy commits. */
async function findSource(
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
): void {
  checkConditions(conditions, 'copySource', original);
  if (tier === undefined || tier === 'Archive') checkOnline(original);
  if (blockBlobLimit === undefined) return;
  if (original.type !== 'BlockBlob') throw new StorageError('InvalidSourceBlobType');
  if (original.length > blockBlobLimit) {
    throw new StorageError('CannotVerifyCopySource', {
      status: 409,
      message: `The source of a synchronous copy has at most ${blockBlobLimit} bytes.`,
    });
  }
}

/** The map of an append blob grows: a copy has one of its own, of the same pieces. */
async function copyContent(
  store: BlobStore,
  tx: Transaction,
  { type, content, length }: BlobRecord,
): Promise<BlobContent> {
  if (type !== 'AppendBlob' || content.kind !== 'map') {
    await shareContent(store, tx, content);
    return content;
  }
  const slices = await store.slices.touched(tx, content.map, { start: 0, end: length });
  const map = await store.maps.create(tx);
  const parts = slices.map(({ source, start, end }) => ({ source, length: end - start }));
  for (const { source, length } of parts) {
    if (source.kind === 'extent') await store.contents.share(tx, [{ ...source, length }]);
  }
  await store.maps.append(tx, map, 0, parts);
  return { kind: 'map', map };
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
    const key: BlobKey = [await findContainer(store, tx, container), name];
    const old = existing(await store.blobs.get(tx, key, { lock: 'update' }));
    if (old.copy?.status !== 'pending') throw new StorageError('NoPendingCopyOperation');
    if (old.copy.id !== copyId) throw new StorageError('CopyIdMismatch');
    const lease = useLease(old, leaseId, 'required', tx.now);
    const copy = { ...old.copy, status: 'aborted' as const, completed: tx.now };
    await store.blobs.set(tx, key, withLease({ ...old, copy, stamp: tx.stamp(old.stamp) }, lease));
  });
}
