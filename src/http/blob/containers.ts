// Containers on the wire.

import { randomUUID } from 'node:crypto';
import { formatHttpDate } from '../../base/times.js';
import * as containers from '../../services/blob/containers.js';
import type { ContainerProperties, PublicAccess } from '../../services/blob/model.js';
import type { BlobService } from '../../services/blob/service.js';
import type { ConditionKind } from '../../services/common/conditions.js';
import { etag, lastModifiedMs } from '../../services/common/etag.js';
import { leaseProperties } from '../../services/common/lease.js';
import { readAcl, writeAcl } from '../acl.js';
import type { Answer } from '../answer.js';
import type { Identity } from '../auth/types.js';
import type { Call } from '../call.js';
import { conditionsOf } from '../condition-headers.js';
import { addMetadata, metadataOf, wordHeader } from '../headers.js';
import type { Operation } from '../operation.js';
import { listParameter, pageSize, parameter } from '../parameters.js';
import { element, escapeAttribute, nameElement, optional, parent, xmlAnswer } from '../xml.js';
import { addLease, stampHeaders } from './blob-headers.js';
import { leaseAction, leaseAnswer } from './leases.js';
import { containerKey, leaseIdOf } from './requests.js';

const kind: ConditionKind = 'write';

function guards(call: Call, operation: Operation): containers.ContainerGuards {
  return { conditions: conditionsOf(call, operation, kind), leaseId: leaseIdOf(call) };
}

function publicAccessOf(call: Call): PublicAccess {
  return wordHeader(call, 'x-ms-blob-public-access', ['container', 'blob']) ?? 'none';
}

export async function createContainer(call: Call, { store }: BlobService): Promise<Answer> {
  const fresh = { metadata: metadataOf(call), publicAccess: publicAccessOf(call) };
  const { stamp } = await containers.createContainer(store, containerKey(call), fresh);
  return { status: 201, headers: stampHeaders(stamp) };
}

export async function deleteContainer(
  call: Call,
  { store }: BlobService,
  _: Identity,
  operation: Operation,
): Promise<Answer> {
  await containers.deleteContainer(store, containerKey(call), guards(call, operation));
  return { status: 202, headers: [] };
}

export async function getContainerProperties(call: Call, { store }: BlobService): Promise<Answer> {
  const properties = await containers.getContainer(store, containerKey(call), leaseIdOf(call));
  const headers = stampHeaders(properties.stamp);
  addMetadata(headers, properties.metadata);
  addLease(headers, properties.lease, store.now());
  if (call.version >= '2016-05-31') addPublicAccess(headers, properties);
  if (call.version >= '2017-11-09') {
    headers.push('x-ms-has-immutability-policy', 'false', 'x-ms-has-legal-hold', 'false');
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

export async function setContainerMetadata(
  call: Call,
  { store }: BlobService,
  _: Identity,
  operation: Operation,
): Promise<Answer> {
  const key = containerKey(call);
  const { stamp } = await containers.setContainerMetadata(
    store,
    key,
    metadataOf(call),
    guards(call, operation),
  );
  return { status: 200, headers: stampHeaders(stamp) };
}

export async function getContainerAcl(call: Call, { store }: BlobService): Promise<Answer> {
  const properties = await containers.getContainer(store, containerKey(call), leaseIdOf(call));
  const headers = stampHeaders(properties.stamp);
  addPublicAccess(headers, properties);
  return xmlAnswer(200, writeAcl(properties.policies, call.version), headers);
}

export async function setContainerAcl(
  call: Call,
  { store }: BlobService,
  _: Identity,
  operation: Operation,
): Promise<Answer> {
  const key = containerKey(call);
  const asked = guards(call, operation);
  const publicAccess = publicAccessOf(call);
  const policies = await readAcl(call, 'container');
  const { stamp } = await containers.setContainerAcl(store, key, { publicAccess, policies }, asked);
  return { status: 200, headers: stampHeaders(stamp) };
}

export async function leaseContainer(
  call: Call,
  { store }: BlobService,
  identity: Identity,
  operation: Operation,
): Promise<Answer> {
  const action = leaseAction(call, identity, randomUUID, 'container');
  const conditions = conditionsOf(call, operation, kind);
  return leaseAnswer(action, await containers.leaseContainer(store, containerKey(call), action, conditions));
}

const includes = ['metadata', 'deleted', 'system'] as const;

export async function listContainers(call: Call, { store }: BlobService): Promise<Answer> {
  const prefix = parameter(call, 'prefix');
  const marker = parameter(call, 'marker');
  const maxresults = parameter(call, 'maxresults');
  const include = listParameter(call, 'include', includes);
  const max = pageSize(call);
  // Azure's marker is the path of the next container.
  const home = `/${call.account}/`;
  const from = marker?.startsWith(home) ? marker.slice(home.length) : marker;
  const listing = await containers.listContainers(store, call.account, {
    prefix: prefix ?? '',
    marker: from,
    max,
  });
  const rows = listing.containers.map((container) =>
    containerElement(container, include.has('metadata'), listing.now, store.settings(call.account)),
  );
  const asked = nameOf('Prefix', prefix) + optional('Marker', marker) + optional('MaxResults', maxresults);
  const next = listing.next === undefined ? '' : home + listing.next;
  const body = asked + parent('Containers', rows.join('')) + element('NextMarker', next);
  const endpoint = escapeAttribute(`${call.endpoint}/`);
  return xmlAnswer(200, `<EnumerationResults ServiceEndpoint="${endpoint}">${body}</EnumerationResults>`);
}

function nameOf(name: string, text: string | undefined): string {
  return text === undefined ? '' : nameElement(name, text);
}

function containerElement(
  { name, properties }: containers.ListedContainer,
  withMetadata: boolean,
  now: number,
  { versionLevelImmutability }: { readonly versionLevelImmutability: boolean },
): string {
  const { stamp, publicAccess, metadata } = properties;
  const lease = leaseProperties(properties.lease, now);
  const told =
    element('Last-Modified', formatHttpDate(lastModifiedMs(stamp))) +
    element('Etag', etag(stamp)) +
    element('LeaseStatus', lease.status) +
    element('LeaseState', lease.state) +
    optional('LeaseDuration', lease.duration) +
    (publicAccess === 'none' ? '' : element('PublicAccess', publicAccess)) +
    element('HasImmutabilityPolicy', 'false') +
    element('HasLegalHold', 'false') +
    element('ImmutableStorageWithVersioningEnabled', String(versionLevelImmutability));
  const pairs = metadata.map(([key, value]) => element(key, value)).join('');
  return parent(
    'Container',
    element('Name', name) + parent('Properties', told) + (withMetadata ? parent('Metadata', pairs) : ''),
  );
}
