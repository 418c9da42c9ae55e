// Get User Delegation Key, as every service that has it answers it.

import { StorageError } from '../services/common/errors.js';
import type { Answer } from './answer.js';
import type { Identity } from './auth/types.js';
import { issueUserDelegationKey } from './auth/user-delegation-key.js';
import type { Call } from './call.js';
import { element, optional, parent, xmlAnswer } from './xml.js';
import { optionalText, requireRoot, textChild } from './xml-fields.js';
import { parseXml } from './xml-parser.js';

const mostBytes = 4096;

export async function getUserDelegationKey(
  call: Call,
  secret: Buffer | undefined,
  identity: Identity,
): Promise<Answer> {
  if (secret === undefined) throw new StorageError('ResourceNotFound');
  const root = requireRoot(parseXml(await call.body.readAll(mostBytes)), 'KeyInfo');
  const request = {
    account: call.account,
    service: call.service,
    version: call.version,
    start: optionalText(root, 'Start'),
    expiry: textChild(root, 'Expiry'),
    delegatedTenantId: optionalText(root, 'DelegatedUserTid'),
  };
  const key = issueUserDelegationKey(secret, identity, request, call.startedAt);
  const document =
    element('SignedOid', key.objectId) +
    element('SignedTid', key.tenantId) +
    element('SignedStart', key.start) +
    element('SignedExpiry', key.expiry) +
    element('SignedService', key.service) +
    element('SignedVersion', key.version) +
    optional('SignedDelegatedUserTid', key.delegatedTenantId) +
    element('Value', key.value);
  return xmlAnswer(200, parent('UserDelegationKey', document));
}
