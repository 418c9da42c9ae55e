// What happens to a blob while an operation on it is under way, each at the moment where it once went wrong.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { StateManager } from '#src/collections/index.js';
import { openEngine } from '#src/engine/level.js';
import { baseOf } from '#src/services/blob/address.js';
import { putBlob, readBlob } from '#src/services/blob/blobs.js';
import { getBlockList, putBlock, putBlockList } from '#src/services/blob/block-blobs.js';
import { createContainer } from '#src/services/blob/containers.js';
import { deleteBlob, snapshotBlob } from '#src/services/blob/snapshots.js';
import { createStore, type Store } from '#src/services/common/store.js';
import { busy, freshBlob, type OpenedBlobs, openBlobs, sending, unguarded } from './told-blob-store.js';

async function withBlobs(work: (opened: OpenedBlobs) => Promise<void>): Promise<void> {
  await using engine = await openEngine({ memory: true });
  await using state = await StateManager.open({ engine });
  const opened = await openBlobs(createStore(state), 'nothing', assert.ifError);
  await createContainer(opened.blobs, busy, { metadata: [], publicAccess: 'none' });
  await work(opened);
  await opened.garbage.close();
}

/** Before the first row that is read of them, the other is done, as far as it comes. */
function before(rows: { entries: unknown }, other: () => Promise<unknown>): Promise<unknown>[] {
  const read = (rows.entries as (...options: unknown[]) => AsyncIterable<unknown>).bind(rows);
  const others: Promise<unknown>[] = [];
  rows.entries = async function* (...options: unknown[]) {
    for await (const row of read(...options)) {
      if (others.length === 0) {
        others.push(other().catch((error) => error));
        for (let turns = 0; turns < 10; turns++) await turn();
      }
      yield row;
    }
  };
  return others;
}

test('a snapshot is deleted once, also beside its blob that is deleted with all of them', () =>
  withBlobs(async ({ blobs }) => {
    await sending(blobs, 'v1', (body) => putBlob(blobs, busy, 'b', freshBlob('v1', ''), body, unguarded));
    const { stamp } = await snapshotBlob(blobs, busy, 'b', [], unguarded);
    const others = before(blobs.snapshots, () =>
      deleteBlob(blobs, busy, { name: 'b', kind: 'snapshot', stamp }, 'none', unguarded),
    );
    assert.deepEqual(await deleteBlob(blobs, busy, baseOf('b'), 'include', unguarded), { permanent: true });
    assert.equal(((await others[0]) as { code?: string }).code, 'BlobNotFound');
  }));

test('a list of blocks is of one moment', () =>
  withBlobs(async ({ blobs }) => {
    const put = (id: string) =>
      sending(blobs, 'v1', (body) => putBlock(blobs, busy, 'b', id, body, unguarded));
    const commit = (id: string) =>
      putBlockList(blobs, busy, 'b', [{ id, from: 'uncommitted' }], freshBlob('', ''), unguarded);
    await put('A');
    await commit('A');
    await put('B');
    before(blobs.blockNames, () => commit('B'));
    const wanted = { committed: true, uncommitted: true };
    const list = await getBlockList(blobs, busy, baseOf('b'), wanted, unguarded);
    const ids = [list.committed, list.uncommitted].map((blocks) => blocks.map(({ id }) => id));
    assert.deepEqual(ids, [['A'], ['B']]);
  }));

test('a read that is run again lets go of what it had opened before', () =>
  withBlobs(async ({ blobs, extents }) => {
    await sending(blobs, 'v3', (body) => putBlob(blobs, busy, 'b', freshBlob('v3', ''), body, unguarded));
    const run: Store['run'] = (operation, options) =>
      blobs.run(async (tx) => {
        await operation(tx);
        return operation(tx);
      }, options);
    const all = ({ length }: { length: number }) => ({ offset: 0, length });
    const { reader } = await readBlob({ ...blobs, run }, busy, baseOf('b'), unguarded, all);
    reader?.[Symbol.dispose]();
    const [segment] = extents.segments();
    assert.ok(segment);
    assert.ok(await extents.drop(segment.number, async () => true), 'nobody has it pinned');
  }));
