// What a copy from elsewhere does to the blob it goes to: how far it is, and how it ends (services/common/pending-copies.ts).

import { assert } from '../../base/assert.js';
import type { Transaction } from '../../collections/index.js';
import type { Body } from '../common/body.js';
import type { CopyTargets } from '../common/pending-copies.js';
import type { PendingCopy } from '../common/sources.js';
import { nameContent } from './content.js';
import { committed } from './guards.js';
import type { BlobContent, BlobKey, BlobRecord, BlobStore, CopyState } from './model.js';
import { seen, writeRow } from './rows.js';

export function copyTargets(store: BlobStore): CopyTargets<BlobKey, PendingCopy> {
  return {
    all: () =>
      store.run(async (tx) => {
        const found: (readonly [BlobKey, PendingCopy])[] = [];
        for await (const row of store.copies.entries(tx)) found.push(row);
        return found;
      }),
    now: () => store.now(),
    receive: (chunks, length) => store.contents.receive(chunks, length, {}),
    tell: (key, copy, copied, description) => tell(store, key, copy, copied, description),
    finish: (key, copy, body) => finish(store, key, copy, body),
    fail: (key, copy, description) => fail(store, key, copy, description),
  };
}

/** The target, if the copy is still pending. */
async function findPending(
  store: BlobStore,
  tx: Transaction,
  key: BlobKey,
  { id }: PendingCopy,
): Promise<(BlobRecord & { readonly copy: CopyState }) | undefined> {
  const blob = committed(seen(await store.blobs.get(tx, key, { lock: 'update' }), tx));
  const { copy } = blob ?? {};
  return blob !== undefined && copy?.id === id && copy.status === 'pending' ? { ...blob, copy } : undefined;
}

/** Likewise, and it is pending no more. Another copy may have begun there meanwhile. */
async function endPending(store: BlobStore, tx: Transaction, key: BlobKey, copy: PendingCopy) {
  const blob = await findPending(store, tx, key, copy);
  const pending = await store.copies.get(tx, key, { lock: 'update' });
  if (pending?.id === copy.id) await store.copies.delete(tx, key);
  return blob;
}

function tell(
  store: BlobStore,
  key: BlobKey,
  copy: PendingCopy,
  copied: number,
  description: string | undefined,
): Promise<void> {
  return store.run(async (tx) => {
    const blob = await findPending(store, tx, key, copy);
    if (blob === undefined) throw new Error('the copy has ended');
    const { description: _, ...state } = blob.copy;
    const told = { ...state, copied, ...(description === undefined ? {} : { description }) };
    await writeRow(store, tx, key, blob, { ...blob, copy: told });
  });
}

function finish(store: BlobStore, key: BlobKey, copy: PendingCopy, body: Body): Promise<void> {
  return store.run(async (tx) => {
    const blob = await endPending(store, tx, key, copy);
    if (blob === undefined) return;
    const content = await contentOf(store, tx, blob, body);
    const { length } = body;
    const { description: _, ...state } = blob.copy;
    const done: CopyState = { ...state, status: 'success', copied: length, completed: tx.now };
    const whole = { ...blob, content, length, copy: done, stamp: tx.stamp(blob.stamp) };
    await writeRow(store, tx, key, blob, whole);
  });
}

/** Blobs that are written further have a map of their own. */
async function contentOf(
  store: BlobStore,
  tx: Transaction,
  { type, content }: BlobRecord,
  body: Body,
): Promise<BlobContent> {
  if (type === 'BlockBlob' || body.length === 0)
    return body.length === 0 ? content : nameContent(store, tx, body);
  const source = await store.contents.source(tx, body);
  if (type === 'AppendBlob') {
    const map = await store.maps.create(tx);
    await store.maps.append(tx, map, 0, [{ source, length: body.length }]);
    return { kind: 'map', map };
  }
  assert(content.kind === 'pages', 'the content of a page blob is pages');
  await store.maps.append(tx, content.map, 0, [{ source, length: body.length }]);
  return content;
}

function fail(store: BlobStore, key: BlobKey, copy: PendingCopy, description: string): Promise<void> {
  return store.run(async (tx) => {
    const blob = await endPending(store, tx, key, copy);
    if (blob === undefined) return;
    const failed: CopyState = { ...blob.copy, status: 'failed', completed: tx.now, description };
    await writeRow(store, tx, key, blob, { ...blob, copy: failed, stamp: tx.stamp(blob.stamp) });
  });
}
