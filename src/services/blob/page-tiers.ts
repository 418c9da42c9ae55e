// Tiers of page blobs in premium accounts. A tier is the size and speed of a disk: a blob is never longer than its tier
// and its tier is never lowered. One that was not given a tier has the smallest it fits.
//
//   P4 32 GiB   P6 64   P10 128   P15 256   P20 512   P30 1 TiB   P40 2   P50 4   P60 8   P70 16   P80 32
//
// Such a blob has at most 100 snapshots, one in ten minutes.

import { ok, type Result, refuse } from '../../base/result.js';
import type { ErrorCode } from '../common/errors.js';
import type { BlobRecord, PageTier, Tier } from './model.js';

export const pageTiers = ['P4', 'P6', 'P10', 'P15', 'P20', 'P30', 'P40', 'P50', 'P60', 'P70', 'P80'] as const;

const smallestBytes = 32 * 1024 ** 3;

export function isPageTier(name: string): name is PageTier {
  return (pageTiers as readonly string[]).includes(name);
}

/** Each is twice the one before. */
export function pageTierBytes(tier: PageTier): number {
  return smallestBytes * 2 ** pageTiers.indexOf(tier);
}

/** What a blob has that was not given one. */
export function inferredPageTier(length: number): PageTier {
  return pageTiers.find((tier) => length <= pageTierBytes(tier)) ?? 'P80';
}

export function stepPageTier(
  { tier, length }: Pick<BlobRecord, 'tier' | 'length'>,
  to: PageTier,
  now: number,
): Result<Tier, ErrorCode> {
  if (tier !== undefined && isPageTier(tier.name) && pageTiers.indexOf(to) < pageTiers.indexOf(tier.name)) {
    return refuse('CannotChangeToLowerTier');
  }
  if (length > pageTierBytes(to)) return refuse('BlobTierInadequateForContentLength');
  return ok({ name: to, changed: now });
}

/** Whether a blob that is made may have the tier that it was given. */
export function judgeTier(
  { type, tier, length }: Pick<BlobRecord, 'type' | 'tier' | 'length'>,
  isPremium: boolean,
): ErrorCode | undefined {
  if (tier === undefined) return undefined;
  if (!isPageTier(tier.name)) return type === 'PageBlob' ? 'InvalidBlobTier' : undefined;
  if (type !== 'PageBlob' || !isPremium) return 'InvalidBlobTier';
  return length > pageTierBytes(tier.name) ? 'BlobTierInadequateForContentLength' : undefined;
}

const mostSnapshots = 100;
const snapshotEveryMs = 10 * 60 * 1000;

/** Whether another snapshot may be taken, after so many of which the last was so long ago. */
export function judgeSnapshot(count: number, lastMs: number | undefined, now: number): ErrorCode | undefined {
  if (count >= mostSnapshots) return 'SnapshotCountExceeded';
  if (lastMs !== undefined && now - lastMs < snapshotEveryMs) return 'SnapshotOperationRateExceeded';
  return undefined;
}
