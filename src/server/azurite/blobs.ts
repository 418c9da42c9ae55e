// Containers and blobs. Each blob is one transaction: its bytes are stored first, then named by its record.

import { assert } from '../../base/assert.js';
import type { Transaction } from '../../collections/index.js';
import { putBlock } from '../../services/blob/block-blobs.js';
import { contentOfBlocks } from '../../services/blob/block-lists.js';
import { createContainer } from '../../services/blob/containers.js';
import { nameContent, noContent } from '../../services/blob/content.js';
import type {
  AccessTier,
  BlobKey,
  BlobRecord,
  BlobStore,
  ContainerKey,
  ContentHeaders,
} from '../../services/blob/model.js';
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
    if (blob.properties.blobType === 'PageBlob') {
      run.note(`page blob ${pathOf(blob.accountName, blob.containerName)}/${blob.name} was left out`);
      continue;
    }
    await importBlob(store, run, blob);
    run.count(blob.snapshot === '' ? 'blobs' : 'snapshots');
  }
  for (const block of run.workspace.blocks) {
    if (!taken.has(pathOf(block.accountName, block.containerName))) continue;
    using body = await receive(store, run, block.persistency);
    await putBlock(
      store,
      [block.accountName, block.containerName],
      block.blobName,
      block.name,
      body,
      undefined,
    );
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

async function importBlob(store: BlobStore, run: Import, blob: AzuriteBlob): Promise<void> {
  const bodies: { readonly name: string; readonly body: Body }[] = [];
  try {
    const parts = blob.committedBlocksInOrder ?? [];
    for (const { name, persistency } of parts)
      bodies.push({ name, body: await receive(store, run, persistency) });
    if (parts.length === 0 && blob.persistency !== undefined) {
      bodies.push({ name: '', body: await receive(store, run, blob.persistency) });
    }
    await store.run(async (tx) => {
      const entry = await store.containers.get(tx, [blob.accountName, blob.containerName], {
        lock: 'none',
        check: true,
      });
      assert(entry !== undefined, 'a container is taken over before its blobs');
      const key: BlobKey = [entry.id, blob.name];
      const record = await makeRecord(store, tx, blob, bodies);
      if (blob.snapshot === '') await store.blobs.set(tx, key, record);
      else await store.snapshots.set(tx, [...key, stampOf(blob.snapshot)], record);
    });
  } finally {
    for (const { body } of bodies) body[Symbol.dispose]();
  }
}

function receive(store: BlobStore, { workspace }: Import, chunk: Chunk): Promise<Body> {
  return store.contents.receive(workspace.read(chunk), chunk.count);
}

async function makeRecord(
  store: BlobStore,
  tx: Transaction,
  { properties, metadata, blobTags, committedBlocksInOrder }: AzuriteBlob,
  bodies: readonly { readonly name: string; readonly body: Body }[],
): Promise<BlobRecord> {
  const isAppend = properties.blobType === 'AppendBlob';
  const isList = committedBlocksInOrder !== undefined && committedBlocksInOrder.length > 0;
  const placed = isList
    ? await contentOf(store, tx, isAppend, bodies)
    : await whole(store, tx, bodies[0]?.body);
  const stamp = stampOf(properties.lastModified);
  const tags = (blobTags?.blobTagSet ?? []).map(({ key, value }) => [key, value] as const);
  const tier = properties.accessTierInferred ? undefined : (properties.accessTier as AccessTier | undefined);
  return {
    format: 1,
    type: properties.blobType,
    stamp,
    created: properties.creationTime === undefined ? stamp : stampOf(properties.creationTime),
    ...placed,
    headers: headersOf(properties),
    metadata: Object.entries(metadata ?? {}),
    ...(tags.length > 0 && { tags }),
    ...(tier !== undefined && { tier: { name: tier, changed: stamp / 1000 } }),
    ...(isAppend && { appends: bodies.length }),
    ...(properties.isSealed && { sealed: true as const }),
  };
}

async function whole(
  store: BlobStore,
  tx: Transaction,
  body: Body | undefined,
): Promise<Pick<BlobRecord, 'content' | 'length'>> {
  if (body === undefined) return { content: noContent, length: 0 };
  return { content: await nameContent(store, tx, body), length: body.length };
}

async function contentOf(
  store: BlobStore,
  tx: Transaction,
  isAppend: boolean,
  bodies: readonly { readonly name: string; readonly body: Body }[],
): Promise<Pick<BlobRecord, 'content' | 'length'>> {
  const blocks = [];
  for (const { name, body } of bodies) {
    if (body.length === 0) continue;
    blocks.push({ id: name, length: body.length, source: await store.contents.source(tx, body) });
  }
  if (!isAppend) return contentOfBlocks(store, tx, blocks);
  const map = await store.maps.create(tx);
  return { content: { kind: 'map', map }, length: await store.maps.append(tx, map, 0, blocks) };
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
