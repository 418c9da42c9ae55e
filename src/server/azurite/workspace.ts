// What Azurite keeps in a folder: a JSON file (of LokiJS) for each service with its collections, and files that hold
// the bytes one after another, which a record names by file, offset and count.
//
//   __azurite_db_blob__.json    $CONTAINERS_COLLECTION$, $BLOBS_COLLECTION$, $BLOCKS_COLLECTION$
//   __azurite_db_queue__.json   $QUEUES_COLLECTION$, $MESSAGES_COLLECTION$
//   __azurite_db_table__.json   $TABLES_COLLECTION$, and one `account$table` for each table
//   __azurite_db_*_extent__.json, __blobstorage__/, __queuestorage__/    the bytes

import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../base/files.js';
import { UsageError } from '../command-line.js';

/** Where bytes lie. */
export interface Chunk {
  readonly id: string;
  readonly offset: number;
  readonly count: number;
}

export interface AzuritePolicy {
  readonly id: string;
  readonly accessPolicy?: { readonly start?: string; readonly expiry?: string; readonly permission?: string };
}

interface AzuriteLease {
  readonly leaseState?: string;
  readonly leaseDuration?: string;
}

export interface AzuriteContainer {
  readonly accountName: string;
  readonly name: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly properties: { readonly lastModified: string; readonly publicAccess?: string } & AzuriteLease;
  readonly containerAcl?: readonly AzuritePolicy[];
}

export interface AzuriteBlock {
  readonly accountName: string;
  readonly containerName: string;
  readonly blobName: string;
  readonly name: string;
  readonly size: number;
  readonly isCommitted?: boolean;
  readonly persistency: Chunk;
}

export interface AzuriteBlob {
  readonly accountName: string;
  readonly containerName: string;
  readonly name: string;
  /** Empty: it is no snapshot. */
  readonly snapshot: string;
  readonly deleted: boolean;
  readonly isCommitted: boolean;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly blobTags?: { readonly blobTagSet: readonly { readonly key: string; readonly value: string }[] };
  readonly properties: {
    readonly creationTime?: string;
    readonly lastModified: string;
    readonly contentLength?: number;
    readonly contentType?: string;
    readonly contentEncoding?: string;
    readonly contentLanguage?: string;
    readonly contentDisposition?: string;
    readonly cacheControl?: string;
    readonly contentMD5?: Readonly<Record<string, number>>;
    readonly blobType: 'BlockBlob' | 'AppendBlob' | 'PageBlob';
    readonly accessTier?: string;
    readonly accessTierInferred?: boolean;
    readonly isSealed?: boolean;
    readonly blobSequenceNumber?: number;
  } & AzuriteLease;
  /** Of a blob that was put at once. */
  readonly persistency?: Chunk;
  readonly committedBlocksInOrder?: readonly Pick<AzuriteBlock, 'name' | 'persistency'>[];
  readonly pageRangesInOrder?: readonly {
    readonly start: number;
    readonly end: number;
    readonly persistency: Chunk;
  }[];
}

export interface AzuriteQueue {
  readonly accountName: string;
  readonly name: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly queueAcl?: readonly AzuritePolicy[];
}

export interface AzuriteMessage {
  readonly accountName: string;
  readonly queueName: string;
  readonly messageId: string;
  readonly timeNextVisible: number | string;
  readonly insertionTime: string;
  readonly expirationTime: string;
  readonly dequeueCount: number;
  readonly persistency: Chunk;
}

export interface AzuriteTable {
  readonly account: string;
  readonly table: string;
  readonly tableAcl?: readonly AzuritePolicy[];
}

export interface AzuriteEntity {
  readonly PartitionKey: string;
  readonly RowKey: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly lastModifiedTime: string;
}

interface Loki {
  readonly collections: readonly { readonly name: string; readonly data: readonly unknown[] }[];
}

export class Workspace {
  readonly #folder: string;
  readonly #databases: ReadonlyMap<string, Loki>;
  /** From an extent's id to its file. */
  readonly #paths = new Map<string, string>();

  private constructor(folder: string, databases: ReadonlyMap<string, Loki>) {
    this.#folder = folder;
    this.#databases = databases;
    for (const service of ['blob', 'queue']) {
      for (const { id, path } of this.#rows<{ id: string; path: string }>(
        `${service}_extent`,
        '$EXTENTS_COLLECTION$',
      )) {
        this.#paths.set(id, join(this.#folder, `__${service}storage__`, path));
      }
    }
  }

  static async open(folder: string): Promise<Workspace> {
    const databases = new Map<string, Loki>();
    for (const name of ['blob', 'blob_extent', 'queue', 'queue_extent', 'table']) {
      const path = join(folder, `__azurite_db_${name}__.json`);
      try {
        const database = JSON.parse(await readFile(path, 'utf8')) as Partial<Loki> | null;
        if (!Array.isArray(database?.collections)) throw new UsageError('it has no collections');
        databases.set(name, database as Loki);
      } catch (error) {
        if (hasCode(error, 'ENOENT')) continue;
        throw new UsageError(`${path} cannot be read: ${(error as Error).message}. Stop Azurite first.`);
      }
    }
    return new Workspace(folder, databases);
  }

  get containers(): readonly AzuriteContainer[] {
    return this.#rows('blob', '$CONTAINERS_COLLECTION$');
  }

  get blobs(): readonly AzuriteBlob[] {
    return this.#rows('blob', '$BLOBS_COLLECTION$');
  }

  /** Those that were not committed. */
  get blocks(): readonly AzuriteBlock[] {
    return this.#rows('blob', '$BLOCKS_COLLECTION$');
  }

  get queues(): readonly AzuriteQueue[] {
    return this.#rows('queue', '$QUEUES_COLLECTION$');
  }

  get messages(): readonly AzuriteMessage[] {
    return this.#rows('queue', '$MESSAGES_COLLECTION$');
  }

  get tables(): readonly AzuriteTable[] {
    return this.#rows('table', '$TABLES_COLLECTION$');
  }

  entities({ account, table }: AzuriteTable): readonly AzuriteEntity[] {
    return this.#rows('table', `${account}$${table}`);
  }

  /** Accounts for which Set Service Properties was called, with the service. */
  get serviceProperties(): readonly (readonly [service: string, account: string])[] {
    return ['blob', 'queue', 'table'].flatMap((service) =>
      this.#rows<{ accountName: string }>(service, '$SERVICES_COLLECTION$').map(
        ({ accountName }) => [service, accountName] as const,
      ),
    );
  }

  /** The accounts that anything belongs to. */
  get accounts(): readonly string[] {
    const named = [...this.containers, ...this.queues].map(({ accountName }) => accountName);
    return [...new Set([...named, ...this.tables.map(({ account }) => account)])].sort();
  }

  /** Bytes that are not there, or not all, are a `UsageError`. */
  async *read({ id, offset, count }: Chunk): AsyncGenerator<Buffer> {
    if (count === 0) return;
    const path = this.#paths.get(id);
    if (path === undefined) throw new UsageError(`its bytes ${id} are not in ${this.#folder}`);
    let left = count;
    try {
      for await (const chunk of createReadStream(path, { start: offset, end: offset + count - 1 })) {
        left -= chunk.length;
        yield chunk;
      }
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'EACCES', 'EIO')) throw error;
      throw new UsageError(`its bytes cannot be read: ${(error as Error).message}`);
    }
    if (left > 0) throw new UsageError(`${left} of its bytes are missing at the end of ${path}`);
  }

  async readText(chunk: Chunk): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of this.read(chunk)) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  }

  #rows<Row>(database: string, collection: string): readonly Row[] {
    const found = this.#databases.get(database)?.collections.find(({ name }) => name === collection);
    return (found?.data ?? []) as readonly Row[];
  }
}
