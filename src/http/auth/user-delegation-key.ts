// User delegation keys: what the holder of a bearer token gets to sign SAS with, without the account's key.
//
// Nothing is stored. A key is a keyed hash of everything that is said of it (whose, from when to when, for
// which service and account) and of the role its owner had when it was given out. The secret stays in the
// server, so only a key that was given out can be used; the role is found again by trying the three. A new
// secret revokes all of them.

import { createHmac } from 'node:crypto';
import { parseIsoTime } from '../../base/times.js';
import { StorageError } from '../../services/common/errors.js';
import type { ServiceName, Version } from '../call.js';
import { type Role, roles } from './roles.js';
import type { Identity } from './types.js';

/** What a SAS says of the key it was signed with, and what the answer to Get User Delegation Key says. */
export interface DelegationKeyClaims {
  readonly objectId: string;
  readonly tenantId: string;
  /** `2030-01-01T00:00:00Z`. */
  readonly start: string;
  readonly expiry: string;
  /** b, q, t or f. */
  readonly service: string;
  readonly version: Version;
  /** The tenant of the one user who may use a SAS made with it. */
  readonly delegatedTenantId?: string | undefined;
}

export interface UserDelegationKey extends DelegationKeyClaims {
  /** Base64. */
  readonly value: string;
}

export const serviceLetters: Readonly<Record<ServiceName, string>> = {
  blob: 'b',
  queue: 'q',
  table: 't',
  file: 'f',
};

export interface KeyRequest {
  readonly account: string;
  readonly service: ServiceName;
  readonly version: Version;
  /** As the body has them. */
  readonly start: string | undefined;
  readonly expiry: string;
  readonly delegatedTenantId?: string | undefined;
}

const longestMs = 7 * 24 * 60 * 60 * 1000;

/** 403 for anyone without a bearer token, 400 for times that are not within seven days from now. */
export function issueUserDelegationKey(
  secret: Buffer,
  identity: Identity,
  request: KeyRequest,
  now: number,
): UserDelegationKey {
  if (identity.kind !== 'bearer') throw new StorageError('AuthorizationPermissionMismatch');
  const start = request.start ? timeOf('Start', request.start) : now;
  const expiry = timeOf('Expiry', request.expiry);
  if (start > now + longestMs)
    throw invalid('Start', request.start ?? '', 'It is more than seven days away.');
  if (expiry <= now || expiry <= start)
    throw invalid('Expiry', request.expiry, 'It is past, or before the start.');
  if (expiry > now + longestMs) throw invalid('Expiry', request.expiry, 'It is more than seven days away.');
  const claims: DelegationKeyClaims = {
    objectId: identity.objectId,
    tenantId: identity.tenantId,
    start: toSeconds(start),
    expiry: toSeconds(expiry),
    service: serviceLetters[request.service],
    version: request.version,
    delegatedTenantId: request.delegatedTenantId || undefined,
  };
  return {
    ...claims,
    value: delegationKey(secret, request.account, claims, identity.role).toString('base64'),
  };
}

/** The keys these claims may have been given out with, by the role their owner had then. */
export function delegationKeys(
  secret: Buffer,
  account: string,
  claims: DelegationKeyClaims,
): readonly (readonly [Role, Buffer])[] {
  return roles.map((role) => [role, delegationKey(secret, account, claims, role)] as const);
}

function delegationKey(secret: Buffer, account: string, claims: DelegationKeyClaims, role: Role): Buffer {
  const { objectId, tenantId, start, expiry, service, version, delegatedTenantId = '' } = claims;
  const said = [account, objectId, tenantId, start, expiry, service, version, delegatedTenantId, role];
  return createHmac('sha256', secret).update(JSON.stringify(said)).digest();
}

function timeOf(node: string, text: string): number {
  const time = parseIsoTime(text);
  if (time === undefined) throw invalid(node, text, 'It is not a time.');
  return time.ms;
}

function invalid(XmlNodeName: string, XmlNodeValue: string, Reason: string): StorageError {
  return new StorageError('InvalidXmlNodeValue', { details: { XmlNodeName, XmlNodeValue, Reason } });
}

/** Clients write the times of a key in whole seconds. */
function toSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
