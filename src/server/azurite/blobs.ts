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
  type KeptKey,
} from '../../services/blob/model.js';
import { writeKept, writeRow } from '../../services/blob/rows.js';
import { indexTags } from '../../services/blob/tag-index.js';
import { checkPolicies } from '../../services/common/access-policy.js';
import type { Body } from '../../services/common/body.js';
import { within } from '../../services/common/store.js';
import { UsageError } from '../command-line.js';
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
    await unlessMissing(run, `blob ${blob.containerName}/${blob.name}`, async () => {
      if (await importBlob(store, run, blob)) run.count(blob.snapshot === '' ? 'blobs' : 'snapshots');
      if (isLeased(blob.properties))
        run.note(`the lease of blob ${blob.containerName}/${blob.name} was left out`);
    });
  }
  for (const block of run.workspace.blocks) {
    const { accountName, containerName, blobName, name } = block;
    if (!taken.has(pathOf(accountName, containerName))) continue;
    await unlessMissing(run, `block ${name} of blob ${containerName}/${blobName}`, async () => {
      using body = await receive(store, run, block.persistency);
      await putBlock(store, [accountName, containerName], blobName, name, body, { leaseId: undefined });
      run.count('uncommitted blocks');
    });
  }
  for (const { accountName, name } of run.workspace.containers) {
    await run.underWay.finish(['container', accountName, name]);
  }
}

/** What has lost its bytes is left out, and told. */
async function unlessMissing(run: Import, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    run.note(`${what} was left out: ${error.message}`);
  }
}

/** For ever: another one ends by itself. */
function isLeased({ leaseState, leaseDuration }: AzuriteBlob['properties'] | AzuriteContainer['properties']) {
  return leaseState === 'leased' && leaseDuration === 'infinite';
}

function pathOf(account: string, name: string): string {
  return `${account}/${name}`;
}

/** False where there is one of that name already. */
async function importContainer(store: BlobStore, run: Import, container: AzuriteContainer): Promise<boolean> {
  const key: ContainerKey = [container.accountName, container.name];
  if ((await run.underWay.done(['container', ...key])) !== undefined) return true;
  if (await store.run((tx) => store.containers.has(tx, key, { lock: 'none' }))) {
    run.note(`container ${pathOf(...key)} is here already and was left alone`);
    return false;
  }
  const access = container.properties.publicAccess;
  const publicAccess = access === 'blob' || access === 'container' ? access : 'none';
  const policies = checkPolicies(policiesOf(container.containerAcl), 'container');
  const metadata = Object.entries(container.metadata ?? {});
  await store.run(async (tx) => {
    await createContainer(within(store, tx), key, { metadata, publicAccess });
    await run.underWay.note(tx, ['container', ...key], 0);
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
  if (isLeased(container.properties)) run.note(`the lease of container ${pathOf(...key)} was left out`);
  return true;
}

/** Bytes of a blob: a block, what was appended, pages from `start` on, or all of it. */
interface Part {
  readonly name: string;
  readonly start: number;
  readonly body: Body;
}

/** False where there is one of that name already: an import that was cut off has brought it. */
async function importBlob(store: BlobStore, run: Import, blob: AzuriteBlob): Promise<boolean> {
  const parts: Part[] = [];
  try {
    for (const { name = '', start = 0, persistency } of chunksOf(blob)) {
      parts.push({ name, start, body: await receive(store, run, persistency) });
    }
    return await store.run(async (tx) => {
      const place = await findPlace(store, tx, [blob.accountName, blob.containerName], blob.name);
      if (blob.snapshot !== '') {
        const key: KeptKey = [...place.key, stampOf(blob.snapshot)];
        if (await store.snapshots.has(tx, key, { lock: 'update' })) return false;
        await writeKept(store, tx, 'snapshot', key, undefined, await makeRecord(store, tx, blob, parts));
        return true;
      }
      if (await store.blobs.has(tx, place.key, { lock: 'update' })) return false;
      const record = await makeRecord(store, tx, blob, parts);
      await writeRow(store, tx, place.key, undefined, record);
      await indexTags(store, tx, place, undefined, record.tags);
      return true;
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
