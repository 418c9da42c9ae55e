// Leases on the wire: what the headers ask for, and what an answer tells.

import { randomUUID } from 'node:crypto';
import type { LeasedResource } from '../services/common/errors.js';
import { breakSecondsLeft, type Lease, type LeaseAction } from '../services/common/lease.js';
import { parseLeaseAction } from '../services/common/lease-request.js';
import type { Answer } from './answer.js';
import type { Call } from './call.js';

export function leaseActionOf(
  call: Call,
  resource: LeasedResource,
  newId: () => string = randomUUID,
): LeaseAction {
  const request = {
    action: call.header('x-ms-lease-action'),
    leaseId: call.header('x-ms-lease-id'),
    proposedLeaseId: call.header('x-ms-proposed-lease-id'),
    duration: call.header('x-ms-lease-duration'),
    breakPeriod: call.header('x-ms-lease-break-period'),
  };
  return parseLeaseAction(request, newId, resource);
}

const statuses = { acquire: 201, renew: 200, change: 200, release: 200, break: 202 } as const;

/** `headers`: the ETag and the time of the last change are those there were, as a lease changes neither. */
export function leaseAnswer({ action }: LeaseAction, lease: Lease, now: number, headers: string[]): Answer {
  if (action === 'break') headers.push('x-ms-lease-time', String(breakSecondsLeft(lease, now)));
  else if (action !== 'release' && lease.state === 'leased') headers.push('x-ms-lease-id', lease.id);
  return { status: statuses[action], headers };
}
