// Policies that keep a blob from being changed or deleted until a time, and legal holds that do so until they are
// taken off. An account must keep versions and allow it (versionLevelImmutability).
//
//              set earlier   set later   lock   delete
//   unlocked   yes           yes         yes    yes
//   locked     409           yes         -      409

import { type Conditions, checkConditions } from '../common/conditions.js';
import { StorageError } from '../common/errors.js';
import { type BlobAddress, lockRow } from './address.js';
import {
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  findPlace,
  type ImmutabilityPolicy,
} from './model.js';

export function setImmutability(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
  policy: ImmutabilityPolicy,
  conditions: Conditions,
): Promise<void> {
  return changeRow(store, container, address, (blob, now) => {
    checkConditions(conditions, 'write', blob);
    checkPolicy(blob.immutability, policy, now);
    return { ...blob, immutability: policy };
  });
}

/** A policy whose time is over binds nobody, also if it was locked. */
export function checkPolicy(
  old: ImmutabilityPolicy | undefined,
  policy: ImmutabilityPolicy,
  now: number,
): void {
  if (old === undefined || !old.locked || old.until <= now) return;
  if (!policy.locked || policy.until < old.until) throw new StorageError('BlobImmutableDueToPolicy');
}

export function deleteImmutability(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
): Promise<void> {
  return changeRow(store, container, address, (blob, now) => {
    const { immutability, ...rest } = blob;
    if (immutability?.locked && immutability.until > now) throw new StorageError('BlobImmutableDueToPolicy');
    return rest;
  });
}

export function setLegalHold(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
  hold: boolean,
): Promise<void> {
  return changeRow(store, container, address, (blob) => {
    const { legalHold: _, ...rest } = blob;
    return hold ? { ...rest, legalHold: true } : rest;
  });
}

function changeRow(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
  change: (blob: BlobRecord, now: number) => BlobRecord,
): Promise<void> {
  checkAllowed(store, container);
  return store.run(async (tx) => {
    const { key } = await findPlace(store, tx, container, address.name);
    const { blob, write } = await lockRow(store, tx, key, address);
    await write(change(blob, tx.now));
  });
}

export function checkAllowed(store: BlobStore, [account]: ContainerKey): void {
  if (store.settings(account).versionLevelImmutability) return;
  throw new StorageError('UnsupportedHeader', {
    message:
      'Immutability policies and legal holds need an account with versionLevelImmutability, which needs versioning.',
  });
}
