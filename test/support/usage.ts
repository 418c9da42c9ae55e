// What containers use as the counters say it, held against all rows counted again.

import { strict as assert } from 'node:assert';
import type { BlobService } from '#src/services/blob/service.js';
import { readUsage, type UsedAs } from '#src/services/blob/usage.js';
import { unpackPiece } from '#src/services/common/content-rows.js';
import type { TestServer } from './server.js';

type Counted = Record<UsedAs, { count: number; bytes: number }>;

/** Every container's counters, and none too many. Gives what there is, by name. */
export async function assertUsageExact({ running }: TestServer): Promise<Record<string, Counted>> {
  const { store } = running.services.get('blob') as BlobService;
  const told: Record<string, unknown> = {};
  const counted: Record<string, Counted> = {};
  await store.run(async (tx) => {
    for await (const [id, { container }] of store.properties.entries(tx)) {
      const name = container.join('/');
      told[name] = await readUsage(store, tx, id);
      counted[name] = empty();
      const add = (as: UsedAs, length: number) => {
        const row = counted[name]?.[as];
        if (row === undefined) return;
        row.count++;
        row.bytes += length;
      };
      const range = { prefix: [id] };
      for await (const [, blob] of store.blobs.entries(tx, range)) {
        if (blob.type !== 'uncommitted') add('blobs', blob.length);
        if (blob.upload === undefined) continue;
        for await (const [, block] of store.blocks.entries(tx, { prefix: [blob.upload.id] })) {
          add('uncommitted', unpackPiece(block).length);
        }
      }
      for await (const [, { deleted, length }] of store.snapshots.entries(tx, range)) {
        add(deleted === undefined ? 'snapshots' : 'deleted', length);
      }
      for await (const [, { deleted, length }] of store.versions.entries(tx, range)) {
        add(deleted === undefined ? 'versions' : 'deleted', length);
      }
    }
  });
  assert.deepEqual(told, counted, 'what containers use is counted exactly');
  return counted;
}

function empty(): Counted {
  const none = () => ({ count: 0, bytes: 0 });
  return { blobs: none(), snapshots: none(), versions: none(), deleted: none(), uncommitted: none() };
}
