// Set Blob Tier.

import { checkConditions } from '../common/conditions.js';
import { orThrow, StorageError } from '../common/errors.js';
import { type BlobAddress, lockRow } from './address.js';
import { checkType, type Guards, useLease } from './guards.js';
import {
  type AccessTier,
  type BlobStore,
  type ContainerKey,
  findPlace,
  type RehydratePriority,
  withLease,
} from './model.js';
import { stepTier } from './tier.js';

/** The ETag stays. Whether it is done, or takes its time. */
export function setTier(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
  to: AccessTier,
  priority: RehydratePriority,
  { conditions, leaseId }: Guards,
): Promise<'done' | 'pending'> {
  return store.run(async (tx) => {
    const { key } = await findPlace(store, tx, container, address.name);
    const { blob: old, isCurrent, write } = await lockRow(store, tx, key, address);
    checkConditions(conditions, 'write', old);
    const lease = useLease(old, leaseId, 'required', tx.now);
    checkType(old, 'BlockBlob');
    const tier = orThrow(stepTier(old.tier, to, priority, tx.now));
    if (tier.rehydrating !== undefined && !isCurrent) throw new StorageError('BlobArchived');
    await write(withLease({ ...old, tier }, lease));
    return tier.rehydrating === undefined ? 'done' : 'pending';
  });
}
