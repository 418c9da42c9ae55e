// Blobs on their own, in process: their store on small segments in memory, what is sent and read, and what must be so
// when all is over.

import assert from 'node:assert/strict';
import { type Extents, openExtents } from '#src/extents/extents.js';
import type { BlobAddress } from '#src/services/blob/address.js';
import { type NewBlob, readBlob } from '#src/services/blob/blobs.js';
import { registerBlockLists } from '#src/services/blob/block-lists.js';
import { deleteContainer } from '#src/services/blob/containers.js';
import {
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  openBlobStore,
} from '#src/services/blob/model.js';
import { registerContainers } from '#src/services/blob/sweep.js';
import { sweepDue } from '#src/services/blob/sweep-due.js';
import { registerUploads } from '#src/services/blob/uploads.js';
import { defaultSettings } from '#src/services/common/accounts.js';
import type { Body } from '#src/services/common/body.js';
import { noConditions } from '#src/services/common/conditions.js';
import { openContentRows } from '#src/services/common/content-rows.js';
import { type ContentStore, openContentStore } from '#src/services/common/content-store.js';
import { StorageError } from '#src/services/common/errors.js';
import { Garbage } from '#src/services/common/garbage.js';
import type { Store } from '#src/services/common/store.js';
import type { Tags } from '#src/services/common/tags-filter.js';

export const account = 'mine';
export const busy: ContainerKey = [account, 'busy'];
export const passing: ContainerKey = [account, 'passing'];
export const unguarded = { conditions: noConditions, leaseId: undefined, mayOverwrite: true } as const;

/** The text, and behind it more or less: what is long lies in a segment, what is short in a row. */
export function bytesOf(text: string): Buffer {
  return Buffer.from(`${text};`.padEnd(lengthOf(text), '.'));
}

function lengthOf(text: string): number {
  return Number(text.slice(1)) % 3 === 0 ? 5000 : 10;
}

/** The texts that a content was made of, which must be whole. */
export function textsIn(content: string): string {
  const texts: string[] = [];
  for (const [whole, text = ''] of content.matchAll(/(v\d+);\.*/g)) {
    assert.equal(whole.length, lengthOf(text), 'a content is whole');
    texts.push(text);
  }
  return texts.join();
}

export function tagsOf(tag: string): Tags {
  return tag === '' ? [] : [['t', tag]];
}

export function freshBlob(meta: string, tag: string): NewBlob {
  return { headers: {}, metadata: [['m', meta]], tags: tagsOf(tag), tier: undefined };
}

/** A body is kept until the fate of its commit is known. */
export async function sending<T>(
  { contents }: BlobStore,
  text: string,
  work: (body: Body) => Promise<T>,
): Promise<T> {
  using body = await contents.store(bytesOf(text));
  return await work(body);
}

export async function contentOf(
  store: BlobStore,
  container: ContainerKey,
  address: BlobAddress,
): Promise<{ blob: BlobRecord; content: string }> {
  const all = ({ length }: BlobRecord) => ({ offset: 0, length });
  const { blob, reader } = await readBlob(store, container, address, unguarded, all);
  const chunks: Buffer[] = [];
  for await (const chunk of reader ?? []) chunks.push(chunk);
  return { blob, content: Buffer.concat(chunks).toString() };
}

export interface OpenedBlobs {
  readonly blobs: BlobStore;
  readonly garbage: Garbage;
  readonly content: ContentStore;
  readonly extents: Extents;
}

/** What becomes of a blob that is replaced or deleted. */
export type Keeping = 'nothing' | 'versions' | 'soft delete';

export async function openBlobs(
  store: Store,
  keeping: Keeping,
  report: (error: unknown) => void,
): Promise<OpenedBlobs> {
  const { state } = store;
  const garbage = await Garbage.open(store, report);
  const limits = { memory: true, limitBytes: 256 * 1024 * 1024 } as const;
  const extents = await openExtents(limits, { clock: state.engine.clock, segmentBytes: 64 * 1024 });
  const content = await openContentStore(store, extents, report);
  const { contents, maps, slices } = content;
  const blobs = await openBlobStore({
    ...{ store, contents, maps, slices, garbage },
    settings: () => ({ ...defaultSettings, versioning: keeping === 'versions' }),
    retentionDays: () => (keeping === 'soft delete' ? 7 : undefined),
    allowsPermanentDelete: () => false,
  });
  registerBlockLists(blobs);
  registerUploads(blobs);
  registerContainers(blobs);
  garbage.also(() => sweepDue(blobs));
  return { blobs, garbage, content, extents };
}

/** The index has the tags of all blobs, and no others but of containers that are gone. */
export async function verifyTags(blobs: BlobStore): Promise<void> {
  await using tx = blobs.state.begin();
  const { id } = (await blobs.containers.get(tx, busy)) ?? assert.fail();
  const expected: string[] = [];
  for await (const [[, name], blob] of blobs.blobs.entries(tx, { prefix: [id] }))
    if (blob.type !== 'uncommitted')
      for (const [tag, value] of blob.tags ?? []) expected.push(`${tag}=${value} ${name}`);
  const indexed: string[] = [];
  for await (const [, tag, value, , owner, name] of blobs.tags.keys(tx))
    if (owner === id) indexed.push(`${tag}=${value} ${name}`);
  assert.deepEqual(indexed.sort(), expected.sort());
}

/** When all containers are gone nothing is left, neither rows nor bytes, and nobody has pinned any. */
export async function clearBlobs({ blobs, garbage, content, extents }: OpenedBlobs): Promise<void> {
  for (const container of [busy, passing])
    await deleteContainer(blobs, container, unguarded).catch((error) => {
      if (!(error instanceof StorageError)) throw error;
    });
  for (let rounds = 0; rounds < 4; rounds++) await garbage.sweep(); // one may be under way, and one notes what others sweep
  await garbage.close();
  await content.reclaim.makeRoom();
  const { extents: rows, moved, maps, kept, garbage: noted } = await openContentRows(blobs.state);
  const { snapshots, versions, blocks, blockNames, tags, properties } = blobs;
  const dictionaries = {
    blobs: blobs.blobs,
    snapshots,
    versions,
    blocks,
    blockNames,
    tags,
    properties,
    rows,
    moved,
    maps,
    kept,
    noted,
  };
  await using tx = blobs.state.begin();
  for (const [name, dictionary] of Object.entries(dictionaries))
    for await (const key of dictionary.keys(tx)) assert.fail(`${name} still has ${JSON.stringify(key)}`);
  for (const { number } of extents.segments())
    assert.ok(await extents.drop(number, async () => true), `segment ${number} is pinned`);
}
