// Does a container of a million blobs cost what one of a thousand does? Get Blob, the first page of a listing, a page
// from its middle, and one by hierarchy; and how much memory the process has by then. In process, the service alone.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { loopback } from '#src/server/config.js';
import { serve } from '#src/server/serve.js';
import { putBlob, readBlob } from '#src/services/blob/blobs.js';
import { createContainer } from '#src/services/blob/containers.js';
import { type ListOptions, listBlobs } from '#src/services/blob/listing.js';
import type { BlobStore } from '#src/services/blob/model.js';
import type { BlobService } from '#src/services/blob/service.js';
import { noConditions } from '#src/services/common/conditions.js';
import { ContentReader } from '#src/services/common/content-reader.js';
import { within } from '#src/services/common/store.js';
import { inBatches, inTurns } from './growth.js';
import type { Bench } from './main.js';
import { memoryOf } from './targets.js';

const sizes = {
  small: { counts: [100, 1_000], asked: 20 },
  full: { counts: [1_000, 10_000, 100_000, 1_000_000], asked: 500 },
} as const;
const account = 'devstoreaccount1';
const guards = { conditions: noConditions, leaseId: undefined, mayOverwrite: true };
const fresh = { headers: { type: 'text/plain' }, metadata: [], tags: [], tier: undefined };
const pageOf = 100;
/** As many folders as the smallest has. */
const foldersOf = 10;

export const growthBlobsBench: Bench = async (size, print) => {
  const { counts, asked } = sizes[size];
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-growth-'));
  const services = { blob: { host: loopback, port: 0 } };
  const server = await serve({ data: { location: folder }, services, accounts: [], pathStyleOnly: false });
  try {
    const { store } = server.services.get('blob') as BlobService;
    for (const count of counts) await fill(store, count);
    const at = (count: number, n: number) => name((n * 7919) % count);
    await inTurns('Get Blob', counts, asked, print, (count, n) => get(store, count, at(count, n)));
    await inTurns('first page', counts, asked, print, (count) => list(store, count, {}));
    await inTurns('page in between', counts, asked, print, (count, n) =>
      list(store, count, { prefix: at(count, n).slice(0, -2) }),
    );
    await inTurns('by hierarchy', counts, asked, print, (count) =>
      list(store, count, { delimiter: '/', max: foldersOf }),
    );
    const memory = memoryOf(process.pid);
    if (memory) print(`anonymous memory with all of them stored: ${memory.anonymousMb} MB`);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return crc32(JSON.stringify(sizes[size])).toString(16);
};

/** A hundred in each folder. */
const name = (n: number) => String(n).padStart(9, '0').replace(/(..)$/, '/$1');
const keyOf = (count: number) => [account, `growth${count}`] as const;

async function fill(store: BlobStore, count: number): Promise<void> {
  await createContainer(store, keyOf(count), { metadata: [], publicAccess: 'none' });
  const bytes = Buffer.alloc(100, 'x');
  await inBatches(count, 200, (first, batch) =>
    store.run(async (tx) => {
      const inside = within(store, tx);
      for (let n = first; n < first + batch; n++) {
        using body = await store.contents.store(bytes, {});
        await putBlob(inside, keyOf(count), name(n), fresh, body, guards);
      }
    }),
  );
}

async function get(store: BlobStore, count: number, blob: string): Promise<void> {
  const all = ({ length }: { readonly length: number }) => ({ offset: 0, length });
  const { reader } = await readBlob(store, keyOf(count), { kind: 'base', name: blob }, guards, all);
  const bytes = reader instanceof ContentReader ? reader.takeWhole() : undefined;
  if (bytes?.length !== 100) throw new Error(`${blob} is not what was put`);
}

const plain: ListOptions = {
  prefix: '',
  delimiter: '',
  marker: undefined,
  max: pageOf,
  snapshots: false,
  versions: false,
  uncommitted: false,
  deleted: false,
  versionsOnly: false,
};

async function list(store: BlobStore, count: number, options: Partial<ListOptions>): Promise<void> {
  const { entries } = await listBlobs(store, keyOf(count), { ...plain, ...options });
  if (entries.length !== (options.delimiter ? Math.min(count / 100, foldersOf) : pageOf)) {
    throw new Error(`a page of ${entries.length}`);
  }
}
