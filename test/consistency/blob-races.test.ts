// What happens to a blob while an operation on it is under way, each at the moment where it once went wrong.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { StateManager } from '#src/collections/index.js';
import { memoryDisk } from '#src/engine/disk.js';
import { FaultyDisk } from '#src/engine/faulty-disk.suite.js';
import { openEngine, openEngineOn } from '#src/engine/level.js';
import { baseOf } from '#src/services/blob/address.js';
import { putBlob, putPageBlob, readBlob } from '#src/services/blob/blobs.js';
import { getBlockList, putBlock, putBlockList } from '#src/services/blob/block-blobs.js';
import { createContainer } from '#src/services/blob/containers.js';
import { copyTargets } from '#src/services/blob/copy-targets.js';
import { type BlobStore, findContainer } from '#src/services/blob/model.js';
import { getPageRanges, putPages } from '#src/services/blob/page-blobs.js';
import { deleteBlob, snapshotBlob } from '#src/services/blob/snapshots.js';
import { openContentRows } from '#src/services/common/content-rows.js';
import { createStore, type Store } from '#src/services/common/store.js';
import {
  busy,
  contentOf,
  freshBlob,
  type OpenedBlobs,
  openBlobs,
  sending,
  textsIn,
  unguarded,
} from './told-blob-store.js';

async function withBlobs(work: (opened: OpenedBlobs) => Promise<void>): Promise<void> {
  await using engine = await openEngine({ memory: true });
  await using state = await StateManager.open({ engine });
  const opened = await openBlobs(createStore(state), 'nothing', assert.ifError);
  await createContainer(opened.blobs, busy, { metadata: [], publicAccess: 'none' });
  await work(opened);
  await opened.garbage.close();
}

/** While these rows are read for the first time, before or after that, the other is done, as far as it comes. */
function beside(
  rows: { entries: unknown },
  when: 'before' | 'after',
  other: () => Promise<unknown>,
): Promise<unknown>[] {
  const read = (rows.entries as (...options: unknown[]) => AsyncIterable<unknown>).bind(rows);
  const others: Promise<unknown>[] = [];
  const begin = async (now: typeof when) => {
    if (now !== when || others.length > 0) return;
    others.push(other().catch((error) => error));
    for (let turns = 0; turns < 10; turns++) await turn();
  };
  rows.entries = async function* (...options: unknown[]) {
    await begin('before');
    for await (const row of read(...options)) {
      await begin('after');
      yield row;
    }
  };
  return others;
}

test('a snapshot is deleted once, also beside its blob that is deleted with all of them', () =>
  withBlobs(async ({ blobs }) => {
    await sending(blobs, 'v1', (body) => putBlob(blobs, busy, 'b', freshBlob('v1', ''), body, unguarded));
    const { stamp } = await snapshotBlob(blobs, busy, 'b', [], unguarded);
    const others = beside(blobs.snapshots, 'after', () =>
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
    beside(blobs.blockNames, 'after', () => commit('B'));
    const wanted = { committed: true, uncommitted: true };
    const list = await getBlockList(blobs, busy, baseOf('b'), wanted, unguarded);
    const ids = [list.committed, list.uncommitted].map((blocks) => blocks.map(({ id }) => id));
    assert.deepEqual(ids, [['A'], ['B']]);
  }));

test('a copy that ends late leaves the one that has begun there since', () =>
  withBlobs(async ({ blobs }) => {
    const { stamp } = await sending(blobs, 'v1', (body) =>
      putBlob(blobs, busy, 'b', freshBlob('v1', ''), body, unguarded),
    );
    const key = await blobs.run(async (tx) => [await findContainer(blobs, tx, busy), 'b'] as const);
    const copyOf = (id: string) => ({
      id,
      url: 'http://elsewhere/b',
      own: undefined,
      etag: undefined,
      began: stamp,
    });
    await blobs.run((tx) => blobs.copies.set(tx, key, copyOf('later')));
    const targets = copyTargets(blobs);
    await sending(blobs, 'v2', (body) => targets.finish(key, copyOf('earlier'), body));
    await targets.fail(key, copyOf('earlier'), 'too late');
    assert.deepEqual(
      (await targets.all()).map(([, { id }]) => id),
      ['later'],
    );
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

for (const ask of ['bytes', 'ranges'] as const) {
  test(`the ${ask} of a page blob are those that its ETag stands for`, () =>
    withBlobs(async ({ blobs }) => {
      const always = { atMost: undefined, below: undefined, equal: undefined };
      const put = async (start: number) => {
        using body = await blobs.contents.store(Buffer.alloc(512, 'x'));
        return await putPages(blobs, busy, 'b', { start, end: start + 512 }, body, always, unguarded);
      };
      const made = { length: 4096, sequence: 0n };
      await putPageBlob(blobs, busy, 'b', made, freshBlob('', ''), unguarded);
      await put(512);
      const first = await put(1536);
      const later = beside((await openContentRows(blobs.state)).maps, 'before', () => put(2560));
      const asked = await (ask === 'bytes' ? pagesRead : pagesTold)(blobs);
      const second = (await later[0]) as typeof first;
      assert.deepEqual(asked, { stamp: second.stamp, pages: [512, 1536, 2560] });
      assert.ok(second.stamp > first.stamp);
    }));
}

async function pagesRead(blobs: BlobStore) {
  const { blob, content } = await contentOf(blobs, busy, baseOf('b'));
  const pages = [...content.matchAll(/x{512}/g)].map(({ index }) => index);
  return { stamp: blob.stamp, pages };
}

async function pagesTold(blobs: BlobStore) {
  const all = { previous: undefined, range: undefined, max: 100 };
  const { blob, ranges } = await getPageRanges(blobs, busy, baseOf('b'), all, unguarded);
  return { stamp: blob.stamp, pages: ranges.map(({ start }) => start) };
}

test('a segment is not dropped where what lives in it turns up meanwhile', async () => {
  const disk = new FaultyDisk(memoryDisk(), true);
  await using engine = await openEngineOn(disk, { retryMs: 1 });
  await using state = await StateManager.open({ engine });
  const store = createStore(state);
  const reopened = async () => {
    disk.fate = () => 'done';
    disk.probeFails = false;
    while (engine.health().state !== 'open') await turn();
  };
  let isFailed = false;
  const run: Store['run'] = (operation, options) =>
    store.run(async (tx) => {
      const result = await operation(tx);
      if (isFailed && tx.hasWrites) await reopened();
      return result;
    }, options);
  const { blobs, content, garbage } = await openBlobs({ ...store, run }, 'nothing', assert.ifError);
  await garbage.close();
  await createContainer(blobs, busy, { metadata: [], publicAccess: 'none' });
  disk.fate = () => 'turns up';
  disk.probeFails = true;
  const put = sending(blobs, 'v3', (body) => putBlob(blobs, busy, 'b', freshBlob('v3', ''), body, unguarded));
  await assert.rejects(put, { name: 'OutcomeUnknownError' });
  isFailed = true;
  await content.reclaim.run();
  assert.equal(textsIn((await contentOf(blobs, busy, baseOf('b'))).content), 'v3');
});
