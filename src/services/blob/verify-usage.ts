// Whether what containers use is counted as it is: for who verifies a store. Counters and rows are those of one snapshot,
// so work may go on meanwhile.

import type { Transaction } from '../../collections/index.js';
import type { BlobStore } from './model.js';
import { readUsage, type Used, usages, usedBlocks, usedRows } from './usage.js';

/** A sentence for each counter that is wrong. */
export async function verifyUsage(store: BlobStore, tx: Transaction): Promise<string[]> {
  const wrong: string[] = [];
  for await (const [id, { container }] of store.properties.entries(tx)) {
    const told = await readUsage(store, tx, id, { snapshot: true });
    const counted = await count(store, tx, id, wrong);
    for (const as of usages) {
      const [is, said] = [counted[as], told[as]];
      if (is.count === said.count && is.bytes === said.bytes) continue;
      wrong.push(
        `container ${container.join('/')} has ${is.count} ${as} of ${is.bytes} bytes, counted as ${said.count} of ${said.bytes}`,
      );
    }
  }
  return wrong;
}

const nothing = () => ({ count: 0, bytes: 0 });

async function count(store: BlobStore, tx: Transaction, id: number, wrong: string[]) {
  const counted = {
    blobs: nothing(),
    snapshots: nothing(),
    versions: nothing(),
    deleted: nothing(),
    uncommitted: nothing(),
  };
  const add = (sum: { count: number; bytes: number }, { bytes }: Used) => {
    sum.count++;
    sum.bytes += bytes;
  };
  const uploads = new Map<number, { count: number; bytes: number }>();
  for await (const [, used] of usedRows(store, tx, id)) if (used !== undefined) add(counted[used.as], used);
  for await (const [, used, upload] of usedBlocks(store, tx, id)) {
    if (used === undefined) continue;
    add(counted[used.as], used);
    const sum = uploads.get(upload) ?? nothing();
    uploads.set(upload, sum);
    add(sum, used);
  }
  for (const [upload, { count, bytes }] of uploads) {
    const said = await store.blockCounts.get(tx, upload, { snapshot: true });
    const saidBytes = await store.blockBytes.get(tx, upload, { snapshot: true });
    if (said === count && saidBytes === bytes) continue;
    wrong.push(`upload ${upload} has ${count} blocks of ${bytes} bytes, counted as ${said} of ${saidBytes}`);
  }
  return counted;
}
