// What becomes of a blob when its name gets another content, or none.
//
//                      versions are kept   soft delete              neither
//   replaced           version             deleted snapshot         dropped
//   metadata is set    version             -                        -
//   a snapshot taken   version             -                        -
//   deleted            version             deleted, was the blob    dropped
//   snapshot deleted   as soft delete      deleted snapshot         dropped
//   version deleted    as soft delete      deleted version          dropped
//
// A blob that carries a version stays as one also when versions are no longer kept. Blocks that nobody has
// committed go with every content. What is deleted softly can be restored until its time is over (due.ts).

import type { Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import { dropContent, forkContent, keptContent } from './content.js';
import { noteDue } from './due.js';
import { committed } from './guards.js';
import {
  type BlobRecord,
  type BlobStore,
  type Deleted,
  type Found,
  isPremium,
  type KeptBlob,
  type KeptKey,
  type Place,
} from './model.js';
import { judgeTier } from './page-tiers.js';
import { type KeptKind, writeKept, writeRow } from './rows.js';
import { indexTags } from './tag-index.js';
import { discardUpload } from './uploads.js';

/** The name's row becomes `next`; gives it back as it is stored. */
export async function replaceBlob(
  store: BlobStore,
  tx: Transaction,
  place: Place,
  found: Found,
  next: BlobRecord,
): Promise<BlobRecord> {
  const blob = keepsVersions(store, place) ? { ...next, version: next.stamp } : next;
  const refusal = judgeTier(blob, isPremium(store, place.container));
  if (refusal !== undefined) throw new StorageError(refusal);
  if (found !== undefined) await leaveBehind(store, tx, place, found, 'replaced');
  const tags = committed(found)?.tags;
  if (tags ?? blob.tags) await indexTags(store, tx, place, tags, blob.tags);
  await writeRow(store, tx, place.key, found, blob);
  return blob;
}

/** The name's row goes. Whether nothing is left of it. */
export async function removeBlob(
  store: BlobStore,
  tx: Transaction,
  place: Place,
  found: Found,
): Promise<boolean> {
  await indexTags(store, tx, place, committed(found)?.tags, undefined);
  await writeRow(store, tx, place.key, found, undefined);
  return leaveBehind(store, tx, place, found, 'deleted');
}

/** The same content, said otherwise: `next` is `old` with other metadata, or with a snapshot. */
export async function changeVersion(
  store: BlobStore,
  tx: Transaction,
  place: Place,
  old: BlobRecord,
  next: BlobRecord,
  version: number,
): Promise<BlobRecord> {
  const keeps = keepsVersions(store, place);
  const { version: _, ...changed } = next;
  let blob: BlobRecord = keeps ? { ...changed, version } : changed;
  if (keeps || old.version !== undefined) {
    const { kept, current } = await forkContent(store, tx, next.content);
    const version: KeptKey = [...place.key, versionOf(old)];
    await writeKept(store, tx, 'version', version, undefined, { ...asKept(old), content: kept });
    blob = { ...blob, content: current };
  }
  await writeRow(store, tx, place.key, old, blob);
  return blob;
}

export function keepsVersions(store: BlobStore, { container: [account] }: Place): boolean {
  return store.settings(account).versioning;
}

function versionOf({ version, stamp }: BlobRecord): number {
  return version ?? stamp;
}

/** Without what only a blob as it is now has; a version is called by its key. */
export function asKept(blob: BlobRecord): KeptBlob {
  const { lease: _l, upload: _u, version: _v, incremental: _i, expires: _e, content, ...rest } = blob;
  return { ...rest, content: keptContent(content) };
}

async function leaveBehind(
  store: BlobStore,
  tx: Transaction,
  place: Place,
  found: Found,
  how: 'replaced' | 'deleted',
): Promise<boolean> {
  if (found?.upload !== undefined) await discardUpload(store, tx, place.key[0], found.upload);
  const old = committed(found);
  if (old === undefined) return true;
  if (keepsVersions(store, place) || old.version !== undefined) {
    await writeKept(store, tx, 'version', [...place.key, versionOf(old)], undefined, asKept(old));
    return true;
  }
  const deleted = softly(store, tx, place, how === 'deleted');
  if (deleted === undefined) {
    await dropContent(store, tx, place.key, old.content);
    return true;
  }
  const key: KeptKey = [...place.key, tx.stamp(old.stamp)];
  await keepDeleted(store, tx, 'snapshot', key, undefined, { ...asKept(old), deleted });
  return false;
}

/** How a blob of this account is deleted softly; nothing if it is not. */
function softly(
  store: BlobStore,
  tx: Transaction,
  { container: [account] }: Pick<Place, 'container'>,
  wasBase = false,
): Deleted | undefined {
  const days = store.retentionDays(account);
  if (days === undefined) return undefined;
  const until = tx.now + days * 24 * 3600 * 1000;
  return { at: tx.now, until, ...(wasBase ? { wasBase } : {}) };
}

async function keepDeleted(
  store: BlobStore,
  tx: Transaction,
  kind: KeptKind,
  key: KeptKey,
  before: KeptBlob | undefined,
  kept: KeptBlob & { readonly deleted: Deleted },
): Promise<void> {
  await writeKept(store, tx, kind, key, before, kept);
  await noteDue(store, tx, [kept.deleted.until, kind, ...key]);
}

/** A snapshot or a version is deleted. Whether nothing is left of it. */
export async function removeKept(
  store: BlobStore,
  tx: Transaction,
  place: Place,
  kind: KeptKind,
  key: KeptKey,
  kept: KeptBlob,
): Promise<boolean> {
  const deleted = softly(store, tx, place);
  if (deleted !== undefined) {
    await keepDeleted(store, tx, kind, key, kept, { ...kept, deleted });
    return false;
  }
  await dropKept(store, tx, place, kind, key, kept);
  return true;
}

/** Nothing is left of it. */
export async function dropKept(
  store: BlobStore,
  tx: Transaction,
  { key: name }: Pick<Place, 'key'>,
  kind: KeptKind,
  key: KeptKey,
  kept: KeptBlob,
): Promise<void> {
  await writeKept(store, tx, kind, key, kept, undefined);
  await dropContent(store, tx, name, kept.content);
}

/** Whether it is there: not deleted. */
export function isLive({ deleted }: KeptBlob): boolean {
  return deleted === undefined;
}

/** Whether it is deleted and can still be restored. */
export function isRestorable({ deleted }: KeptBlob, now: number): boolean {
  return deleted !== undefined && deleted.until > now;
}
