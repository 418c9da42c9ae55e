// What somebody may do: the letters of a SAS, the role of a token, the access of a public container, held
// against what the row of an operation asks for.
//
// A SAS is judged in this order, and the first that fails is told: stored policy, times, address, protocol,
// service, resource type, permission. Before version 2015-04-05 a SAS that does not allow something hid
// that it is there: 404.

import { formatHttpDate, parseIsoTime } from '../../base/times.js';
import { type ErrorCode, StorageError } from '../../services/common/errors.js';
import type { Call } from '../call.js';
import type { Letters, Operation, PublicAccess } from '../operation.js';
import { inRange } from './ip-range.js';
import { unauthenticated } from './refusals.js';
import { roleAllows } from './roles.js';
import type { VerifiedSas } from './sas.js';
import type { SasToken } from './sas-token.js';
import type { Identity, SasIdentity, StoredPolicy } from './types.js';
import { serviceLetters } from './user-delegation-key.js';

export type Access = Pick<Operation, 'accountSas' | 'serviceSas' | 'roles' | 'anonymous'>;

/** The code of the refusal; nothing if they may. Also for what is done inside another operation. */
export function refusalOf(identity: Identity, access: Access): ErrorCode | undefined {
  switch (identity.kind) {
    case 'key':
      return undefined;
    case 'bearer':
      return roleAllows(identity.role, access.roles) ? undefined : 'AuthorizationPermissionMismatch';
    case 'anonymous':
      return opens(identity.access, access.anonymous) ? undefined : 'ResourceNotFound';
    case 'sas':
      return identity.sas === 'account'
        ? refusalOfAccountSas(identity, access)
        : refusalOfServiceSas(identity, access);
  }
}

function refusalOfAccountSas(identity: SasIdentity, { accountSas }: Access): ErrorCode | undefined {
  if (accountSas === undefined) return 'AuthorizationFailure';
  const { types } = accountSas;
  if (types !== undefined && !types.some((type) => identity.resourceTypes?.includes(type))) {
    return 'AuthorizationResourceTypeMismatch';
  }
  return fulfils(identity.permissions, accountSas) ? undefined : 'AuthorizationPermissionMismatch';
}

function refusalOfServiceSas(identity: SasIdentity, { serviceSas, roles }: Access): ErrorCode | undefined {
  if (serviceSas === undefined) return 'AuthorizationFailure';
  if (!fulfils(identity.permissions, serviceSas)) return 'AuthorizationPermissionMismatch';
  if (identity.role !== undefined && !roleAllows(identity.role, roles))
    return 'AuthorizationPermissionMismatch';
  return undefined;
}

function fulfils(granted: string, { need, letters }: Letters): boolean {
  if (need === 'none') return granted !== '';
  const has = (letter: string) => granted.includes(letter);
  return need === 'all' ? [...letters].every(has) : [...letters].some(has);
}

/** Whether a container's public access opens an operation that asks for `needed`. */
export function opens(access: PublicAccess | undefined, needed: PublicAccess | undefined): boolean {
  return needed !== undefined && (access === 'container' || access === needed);
}

export type SasCall = Pick<Call, 'service' | 'remoteAddress' | 'secure' | 'headers'>;

/** Who a verified SAS makes the caller, if it allows the operation here and now; else a refusal. */
export function admit(
  { token, role }: VerifiedSas,
  call: SasCall,
  access: Access,
  policy: StoredPolicy | undefined,
  now: number,
): SasIdentity {
  const granted = policy === undefined ? token : combine(token, policy);
  checkTimes(granted.start, granted.expiry, now);
  if (token.ip !== undefined && !inRange(token.ip, call.remoteAddress)) {
    throw denied(token, 'AuthorizationSourceIPMismatch');
  }
  if (token.httpsOnly && !call.secure) throw denied(token, 'AuthorizationProtocolMismatch');
  if (token.kind === 'account' && !token.services.includes(serviceLetters[call.service])) {
    throw denied(token, 'AuthorizationServiceMismatch');
  }
  const identity: SasIdentity = {
    kind: 'sas',
    sas: token.kind,
    permissions: granted.permissions ?? '',
    resourceTypes: token.resourceTypes,
    role,
    overrides: token.overrides,
    table: token.resource?.kind === 'table' ? token.resource.container : undefined,
    keys: token.keys,
    encryptionScope: token.encryptionScope,
  };
  const refusal = refusalOf(identity, access) ?? refusalOfTags(identity, call);
  if (refusal !== undefined) throw denied(token, refusal);
  checkEncryptionScope(token, call);
  return identity;
}

/** A SAS bound to an encryption scope writes with no other. */
function checkEncryptionScope({ encryptionScope }: SasToken, { headers }: SasCall): void {
  const named = headers['x-ms-encryption-scope'];
  if (encryptionScope === undefined || named === undefined || named === encryptionScope) return;
  throw new StorageError('InvalidHeaderValue', {
    details: { HeaderName: 'x-ms-encryption-scope', HeaderValue: String(named) },
  });
}

/** Tags may be named, in a condition or to be set, only with the letter for tags. */
function refusalOfTags(identity: SasIdentity, { service, headers }: SasCall): ErrorCode | undefined {
  if (service !== 'blob' || identity.permissions.includes('t')) return undefined;
  const named = headers['x-ms-tags'] !== undefined || headers['x-ms-if-tags'] !== undefined;
  return named ? 'AuthorizationPermissionMismatch' : undefined;
}

type Granted = Pick<SasToken, 'permissions' | 'start' | 'expiry'>;

/** Each of start, expiry and permissions comes from the token or from the policy, never from both. */
function combine(token: SasToken, policy: StoredPolicy): Granted {
  const both =
    (token.permissions !== undefined && policy.permission !== undefined) ||
    (token.start !== undefined && policy.start !== undefined) ||
    (token.expiry !== undefined && policy.expiry !== undefined);
  if (both) {
    throw unauthenticated(
      'Access policy fields can be associated with signature or SAS identifier but not both',
    );
  }
  const granted: Granted = {
    permissions: token.permissions ?? policy.permission,
    start: token.start ?? timeOf(policy.start),
    expiry: token.expiry ?? timeOf(policy.expiry),
  };
  if (granted.permissions === undefined) throw unauthenticated('sp is mandatory. Cannot be empty');
  if (granted.expiry === undefined) throw unauthenticated('se is mandatory. Cannot be empty');
  return granted;
}

/** What was stored as a policy was read as one before; a text that is no time lets nobody in. */
function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = parseIsoTime(text);
  if (time === undefined) throw unauthenticated('The stored access policy has a time that cannot be read.');
  return time.ms;
}

function checkTimes(start: number | undefined, expiry: number | undefined, now: number): void {
  if ((start === undefined || start <= now) && expiry !== undefined && now < expiry) return;
  throw unauthenticated(
    `Signature not valid in the specified time frame: Start [${formatHttpDate(start ?? now)}] - Expiry [${expiry === undefined ? '' : formatHttpDate(expiry)}] - Current [${formatHttpDate(now)}]`,
  );
}

function denied(token: SasToken, code: ErrorCode): StorageError {
  return new StorageError(token.version < '2015-04-05' ? 'ResourceNotFound' : code);
}
