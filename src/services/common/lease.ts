// Leases: who may write. One machine for blobs, containers, files and shares.
//
//                 acquire A   acquire B   renew A     change A→B   release A   break
//   available     leased A    leased B    409         409          409         409
//   leased A      leased A    409         leased A    leased B     available   breaking A or broken A
//   expired A     leased A    leased B    leased A    409          available   broken A
//   breaking A    409         409         409         409          available   breaking A or broken A
//   broken A      leased A    leased B    409         409          available   broken A
//
//   time          leased → expired, breaking → broken. Nothing runs for it: `observe` computes it.
//   a write       without an id to a blob or file whose lease is expired or broken makes it available:
//                 the id is forgotten and cannot be renewed. A container and a share remember it.
//
// Differences: a file is leased for ever or not at all, so it never expires and breaks at once; what a
// resource says about a wrong id is in `words`. Nothing here changes an ETag.

import { unreachable } from '../../base/assert.js';
import { ok, type Result, refuse } from '../../base/result.js';
import type { ErrorCode, LeasedResource } from './errors.js';

export type Lease = Readonly<
  | { state: 'available' }
  | { state: 'leased'; id: string; seconds: number; until: number } // Infinity: it never ends
  | { state: 'expired'; id: string; seconds: number }
  | { state: 'breaking'; id: string; until: number }
  | { state: 'broken'; id: string }
>;

export type LeaseAction = Readonly<
  | { action: 'acquire'; id: string; seconds: number } // id: the one proposed, else a new one
  | { action: 'renew'; id: string }
  | { action: 'change'; id: string; proposedId: string }
  | { action: 'release'; id: string }
  | { action: 'break'; seconds: number | undefined } // none given: for as long as the lease would last
>;

/**
 * What an operation asks of the lease.
 *   checked    an id that is sent must be right: reads, Snapshot Blob, container operations but Delete
 *   required   the id must be sent while the lease is locked: writes; Delete Container; a share's Set, Delete
 *   infinite   required, and the lease must be infinite: the target of a copy
 */
export type LeaseNeed = 'checked' | 'required' | 'infinite';

export const availableLease: Lease = { state: 'available' };

/** The lease as it stands now. One that ran out is still stored as leased: nothing sweeps. */
export function observe(lease: Lease, now: number): Lease {
  if (lease.state === 'leased' && lease.until <= now) {
    return { state: 'expired', id: lease.id, seconds: lease.seconds };
  }
  if (lease.state === 'breaking' && lease.until <= now) return { state: 'broken', id: lease.id };
  return lease;
}

/** The lease after an action on it, or why it is refused (always 409). */
export function step(
  stored: Lease,
  action: LeaseAction,
  now: number,
  resource: LeasedResource = 'blob',
): Result<Lease, ErrorCode> {
  const lease = observe(stored, now);
  switch (action.action) {
    case 'acquire':
      return acquire(lease, action.id, action.seconds, now);
    case 'renew':
      return renew(lease, action.id, now);
    case 'change':
      return change(lease, action.id, action.proposedId, resource);
    case 'release':
      return release(lease, action.id);
    case 'break':
      return breakLease(lease, action.seconds, now);
    default:
      return unreachable(action);
  }
}

function acquire(lease: Lease, id: string, seconds: number, now: number): Result<Lease, ErrorCode> {
  if (lease.state === 'leased' && lease.id !== id) return refuse('LeaseAlreadyPresent');
  if (lease.state === 'breaking') {
    return refuse(lease.id === id ? 'LeaseIsBreakingAndCannotBeAcquired' : 'LeaseAlreadyPresent');
  }
  return ok({ state: 'leased', id, seconds, until: now + seconds * 1000 });
}

function renew(lease: Lease, id: string, now: number): Result<Lease, ErrorCode> {
  if (lease.state === 'available' || lease.id !== id) return refuse('LeaseIdMismatchWithLeaseOperation');
  if (lease.state === 'breaking' || lease.state === 'broken') {
    return refuse('LeaseIsBrokenAndCannotBeRenewed');
  }
  return ok({ state: 'leased', id, seconds: lease.seconds, until: now + lease.seconds * 1000 });
}

/** A change to the id it has already succeeds: the answer to the first try may have been lost. */
function change(
  lease: Lease,
  id: string,
  proposedId: string,
  resource: LeasedResource,
): Result<Lease, ErrorCode> {
  switch (lease.state) {
    case 'leased':
      if (lease.id !== id && lease.id !== proposedId) return refuse('LeaseIdMismatchWithLeaseOperation');
      return ok({ ...lease, id: proposedId });
    case 'breaking':
      return refuse(
        lease.id === id ? 'LeaseIsBreakingAndCannotBeChanged' : 'LeaseIdMismatchWithLeaseOperation',
      );
    case 'broken':
      if (resource !== 'file') return refuse('LeaseNotPresentWithLeaseOperation');
      return refuse(
        lease.id === id ? 'LeaseIsBrokenAndCannotBeChanged' : 'LeaseIdMismatchWithLeaseOperation',
      );
    default:
      return refuse('LeaseNotPresentWithLeaseOperation');
  }
}

function release(lease: Lease, id: string): Result<Lease, ErrorCode> {
  if (lease.state === 'available' || lease.id !== id) return refuse('LeaseIdMismatchWithLeaseOperation');
  return ok(availableLease);
}

/** A break can only shorten: it ends with the period given or with the lease, whichever comes first. */
function breakLease(lease: Lease, seconds: number | undefined, now: number): Result<Lease, ErrorCode> {
  if (lease.state === 'available') return refuse('LeaseNotPresentWithLeaseOperation');
  if (lease.state === 'expired' || lease.state === 'broken') return ok({ state: 'broken', id: lease.id });
  const asked = seconds === undefined ? Number.POSITIVE_INFINITY : now + seconds * 1000;
  const until = Math.min(asked, lease.until);
  // An infinite lease has no end to wait for.
  if (until <= now || until === Number.POSITIVE_INFINITY) return ok({ state: 'broken', id: lease.id });
  return ok({ state: 'breaking', id: lease.id, until });
}

const words = {
  blob: {
    wrong: 'LeaseIdMismatchWithBlobOperation',
    none: 'LeaseNotPresentWithBlobOperation',
    lost: 'LeaseLost',
    forgets: true,
  },
  container: {
    wrong: 'LeaseIdMismatchWithContainerOperation',
    none: 'LeaseNotPresentWithContainerOperation',
    lost: 'LeaseLost',
    forgets: false,
  },
  share: {
    wrong: 'LeaseIdMismatchWithContainerOperation',
    none: 'LeaseNotPresentWithContainerOperation',
    lost: 'LeaseLost',
    forgets: false,
  },
  file: {
    wrong: 'LeaseIdMismatchWithFileOperation',
    none: 'LeaseNotPresentWithFileOperation',
    lost: 'LeaseNotPresentWithFileOperation',
    forgets: true,
  },
} as const satisfies Record<
  LeasedResource,
  { wrong: ErrorCode; none: ErrorCode; lost: ErrorCode; forgets: boolean }
>;

/**
 * The lease after an operation other than on the lease itself, or why the lease forbids it (always 412).
 * `id` is the one the request names. A resource that does not exist yet has `availableLease`.
 */
export function use(
  stored: Lease,
  id: string | undefined,
  need: LeaseNeed,
  now: number,
  resource: LeasedResource = 'blob',
): Result<Lease, ErrorCode> {
  const lease = observe(stored, now);
  const say = words[resource];
  switch (lease.state) {
    case 'available':
      return id === undefined ? ok(stored) : refuse(say.none);
    case 'leased':
    case 'breaking':
      if (id === undefined) return need === 'checked' ? ok(stored) : refuse('LeaseIdMissing');
      if (id !== lease.id) return refuse(say.wrong);
      // A lease that is being broken will end: it is no longer infinite.
      if (need === 'infinite' && !isInfinite(lease)) return refuse('InfiniteLeaseDurationRequired');
      return ok(stored);
    case 'expired':
    case 'broken':
      if (id !== undefined) return refuse(id === lease.id || resource === 'file' ? say.lost : say.wrong);
      return ok(need !== 'checked' && say.forgets ? availableLease : stored);
    default:
      return unreachable(lease);
  }
}

function isInfinite(lease: Lease): boolean {
  return lease.state === 'leased' && lease.until === Number.POSITIVE_INFINITY;
}

/** What a client is told about a lease; the duration only while it is leased. */
export type LeaseProperties = Readonly<{
  state: Lease['state'];
  status: 'locked' | 'unlocked';
  duration: 'fixed' | 'infinite' | undefined;
}>;

export function leaseProperties(stored: Lease, now: number): LeaseProperties {
  const lease = observe(stored, now);
  const locked = lease.state === 'leased' || lease.state === 'breaking';
  const duration = lease.state !== 'leased' ? undefined : isInfinite(lease) ? 'infinite' : 'fixed';
  return { state: lease.state, status: locked ? 'locked' : 'unlocked', duration };
}

/** The answer to a break: whole seconds until the lease is broken, 0 only when it is. */
export function breakSecondsLeft(lease: Lease, now: number): number {
  return lease.state === 'breaking' ? Math.ceil(Math.max(0, lease.until - now) / 1000) : 0;
}
