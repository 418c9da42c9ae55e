// Which blobs have a tag: kept in the commits that change tags, so a search is never behind. Only blobs as they
// are now are in it. A row carries the container's id: one of a container that is gone says nothing.

import type { Transaction } from '../../collections/index.js';
import type { Tags } from '../common/tags-filter.js';
import type { BlobStore, Place, TagKey } from './model.js';

function keyOf(
  { container: [account, container], key: [, name] }: Place,
  tag: string,
  value: string,
): TagKey {
  return [account, tag, value, container, name];
}

/** The tags of a blob become others. */
export async function indexTags(
  store: BlobStore,
  tx: Transaction,
  place: Place,
  before: Tags | undefined,
  after: Tags | undefined,
): Promise<void> {
  if (before === undefined && after === undefined) return;
  const kept = new Set(after?.map(([tag, value]) => `${tag}=${value}`));
  for (const [tag, value] of before ?? []) {
    if (!kept.has(`${tag}=${value}`)) await removeRow(store, tx, place, keyOf(place, tag, value));
  }
  for (const [tag, value] of after ?? []) await store.tags.set(tx, keyOf(place, tag, value), place.key[0]);
}

/** Another container may have the name by now, and a blob of that name with that tag: then the row is theirs. */
async function removeRow(
  store: BlobStore,
  tx: Transaction,
  { key: [id] }: Place,
  row: TagKey,
): Promise<void> {
  if ((await store.tags.get(tx, row, { lock: 'update' })) === id) await store.tags.delete(tx, row);
}
