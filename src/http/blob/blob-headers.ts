// The headers that tell of a blob.

import { buffer } from '../../base/bytes.js';
import { stampToMs } from '../../base/stamps.js';
import { formatHttpDate } from '../../base/times.js';
import type { BlobAddress } from '../../services/blob/address.js';
import { formatKeptTime } from '../../services/blob/address.js';
import { lastAccess } from '../../services/blob/last-access.js';
import type { BlobRecord, CopyState, ImmutabilityPolicy, Tier } from '../../services/blob/model.js';
import { inferredPageTier } from '../../services/blob/page-tiers.js';
import { observeTier } from '../../services/blob/tier.js';
import { availableLease, type Lease, leaseProperties } from '../../services/common/lease.js';
import type { Identity } from '../auth/types.js';
import type { Version } from '../call.js';
import { addMetadata, stampHeaders } from '../headers.js';
import { keyHeaders } from './customer-keys.js';

/** What a write that makes or changes a blob answers. */
export function writtenHeaders(blob: BlobRecord, version: Version): string[] {
  const headers = stampHeaders(blob.stamp);
  addVersion(headers, blob, version);
  return headers;
}

export function addVersion(headers: string[], blob: BlobRecord, version: Version): void {
  if (blob.version !== undefined && version >= '2019-12-12') {
    headers.push('x-ms-version-id', formatKeptTime(blob.version));
  }
}

/** Of a page blob. */
export function sequenceHeader({ type, sequence }: BlobRecord): string[] {
  return type === 'PageBlob' ? ['x-ms-blob-sequence-number', String(sequence ?? 0n)] : [];
}

export function md5Text(md5: Uint8Array): string {
  return buffer(md5).toString('base64');
}

export function addLease(headers: string[], lease: Lease | undefined, now: number): void {
  const { state, status, duration } = leaseProperties(lease ?? availableLease, now);
  headers.push('x-ms-lease-status', status, 'x-ms-lease-state', state);
  if (duration !== undefined) headers.push('x-ms-lease-duration', duration);
}

/** Of Get Blob and Get Blob Properties: all but what tells of the bytes that are sent. */
export function blobHeaders(
  blob: BlobRecord,
  address: BlobAddress,
  version: Version,
  now: number,
  identity: Identity,
): string[] {
  const headers = stampHeaders(blob.stamp);
  headers.push('Accept-Ranges', 'bytes', 'x-ms-blob-type', blob.type);
  addContent(headers, blob, identity);
  if (version >= '2017-11-09') headers.push('x-ms-creation-time', formatHttpDate(stampToMs(blob.created)));
  addKept(headers, blob, address, version, now);
  headers.push('x-ms-server-encrypted', 'true', ...keyHeaders(blob));
  if (blob.appends !== undefined) headers.push('x-ms-blob-committed-block-count', String(blob.appends));
  if (blob.type === 'PageBlob') headers.push(...sequenceHeader(blob));
  if (blob.sealed && version >= '2019-12-12') headers.push('x-ms-blob-sealed', 'true');
  if (blob.copy !== undefined && version >= '2012-02-12') addCopy(headers, blob.copy);
  if (blob.tags !== undefined && version >= '2019-12-12') {
    headers.push('x-ms-tag-count', String(blob.tags.length));
  }
  if (version >= '2020-06-12') addImmutability(headers, blob);
  if (blob.expires !== undefined && version >= '2020-02-10') {
    headers.push('x-ms-expiry-time', formatHttpDate(blob.expires));
  }
  addMetadata(headers, blob.metadata);
  return headers;
}

/** Which of the name's blobs it is. A snapshot has no lease and is no version. */
function addKept(
  headers: string[],
  blob: BlobRecord,
  address: BlobAddress,
  version: Version,
  now: number,
): void {
  if (address.kind === 'snapshot') {
    headers.push('x-ms-snapshot', formatKeptTime(address.stamp));
    return;
  }
  const isCurrent = address.kind === 'base' || blob.version === address.stamp;
  if (isCurrent) addLease(headers, blob.lease, now);
  if (version < '2019-12-12') return;
  if (address.kind === 'version') headers.push('x-ms-version-id', formatKeptTime(address.stamp));
  else addVersion(headers, blob, version);
  if (isCurrent && blob.version !== undefined) headers.push('x-ms-is-current-version', 'true');
}

const overridable = [
  ['Content-Type', 'type'],
  ['Content-Encoding', 'encoding'],
  ['Content-Language', 'language'],
  ['Content-Disposition', 'disposition'],
  ['Cache-Control', 'cacheControl'],
] as const;

/** A SAS may have them say something else. */
function addContent(headers: string[], { headers: stored }: BlobRecord, identity: Identity): void {
  const overrides = identity.kind === 'sas' ? identity.overrides : [];
  for (const [name, field] of overridable) {
    const value = overrides.length === 0 ? stored[field] : (overrideOf(overrides, name) ?? stored[field]);
    if (value !== undefined) headers.push(name, value);
  }
}

function overrideOf(overrides: readonly string[], name: string): string | undefined {
  for (let at = 0; at < overrides.length; at += 2) {
    if (overrides[at]?.toLowerCase() === name.toLowerCase()) return overrides[at + 1];
  }
  return undefined;
}

function addCopy(headers: string[], copy: CopyState): void {
  headers.push('x-ms-copy-id', copy.id, 'x-ms-copy-source', copy.source, 'x-ms-copy-status', copy.status);
  headers.push('x-ms-copy-progress', `${copy.copied}/${copy.total}`);
  if (copy.completed !== undefined) {
    headers.push('x-ms-copy-completion-time', formatHttpDate(copy.completed));
  }
  if (copy.description !== undefined) headers.push('x-ms-copy-status-description', copy.description);
}

/** Where the account keeps it. */
export function addLastAccess(headers: string[], blob: BlobRecord, version: Version): void {
  if (version >= '2020-02-10') headers.push('x-ms-last-access-time', formatHttpDate(lastAccess(blob)));
}

/** Told by Get Blob Properties alone. Page blobs have one in premium accounts. */
export function addTier(
  headers: string[],
  blob: BlobRecord,
  version: Version,
  now: number,
  isPremium: boolean,
): void {
  if (version < '2017-04-17') return;
  if (blob.type === 'PageBlob' && isPremium) {
    headers.push('x-ms-access-tier', blob.tier?.name ?? inferredPageTier(blob.length));
    if (blob.tier === undefined) headers.push('x-ms-access-tier-inferred', 'true');
  }
  if (blob.type !== 'BlockBlob') return;
  const tier = observeTier(blob.tier, now);
  headers.push('x-ms-access-tier', tier?.name ?? 'Hot');
  if (tier === undefined) headers.push('x-ms-access-tier-inferred', 'true');
  else headers.push('x-ms-access-tier-change-time', formatHttpDate(tier.changed));
  if (tier?.rehydrating !== undefined) {
    headers.push('x-ms-archive-status', archiveStatus(tier.rehydrating));
    headers.push('x-ms-rehydrate-priority', tier.rehydrating.priority);
  }
}

export function archiveStatus({ to }: NonNullable<Tier['rehydrating']>): string {
  return `rehydrate-pending-to-${to.toLowerCase()}`;
}

function addImmutability(headers: string[], { immutability, legalHold }: BlobRecord): void {
  if (immutability !== undefined) headers.push(...policyHeaders(immutability));
  if (legalHold) headers.push('x-ms-legal-hold', 'true');
}

export function policyHeaders({ until, locked }: ImmutabilityPolicy): string[] {
  return [
    'x-ms-immutability-policy-until-date',
    formatHttpDate(until),
    'x-ms-immutability-policy-mode',
    locked ? 'Locked' : 'Unlocked',
  ];
}
