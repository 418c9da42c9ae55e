// Tags of a blob: get and set. They belong to a blob, a snapshot or a version, and change no ETag.

import { checkConditions } from '../common/conditions.js';
import { checkTags } from '../common/tags.js';
import type { Tags } from '../common/tags-filter.js';
import { type BlobAddress, findBlob, lockRow } from './address.js';
import { admitRead, type Guards, useLease } from './guards.js';
import { type BlobStore, type ContainerKey, findContainer, findPlace, withLease } from './model.js';
import { indexTags } from './tag-index.js';

export function getTags(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
  guards: Guards,
): Promise<Tags> {
  return store.run(async (tx) => {
    const id = await findContainer(store, tx, container, 'read');
    const blob = await findBlob(store, tx, id, address);
    admitRead(blob, guards, tx.now);
    return blob.tags ?? [];
  });
}

/** Replaces all of them. */
export function setTags(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
  tags: Tags,
  { conditions, leaseId }: Guards,
): Promise<void> {
  checkTags(tags);
  return store.run(async (tx) => {
    const place = await findPlace(store, tx, container, address.name);
    const { blob: old, isCurrent, write } = await lockRow(store, tx, place.key, address);
    checkConditions(conditions, 'write', old);
    const lease = useLease(old, leaseId, 'required', tx.now);
    const { tags: before, ...rest } = old;
    await write(withLease(tags.length === 0 ? rest : { ...rest, tags }, lease));
    if (isCurrent) await indexTags(store, tx, place, before, tags.length === 0 ? undefined : tags);
  });
}
