// Shares: create, read, change, delete and restore.

import type { Transaction } from '../../collections/index.js';
import { type AccessPolicy, checkPolicies } from '../common/access-policy.js';
import { orThrow, StorageError } from '../common/errors.js';
import { availableLease, type Lease, type LeaseAction, type LeaseNeed, step, use } from '../common/lease.js';
import { checkMetadata, type Metadata } from '../common/metadata.js';
import { checkName } from '../common/names.js';
import { attribute } from './access.js';
import { ticksOf } from './file-system.js';
import {
  type AccessTier,
  type DeletedShare,
  type FileStore,
  type LiveShare,
  rootDirectory,
  type ShareKey,
  type ShareProperties,
} from './model.js';
import { rootDescriptor, storePermission } from './permissions.js';
import { findShare, findSnapshot, isLive, lockShare, propertiesOf } from './share-access.js';
import { discardShare, discardSnapshots } from './sweep.js';
import { addEntry } from './tree.js';

export const defaultQuotaGib = 5120;

export interface ShareSettings {
  readonly quotaGib: number | undefined;
  readonly tier: AccessTier | undefined;
  readonly snapshotDirectory: boolean | undefined;
  readonly provisioned: ShareProperties['provisioned'];
}

export interface ShareState extends ShareProperties {
  readonly quotaGib: number;
}

export function createShare(
  store: FileStore,
  key: ShareKey,
  settings: ShareSettings,
  metadata: Metadata,
): Promise<ShareState> {
  checkName('share', key[1]);
  checkMetadata(metadata);
  return store.run(async (tx) => {
    await checkNameFree(store, tx, key);
    const id = tx.stamp();
    const quotaGib = settings.quotaGib ?? defaultQuotaGib;
    const share: LiveShare = { format: 1, id, epoch: 0, newest: undefined, quotaGib };
    const properties: ShareProperties = {
      ...{ stamp: id, created: ticksOf(tx.now), metadata, policies: [], lease: availableLease },
      tier: settings.tier ?? 'TransactionOptimized',
      tierChanged: tx.now,
      snapshotDirectory: settings.snapshotDirectory ?? true,
      provisioned: settings.provisioned,
    };
    await store.shares.set(tx, key, share);
    await store.properties.set(tx, id, properties);
    await addRoot(store, tx, share);
    return { ...properties, quotaGib };
  });
}

async function checkNameFree(store: FileStore, tx: Transaction, key: ShareKey): Promise<void> {
  const row = await store.shares.get(tx, key, { lock: 'update' });
  if (isLive(row)) throw new StorageError('ShareAlreadyExists');
  if (row !== undefined && row.until > tx.now) throw new StorageError('ShareBeingDeleted');
}

async function addRoot(store: FileStore, tx: Transaction, share: LiveShare): Promise<void> {
  const now = ticksOf(tx.now);
  await addEntry(store, tx, share, {
    format: 1,
    ...{ id: rootDirectory, parent: rootDirectory, name: '', epoch: 0, stamp: share.id },
    attributes: attribute.directory,
    ...{ created: now, accessed: now, written: now, changed: now },
    permission: await storePermission(store, tx, share.id, rootDescriptor),
    metadata: [],
    file: undefined,
  });
}

/** With the lease id that the request names, if any: it must fit. */
export function getShare(
  store: FileStore,
  key: ShareKey,
  snapshot: number | undefined,
  leaseId: string | undefined,
): Promise<ShareState> {
  return store.run(async (tx) => {
    const share = await findShare(store, tx, key);
    const state = await stateOf(store, tx, share, snapshot);
    useLease(state.lease, leaseId, 'checked', tx.now);
    return state;
  });
}

async function stateOf(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  snapshot: number | undefined,
): Promise<ShareState> {
  if (snapshot !== undefined) return findSnapshot(store, tx, share, snapshot);
  return { ...(await propertiesOf(store, tx, share)), quotaGib: share.quotaGib };
}

export function useLease(lease: Lease, id: string | undefined, need: LeaseNeed, now: number): Lease {
  return orThrow(use(lease, id, need, now, 'share'), { resource: 'share' });
}

/** The bytes of all files. */
export function getUsage(
  store: FileStore,
  key: ShareKey,
  leaseId: string | undefined,
): Promise<ShareState & { readonly usage: number }> {
  return store.run(async (tx) => {
    const share = await findShare(store, tx, key);
    const state = await stateOf(store, tx, share, undefined);
    useLease(state.lease, leaseId, 'checked', tx.now);
    return { ...state, usage: await store.usage.get(tx, share.id) };
  });
}

export function setShareMetadata(
  store: FileStore,
  key: ShareKey,
  leaseId: string | undefined,
  metadata: Metadata,
): Promise<ShareState> {
  checkMetadata(metadata);
  return change(store, key, leaseId, (properties) => ({ ...properties, metadata }));
}

export function setSharePolicies(
  store: FileStore,
  key: ShareKey,
  leaseId: string | undefined,
  policies: readonly AccessPolicy[],
): Promise<ShareState> {
  const checked = checkPolicies(policies, 'share');
  return change(store, key, leaseId, (properties) => ({ ...properties, policies: checked }));
}

export function setShareProperties(
  store: FileStore,
  key: ShareKey,
  leaseId: string | undefined,
  settings: ShareSettings,
): Promise<ShareState> {
  return store.run(async (tx) => {
    const share = await lockShare(store, tx, key);
    const quotaGib = settings.quotaGib ?? share.quotaGib;
    if (quotaGib !== share.quotaGib) await store.shares.set(tx, key, { ...share, quotaGib });
    const properties = await changeProperties(store, tx, share, leaseId, (old) => ({
      ...old,
      tier: settings.tier ?? old.tier,
      tierChanged: settings.tier === undefined || settings.tier === old.tier ? old.tierChanged : tx.now,
      snapshotDirectory: settings.snapshotDirectory ?? old.snapshotDirectory,
      provisioned: mergeSettings(old.provisioned, settings.provisioned),
    }));
    return { ...properties, quotaGib };
  });
}

function mergeSettings(
  old: ShareProperties['provisioned'],
  given: ShareProperties['provisioned'],
): ShareProperties['provisioned'] {
  return [...new Map([...old, ...given])];
}

function change(
  store: FileStore,
  key: ShareKey,
  leaseId: string | undefined,
  edit: (properties: ShareProperties) => ShareProperties,
): Promise<ShareState> {
  return store.run(async (tx) => {
    const share = await findShare(store, tx, key);
    return { ...(await changeProperties(store, tx, share, leaseId, edit)), quotaGib: share.quotaGib };
  });
}

async function changeProperties(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  leaseId: string | undefined,
  edit: (properties: ShareProperties) => ShareProperties,
): Promise<ShareProperties> {
  const properties = await propertiesOf(store, tx, share, 'update');
  const lease = useLease(properties.lease, leaseId, 'required', tx.now);
  const changed = { ...edit(properties), lease, stamp: tx.stamp(properties.stamp) };
  await store.properties.set(tx, share.id, changed);
  return changed;
}

/** Of a share, or of a snapshot of it. Changes neither ETag nor Last-Modified. */
export function leaseShare(
  store: FileStore,
  key: ShareKey,
  snapshot: number | undefined,
  action: LeaseAction,
): Promise<ShareState & { readonly now: number }> {
  return store.run(async (tx) => {
    const share = await findShare(store, tx, key);
    if (snapshot === undefined) {
      const properties = await propertiesOf(store, tx, share, 'update');
      const lease = orThrow(step(properties.lease, action, tx.now, 'share'), { resource: 'share' });
      await store.properties.set(tx, share.id, { ...properties, lease });
      return { ...properties, lease, quotaGib: share.quotaGib, now: tx.now };
    }
    const found = await store.snapshots.get(tx, [share.id, snapshot], { lock: 'update' });
    if (found === undefined) throw new StorageError('ShareSnapshotNotFound');
    const lease = orThrow(step(found.lease, action, tx.now, 'share'), { resource: 'share' });
    await store.snapshots.set(tx, [share.id, snapshot], { ...found, lease });
    return { ...found, lease, now: tx.now };
  });
}

export interface ShareDeletion {
  readonly leaseId: string | undefined;
  readonly snapshots: 'none' | 'include' | 'include-leased';
  /** Days that it is kept; nothing: it is gone at once. */
  readonly retentionDays: number | undefined;
  /** For how long nobody can take the name of one that is gone. */
  readonly nameHeldMs: number;
}

/** One write: what is in it is swept. Gives back the id of what was deleted. */
export function deleteShare(store: FileStore, key: ShareKey, deletion: ShareDeletion): Promise<number> {
  return store.run(async (tx) => {
    const share = await lockShare(store, tx, key);
    const { lease } = await propertiesOf(store, tx, share, 'update');
    useLease(lease, deletion.leaseId, 'required', tx.now);
    await checkSnapshots(store, tx, share, deletion.snapshots);
    if (deletion.retentionDays === undefined) {
      await discardShare(store, tx, share.id);
      await store.shares.set(tx, key, { format: 1, until: tx.now + deletion.nameHeldMs });
      return share.id;
    }
    const until = tx.now + deletion.retentionDays * 24 * 3600 * 1000;
    await store.deleted.set(tx, [...key, tx.stamp()], { share, deletedAt: tx.now, until });
    await store.shares.remove(tx, key);
    return share.id;
  });
}

async function checkSnapshots(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  which: ShareDeletion['snapshots'],
): Promise<void> {
  for await (const [, { lease }] of store.snapshots.entries(tx, {
    prefix: [share.id],
    newest: true,
    check: true,
  })) {
    if (which === 'none') throw new StorageError('ShareHasSnapshots');
    const locked = !use(lease, undefined, 'required', tx.now, 'share').ok;
    if (which === 'include' && locked) throw new StorageError('DeleteShareWhenSnapshotLeased');
  }
}

export function deleteSnapshot(
  store: FileStore,
  key: ShareKey,
  second: number,
  leaseId: string | undefined,
): Promise<string> {
  return store.run(async (tx) => {
    const share = await lockShare(store, tx, key);
    const snapshot = await store.snapshots.get(tx, [share.id, second], { lock: 'update' });
    if (snapshot === undefined) throw new StorageError('ShareSnapshotNotFound');
    useLease(snapshot.lease, leaseId, 'required', tx.now);
    await store.snapshots.remove(tx, [share.id, second]);
    let newest: number | undefined;
    const rest = { prefix: [share.id], reverse: true, newest: true, pageSize: 1 } as const;
    for await (const [, { epoch }] of store.snapshots.entries(tx, rest)) {
      newest = epoch;
      break;
    }
    await store.shares.set(tx, key, { ...share, newest });
    await discardSnapshots(store, tx, share.id, snapshot.epoch);
    return `${share.id}@${snapshot.epoch}`;
  });
}

/** 404 for a version that is not kept any more. */
export function restoreShare(
  store: FileStore,
  key: ShareKey,
  deleted: { readonly name: string; readonly version: number },
): Promise<ShareState> {
  return store.run(async (tx) => {
    const from = [key[0], deleted.name, deleted.version] as const;
    const kept: DeletedShare | undefined = await store.deleted.get(tx, from, { lock: 'update' });
    if (kept === undefined || kept.until <= tx.now) throw new StorageError('ShareNotFound');
    const row = await store.shares.get(tx, key, { lock: 'update' });
    if (isLive(row)) throw new StorageError('ShareAlreadyExists');
    await store.shares.set(tx, key, kept.share);
    await store.deleted.remove(tx, from);
    await renameCopies(store, tx, kept.share.id, key);
    return { ...(await propertiesOf(store, tx, kept.share)), quotaGib: kept.share.quotaGib };
  });
}

/** Copies that were pending when it was deleted find it by its name. */
async function renameCopies(store: FileStore, tx: Transaction, id: number, share: ShareKey): Promise<void> {
  for await (const [key, copy] of store.copies.entries(tx, { prefix: [id], newest: true })) {
    await store.copies.set(tx, key, { ...copy, share });
  }
}

/** For who must know them to authorize; nothing if there is no such share. */
export function sharePolicies(store: FileStore, key: ShareKey): Promise<readonly AccessPolicy[] | undefined> {
  return store.run(async (tx) => {
    const row = await store.shares.get(tx, key, { lock: 'none' });
    return isLive(row) ? (await store.properties.get(tx, row.id, { lock: 'none' }))?.policies : undefined;
  });
}
