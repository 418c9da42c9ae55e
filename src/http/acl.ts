// Stored access policies as XML: the ACL of a container, queue, table or share. Setting one replaces all
// policies; an empty body removes them.

import {
  type AccessPolicy,
  checkPolicies,
  checkTellable,
  type PolicyOwner,
} from '../services/common/access-policy.js';
import type { Call, Version } from './call.js';
import { element, optional, parent } from './xml.js';
import { onlyChildren, optionalText, requireRoot, textChild } from './xml-fields.js';
import { child, parseXml, type XmlNode } from './xml-parser.js';

const mostBytes = 64 * 1024;

/** The body of a Set ACL, as it is stored. */
export async function readAcl(call: Call, owner: PolicyOwner): Promise<AccessPolicy[]> {
  const body = await call.body.readAll(mostBytes);
  if (body.length === 0) return [];
  const root = requireRoot(parseXml(body), 'SignedIdentifiers');
  return checkPolicies(root.children.map(readPolicy), owner);
}

function readPolicy(node: XmlNode): AccessPolicy {
  requireRoot(node, 'SignedIdentifier');
  onlyChildren(node, ['Id', 'AccessPolicy']);
  const id = textChild(node, 'Id');
  const policy = child(node, 'AccessPolicy');
  if (policy === undefined) return { id, start: undefined, expiry: undefined, permission: undefined };
  onlyChildren(policy, ['Start', 'Expiry', 'Permission']);
  return {
    id,
    start: optionalText(policy, 'Start'),
    expiry: optionalText(policy, 'Expiry'),
    permission: optionalText(policy, 'Permission'),
  };
}

/** The document of a Get ACL; 409 `FeatureVersionMismatch` if the version is too old for a policy in it. */
export function writeAcl(policies: readonly AccessPolicy[], version: Version): string {
  checkTellable(policies, version);
  return parent('SignedIdentifiers', policies.map(writePolicy).join(''));
}

function writePolicy(policy: AccessPolicy): string {
  const { id, start, expiry, permission } = policy;
  const terms = optional('Start', start) + optional('Expiry', expiry) + optional('Permission', permission);
  return parent('SignedIdentifier', element('Id', id) + parent('AccessPolicy', terms));
}
