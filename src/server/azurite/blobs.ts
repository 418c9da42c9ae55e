// Containers and blobs. Each blob is one transaction: its bytes are stored first, then named by its record.

import { assert } from '../../base/assert.js';
import type { Transaction } from '../../collections/index.js';
import { putBlock } from '../../services/blob/block-blobs.js';
import { contentOfBlocks } from '../../services/blob/block-lists.js';
import { createContainer } from '../../services/blob/containers.js';
import { nameContent, noContent } from '../../services/blob/content.js';
import {
  type AccessTier,
  type BlobRecord,
  type BlobStore,
  type ContainerKey,
  type ContentHeaders,
  findPlace,
} from '../../services/blob/model.js';
import { writeKept, writeRow } from '../../services/blob/rows.js';
import { indexTags } from '../../services/blob/tag-index.js';
import { checkPolicies } from '../../services/common/access-policy.js';
import type { Body } from '../../services/common/body.js';
import { opened } from '../services.js';
import { type Import, policiesOf, stampOf } from './import.js';
import type { AzuriteBlob, AzuriteContainer, Chunk } from './workspace.js';

export async function importBlobs(run: Import): Promise<void> {
  const { store } = await opened(run.store, 'blob');
  const taken = new Set<string>();
  for (const container of run.workspace.containers) {
    if (await importContainer(store, run, container))
      taken.add(pathOf(container.accountName, container.name));
  }
  for (const blob of run.workspace.blobs) {
    if (!taken.has(pathOf(blob.accountName, blob.containerName)) || blob.deleted || !blob.isCommitted)
      continue;
    if (blob.properties.blobType === 'PageBlob' && blob.snapshot !== '') {
      run.note(
        `the snapshot ${blob.snapshot} of page blob ${blob.containerName}/${blob.name} was left out: page blobs come without`,
      );
      continue;
    }
    await importBlob(store, run, blob);
    run.count(blob.snapshot === '' ? 'blobs' : 'snapshots');
  }
  for (const block of run.workspace.blocks) {
    if (!taken.has(pathOf(block.accountName, block.containerName))) continue;
    using body = await receive(store, run, block.persistency);
    await putBlock(store, [block.accountName, block.containerName], block.blobName, block.name, body, {
      leaseId: undefined,
    });
    run.count('uncommitted blocks');
  }
}

function pathOf(account: string, name: string): string {
  return `${account}/${name}`;
}

/** False where there is one of that name already. */
async function importContainer(store: BlobStore, run: Import, container: AzuriteContainer): Promise<boolean> {
  const key: ContainerKey = [container.accountName, container.name];
  if (await store.run((tx) => store.containers.has(tx, key, { lock: 'none' }))) {
    run.note(`container ${pathOf(...key)} is here already and was left alone`);
    return false;
  }
  const access = container.properties.publicAccess;
  const publicAccess = access === 'blob' || access === 'container' ? access : 'none';
  const policies = checkPolicies(policiesOf(container.containerAcl), 'container');
  await createContainer(store, key, { metadata: Object.entries(container.metadata ?? {}), publicAccess });
  await store.run(async (tx) => {
    const { id } = (await store.containers.get(tx, key, { lock: 'update' })) ?? {};
    assert(id !== undefined, 'the container was just made');
    const made = await store.properties.get(tx, id, { lock: 'update' });
    assert(made !== undefined, 'a container has properties');
    await store.properties.set(tx, id, {
      ...made,
      policies,
      stamp: stampOf(container.properties.lastModified),
    });
  });
  run.count('containers');
  return true;
}

/** Bytes of a blob: a block, what was appended, pages from `start` on, or all of it. */
interface Part {
  readonly name: string;
  readonly start: number;
  readonly body: Body;
}

async function importBlob(store: BlobStore, run: Import, blob: AzuriteBlob): Promise<void> {
  const parts: Part[] = [];
  try {
    for (const { name = '', start = 0, persistency } of chunksOf(blob)) {
      parts.push({ name, start, body: await receive(store, run, persistency) });
    }
    await store.run(async (tx) => {
      const place = await findPlace(store, tx, [blob.accountName, blob.containerName], blob.name);
      const record = await makeRecord(store, tx, blob, parts);
      if (blob.snapshot !== '') {
        await writeKept(store, tx, 'snapshot', [...place.key, stampOf(blob.snapshot)], undefined, record);
        return;
      }
      await writeRow(store, tx, place.key, undefined, record);
      await indexTags(store, tx, place, undefined, record.tags);
    });
  } finally {
    for (const { body } of parts) body[Symbol.dispose]();
  }
}

function chunksOf(
  blob: AzuriteBlob,
): readonly { readonly name?: string; readonly start?: number; readonly persistency: Chunk }[] {
  if (blob.properties.blobType === 'PageBlob') return blob.pageRangesInOrder ?? [];
  if (blob.committedBlocksInOrder !== undefined && blob.committedBlocksInOrder.length > 0) {
    return blob.committedBlocksInOrder;
  }
  return blob.persistency === undefined ? [] : [{ persistency: blob.persistency }];
}

function receive(store: BlobStore, { workspace }: Import, chunk: Chunk): Promise<Body> {
  return store.contents.receive(workspace.read(chunk), chunk.count);
}

async function makeRecord(
  store: BlobStore,
  tx: Transaction,
  blob: AzuriteBlob,
  parts: readonly Part[],
): Promise<BlobRecord> {
  const { properties, metadata, blobTags } = blob;
  const stamp = stampOf(properties.lastModified);
  const tags = (blobTags?.blobTagSet ?? []).map(({ key, value }) => [key, value] as const);
  const tier = properties.accessTierInferred ? undefined : (properties.accessTier as AccessTier | undefined);
  return {
    format: 1,
    type: properties.blobType,
    stamp,
    created: properties.creationTime === undefined ? stamp : stampOf(properties.creationTime),
    ...(await contentOf(store, tx, blob, parts)),
    headers: headersOf(properties),
    metadata: Object.entries(metadata ?? {}),
    ...(tags.length > 0 && { tags }),
    ...(tier !== undefined && { tier: { name: tier, changed: stamp / 1000 } }),
    ...(properties.isSealed && { sealed: true as const }),
  };
}

type Content = Pick<BlobRecord, 'content' | 'length' | 'appends' | 'sequence'>;

async function contentOf(
  store: BlobStore,
  tx: Transaction,
  { properties, committedBlocksInOrder = [] }: AzuriteBlob,
  parts: readonly Part[],
): Promise<Content> {
  const map = properties.blobType === 'BlockBlob' ? 0 : await store.maps.create(tx);
  if (properties.blobType === 'PageBlob') {
    const state = { map, epoch: 0, newestSnapshot: undefined };
    for (const { start, body } of parts) await store.maps.write(tx, state, start, body);
    const sequence = BigInt(properties.blobSequenceNumber ?? 0);
    return { content: { kind: 'pages', map, epoch: 0 }, length: properties.contentLength ?? 0, sequence };
  }
  if (properties.blobType === 'BlockBlob' && committedBlocksInOrder.length === 0) {
    const [all] = parts;
    if (all === undefined) return { content: noContent, length: 0 };
    return { content: await nameContent(store, tx, all.body), length: all.body.length };
  }
  const blocks = [];
  for (const { name, body } of parts) {
    if (body.length === 0) continue;
    blocks.push({ id: name, length: body.length, source: await store.contents.source(tx, body) });
  }
  if (properties.blobType === 'BlockBlob') return contentOfBlocks(store, tx, blocks);
  const length = await store.maps.append(tx, map, 0, blocks);
  return { content: { kind: 'map', map }, length, appends: parts.length };
}

function headersOf(properties: AzuriteBlob['properties']): ContentHeaders {
  const md5 = properties.contentMD5 && Buffer.from(Object.values(properties.contentMD5));
  const named = {
    type: properties.contentType,
    encoding: properties.contentEncoding,
    language: properties.contentLanguage,
    disposition: properties.contentDisposition,
    cacheControl: properties.cacheControl,
    md5: md5?.length === 16 ? md5 : undefined,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined && value !== ''));
}
