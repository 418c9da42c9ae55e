// The services inside a transaction of the user's: an entity, a message, a blob and a row of a dictionary change
// together or not at all. What is refused throws a `StorageError` with the service's code, and nothing is changed.

import { randomInt, randomUUID } from 'node:crypto';
import type { Transaction } from '../collections/index.js';
import { baseOf } from '../services/blob/address.js';
import { putBlob, readBlob } from '../services/blob/blobs.js';
import { createContainer } from '../services/blob/containers.js';
import type { BlobStore, ContentHeaders } from '../services/blob/model.js';
import { deleteBlob } from '../services/blob/snapshots.js';
import { noConditions } from '../services/common/conditions.js';
import { invalidHeader, orThrow, StorageError } from '../services/common/errors.js';
import { checkMetadata, type Metadata } from '../services/common/metadata.js';
import { checkName, rootContainer } from '../services/common/names.js';
import { within } from '../services/common/store.js';
import { putMessage } from '../services/queue/messages.js';
import type { QueueStore } from '../services/queue/model.js';
import { createQueue } from '../services/queue/queues.js';
import { type EdmValue, parseDateTime } from '../services/table/edm.js';
import { type EntityWrite, getEntity, writeEntity } from '../services/table/entities.js';
import {
  type Entity,
  type EntityInput,
  type EntityKey,
  entityEtag,
  type Property,
  parseMatch,
} from '../services/table/entity.js';
import { type Filter, parseFilter } from '../services/table/filter.js';
import { type TableKey, type TableStore, tableKey } from '../services/table/model.js';
import { type EntityPage, queryEntities } from '../services/table/query.js';
import { createTable } from '../services/table/tables.js';
import type { OpenStore } from './open-store.js';
import { serviceOf } from './services.js';

/** What a property can be here: a whole number is an Int32 if it fits, a bigint an Int64, any other a Double. */
export type PropertyValue = string | number | boolean | bigint | Date | Uint8Array | EdmValue;

export interface TableEntity extends EntityKey {
  readonly etag?: string;
  readonly [property: string]: PropertyValue | undefined;
}

export interface Joined {
  readonly tables: {
    create(table: string): Promise<void>;
    insert(table: string, entity: TableEntity): Promise<TableEntity>;
    /** Replaces the entity, or makes it; with an `etag` only the one that has it. */
    put(table: string, entity: TableEntity): Promise<TableEntity>;
    /** The same, but properties that are not given stay. */
    merge(table: string, entity: TableEntity): Promise<TableEntity>;
    /** Those that the filter of OData holds for, in the order of their keys: as the transaction's snapshot shows them. */
    query(table: string, filter?: string): AsyncIterable<TableEntity>;
    /** Nothing if there is none. */
    get(table: string, partitionKey: string, rowKey: string): Promise<TableEntity | undefined>;
    delete(table: string, partitionKey: string, rowKey: string, etag?: string): Promise<void>;
  };
  readonly queues: {
    create(queue: string): Promise<void>;
    /** The id of the message. */
    put(
      queue: string,
      text: string,
      options?: { visibleInMs?: number; livesForMs?: number },
    ): Promise<string>;
  };
  readonly blobs: {
    create(container: string): Promise<void>;
    put(container: string, name: string, content: string | Uint8Array, options?: BlobOptions): Promise<void>;
    /** Nothing if there is none. */
    get(container: string, name: string): Promise<Buffer | undefined>;
    delete(container: string, name: string): Promise<void>;
  };
}

export interface BlobOptions {
  readonly headers?: ContentHeaders;
  readonly metadata?: Metadata;
}

/** Those that must be open. */
export const joinable = ['blob', 'queue', 'table'] as const;

export function join(store: OpenStore, tx: Transaction, account: string): Joined {
  return {
    tables: tablesIn(within(serviceOf(store, 'table').store, tx), account),
    queues: queuesIn(within(serviceOf(store, 'queue').store, tx), account),
    blobs: blobsIn(within(serviceOf(store, 'blob').store, tx), tx, account),
  };
}

function tablesIn(store: TableStore, account: string): Joined['tables'] {
  const write = async (table: string, write: EntityWrite) => {
    const written = await writeEntity(store, tableKey(account, table), write);
    return written as Entity;
  };
  const match = (etag: string | undefined) => (etag === undefined ? undefined : orThrow(parseMatch(etag)));
  return {
    create: (table) => createTable(store, account, table),
    insert: async (table, entity) => shown(await write(table, { kind: 'insert', entity: inputOf(entity) })),
    put: async (table, entity) =>
      shown(await write(table, { kind: 'replace', entity: inputOf(entity), match: match(entity.etag) })),
    merge: async (table, entity) =>
      shown(await write(table, { kind: 'merge', entity: inputOf(entity), match: match(entity.etag) })),
    query: (table, filter = '') => found(store, tableKey(account, table), orThrow(parseFilter(filter))),
    get: (table, partitionKey, rowKey) =>
      unlessMissing(async () =>
        shown(await getEntity(store, tableKey(account, table), { partitionKey, rowKey })),
      ),
    delete: async (table, partitionKey, rowKey, etag = '*') => {
      await write(table, { kind: 'delete', key: { partitionKey, rowKey }, match: orThrow(parseMatch(etag)) });
    },
  };
}

async function* found(store: TableStore, table: TableKey, filter: Filter): AsyncGenerator<TableEntity> {
  let from: EntityPage['next'];
  do {
    const page: EntityPage = await queryEntities(store, table, { filter, top: 1000, from });
    yield* page.entities.map(shown);
    from = page.next;
  } while (from !== undefined);
}

async function unlessMissing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StorageError && (error.code === 'ResourceNotFound' || error.code === 'BlobNotFound'))
      return undefined;
    throw error;
  }
}

function inputOf({ partitionKey, rowKey, etag: _, ...rest }: TableEntity): EntityInput {
  const properties = Object.entries(rest).flatMap(([name, value]): Property[] =>
    value === undefined ? [] : [[name, edmOf(value)]],
  );
  return { partitionKey, rowKey, properties };
}

export function edmOf(value: PropertyValue): EdmValue {
  switch (typeof value) {
    case 'string':
      return { type: 'Edm.String', value };
    case 'boolean':
      return { type: 'Edm.Boolean', value };
    case 'bigint':
      return { type: 'Edm.Int64', value };
    case 'number':
      return {
        type: Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? 'Edm.Int32' : 'Edm.Double',
        value,
      };
    default:
      if (value instanceof Date)
        return { type: 'Edm.DateTime', value: parseDateTime(value.toISOString()) ?? '' };
      return value instanceof Uint8Array ? { type: 'Edm.Binary', value: new Uint8Array(value) } : value;
  }
}

function shown({ partitionKey, rowKey, stamp, properties }: Entity): TableEntity {
  const values = properties.map(([name, { type, value }]) => [
    name,
    type === 'Edm.DateTime' ? new Date(value) : type === 'Edm.Binary' ? value.slice() : value,
  ]);
  return { partitionKey, rowKey, etag: entityEtag(stamp), ...Object.fromEntries(values) };
}

const longestMessage = 64 * 1024;
const weekMs = 7 * 24 * 3600 * 1000;

function queuesIn(store: QueueStore, account: string): Joined['queues'] {
  return {
    create: async (queue) => {
      await createQueue(store, [account, queue], []);
    },
    put: async (queue, text, { visibleInMs = 0, livesForMs = weekMs } = {}) => {
      if (typeof text !== 'string') throw new TypeError('a message is a text');
      if (Buffer.byteLength(text) > longestMessage) throw new StorageError('RequestBodyTooLarge');
      const message = {
        id: randomUUID(),
        text,
        nonce: randomInt(2 ** 32),
        visibilityMs: visibleInMs,
        ttlMs: livesForMs,
      };
      return (await putMessage(store, [account, queue], message)).id;
    },
  };
}

/** What no answer could carry in a header, nobody could read again. */
function checkHeaders({ md5: _, ...texts }: ContentHeaders): void {
  for (const [name, value] of Object.entries(texts)) {
    if (value !== undefined && !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw invalidHeader(name, value);
  }
}

const unguarded = { conditions: noConditions, leaseId: undefined, mayOverwrite: true };

function blobsIn(store: BlobStore, tx: Transaction, account: string): Joined['blobs'] {
  return {
    create: async (container) => {
      await createContainer(store, [account, container], { metadata: [], publicAccess: 'none' });
    },
    put: async (container, name, content, { headers = {}, metadata = [] } = {}) => {
      checkName(container === rootContainer ? 'rootBlob' : 'blob', name);
      checkMetadata(metadata);
      checkHeaders(headers);
      const body = await store.contents.store(Buffer.from(content as Uint8Array), { md5: true });
      const release = () => body[Symbol.dispose]();
      tx.onEnd({ durable: release, lost: release, aborted: release });
      const { md5 } = body.digests;
      const fresh = { headers: { ...headers, ...(md5 && { md5 }) }, metadata, tags: [], tier: undefined };
      await putBlob(store, [account, container], name, fresh, body, unguarded);
    },
    get: (container, name) =>
      unlessMissing(async () => {
        const all = ({ length }: { readonly length: number }) => ({ offset: 0, length });
        const { reader } = await readBlob(store, [account, container], baseOf(name), unguarded, all);
        const chunks: Buffer[] = [];
        if (reader !== undefined) for await (const chunk of reader) chunks.push(chunk);
        return Buffer.concat(chunks);
      }),
    delete: async (container, name) => {
      await deleteBlob(store, [account, container], baseOf(name), 'include', unguarded);
    },
  };
}
