// What is nobody's any more: the contents of shares that are gone, and what only snapshots showed that are deleted. Swept
// some rows at a time, each some in a transaction of their own.

import type { CollectionKey, Dictionary, Transaction } from '../../collections/index.js';
import type { Entry, FileStore } from './model.js';
import { isLive } from './share-access.js';
import { dropMap } from './tree.js';

const shareKind = 'share';
const historyKind = 'share snapshots';
const atOnce = 200;

/** All that lies under the id of a share goes with the commit. */
export async function discardShare(store: FileStore, tx: Transaction, share: number): Promise<void> {
  await store.garbage.discard(tx, shareKind, share);
}

/** What only this snapshot of the share showed goes with the commit. */
export async function discardSnapshots(
  store: FileStore,
  tx: Transaction,
  share: number,
  epoch: number,
): Promise<void> {
  await store.dropped.set(tx, [share, epoch], true);
  await store.garbage.discard(tx, historyKind, share);
}

export function registerSweeps(store: FileStore): void {
  store.garbage.register(shareKind, (share) => store.run((tx) => sweepShare(store, tx, share)));
  const cursors = new Map<number, HistoryKey>();
  store.garbage.register(historyKind, (share) => sweepHistory(store, share, cursors));
}

/** Whether there is more. */
async function sweepShare(store: FileStore, tx: Transaction, share: number): Promise<boolean> {
  const room = { left: atOnce };
  const drop = (entry: Entry) => dropMap(store, tx, entry);
  const done =
    (await sweepRows(store.entries, tx, share, room, drop)) &&
    (await sweepRows(store.history, tx, share, room, drop)) &&
    (await sweepRows(store.places, tx, share, room)) &&
    (await sweepRows(store.oldPlaces, tx, share, room)) &&
    (await sweepRows(store.copies, tx, share, room)) &&
    (await sweepRows(store.permissions, tx, share, room)) &&
    (await sweepRows(store.snapshots, tx, share, room)) &&
    (await sweepRows(store.dropped, tx, share, room));
  if (!done) return true;
  await store.properties.delete(tx, share);
  await store.usage.remove(tx, share);
  return false;
}

/** Whether all rows of the share are gone. */
async function sweepRows<K extends CollectionKey, V>(
  rows: Dictionary<K, V>,
  tx: Transaction,
  share: number,
  room: { left: number },
  drop?: (value: V) => Promise<void>,
): Promise<boolean> {
  for await (const [key, value] of rows.entries(tx, { prefix: [share], newest: true, pageSize: atOnce })) {
    if (room.left-- <= 0) return false;
    await drop?.(value);
    await rows.delete(tx, key);
  }
  return true;
}

type HistoryKey = Parameters<FileStore['history']['get']>[1];

/** Goes over the history from where it stopped; at the end nothing is left of the snapshots that were dropped. */
async function sweepHistory(
  store: FileStore,
  share: number,
  cursors: Map<number, HistoryKey>,
): Promise<boolean> {
  const next = await store.run(async (tx) => {
    const epochs = await epochsOf(store, tx, share);
    const after = cursors.get(share);
    const range = { prefix: [share], newest: true, pageSize: atOnce, ...(after ? { after } : {}) };
    let looked = 0;
    for await (const [key, entry] of store.history.entries(tx, range)) {
      await sweepOld(store, tx, key, entry, epochs);
      if (++looked === atOnce) return key;
    }
    await sweepOldPlaces(store, tx, share, epochs.left);
    for (const epoch of epochs.dropped) await store.dropped.delete(tx, [share, epoch]);
    return undefined;
  });
  if (next === undefined) cursors.delete(share);
  else cursors.set(share, next);
  return next !== undefined;
}

interface Epochs {
  readonly current: number;
  readonly left: readonly number[];
  readonly dropped: readonly number[];
}

async function epochsOf(store: FileStore, tx: Transaction, share: number): Promise<Epochs> {
  const left: number[] = [];
  const dropped: number[] = [];
  const range = { prefix: [share], newest: true, check: true } as const;
  for await (const [, { epoch }] of store.snapshots.entries(tx, range)) left.push(epoch);
  for await (const [, epoch] of store.dropped.keys(tx, range)) dropped.push(epoch);
  return { left, dropped, current: Math.max(-1, ...left, ...dropped) + 1 };
}

function isShown(from: number, until: number, epochs: readonly number[]): boolean {
  return epochs.some((epoch) => from <= epoch && epoch <= until);
}

/** A row that no snapshot shows goes; of the bytes of one that a dropped snapshot showed, what none shows goes. */
async function sweepOld(
  store: FileStore,
  tx: Transaction,
  key: HistoryKey,
  entry: Entry,
  { left, dropped, current }: Epochs,
): Promise<void> {
  const until = key[3];
  const map = entry.file?.map;
  if (!isShown(entry.epoch, until, dropped)) return;
  if (map !== undefined) await store.content.maps.dropSnapshot(tx, { map, epoch: current }, left);
  if (isShown(entry.epoch, until, left)) return;
  await store.history.delete(tx, key);
  await dropMap(store, tx, entry);
}

async function sweepOldPlaces(
  store: FileStore,
  tx: Transaction,
  share: number,
  left: readonly number[],
): Promise<void> {
  for await (const [key, place] of store.oldPlaces.entries(tx, { prefix: [share], newest: true })) {
    if (!isShown(place.epoch, key[2], left)) await store.oldPlaces.delete(tx, key);
  }
}

/** Shares whose time in soft delete is over, and names that are free again. */
export function sweepDeleted(store: FileStore): Promise<void> {
  return store.run(async (tx) => {
    for await (const [key, { share, until }] of store.deleted.entries(tx, { newest: true })) {
      if (until > tx.now) continue;
      await store.deleted.delete(tx, key);
      await discardShare(store, tx, share.id);
    }
    for await (const [key, row] of store.shares.entries(tx, { newest: true })) {
      if (!isLive(row) && row.until <= tx.now) await store.shares.remove(tx, key);
    }
  });
}
