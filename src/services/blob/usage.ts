// What a container uses: how many blobs, snapshots, versions and deleted ones there are, and how long they are
// together. Counters in the commits that change rows, so the numbers are exact at every moment; they lock nothing. A
// length is what a reader gets: what snapshots, versions and copies share is counted with each of them. Blocks that
// nobody has committed are not counted.
//
//   [container id, what, 'count' | 'bytes']
//
// A store that was written before there were counters is counted once, when it is opened.

import type { Transaction } from '../../collections/index.js';
import type { BlobStore, Found, KeptBlob } from './model.js';

export const usages = ['blobs', 'snapshots', 'versions', 'deleted'] as const;
export type UsedAs = (typeof usages)[number];

/** What one row uses. */
export interface Used {
  readonly as: UsedAs;
  readonly bytes: number;
}

export function usedBy(found: Found): Used | undefined {
  return found === undefined || found.type === 'uncommitted'
    ? undefined
    : { as: 'blobs', bytes: found.length };
}

export function usedByKept(kind: 'snapshot' | 'version', kept: KeptBlob | undefined): Used | undefined {
  if (kept === undefined) return undefined;
  return { as: kept.deleted === undefined ? `${kind}s` : 'deleted', bytes: kept.length };
}

export type Usage = Readonly<Record<UsedAs, { readonly count: number; readonly bytes: number }>>;

export type UsageKey = readonly [container: number, as: UsedAs | 'all', what: 'count' | 'bytes'];

/** A row that used the one uses the other now. */
export async function countRow(
  store: BlobStore,
  tx: Transaction,
  container: number,
  before: Used | undefined,
  after: Used | undefined,
): Promise<void> {
  if (before?.as === after?.as) {
    const more = (after?.bytes ?? 0) - (before?.bytes ?? 0);
    if (after !== undefined && more !== 0) await store.usage.add(tx, [container, after.as, 'bytes'], more);
    return;
  }
  if (before !== undefined) await count(store, tx, container, before, -1);
  if (after !== undefined) await count(store, tx, container, after, 1);
}

async function count(
  store: BlobStore,
  tx: Transaction,
  container: number,
  { as, bytes }: Used,
  sign: 1 | -1,
): Promise<void> {
  await store.usage.add(tx, [container, as, 'count'], sign);
  if (bytes !== 0) await store.usage.add(tx, [container, as, 'bytes'], sign * bytes);
}

export interface ContainerUsage extends Usage {
  readonly name: string;
}

/** Of each container of an account, in the order of their names. */
export function accountUsage(store: BlobStore, account: string): Promise<ContainerUsage[]> {
  return store.run(async (tx) => {
    const found: ContainerUsage[] = [];
    for await (const [[, name], { id }] of store.containers.entries(tx, { prefix: [account] })) {
      found.push({ name, ...(await readUsage(store, tx, id)) });
    }
    return found;
  });
}

export async function readUsage(store: BlobStore, tx: Transaction, container: number): Promise<Usage> {
  const rows = usages.map(async (as) => {
    const value = (what: 'count' | 'bytes') => store.usage.get(tx, [container, as, what]);
    return [as, { count: await value('count'), bytes: await value('bytes') }] as const;
  });
  return Object.fromEntries(await Promise.all(rows)) as unknown as Usage;
}

/** Of a container that is gone. */
export async function forgetUsage(store: BlobStore, tx: Transaction, container: number): Promise<void> {
  for (const as of usages) {
    await store.usage.remove(tx, [container, as, 'count']);
    await store.usage.remove(tx, [container, as, 'bytes']);
  }
}

const isCounted: UsageKey = [0, 'all', 'count'];

/** Counts all there is, if that was never done. */
export async function countOnce(store: BlobStore): Promise<void> {
  await store.run(async (tx) => {
    if ((await store.usage.get(tx, isCounted)) !== 0) return;
    await store.usage.add(tx, isCounted, 1);
    const add = (container: number, used: Used | undefined) =>
      countRow(store, tx, container, undefined, used);
    for await (const [[container], blob] of store.blobs.entries(tx)) await add(container, usedBy(blob));
    for await (const [[container], kept] of store.snapshots.entries(tx)) {
      await add(container, usedByKept('snapshot', kept));
    }
    for await (const [[container], kept] of store.versions.entries(tx)) {
      await add(container, usedByKept('version', kept));
    }
  });
}
