// A request without credentials: let in where a container is public and the operation is one that public
// access opens; else the answer that its version knows.
//
//                      blob    queue   table   file
//   401 challenge      2019-12-12      2020-12-06  2022-11-02   and newer
//   older              404     403     403     403
//
// A version that answers 404 hides whether the container is there.

import { type Awaitable, then } from '../../base/awaitable.js';
import { StorageError } from '../../services/common/errors.js';
import type { Call, ServiceName, Version } from '../call.js';
import type { Operation, PublicAccess } from '../operation.js';
import { opens } from './permissions.js';
import { challenged, unauthenticated } from './refusals.js';
import type { AuthorizeContext, Identity } from './types.js';

const challengedSince: Readonly<Record<ServiceName, Version>> = {
  blob: '2019-12-12',
  queue: '2019-12-12',
  table: '2020-12-06',
  file: '2022-11-02',
};

export type AnonymousCall = Pick<Call, 'service' | 'account' | 'container' | 'version'>;

export function authorizeAnonymous(
  call: AnonymousCall,
  operation: Pick<Operation, 'anonymous'>,
  context: Pick<AuthorizeContext, 'publicAccess'>,
  challenge: string,
): Awaitable<Identity> {
  const needed = operation.anonymous;
  if (call.service !== 'blob' || needed === undefined) throw refusal(call, challenge);
  return then(context.publicAccess(call.account, call.container), (access) =>
    admitAnonymous(call, access, needed, challenge),
  );
}

function admitAnonymous(
  call: AnonymousCall,
  access: PublicAccess | undefined,
  needed: PublicAccess,
  challenge: string,
): Identity {
  if (access === undefined || !opens(access, needed)) throw refusal(call, challenge);
  return { kind: 'anonymous', access };
}

function refusal({ service, version }: AnonymousCall, challenge: string): StorageError {
  if (version >= challengedSince[service]) return challenged('NoAuthenticationInformation', challenge);
  if (service === 'blob') return new StorageError('ResourceNotFound');
  return unauthenticated('The request has no Authorization header and no shared access signature.');
}
