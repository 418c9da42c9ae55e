// Set Blob Tier.

import { type Result, refuse } from '../../base/result.js';
import { checkConditions } from '../common/conditions.js';
import { type ErrorCode, orThrow, StorageError } from '../common/errors.js';
import { type BlobAddress, lockRow } from './address.js';
import { type Guards, useLease } from './guards.js';
import {
  type AccessTier,
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  findPlace,
  isPremium,
  type PageTier,
  type RehydratePriority,
  type Tier,
  withLease,
} from './model.js';
import { isPageTier, stepPageTier } from './page-tiers.js';
import { stepTier } from './tier.js';

/** The ETag stays. Whether it is done, or takes its time. */
export function setTier(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
  to: AccessTier | PageTier,
  priority: RehydratePriority,
  { conditions, leaseId }: Guards,
): Promise<'done' | 'pending'> {
  return store.run(async (tx) => {
    const { key } = await findPlace(store, tx, container, address.name);
    const { blob: old, isCurrent, write } = await lockRow(store, tx, key, address);
    checkConditions(conditions, 'write', old);
    const lease = useLease(old, leaseId, 'required', tx.now);
    const tier = orThrow(nextTier(old, to, priority, tx.now, isPremium(store, container)));
    if (tier.rehydrating !== undefined && !isCurrent) throw new StorageError('BlobArchived');
    await write(withLease({ ...old, tier }, lease));
    return tier.rehydrating === undefined ? 'done' : 'pending';
  });
}

/** Block blobs are hot to archived; page blobs have tiers in premium accounts alone. */
function nextTier(
  blob: BlobRecord,
  to: AccessTier | PageTier,
  priority: RehydratePriority,
  now: number,
  premium: boolean,
): Result<Tier, ErrorCode> {
  if (blob.type === 'PageBlob' && premium) {
    return isPageTier(to) ? stepPageTier(blob, to, now) : refuse('InvalidBlobTier');
  }
  if (blob.type !== 'BlockBlob') return refuse('InvalidBlobType');
  return isPageTier(to) ? refuse('InvalidBlobTier') : stepTier(blob.tier, to, priority, now);
}
