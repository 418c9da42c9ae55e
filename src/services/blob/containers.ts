// Containers: create, properties, metadata, ACL, lease, delete and list. Nothing done to a blob changes its
// container's ETag, and only Delete asks for the container's lease.

import type { Transaction } from '../../collections/index.js';
import { type AccessPolicy, checkPolicies } from '../common/access-policy.js';
import { type Conditions, checkConditions } from '../common/conditions.js';
import { orThrow, StorageError } from '../common/errors.js';
import { availableLease, type Lease, type LeaseAction, type LeaseNeed, step, use } from '../common/lease.js';
import { checkMetadata, type Metadata } from '../common/metadata.js';
import { checkName } from '../common/names.js';
import {
  type BlobStore,
  type ContainerKey,
  type ContainerProperties,
  findContainer,
  type PublicAccess,
} from './model.js';
import { discardContents } from './sweep.js';

/** What a request demands of a container before it is served. */
export interface ContainerGuards {
  readonly conditions: Conditions;
  readonly leaseId: string | undefined;
}

export interface NewContainer {
  readonly metadata: Metadata;
  readonly publicAccess: PublicAccess;
}

export function createContainer(
  store: BlobStore,
  key: ContainerKey,
  { metadata, publicAccess }: NewContainer,
): Promise<ContainerProperties> {
  checkName('newContainer', key[1]);
  checkMetadata(metadata);
  checkPublicAccess(store, key, publicAccess);
  return store.run(async (tx) => {
    if (await store.containers.has(tx, key, { lock: 'update' }))
      throw new StorageError('ContainerAlreadyExists');
    const id = tx.stamp();
    const properties = { stamp: id, metadata, policies: [], publicAccess, lease: availableLease };
    await store.containers.set(tx, key, { format: 1, id });
    await store.properties.set(tx, id, properties);
    return properties;
  });
}

/** The properties, if the lease id that was sent fits. */
export function getContainer(
  store: BlobStore,
  key: ContainerKey,
  leaseId?: string,
): Promise<ContainerProperties> {
  return store.run(async (tx) => {
    const id = await findContainer(store, tx, key, 'read');
    const properties = existing(await store.properties.get(tx, id, { lock: 'none' }));
    checkLease(properties, leaseId, 'checked', tx.now);
    return properties;
  });
}

export function setContainerMetadata(
  store: BlobStore,
  key: ContainerKey,
  metadata: Metadata,
  guards: ContainerGuards,
): Promise<ContainerProperties> {
  checkMetadata(metadata);
  return changeProperties(store, key, guards, (properties) => ({ ...properties, metadata }));
}

/** Replaces who may read without credentials, and the stored policies, together. */
export function setContainerAcl(
  store: BlobStore,
  key: ContainerKey,
  acl: { readonly publicAccess: PublicAccess; readonly policies: readonly AccessPolicy[] },
  guards: ContainerGuards,
): Promise<ContainerProperties> {
  const policies = checkPolicies(acl.policies, 'container');
  const { publicAccess } = acl;
  checkPublicAccess(store, key, publicAccess);
  return changeProperties(store, key, guards, (properties) => ({ ...properties, policies, publicAccess }));
}

function changeProperties(
  store: BlobStore,
  key: ContainerKey,
  guards: ContainerGuards,
  change: (properties: ContainerProperties) => ContainerProperties,
): Promise<ContainerProperties> {
  return store.run(async (tx) => {
    const id = await findContainer(store, tx, key);
    const old = existing(await store.properties.get(tx, id, { lock: 'update' }));
    checkGuards(old, guards, 'checked', tx.now);
    const properties = { ...change(old), stamp: tx.stamp(old.stamp) };
    await store.properties.set(tx, id, properties);
    return properties;
  });
}

export interface LeasedContainer {
  readonly stamp: number;
  readonly lease: Lease;
  readonly now: number;
}

export function leaseContainer(
  store: BlobStore,
  key: ContainerKey,
  action: LeaseAction,
  conditions: Conditions,
): Promise<LeasedContainer> {
  return store.run(async (tx) => {
    const id = await findContainer(store, tx, key);
    const old = existing(await store.properties.get(tx, id, { lock: 'update' }));
    checkConditions(conditions, 'write', old);
    const lease = orThrow(step(old.lease, action, tx.now, 'container'), { resource: 'container' });
    await store.properties.set(tx, id, { ...old, lease });
    return { stamp: old.stamp, lease, now: tx.now };
  });
}

/** One write, whatever is in it: the blobs are swept. */
export function deleteContainer(store: BlobStore, key: ContainerKey, guards: ContainerGuards): Promise<void> {
  checkName('newContainer', key[1]);
  return store.run(async (tx) => {
    const entry = await store.containers.get(tx, key, { lock: 'update' });
    if (entry === undefined) throw new StorageError('ContainerNotFound');
    const properties = existing(await store.properties.get(tx, entry.id, { lock: 'update' }));
    checkGuards(properties, guards, 'required', tx.now);
    await store.containers.delete(tx, key);
    await store.properties.delete(tx, entry.id);
    await discardContents(store, tx, entry.id);
  });
}

/** For who must know them to authorize; nothing if there is no such container. */
export function containerAccess(
  store: BlobStore,
  key: ContainerKey,
): Promise<Pick<ContainerProperties, 'policies' | 'publicAccess'> | undefined> {
  return store.run(async (tx) => {
    const entry = await store.containers.get(tx, key, { lock: 'none' });
    return entry && (await store.properties.get(tx, entry.id, { lock: 'none' }));
  });
}

function checkPublicAccess(store: BlobStore, [account]: ContainerKey, access: PublicAccess): void {
  if (access !== 'none' && !store.settings(account).publicAccess) {
    throw new StorageError('PublicAccessNotPermitted');
  }
}

function checkGuards(
  properties: ContainerProperties,
  { conditions, leaseId }: ContainerGuards,
  need: LeaseNeed,
  now: number,
): void {
  checkConditions(conditions, 'write', properties);
  checkLease(properties, leaseId, need, now);
}

function checkLease(
  { lease }: ContainerProperties,
  leaseId: string | undefined,
  need: LeaseNeed,
  now: number,
): void {
  orThrow(use(lease, leaseId, need, now, 'container'), { resource: 'container' });
}

function existing(properties: ContainerProperties | undefined): ContainerProperties {
  if (properties === undefined) throw new StorageError('ContainerNotFound'); // deleted since the entry was read
  return properties;
}

export interface ListedContainer {
  readonly name: string;
  readonly properties: ContainerProperties;
}

export interface ContainerListing {
  readonly containers: readonly ListedContainer[];
  /** The name of the first container that did not fit. */
  readonly next: string | undefined;
  readonly now: number;
}

/** By name, from `marker` on. */
export function listContainers(
  store: BlobStore,
  account: string,
  options: { readonly prefix: string; readonly marker: string | undefined; readonly max: number },
): Promise<ContainerListing> {
  return store.run(async (tx) => {
    const containers: ListedContainer[] = [];
    for await (const { name, properties } of walkContainers(store, tx, account, options)) {
      if (containers.length === options.max) return { containers, next: name, now: tx.now };
      containers.push({ name, properties });
    }
    return { containers, next: undefined, now: tx.now };
  });
}

async function* walkContainers(
  store: BlobStore,
  tx: Transaction,
  account: string,
  { prefix, marker, max }: { prefix: string; marker: string | undefined; max: number },
): AsyncGenerator<ListedContainer> {
  const range = { prefix: [account], startsWith: prefix, pageSize: Math.min(max + 1, 500) };
  const from = marker === undefined ? {} : { from: [account, marker] as const };
  for await (const [[, name], { id }] of store.containers.entries(tx, { ...range, ...from })) {
    const properties = await store.properties.get(tx, id, { lock: 'none' });
    if (properties !== undefined) yield { name, properties }; // else it was deleted a moment ago
  }
}
