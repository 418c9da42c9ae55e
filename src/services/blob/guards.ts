// What a request demands of a blob before it is served, and what a blob's state forbids, in the order in which a
// client is told (blob.md 3.7): that it exists, states that forbid it (409), conditions (412, 304), the lease (412).

import { type Conditions, checkConditions } from '../common/conditions.js';
import { orThrow, StorageError } from '../common/errors.js';
import { availableLease, type Lease, type LeaseNeed, use } from '../common/lease.js';
import type { CustomerKey } from './encryption.js';
import type { BlobRecord, Found } from './model.js';
import { observeTier } from './tier.js';

export interface Guards {
  readonly conditions: Conditions;
  readonly leaseId: string | undefined;
  /** The customer's key that the request carries. */
  readonly key?: CustomerKey | undefined;
}

export interface CreateGuards extends Guards {
  /** A SAS that may create and not write: 403 where a blob is there already. */
  readonly mayOverwrite: boolean;
}

/** The blob, if there is one that is committed. */
export function committed(found: Found): BlobRecord | undefined {
  return found === undefined || found.type === 'uncommitted' ? undefined : found;
}

export function existing(found: Found): BlobRecord {
  const blob = committed(found);
  if (blob === undefined) throw new StorageError('BlobNotFound');
  return blob;
}

export function admitRead(blob: BlobRecord, { conditions, leaseId }: Guards, now: number): void {
  checkConditions(conditions, 'read', blob);
  if (leaseId !== undefined) useLease(blob, leaseId, 'checked', now);
}

/** The lease as it is after a write to a blob that exists. */
export function admitWrite(
  blob: BlobRecord,
  { conditions, leaseId }: Guards,
  now: number,
  need: LeaseNeed = 'required',
): Lease {
  checkMutable(blob, now);
  checkNotIncremental(blob);
  checkNoPendingCopy(blob);
  checkConditions(conditions, 'write', blob);
  return useLease(blob, leaseId, need, now);
}

/** The lease as it is after a write that makes a blob, or replaces the one that is there. */
export function admitCreate(
  found: Found,
  { conditions, leaseId, mayOverwrite }: CreateGuards,
  now: number,
  kind: 'create' | 'copy' = 'create',
): Lease {
  const blob = committed(found);
  if (blob !== undefined) {
    if (!mayOverwrite) throw new StorageError('UnauthorizedBlobOverwrite');
    checkNotIncremental(blob);
    checkNoPendingCopy(blob);
    checkOnline(blob, now);
  }
  checkConditions(conditions, kind, blob);
  return useLease(found, leaseId, kind === 'copy' ? 'infinite' : 'required', now);
}

export function useLease(
  found: { readonly lease?: Lease } | undefined,
  leaseId: string | undefined,
  need: LeaseNeed,
  now: number,
): Lease {
  return orThrow(use(found?.lease ?? availableLease, leaseId, need, now));
}

/** Only the next copy writes to it, and only its snapshots are read. */
export function checkNotIncremental({ incremental }: BlobRecord): void {
  if (incremental !== undefined) throw new StorageError('OperationNotAllowedOnIncrementalCopyBlob');
}

export function checkNoPendingCopy({ copy }: BlobRecord): void {
  if (copy?.status === 'pending') throw new StorageError('PendingCopyOperation');
}

/** The content of an archived blob can be neither read nor replaced. */
export function checkOnline({ tier }: BlobRecord, now: number): void {
  if (observeTier(tier, now)?.name === 'Archive') throw new StorageError('BlobArchived');
}

/** A blob under a policy or a hold is neither changed nor deleted. Putting another one makes a version of it. */
export function checkMutable({ immutability, legalHold }: BlobRecord, now: number): void {
  if (legalHold) throw new StorageError('BlobImmutableDueToLegalHold');
  if (immutability !== undefined && immutability.until > now) {
    throw new StorageError('BlobImmutableDueToPolicy');
  }
}

export function checkType(blob: BlobRecord, type: BlobRecord['type']): void {
  if (blob.type !== type) throw new StorageError('InvalidBlobType');
}
