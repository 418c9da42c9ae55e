// Get User Delegation Key: `POST /?restype=service&comp=userdelegationkey`, for any service that has it.

import { assert } from '../../base/assert.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { element, optional, parent, xmlAnswer } from '../xml.js';
import { onlyChildren, optionalText, requireRoot, textChild } from '../xml-fields.js';
import { parseXml } from '../xml-parser.js';
import type { Identity } from './types.js';
import { issueUserDelegationKey } from './user-delegation-key.js';

/** What an account's user delegation keys are made of. */
export interface DelegationSecrets {
  secret(account: string): Buffer | undefined;
}

const mostBytes = 4096;

export async function getUserDelegationKey(
  call: Call,
  accounts: DelegationSecrets,
  identity: Identity,
): Promise<Answer> {
  const secret = accounts.secret(call.account);
  assert(secret !== undefined, 'an account that was let in has a secret');
  const info = requireRoot(parseXml(await call.body.readAll(mostBytes)), 'KeyInfo');
  onlyChildren(info, ['Start', 'Expiry', 'DelegatedUserTid']);
  const { account, service, version } = call;
  const asked = {
    account,
    service,
    version,
    start: optionalText(info, 'Start'),
    expiry: textChild(info, 'Expiry').trim(),
    delegatedTenantId: optionalText(info, 'DelegatedUserTid'),
  };
  const key = issueUserDelegationKey(secret, identity, asked, call.startedAt);
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
