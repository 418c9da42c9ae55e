// Which blobs have a tag: kept in the commits that change tags, so a search is never behind. Only blobs as they
// are now are in it. A row names the container by name, for the order of answers, and by id: one of a container that
// is gone says nothing, and does again when the container is restored.

import type { Transaction } from '../../collections/index.js';
import type { Tags } from '../common/tags-filter.js';
import { committed } from './guards.js';
import type { BlobKey, BlobStore, Place, TagKey } from './model.js';

function keyOf(
  { container: [account, container], key: [id, name] }: Place,
  tag: string,
  value: string,
): TagKey {
  return [account, tag, value, container, id, name];
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
    if (!kept.has(`${tag}=${value}`)) await store.tags.delete(tx, keyOf(place, tag, value));
  }
  for (const [tag, value] of after ?? []) await store.tags.set(tx, keyOf(place, tag, value), true);
}

/** The index as it was before its rows had the container's id. */
const former = '$system/blob/tags';
const atOnce = 500;

/** A store with the former index gets this one, made from the blobs. Cut off, it is made again. */
export async function indexOnce(store: BlobStore): Promise<void> {
  if ((await store.state.get(former)) === undefined) return;
  let last: BlobKey | undefined;
  do last = await store.run((tx) => indexSome(store, tx, last));
  while (last !== undefined);
  await store.state.remove(former);
}

/** Where the next begin; nothing: that was all. */
async function indexSome(
  store: BlobStore,
  tx: Transaction,
  after: BlobKey | undefined,
): Promise<BlobKey | undefined> {
  let indexed = 0;
  const range = { newest: true, pageSize: atOnce, ...(after === undefined ? {} : { after }) };
  for await (const [key, found] of store.blobs.entries(tx, range)) {
    const tags = committed(found)?.tags;
    const properties = tags && (await store.properties.get(tx, key[0], { lock: 'none' }));
    if (properties !== undefined) {
      await indexTags(store, tx, { container: properties.container, key }, undefined, tags);
    }
    if (++indexed === atOnce) return key;
  }
  return undefined;
}
