// Queues: create, list, delete, metadata and stored access policies. The last writer wins.

import type { AccessPolicy } from '../common/access-policy.js';
import { checkPolicies } from '../common/access-policy.js';
import { StorageError } from '../common/errors.js';
import { checkMetadata, type Metadata, sameMetadata } from '../common/metadata.js';
import { checkName } from '../common/names.js';
import {
  type DeadLetter,
  discardMessages,
  findQueue,
  type QueueKey,
  type QueueProperties,
  type QueueStore,
} from './model.js';

/** Creating a queue again with the same metadata is harmless. */
export function createQueue(
  store: QueueStore,
  key: QueueKey,
  metadata: Metadata,
): Promise<'created' | 'unchanged'> {
  checkName('queue', key[1]);
  checkMetadata(metadata);
  return store.run(async (tx) => {
    const entry = await store.queues.get(tx, key, { lock: 'update' });
    if (entry !== undefined) {
      const properties = await store.properties.get(tx, entry.id);
      if (sameMetadata(properties?.metadata ?? [], metadata)) return 'unchanged';
      throw new StorageError('QueueAlreadyExists');
    }
    const id = tx.stamp();
    await store.queues.set(tx, key, { format: 1, id, messages: id });
    await store.properties.set(tx, id, { metadata, policies: [] });
    return 'created';
  });
}

/** One write: the messages are swept. */
export function deleteQueue(store: QueueStore, key: QueueKey): Promise<void> {
  return store.run(async (tx) => {
    const entry = await store.queues.remove(tx, key);
    if (entry === undefined) throw new StorageError('QueueNotFound');
    await store.properties.delete(tx, entry.id);
    await discardMessages(store, tx, entry.messages);
  });
}

export interface QueueState extends QueueProperties {
  /** All messages, invisible ones too, and expired ones that are not swept yet. */
  readonly count: number;
}

export function getQueue(store: QueueStore, key: QueueKey): Promise<QueueState> {
  return store.run(async (tx) => {
    const entry = await findQueue(store, tx, key);
    const properties = await propertiesOf(store.properties.get(tx, entry.id, { lock: 'none' }));
    return { ...properties, count: await store.counts.get(tx, entry.messages) };
  });
}

export function setMetadata(store: QueueStore, key: QueueKey, metadata: Metadata): Promise<void> {
  checkMetadata(metadata);
  return changeProperties(store, key, (properties) => ({ ...properties, metadata }));
}

export function setPolicies(
  store: QueueStore,
  key: QueueKey,
  policies: readonly AccessPolicy[],
): Promise<void> {
  const checked = checkPolicies(policies, 'queue');
  return changeProperties(store, key, (properties) => ({ ...properties, policies: checked }));
}

/** Beyond the reference: what becomes of messages that nobody manages to process. Nothing: they stay. */
export function setDeadLetter(
  store: QueueStore,
  key: QueueKey,
  deadLetter: DeadLetter | undefined,
): Promise<void> {
  return store.run(async (tx) => {
    const entry = await store.queues.get(tx, key, { lock: 'update' });
    if (entry === undefined) throw new StorageError('QueueNotFound');
    if (deadLetter !== undefined) {
      const target = await store.queues.get(tx, [key[0], deadLetter.target], { lock: 'none', check: true });
      if (target === undefined || target.id === entry.id) throw new StorageError('QueueNotFound');
    }
    await store.queues.set(tx, key, { ...entry, deadLetter });
  });
}

export interface DeadLetterOf extends DeadLetter {
  readonly account: string;
  readonly queue: string;
}

/** Those that are set, of all accounts or of one. */
export function deadLetters(store: QueueStore, account?: string): Promise<DeadLetterOf[]> {
  return store.run(async (tx) => {
    const found: DeadLetterOf[] = [];
    const range = account === undefined ? {} : { prefix: [account] };
    for await (const [[owner, queue], { deadLetter }] of store.queues.entries(tx, range)) {
      if (deadLetter !== undefined) found.push({ account: owner, queue, ...deadLetter });
    }
    return found;
  });
}

/** For who must know them to authorize; nothing if there is no such queue. */
export function queuePolicies(
  store: QueueStore,
  key: QueueKey,
): Promise<readonly AccessPolicy[] | undefined> {
  return store.run(async (tx) => {
    const entry = await store.queues.get(tx, key, { lock: 'none' });
    return entry && (await store.properties.get(tx, entry.id, { lock: 'none' }))?.policies;
  });
}

function changeProperties(
  store: QueueStore,
  key: QueueKey,
  change: (properties: QueueProperties) => QueueProperties,
): Promise<void> {
  return store.run(async (tx) => {
    const entry = await findQueue(store, tx, key);
    const properties = await propertiesOf(store.properties.get(tx, entry.id, { lock: 'update' }));
    await store.properties.set(tx, entry.id, change(properties));
  });
}

export interface QueueListing {
  readonly queues: readonly { readonly name: string; readonly metadata: Metadata }[];
  /** The name of the first queue that did not fit. */
  readonly next: string | undefined;
}

/** By name, from `marker` on. */
export function listQueues(
  store: QueueStore,
  account: string,
  options: {
    readonly prefix: string;
    readonly marker: string | undefined;
    readonly max: number;
    readonly metadata: boolean;
  },
): Promise<QueueListing> {
  return store.run(async (tx) => {
    const queues: { name: string; metadata: Metadata }[] = [];
    const { prefix, marker, max } = options;
    const range = { prefix: [account], startsWith: prefix, pageSize: Math.min(max + 1, 500) };
    const from = marker === undefined ? {} : { from: [account, marker] as const };
    for await (const [[, name], entry] of store.queues.entries(tx, { ...range, ...from })) {
      if (queues.length === max) return { queues, next: name };
      const properties = options.metadata
        ? await store.properties.get(tx, entry.id, { lock: 'none' })
        : undefined;
      queues.push({ name, metadata: properties?.metadata ?? [] });
    }
    return { queues, next: undefined };
  });
}

async function propertiesOf(found: Promise<QueueProperties | undefined>): Promise<QueueProperties> {
  const properties = await found;
  if (properties === undefined) throw new StorageError('QueueNotFound'); // deleted since the entry was read
  return properties;
}
