// Block blobs made of blocks: Put Block, Put Block List, Get Block List.
//
// A block that is committed moves from the upload into the map of the new content. One that is used again, from
// the list that was committed before or a second time, is shared.

import { LimitError, type Transaction } from '../../collections/index.js';
import type { Body } from '../common/body.js';
import { type Conditions, checkConditions } from '../common/conditions.js';
import { packPiece, unpackPiece } from '../common/content-rows.js';
import { StorageError } from '../common/errors.js';
import type { Lease } from '../common/lease.js';
import type { BlobAddress } from './address.js';
import { findBlob } from './address.js';
import { makeBlob, type NewBlob } from './blobs.js';
import { type Block, blocksOf, contentOfBlocks, namesOf, turnAfter, turnBefore } from './block-lists.js';
import { noteDue } from './due.js';
import { checkKey } from './encryption.js';
import { lockBlob, withExpiry } from './expiry.js';
import {
  admitCreate,
  type CreateGuards,
  checkNoPendingCopy,
  checkOnline,
  checkType,
  committed,
  type Guards,
  useLease,
} from './guards.js';
import { replaceBlob } from './history.js';
import {
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  type Found,
  findContainer,
  findPlace,
  type UncommittedBlob,
  type Upload,
  withLease,
} from './model.js';
import { hasExpired, seen, writeRow } from './rows.js';
import { discardUpload, hasEnded, uploadEnd, uploadFor } from './uploads.js';
import { countRow, usedByBlock } from './usage.js';

const mostUncommitted = 100_000;
export const mostCommitted = 50_000;

/** Put Block takes no conditions. */
export type BlockGuards = Pick<Guards, 'leaseId' | 'key'>;

/** Stores a block that nobody sees before it is committed. The ETag stays. */
export async function putBlock(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  blockId: string,
  body: Body,
  guards: BlockGuards,
): Promise<void> {
  try {
    await store.run((tx) => putBlockIn(store, tx, container, name, blockId, body, guards));
  } catch (error) {
    if (error instanceof LimitError) throw new StorageError('BlockCountExceedsLimit');
    throw error;
  }
}

async function putBlockIn(
  store: BlobStore,
  tx: Transaction,
  container: ContainerKey,
  name: string,
  blockId: string,
  body: Body,
  { leaseId, key: customerKey }: BlockGuards,
): Promise<void> {
  const place = await findPlace(store, tx, container, name);
  const { key } = place;
  const stored = await store.blobs.get(tx, key, { lock: 'none', check: true });
  const found = hasExpired(stored, tx) ? await lockBlob(store, tx, place) : stored;
  const lease = admitBlock(found, { leaseId }, tx.now);
  const upload = uploadFor(found?.upload, blockId, customerKey?.sha256, tx.now, () => tx.stamp());
  if (upload !== found?.upload || lease !== found.lease) {
    const row = found ?? { format: 1 as const, type: 'uncommitted' as const, created: tx.stamp() };
    await writeRow(store, tx, key, found, withLease<BlobRecord | UncommittedBlob>({ ...row, upload }, lease));
    if (upload.id !== found?.upload?.id) {
      if (found?.upload !== undefined) await discardUpload(store, tx, key[0], found.upload);
      await noteDue(store, tx, [uploadEnd(upload), 'upload', ...key, upload.id]);
    }
  }
  await writeBlock(store, tx, key[0], upload, blockId, body);
}

/** Whether a block may be put, and the lease as it is then. */
export function admitBlock(found: Found, { leaseId }: BlockGuards, now: number): Lease {
  const blob = committed(found);
  if (blob !== undefined) {
    checkNoPendingCopy(blob);
    checkOnline(blob, now);
  }
  const lease = useLease(found, leaseId, 'required', now);
  if (blob !== undefined) checkType(blob, 'BlockBlob');
  return lease;
}

async function writeBlock(
  store: BlobStore,
  tx: Transaction,
  container: number,
  upload: Upload,
  blockId: string,
  body: Body,
): Promise<void> {
  const key = [upload.id, blockId] as const;
  const packed = await store.blocks.get(tx, key, { lock: 'update' });
  const old = packed && unpackPiece(packed);
  const piece = await store.contents.name(tx, body);
  if (piece === undefined) throw new StorageError('InvalidHeaderValue');
  await store.blocks.set(tx, key, packPiece(piece));
  if (old === undefined) await store.blockCounts.add(tx, upload.id, 1, { max: mostUncommitted });
  else await store.contents.drop(tx, [old]);
  await store.blockBytes.add(tx, upload.id, piece.length - (old?.length ?? 0));
  await countRow(store, tx, container, usedByBlock(old), usedByBlock(piece));
}

export interface BlockChoice {
  readonly id: string;
  readonly from: 'committed' | 'uncommitted' | 'latest';
}

/** The content is these blocks in this order; all else that was uploaded goes. */
export function putBlockList(
  store: BlobStore,
  container: ContainerKey,
  name: string,
  choices: readonly BlockChoice[],
  fresh: NewBlob,
  guards: CreateGuards,
): Promise<BlobRecord> {
  return store.run(async (tx) => {
    await turnBefore(choices.length);
    const place = await findPlace(store, tx, container, name);
    const found = await lockBlob(store, tx, place);
    const lease = admitCreate(found, guards, tx.now);
    const old = committed(found);
    if (old !== undefined) checkType(old, 'BlockBlob');
    const upload = found?.upload && !hasEnded(found.upload, tx.now) ? found.upload : undefined;
    if (upload !== undefined && choices.length > 0) checkKey(upload, guards.key);
    const reusable = old?.key === guards.key?.sha256 ? old : undefined;
    const blocks = await chooseBlocks(store, tx, choices, upload, reusable);
    const content = await contentOfBlocks(store, tx, blocks);
    const blob = withLease(makeBlob(tx, found, 'BlockBlob', fresh, content), lease);
    return replaceBlob(store, tx, place, found, await withExpiry(store, tx, place, blob, fresh.expiry));
  });
}

async function chooseBlocks(
  store: BlobStore,
  tx: Transaction,
  choices: readonly BlockChoice[],
  upload: Upload | undefined,
  old: BlobRecord | undefined,
): Promise<Block[]> {
  const wantsOld = choices.some(({ from }) => from !== 'uncommitted');
  const before = wantsOld && old !== undefined ? await blocksOf(store, tx, old) : new Map<string, Block>();
  const taken = new Map<string, Block>();
  const blocks: Block[] = [];
  for (const { id, from } of choices) {
    await turnAfter(blocks.length);
    let block = taken.get(id);
    if (block !== undefined) {
      const isOld = block === before.get(id);
      if (from === (isOld ? 'uncommitted' : 'committed')) throw new StorageError('InvalidBlockList');
      await shareBlock(store, tx, block);
    } else {
      block = from === 'committed' ? undefined : await takeBlock(store, tx, upload, id);
      if (block === undefined && from !== 'uncommitted') {
        block = before.get(id);
        if (block !== undefined) await shareBlock(store, tx, block);
      }
      if (block === undefined) throw new StorageError('InvalidBlockList');
      taken.set(id, block);
    }
    blocks.push(block);
  }
  return blocks;
}

function shareBlock(store: BlobStore, tx: Transaction, { source, length }: Block): Promise<void> {
  return store.contents.share(tx, source.kind === 'extent' ? [{ ...source, length }] : []);
}

/** Out of the upload; it is the caller's now. */
async function takeBlock(
  store: BlobStore,
  tx: Transaction,
  upload: Upload | undefined,
  id: string,
): Promise<Block | undefined> {
  if (upload === undefined) return undefined;
  const packed = await store.blocks.get(tx, [upload.id, id], { lock: 'update' });
  if (packed === undefined) return undefined;
  await store.blocks.delete(tx, [upload.id, id]);
  const { extent, offset, length } = unpackPiece(packed);
  return { id, length, source: { kind: 'extent', extent, offset } };
}

export interface NamedBlock {
  readonly id: string;
  readonly length: number;
}

export interface BlockList {
  /** Nothing where only uncommitted blocks are there. */
  readonly blob: BlobRecord | undefined;
  readonly committed: readonly NamedBlock[];
  readonly uncommitted: readonly NamedBlock[];
}

/** Committed ones in their order, uncommitted ones by id, all of one moment. */
export function getBlockList(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
  wanted: { readonly committed: boolean; readonly uncommitted: boolean },
  { conditions, leaseId }: Guards,
): Promise<BlockList> {
  return store.run(async (tx) => {
    const id = await findContainer(store, tx, container, 'read');
    const found =
      address.kind === 'base'
        ? seen(await store.blobs.get(tx, [id, address.name], { lock: 'snapshot' }), tx)
        : await findBlob(store, tx, id, address, 'snapshot');
    if (found === undefined) throw new StorageError('BlobNotFound');
    const blob = committed(found);
    checkRead(blob, conditions);
    if (leaseId !== undefined) useLease(found, leaseId, 'checked', tx.now);
    if (blob !== undefined) checkType(blob, 'BlockBlob');
    const { upload } = found;
    const open = upload !== undefined && !hasEnded(upload, tx.now) ? upload : undefined;
    return {
      blob,
      committed: wanted.committed && blob !== undefined ? await namesOf(store, tx, blob, 'snapshot') : [],
      uncommitted: wanted.uncommitted && open !== undefined ? await uploaded(store, tx, open) : [],
    };
  });
}

function checkRead(blob: BlobRecord | undefined, conditions: Conditions): void {
  if (blob !== undefined) checkConditions(conditions, 'read', blob);
}

async function uploaded(store: BlobStore, tx: Transaction, upload: Upload): Promise<NamedBlock[]> {
  const blocks: NamedBlock[] = [];
  for await (const [[, id], piece] of store.blocks.entries(tx, { prefix: [upload.id] })) {
    await turnAfter(blocks.push({ id, length: unpackPiece(piece).length }));
  }
  return blocks;
}
