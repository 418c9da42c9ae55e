// Containers: create, properties, metadata, ACL, lease, delete and list. Nothing done to a blob changes its
// container's ETag, and only Delete asks for the container's lease.

import { mergeOrdered } from '../../base/merge.js';
import type { Transaction } from '../../collections/index.js';
import { type AccessPolicy, checkPolicies } from '../common/access-policy.js';
import { type Conditions, checkConditions } from '../common/conditions.js';
import { orThrow, StorageError } from '../common/errors.js';
import { availableLease, type Lease, type LeaseAction, type LeaseNeed, step, use } from '../common/lease.js';
import { checkMetadata, type Metadata } from '../common/metadata.js';
import { checkName } from '../common/names.js';
import { noteDue } from './due.js';
import { committed } from './guards.js';
import { isLive } from './history.js';
import {
  type BlobStore,
  type ContainerKey,
  type ContainerProperties,
  findContainer,
  type PublicAccess,
} from './model.js';
import { seen } from './rows.js';
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
    const properties: ContainerProperties = {
      container: key,
      stamp: id,
      metadata,
      policies: [],
      publicAccess,
      lease: availableLease,
    };
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
    if (store.settings(key[0]).versionLevelImmutability) await checkEmpty(store, tx, entry.id);
    await store.containers.delete(tx, key);
    const days = store.settings(key[0]).containerRetentionDays;
    if (days > 0) return keepDeleted(store, tx, key, entry.id, properties, days);
    await discardContents(store, tx, entry.id);
  });
}

/** Where blobs can be kept from being deleted, a container with blobs is not deleted either. */
async function checkEmpty(store: BlobStore, tx: Transaction, id: number): Promise<void> {
  const range = { prefix: [id], newest: true, check: true, pageSize: 16 };
  for await (const [, blob] of store.blobs.entries(tx, range)) {
    if (committed(seen(blob, tx)) !== undefined) throw new StorageError('ContainerImmutabilityPolicyLocked');
  }
  for (const dictionary of [store.snapshots, store.versions]) {
    for await (const [, kept] of dictionary.entries(tx, range)) {
      if (isLive(kept)) throw new StorageError('ContainerImmutabilityPolicyLocked');
    }
  }
}

/** With its contents, but without its lease. */
async function keepDeleted(
  store: BlobStore,
  tx: Transaction,
  key: ContainerKey,
  id: number,
  properties: ContainerProperties,
  days: number,
): Promise<void> {
  const until = tx.now + days * 24 * 3600 * 1000;
  const stamp = tx.stamp(properties.stamp);
  await store.properties.set(tx, id, { ...properties, lease: availableLease });
  await store.deletedContainers.set(tx, [...key, stamp], { id, at: tx.now, until });
  await noteDue(store, tx, [until, 'container', ...key, stamp]);
}

/** Under the name it had, if nothing else has it now. */
export function restoreContainer(store: BlobStore, key: ContainerKey, stamp: number): Promise<void> {
  checkName('newContainer', key[1]);
  return store.run(async (tx) => {
    const deleted = await store.deletedContainers.get(tx, [...key, stamp], { lock: 'update' });
    if (deleted === undefined || deleted.until <= tx.now) {
      throw new StorageError('ContainerNotFound', { status: 409 });
    }
    if (await store.containers.has(tx, key, { lock: 'update' })) {
      throw new StorageError('ContainerAlreadyExists');
    }
    await store.containers.set(tx, key, { format: 1, id: deleted.id });
    await store.deletedContainers.delete(tx, [...key, stamp]);
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
  /** What restores it, and until when it can be. */
  readonly deleted?: { readonly stamp: number; readonly at: number; readonly until: number };
}

export interface ContainerListing {
  readonly containers: readonly ListedContainer[];
  /** The first container that did not fit. */
  readonly next: { readonly name: string; readonly stamp: number } | undefined;
  readonly now: number;
}

export interface ContainerListOptions {
  readonly prefix: string;
  readonly from: { readonly name: string; readonly stamp: number } | undefined;
  readonly max: number;
  readonly deleted: boolean;
}

/** By name; those that are deleted before the one that has the name now, oldest first. */
export function listContainers(
  store: BlobStore,
  account: string,
  options: ContainerListOptions,
): Promise<ContainerListing> {
  return store.run(async (tx) => {
    const containers: ListedContainer[] = [];
    const live = liveContainers(store, tx, account, options);
    const all = options.deleted
      ? mergeOrdered(deletedContainers(store, tx, account, options), live, comesFirst)
      : live;
    for await (const container of all) {
      if (containers.length === options.max) {
        const next = { name: container.name, stamp: container.deleted?.stamp ?? Number.MAX_SAFE_INTEGER };
        return { containers, next, now: tx.now };
      }
      containers.push(container);
    }
    return { containers, next: undefined, now: tx.now };
  });
}

function comesFirst(a: ListedContainer, b: ListedContainer): boolean {
  if (a.name !== b.name) return a.name < b.name;
  return (a.deleted?.stamp ?? Number.MAX_SAFE_INTEGER) < (b.deleted?.stamp ?? Number.MAX_SAFE_INTEGER);
}

async function* liveContainers(
  store: BlobStore,
  tx: Transaction,
  account: string,
  { prefix, from, max }: ContainerListOptions,
): AsyncGenerator<ListedContainer> {
  const range = { prefix: [account], startsWith: prefix, pageSize: Math.min(max + 1, 500) };
  const start = from === undefined ? {} : { from: [account, from.name] as const };
  for await (const [[, name], { id }] of store.containers.entries(tx, { ...range, ...start })) {
    const properties = await store.properties.get(tx, id, { lock: 'none' });
    if (properties !== undefined) yield { name, properties }; // else it was deleted a moment ago
  }
}

async function* deletedContainers(
  store: BlobStore,
  tx: Transaction,
  account: string,
  { prefix, from }: ContainerListOptions,
): AsyncGenerator<ListedContainer> {
  const range = { prefix: [account], startsWith: prefix };
  const start = from === undefined ? {} : { from: [account, from.name, from.stamp] as const };
  for await (const [key, row] of store.deletedContainers.entries(tx, { ...range, ...start })) {
    if (row.until <= tx.now) continue;
    const properties = await store.properties.get(tx, row.id, { lock: 'none' });
    const deleted = { stamp: key[2], at: row.at, until: row.until };
    if (properties !== undefined) yield { name: key[1], properties, deleted };
  }
}
