// What can be done to a blob without touching its content or its ETag: tier, expiry, undelete, immutability, legal hold.

import { setExpiry } from '../../services/blob/expiry.js';
import * as immutability from '../../services/blob/immutability.js';
import type { BlobService } from '../../services/blob/service.js';
import { setTier } from '../../services/blob/tiers.js';
import { undeleteBlob as undelete } from '../../services/blob/undelete.js';
import { missingHeader } from '../../services/common/errors.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { conditionsOf } from '../condition-headers.js';
import { flagHeader, requireHeader, stampHeaders, wordHeader } from '../headers.js';
import type { Handler } from '../operation.js';
import { policyHeaders } from './blob-headers.js';
import { requireExpiry } from './expiry-request.js';
import {
  blobAddress,
  blobName,
  changedBlobName,
  containerKey,
  guardsOf,
  policyOf,
  tierOf,
} from './requests.js';

export const setBlobTier: Handler<BlobService> = async (call, { store }, _, operation) => {
  const tier = tierOf(call);
  if (tier === undefined) throw missingHeader('x-ms-access-tier');
  const priority = wordHeader(call, 'x-ms-rehydrate-priority', ['Standard', 'High']) ?? 'Standard';
  const guards = guardsOf(call, operation, 'write');
  const outcome = await setTier(store, containerKey(call), blobAddress(call), tier, priority, guards);
  return { status: outcome === 'done' ? 200 : 202, headers: [] };
};

export const setBlobExpiry: Handler<BlobService> = async (call, { store }, _, operation) => {
  const expiry = requireExpiry(call);
  const guards = guardsOf(call, operation, 'write');
  const blob = await setExpiry(store, containerKey(call), changedBlobName(call), expiry, guards);
  return { status: 200, headers: stampHeaders(blob.stamp) };
};

export async function undeleteBlob(call: Call, { store }: BlobService): Promise<Answer> {
  await undelete(store, containerKey(call), blobName(call));
  return { status: 200, headers: [] };
}

export const setImmutabilityPolicy: Handler<BlobService> = async (call, { store }, _, operation) => {
  const policy = policyOf(call, store.now());
  if (policy === undefined) throw missingHeader('x-ms-immutability-policy-until-date');
  const conditions = conditionsOf(call, operation, 'write');
  await immutability.setImmutability(store, containerKey(call), blobAddress(call), policy, conditions);
  return { status: 200, headers: policyHeaders(policy) };
};

export async function deleteImmutabilityPolicy(call: Call, { store }: BlobService): Promise<Answer> {
  await immutability.deleteImmutability(store, containerKey(call), blobAddress(call));
  return { status: 200, headers: [] };
}

export async function setLegalHold(call: Call, { store }: BlobService): Promise<Answer> {
  requireHeader(call, 'x-ms-legal-hold');
  const hold = flagHeader(call, 'x-ms-legal-hold');
  await immutability.setLegalHold(store, containerKey(call), blobAddress(call), hold);
  return { status: 200, headers: ['x-ms-legal-hold', String(hold)] };
}
