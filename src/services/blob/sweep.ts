// What was in a container that is gone: swept a few rows at a time.

import type { Transaction } from '../../collections/index.js';
import { dropContent } from './content.js';
import { committed } from './guards.js';
import type { BlobKey, BlobRecord, BlobStore } from './model.js';
import { keptRows, writeKept, writeRow } from './rows.js';
import { indexTags } from './tag-index.js';
import { discardUpload } from './uploads.js';
import { forgetUsage } from './usage.js';

const garbageKind = 'blob container';
const sweepAtOnce = 100;

/** What lies under this id goes with the commit. */
export async function discardContents(store: BlobStore, tx: Transaction, container: number): Promise<void> {
  await store.garbage.discard(tx, garbageKind, container);
}

export function registerContainers(store: BlobStore): void {
  store.garbage.register(garbageKind, (id) => store.run((tx) => sweepContainer(store, tx, id)));
}

async function sweepContainer(store: BlobStore, tx: Transaction, id: number): Promise<boolean> {
  let swept = 0;
  const { container } = (await store.properties.get(tx, id, { lock: 'none' })) ?? {};
  const range = { prefix: [id], newest: true, pageSize: sweepAtOnce };
  for await (const [key, found] of store.blobs.entries(tx, range)) {
    const blob = committed(found);
    if (blob !== undefined) await dropWith(store, tx, key, blob);
    if (container !== undefined) await indexTags(store, tx, { container, key }, blob?.tags, undefined);
    if (found.upload !== undefined) await discardUpload(store, tx, id, found.upload);
    await writeRow(store, tx, key, found, undefined);
    if (++swept === sweepAtOnce) return true;
  }
  for (const kind of ['snapshot', 'version'] as const) {
    for await (const [key, kept] of keptRows(store, kind).entries(tx, range)) {
      await dropWith(store, tx, [key[0], key[1]], kept);
      await writeKept(store, tx, kind, key, kept, undefined);
      if (++swept === sweepAtOnce) return true;
    }
  }
  await forgetUsage(store, tx, id);
  await store.properties.delete(tx, id);
  return false;
}

/** All owners of the map of a page blob go: nothing of it need be sorted out. */
async function dropWith(
  store: BlobStore,
  tx: Transaction,
  key: BlobKey,
  { content }: BlobRecord,
): Promise<void> {
  if (content.kind === 'pages') await store.maps.drop(tx, content.map);
  else await dropContent(store, tx, key, content);
}
