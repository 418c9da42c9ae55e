// What is still stored of blobs once every container is gone and all was swept: nothing, or space is lost for ever.

import { strict as assert } from 'node:assert';
import type { TestServer } from './server.js';

const dictionaries = [
  '$system/extents',
  '$system/maps',
  '$system/kept',
  '$system/moved',
  '$system/content-garbage',
  '$system/garbage',
  '$system/blob/properties',
  '$system/blob/blobs',
  '$system/blob/snapshots',
  '$system/blob/versions',
  '$system/blob/blocks',
  '$system/blob/block-names',
  '$system/blob/tag-index',
  '$system/blob/copies',
];

/** Sweeps until nothing more goes, then asks that nothing is left. */
export async function assertNothingLeft({ running }: TestServer): Promise<void> {
  const { state } = running;
  for (let round = 0; round < 3; round++) await running.sweep();
  const left: string[] = [];
  await state.transaction(async (tx) => {
    for (const name of dictionaries) {
      const count = name === '$system/garbage';
      const rows = await state.dictionary<string, unknown>(name, { system: true, count });
      for await (const key of rows.keys(tx)) left.push(`${name} ${JSON.stringify(key)}`);
    }
  });
  assert.deepEqual(left.slice(0, 10), [], `${left.length} rows are left`);
}
