// Lease Blob and Lease Container on the wire.

import { StorageError } from '../../services/common/errors.js';
import type { Lease, LeaseAction } from '../../services/common/lease.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { stampHeaders } from '../headers.js';
import { leaseAnswer as answer, leaseActionOf } from '../leases.js';

/** What the headers ask for. A SAS that may delete and not write may break a lease, and nothing else. */
export function leaseAction(
  call: Call,
  identity: Identity,
  newId: () => string,
  resource: 'blob' | 'container',
): LeaseAction {
  const action = leaseActionOf(call, resource, newId);
  if (identity.kind === 'sas' && action.action !== 'break' && !identity.permissions.includes('w')) {
    throw new StorageError('AuthorizationPermissionMismatch');
  }
  return action;
}

export function leaseAnswer(
  action: LeaseAction,
  { stamp, lease, now }: { readonly stamp: number; readonly lease: Lease; readonly now: number },
): Answer {
  return answer(action, lease, now, stampHeaders(stamp));
}
