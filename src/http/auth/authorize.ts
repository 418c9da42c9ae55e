// Who is asking, and may they: the schemes, asked in turn. The scheme is chosen by what the request has
// (http-common.md, section 5): an Authorization header, else a signature in the query, else nothing.
//
// One exception: a SAS made for one user (`sduoid`) needs that user's bearer token beside it.

import { type Awaitable, then } from '../../base/awaitable.js';
import { StorageError } from '../../services/common/errors.js';
import type { Call } from '../call.js';
import { Bearer, type BearerIdentity } from './bearer.js';
import type { BearerSettings } from './bearer-settings.js';
import { type Access, admit, refusalOf } from './permissions.js';
import { authorizeAnonymous } from './public.js';
import { unauthenticated } from './refusals.js';
import { roles } from './roles.js';
import { type SasKeys, SasVerifier, type VerifiedSas } from './sas.js';
import { checkSharedKey } from './shared-key.js';
import type { Authorize, AuthorizeContext, Identity, StoredPolicy } from './types.js';

export interface AuthorizeSettings {
  /** Left out: no bearer tokens. */
  readonly bearer?: BearerSettings | undefined;
}

const keyHolder: Identity = { kind: 'key' };

export function createAuthorize(settings: AuthorizeSettings = {}): Authorize {
  const bearer = new Bearer(settings.bearer);
  const sas = new SasVerifier();

  return (call, operation, context) => {
    const { authorization } = call.headers;
    const signed = call.query.has('sig');
    if (authorization !== undefined && !(signed && call.query.has('sduoid'))) {
      if (authorization.startsWith('SharedKey')) {
        checkSharedKey(call, authorization, context.keys(call.account), context.now());
        return keyHolder;
      }
      return authorizeBearer(bearer, call, operation, context.now());
    }
    if (signed) return authorizeSas(sas, bearer, call, operation, context);
    return authorizeAnonymous(call, operation, context, bearer.challenge);
  };
}

async function authorizeBearer(
  bearer: Bearer,
  call: Call,
  access: Access,
  now: number,
): Promise<BearerIdentity> {
  const identity = await bearer.authenticate(call, now);
  const refusal = refusalOf(identity, access);
  if (refusal !== undefined) throw new StorageError(refusal);
  return identity;
}

function authorizeSas(
  verifier: SasVerifier,
  bearer: Bearer,
  call: Call,
  access: Access,
  context: AuthorizeContext,
): Awaitable<Identity> {
  const account = context.keys(call.account);
  if (account === undefined) throw unauthenticated(`The account '${call.account}' does not exist.`);
  const keys: SasKeys = { account, delegation: context.delegationSecret?.(call.account) };
  const sas = withRoleOfToday(verifier.verify(call, keys), bearer, call);
  const { token } = sas;
  if (token.delegatedUser !== undefined)
    return admitUser(sas, token.delegatedUser, bearer, call, access, context);
  if (token.policy === undefined || token.resource === undefined) {
    return admit(sas, call, access, undefined, context.now());
  }
  return then(context.policies(call.service, call.account, token.resource.container), (policies) =>
    admit(sas, call, access, policyOf(policies, token.policy), context.now()),
  );
}

function policyOf(policies: readonly StoredPolicy[] | undefined, id: string | undefined): StoredPolicy {
  const policy = policies?.find((candidate) => candidate.id === id);
  if (policy !== undefined) return policy;
  throw unauthenticated('SAS identifier cannot be found for specified signed identifier');
}

/** A delegation gives no more than its owner has now, as far as the settings tell. */
function withRoleOfToday(sas: VerifiedSas, bearer: Bearer, call: Call): VerifiedSas {
  const { role } = sas;
  if (role === undefined) return sas;
  const today = bearer.configuredRole(sas.token.delegation?.objectId ?? '', call.service);
  if (today === 'none') throw new StorageError('AuthorizationPermissionMismatch');
  return today !== undefined && roles.indexOf(today) < roles.indexOf(role) ? { ...sas, role: today } : sas;
}

async function admitUser(
  sas: VerifiedSas,
  user: string,
  bearer: Bearer,
  call: Call,
  access: Access,
  context: AuthorizeContext,
): Promise<Identity> {
  if (call.headers.authorization === undefined) {
    throw unauthenticated('This SAS is for one user, who must send a bearer token with it.');
  }
  const { objectId, tenantId } = await bearer.identify(call, context.now());
  const tenant = sas.token.delegation?.delegatedTenantId;
  if (objectId !== user || (tenant !== undefined && tenant !== tenantId)) {
    throw unauthenticated('This SAS is for another user than the bearer token names.');
  }
  return admit(sas, call, access, undefined, context.now());
}
