// Lease Blob and Lease Container on the wire.

import { StorageError } from '../../services/common/errors.js';
import { breakSecondsLeft, type Lease, type LeaseAction } from '../../services/common/lease.js';
import { parseLeaseAction } from '../../services/common/lease-request.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { stampHeaders } from './blob-headers.js';

/** What the headers ask for. A SAS that may delete and not write may break a lease, and nothing else. */
export function leaseAction(
  call: Call,
  identity: Identity,
  newId: () => string,
  resource: 'blob' | 'container',
): LeaseAction {
  const action = parseLeaseAction(
    {
      action: call.header('x-ms-lease-action'),
      leaseId: call.header('x-ms-lease-id'),
      proposedLeaseId: call.header('x-ms-proposed-lease-id'),
      duration: call.header('x-ms-lease-duration'),
      breakPeriod: call.header('x-ms-lease-break-period'),
    },
    newId,
    resource,
  );
  if (identity.kind === 'sas' && action.action !== 'break' && !identity.permissions.includes('w')) {
    throw new StorageError('AuthorizationPermissionMismatch');
  }
  return action;
}

const statuses = { acquire: 201, renew: 200, change: 200, release: 200, break: 202 } as const;

/** The ETag is the one there was: a lease changes none. */
export function leaseAnswer(
  { action }: LeaseAction,
  { stamp, lease, now }: { readonly stamp: number; readonly lease: Lease; readonly now: number },
): Answer {
  const headers = stampHeaders(stamp);
  if (action === 'break') headers.push('x-ms-lease-time', String(breakSecondsLeft(lease, now)));
  else if (action !== 'release' && lease.state === 'leased') headers.push('x-ms-lease-id', lease.id);
  return { status: statuses[action], headers };
}
