// Listing shares: by name; of one name its snapshots first, oldest first, then the share itself, then those of that name
// that soft delete keeps.

import type { Transaction } from '../../collections/index.js';
import type { FileStore, LiveShare, ShareProperties } from './model.js';
import { isLive } from './share-access.js';

export interface ListedShare {
  readonly name: string;
  readonly quotaGib: number;
  readonly properties: ShareProperties;
  /** The second it is called after. */
  readonly snapshot?: number;
  readonly deleted?: { readonly version: number; readonly at: number; readonly until: number };
}

/** Where a listing goes on: a name, and which of that name. */
export interface ShareMarker {
  readonly name: string;
  readonly kind: 'snapshot' | 'share' | 'deleted';
  /** The second of a snapshot, the version of a deleted one. */
  readonly number: number;
}

export interface ShareListOptions {
  readonly prefix: string;
  readonly marker: ShareMarker | undefined;
  readonly max: number;
  readonly snapshots: boolean;
  readonly deleted: boolean;
}

export interface ShareListing {
  readonly shares: readonly ListedShare[];
  readonly next: ShareMarker | undefined;
  readonly now: number;
}

export function listShares(
  store: FileStore,
  account: string,
  options: ShareListOptions,
): Promise<ShareListing> {
  return store.run(async (tx) => {
    const shares: ListedShare[] = [];
    for await (const listed of walk(store, tx, account, options)) {
      if (shares.length === options.max) return { shares, next: markerOf(listed), now: tx.now };
      shares.push(listed);
    }
    return { shares, next: undefined, now: tx.now };
  });
}

function markerOf({ name, snapshot, deleted }: ListedShare): ShareMarker {
  if (snapshot !== undefined) return { name, kind: 'snapshot', number: snapshot };
  if (deleted !== undefined) return { name, kind: 'deleted', number: deleted.version };
  return { name, kind: 'share', number: 0 };
}

const order = ['snapshot', 'share', 'deleted'] as const;

function isBefore(listed: ListedShare, marker: ShareMarker): boolean {
  const own = markerOf(listed);
  if (own.name !== marker.name) return false;
  if (own.kind !== marker.kind) return order.indexOf(own.kind) < order.indexOf(marker.kind);
  return own.number < marker.number;
}

async function* walk(
  store: FileStore,
  tx: Transaction,
  account: string,
  options: ShareListOptions,
): AsyncGenerator<ListedShare> {
  const { prefix, marker, max } = options;
  const from = marker === undefined ? {} : { from: [account, marker.name] as const };
  const range = { prefix: [account], startsWith: prefix, pageSize: Math.min(max + 1, 500), ...from };
  const current = store.shares.entries(tx, range)[Symbol.asyncIterator]();
  const kept = store.deleted.entries(tx, range)[Symbol.asyncIterator]();
  let now = await current.next();
  let gone = options.deleted ? await kept.next() : undefined;
  while (!now.done || (gone !== undefined && !gone.done)) {
    const name = now.done ? undefined : now.value[0][1];
    const goneName = gone === undefined || gone.done ? undefined : gone.value[0][1];
    const isCurrent = name !== undefined && (goneName === undefined || name <= goneName);
    const found: ListedShare[] = [];
    if (isCurrent && !now.done) {
      const row = now.value[1];
      if (isLive(row)) found.push(...(await withSnapshots(store, tx, name, row, options.snapshots)));
      now = await current.next();
    } else if (gone !== undefined && !gone.done) {
      const [[, , version], { share, deletedAt, until }] = gone.value;
      const properties =
        until > tx.now ? await store.properties.get(tx, share.id, { lock: 'none' }) : undefined;
      const deleted = { version, at: deletedAt, until };
      if (properties) found.push({ name: goneName ?? '', quotaGib: share.quotaGib, properties, deleted });
      gone = await kept.next();
    }
    for (const listed of found) if (marker === undefined || !isBefore(listed, marker)) yield listed;
  }
}

async function withSnapshots(
  store: FileStore,
  tx: Transaction,
  name: string,
  share: LiveShare,
  wanted: boolean,
): Promise<ListedShare[]> {
  const found: ListedShare[] = [];
  if (wanted && share.newest !== undefined) {
    for await (const [[, second], snapshot] of store.snapshots.entries(tx, { prefix: [share.id] })) {
      found.push({ name, quotaGib: snapshot.quotaGib, properties: snapshot, snapshot: second });
    }
  }
  const properties = await store.properties.get(tx, share.id, { lock: 'none' });
  if (properties !== undefined) found.push({ name, quotaGib: share.quotaGib, properties });
  return found;
}
