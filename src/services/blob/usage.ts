// What a container uses: how many blobs, snapshots, versions and deleted ones there are, and blocks that nobody has
// committed, and how long they are together. Counters in the commits that change rows, so the numbers are exact at every
// moment; they lock nothing. A length is what a reader gets: what snapshots, versions and copies share is counted with
// each of them.
//
//   [container id, what, 'count' | 'bytes']
//
// A store that was written before there were counters, or before blocks were counted, is counted when it is opened.

import type { CounterReadOptions, Transaction } from '../../collections/index.js';
import { unpackPiece } from '../common/content-rows.js';
import type { BlobStore, Found, KeptBlob } from './model.js';

export const usages = ['blobs', 'snapshots', 'versions', 'deleted', 'uncommitted'] as const;
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

export function usedByBlock(block: { readonly length: number } | undefined): Used | undefined {
  return block && { as: 'uncommitted', bytes: block.length };
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

export async function readUsage(
  store: BlobStore,
  tx: Transaction,
  container: number,
  options?: CounterReadOptions,
): Promise<Usage> {
  const rows = usages.map(async (as) => {
    const value = (what: 'count' | 'bytes') => store.usage.get(tx, [container, as, what], options);
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

/** What each row uses, of a container or of all, as the transaction's snapshot has them. */
export async function* usedRows(
  store: BlobStore,
  tx: Transaction,
  container?: number,
): AsyncGenerator<readonly [container: number, used: Used | undefined]> {
  const range = container === undefined ? {} : { prefix: [container] };
  for await (const [[id], found] of store.blobs.entries(tx, range)) yield [id, usedBy(found)];
  for await (const [[id], kept] of store.snapshots.entries(tx, range)) {
    yield [id, usedByKept('snapshot', kept)];
  }
  for await (const [[id], kept] of store.versions.entries(tx, range)) {
    yield [id, usedByKept('version', kept)];
  }
}

/** Likewise, of the blocks that belong to an upload. */
export async function* usedBlocks(
  store: BlobStore,
  tx: Transaction,
  container?: number,
): AsyncGenerator<readonly [container: number, used: Used | undefined, upload: number]> {
  const range = container === undefined ? {} : { prefix: [container] };
  for await (const [[id], { upload }] of store.blobs.entries(tx, range)) {
    if (upload === undefined) continue;
    for await (const [, block] of store.blocks.entries(tx, { prefix: [upload.id] })) {
      yield [id, usedByBlock(unpackPiece(block)), upload.id];
    }
  }
}

/** 1: what was counted when there were no counters of blocks; 2: all. */
const isCounted: UsageKey = [0, 'all', 'count'];

/** Counts all that there is and that was never counted. */
export async function countOnce(store: BlobStore): Promise<void> {
  await store.run(async (tx) => {
    const counted = await store.usage.get(tx, isCounted);
    if (counted === 2) return;
    await store.usage.add(tx, isCounted, 2 - counted);
    if (counted === 0) {
      for await (const [id, used] of usedRows(store, tx)) await countRow(store, tx, id, undefined, used);
    }
    for await (const [id, used, upload] of usedBlocks(store, tx)) {
      await countRow(store, tx, id, undefined, used);
      await store.blockBytes.add(tx, upload, used?.bytes ?? 0);
    }
  });
}
