// Containers on the wire.

import { randomUUID } from 'node:crypto';
import * as containers from '../../services/blob/containers.js';
import type { ContainerProperties, PublicAccess } from '../../services/blob/model.js';
import type { BlobService } from '../../services/blob/service.js';
import type { ConditionKind } from '../../services/common/conditions.js';
import { invalidHeader } from '../../services/common/errors.js';
import { readAcl, writeAcl } from '../acl.js';
import type { Answer } from '../answer.js';
import type { Call } from '../call.js';
import { conditionsOf } from '../condition-headers.js';
import { addMetadata, metadataOf, requireHeader, stampHeaders, wordHeader } from '../headers.js';
import type { Handler, Operation } from '../operation.js';
import { xmlAnswer } from '../xml.js';
import { addLease } from './blob-headers.js';
import { leaseAction, leaseAnswer } from './leases.js';
import { containerKey, leaseIdOf } from './requests.js';

const kind: ConditionKind = 'write';

function guards(call: Call, operation: Operation): containers.ContainerGuards {
  return { conditions: conditionsOf(call, operation, kind), leaseId: leaseIdOf(call) };
}

function publicAccessOf(call: Call): PublicAccess {
  return wordHeader(call, 'x-ms-blob-public-access', ['container', 'blob']) ?? 'none';
}

/** What everything is encrypted with: there are no scopes besides. */
export const accountScope = '$account-encryption-key';

export async function createContainer(call: Call, { store }: BlobService): Promise<Answer> {
  const fresh = { metadata: metadataOf(call), publicAccess: publicAccessOf(call) };
  const { stamp } = await containers.createContainer(store, containerKey(call), fresh);
  return { status: 201, headers: stampHeaders(stamp) };
}

export const deleteContainer: Handler<BlobService> = async (call, { store }, _, operation) => {
  await containers.deleteContainer(store, containerKey(call), guards(call, operation));
  return { status: 202, headers: [] };
};

export async function getContainerProperties(call: Call, { store }: BlobService): Promise<Answer> {
  const properties = await containers.getContainer(store, containerKey(call), leaseIdOf(call));
  const headers = stampHeaders(properties.stamp);
  addMetadata(headers, properties.metadata);
  addLease(headers, properties.lease, store.now());
  if (call.version >= '2016-05-31') addPublicAccess(headers, properties);
  if (call.version >= '2017-11-09') {
    headers.push('x-ms-has-immutability-policy', 'false', 'x-ms-has-legal-hold', 'false');
  }
  if (call.version >= '2019-02-02') {
    headers.push('x-ms-default-encryption-scope', accountScope);
    headers.push('x-ms-deny-encryption-scope-override', 'false');
  }
  if (call.version >= '2020-06-12') {
    const enabled = store.settings(call.account).versionLevelImmutability;
    headers.push('x-ms-immutable-storage-with-versioning-enabled', String(enabled));
  }
  return { status: 200, headers };
}

function addPublicAccess(headers: string[], { publicAccess }: ContainerProperties): void {
  if (publicAccess !== 'none') headers.push('x-ms-blob-public-access', publicAccess);
}

export async function getContainerMetadata(call: Call, { store }: BlobService): Promise<Answer> {
  const { stamp, metadata } = await containers.getContainer(store, containerKey(call), leaseIdOf(call));
  const headers = stampHeaders(stamp);
  addMetadata(headers, metadata);
  return { status: 200, headers };
}

export const setContainerMetadata: Handler<BlobService> = async (call, { store }, _, operation) => {
  const key = containerKey(call);
  const { stamp } = await containers.setContainerMetadata(
    store,
    key,
    metadataOf(call),
    guards(call, operation),
  );
  return { status: 200, headers: stampHeaders(stamp) };
};

export async function getContainerAcl(call: Call, { store }: BlobService): Promise<Answer> {
  const properties = await containers.getContainer(store, containerKey(call), leaseIdOf(call));
  const headers = stampHeaders(properties.stamp);
  addPublicAccess(headers, properties);
  return xmlAnswer(200, writeAcl(properties.policies, call.version), headers);
}

export const setContainerAcl: Handler<BlobService> = async (call, { store }, _, operation) => {
  const key = containerKey(call);
  const asked = guards(call, operation);
  const publicAccess = publicAccessOf(call);
  const policies = await readAcl(call, 'container');
  const { stamp } = await containers.setContainerAcl(store, key, { publicAccess, policies }, asked);
  return { status: 200, headers: stampHeaders(stamp) };
};

export const leaseContainer: Handler<BlobService> = async (call, { store }, identity, operation) => {
  const action = leaseAction(call, identity, randomUUID, 'container');
  const conditions = conditionsOf(call, operation, kind);
  return leaseAnswer(action, await containers.leaseContainer(store, containerKey(call), action, conditions));
};

export async function restoreContainer(call: Call, { store }: BlobService): Promise<Answer> {
  const name = requireHeader(call, 'x-ms-deleted-container-name');
  const version = requireHeader(call, 'x-ms-deleted-container-version');
  const key = containerKey(call);
  if (name !== key[1]) throw invalidHeader('x-ms-deleted-container-name', name);
  await containers.restoreContainer(store, key, parseVersion(version));
  return { status: 201, headers: [] };
}

/** What a deleted container is told apart by: its stamp, in hex. */
export function formatVersion(stamp: number): string {
  return stamp.toString(16).toUpperCase().padStart(16, '0');
}

function parseVersion(text: string): number {
  if (!/^[0-9A-F]{16}$/i.test(text)) throw invalidHeader('x-ms-deleted-container-version', text);
  return Number.parseInt(text, 16);
}
