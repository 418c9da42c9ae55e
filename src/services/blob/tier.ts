// Access tiers. What is archived can be neither read nor written; it is brought back by setting another tier, which
// takes its time, and meanwhile it is still archived.
//
//   from \ to                     hot     cool    archive
//   hot, cool, cold               200     200     200
//   archive                       202     202     200
//   archive, coming back to hot   202     409     409
//
// The time is computed: nothing has to run for a blob to be back.

import { ok, type Result, refuse } from '../../base/result.js';
import type { ErrorCode } from '../common/errors.js';
import type { AccessTier, RehydratePriority, Tier } from './model.js';

/** How long it takes to bring a blob back. Azure needs hours; here the state can be seen, and ends soon. */
const rehydrateMs: Readonly<Record<RehydratePriority, number>> = { Standard: 10_000, High: 1_000 };

/** The tier as it stands now. */
export function observeTier(tier: Tier | undefined, now: number): Tier | undefined {
  const back = tier?.rehydrating;
  if (back === undefined || back.until > now) return tier;
  return { name: back.to, changed: back.until };
}

export function stepTier(
  stored: Tier | undefined,
  to: AccessTier,
  priority: RehydratePriority,
  now: number,
): Result<Tier, ErrorCode> {
  const tier = observeTier(stored, now);
  if (tier?.name !== 'Archive' || (to === 'Archive' && tier.rehydrating === undefined)) {
    return ok({ name: to, changed: now });
  }
  const { rehydrating } = tier;
  if (rehydrating !== undefined && rehydrating.to !== to) return refuse('BlobBeingRehydrated');
  // Asked for again, it may only become sooner.
  const until = Math.min(now + rehydrateMs[priority], rehydrating?.until ?? Number.POSITIVE_INFINITY);
  return ok({
    name: 'Archive',
    changed: tier.changed,
    rehydrating: { to: to as Exclude<AccessTier, 'Archive'>, priority, until },
  });
}
