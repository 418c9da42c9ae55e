// The tree of a share: entries found by (directory, name in upper case) or by file id, now and as snapshots show them.
//
//   entry written in     newest snapshot there is     writing over it, moving or removing it
//   epoch e              none, or older than e        nothing is left of it
//   epoch e              k, and e <= k                it is put into the history: snapshots e to k show it
//
// So in snapshot k an entry is the current one if it is of epoch k or before, else the first of its history with
// until >= k, if that is of epoch k or before. Who looks reads the current one first: what has left it is
// in the history by then.
//
// The map of a file's bytes has an owner in each of these entries: the current one and those of the history.

import { type Transaction, utf16 } from '../../collections/index.js';
import { fold } from './folding.js';
import {
  aboveRoot,
  type Entry,
  type EntryKey,
  type FileStore,
  type LiveShare,
  type Place,
  rootDirectory,
} from './model.js';

/** A share as it is, or as one of its snapshots shows it. */
export interface View {
  readonly share: LiveShare;
  readonly snapshot: number | undefined;
}

export type EntryLock = 'none' | 'checked' | 'shared' | 'update';

export function entryKey(share: number, directory: number, name: string): EntryKey {
  return [share, directory, utf16(fold(name))];
}

export function keyOfEntry(share: LiveShare, entry: Pick<Entry, 'id' | 'parent' | 'name'>): EntryKey {
  return entryKey(share.id, entry.id === rootDirectory ? aboveRoot : entry.parent, entry.name);
}

export function getEntry(
  store: FileStore,
  tx: Transaction,
  key: EntryKey,
  lock: EntryLock,
): Promise<Entry | undefined> {
  if (lock === 'checked') return store.entries.get(tx, key, { lock: 'none', check: true });
  return store.entries.get(tx, key, { lock });
}

/** The entry of this name in a directory. Snapshots never change: there is nothing to lock. */
export async function findChild(
  store: FileStore,
  tx: Transaction,
  view: View,
  directory: number,
  name: string,
  lock: EntryLock,
): Promise<Entry | undefined> {
  return findEntry(store, tx, view, entryKey(view.share.id, directory, name), lock);
}

export function findRoot(
  store: FileStore,
  tx: Transaction,
  view: View,
  lock: EntryLock,
): Promise<Entry | undefined> {
  return findEntry(store, tx, view, entryKey(view.share.id, aboveRoot, ''), lock);
}

async function findEntry(
  store: FileStore,
  tx: Transaction,
  { snapshot }: View,
  key: EntryKey,
  lock: EntryLock,
): Promise<Entry | undefined> {
  if (snapshot === undefined) return getEntry(store, tx, key, lock);
  const current = await getEntry(store, tx, key, 'none');
  if (current !== undefined && current.epoch <= snapshot) return current;
  const rest = store.history.entries(tx, {
    prefix: key,
    from: [...key, snapshot],
    newest: true,
    pageSize: 1,
  });
  for await (const [, old] of rest) return old.epoch <= snapshot ? old : undefined;
  return undefined;
}

/** The entry of a file id. */
export async function findById(
  store: FileStore,
  tx: Transaction,
  view: View,
  id: number,
  lock: EntryLock,
): Promise<Entry | undefined> {
  if (id === rootDirectory) return findRoot(store, tx, view, lock);
  for (;;) {
    const place = await findPlace(store, tx, view, id);
    if (place === undefined) return undefined;
    const key: EntryKey = [view.share.id, place.directory, utf16(place.folded)];
    const entry = await findEntry(store, tx, view, key, lock);
    if (entry?.id === id) return entry;
    // It was moved or removed since its place was looked up; a snapshot's never is.
    if (view.snapshot !== undefined) return undefined;
  }
}

async function findPlace(
  store: FileStore,
  tx: Transaction,
  { share, snapshot }: View,
  id: number,
): Promise<Place | undefined> {
  const current = await store.places.get(tx, [share.id, id], { lock: 'none' });
  if (snapshot === undefined || (current !== undefined && current.epoch <= snapshot)) return current;
  const rest = store.oldPlaces.entries(tx, {
    prefix: [share.id, id],
    from: [share.id, id, snapshot],
    newest: true,
    pageSize: 1,
  });
  for await (const [, old] of rest) return old.epoch <= snapshot ? old : undefined;
  return undefined;
}

export async function isEmptyDirectory(
  store: FileStore,
  tx: Transaction,
  share: number,
  directory: number,
): Promise<boolean> {
  const range = { prefix: [share, directory], newest: true, check: true, pageSize: 1 } as const;
  for await (const _ of store.entries.keys(tx, range)) return false;
  return true;
}

/** A new entry, under a name that is free. */
export async function addEntry(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  entry: Entry,
): Promise<Entry> {
  const added = { ...entry, epoch: share.epoch };
  const key = keyOfEntry(share, entry);
  await store.entries.set(tx, key, added);
  if (entry.id !== rootDirectory) await setPlace(store, tx, share, entry.id, key);
  return added;
}

/** The entry with a change. `before` is what the transaction has read under its lock. */
export async function putEntry<E extends Entry>(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  before: Entry,
  after: E,
): Promise<E> {
  const key = keyOfEntry(share, before);
  const kept = await keep(store, tx, share, key, before);
  if (before.file?.map !== after.file?.map) await leaveMap(store, tx, share, before, kept);
  else if (kept) await shareMap(store, tx, before);
  const put = { ...after, epoch: share.epoch };
  await store.entries.set(tx, key, put);
  return put;
}

/** Takes it away, and what nobody shows any more of its bytes. */
export async function removeEntry(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  entry: Entry,
): Promise<void> {
  const key = keyOfEntry(share, entry);
  await store.entries.delete(tx, key);
  await keepPlace(store, tx, share, entry.id);
  await store.places.delete(tx, [share.id, entry.id]);
  await leaveMap(store, tx, share, entry, await keep(store, tx, share, key, entry));
}

/** Another directory, another name, or another case of the same name. The new name is free or its own. */
export async function moveEntry(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  before: Entry,
  after: Entry,
): Promise<Entry> {
  const from = keyOfEntry(share, before);
  const to = keyOfEntry(share, after);
  if (await keep(store, tx, share, from, before)) await shareMap(store, tx, before);
  await store.entries.delete(tx, from);
  const moved = { ...after, epoch: share.epoch };
  await store.entries.set(tx, to, moved);
  await keepPlace(store, tx, share, before.id);
  await setPlace(store, tx, share, before.id, to);
  return moved;
}

async function setPlace(
  store: FileStore,
  tx: Transaction,
  { epoch }: LiveShare,
  id: number,
  [share, directory, folded]: EntryKey,
): Promise<void> {
  await store.places.set(tx, [share, id], { directory, folded: folded.text, epoch });
}

function isShown(share: LiveShare, epoch: number): share is LiveShare & { newest: number } {
  return share.newest !== undefined && epoch <= share.newest;
}

/** Whether a snapshot shows it, and it is in the history now. */
async function keep(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  key: EntryKey,
  entry: Entry,
): Promise<boolean> {
  if (!isShown(share, entry.epoch)) return false;
  await store.history.set(tx, [...key, share.newest], entry);
  return true;
}

async function keepPlace(store: FileStore, tx: Transaction, share: LiveShare, id: number): Promise<void> {
  const place = await store.places.get(tx, [share.id, id], { lock: 'update' });
  if (place !== undefined && isShown(share, place.epoch)) {
    await store.oldPlaces.set(tx, [share.id, id, share.newest], place);
  }
}

async function shareMap(store: FileStore, tx: Transaction, { file }: Entry): Promise<void> {
  if (file?.map !== undefined) await store.content.maps.share(tx, file.map);
}

/** The current entry has these bytes no more; where it was kept, the history owns them in its place. */
async function leaveMap(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  entry: Entry,
  kept: boolean,
): Promise<void> {
  if (!kept) await dropMap(store, tx, entry);
  const map = entry.file?.map;
  if (map !== undefined && share.newest !== undefined) {
    await store.content.maps.dropNewer(tx, map, share.newest);
  }
}

export async function dropMap(store: FileStore, tx: Transaction, { file }: Entry): Promise<void> {
  if (file?.map !== undefined) await store.content.maps.drop(tx, file.map);
}
