// What must not cost more where more is stored: listing a large directory, moving a deep one, holes. Scaled down unless
// LAZULI_FULL=1.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Transaction } from '#src/collections/index.js';
import { attribute } from '#src/services/file/access.js';
import { putRange } from '#src/services/file/file-ranges.js';
import { rootId, ticksOf } from '#src/services/file/file-system.js';
import { readFile } from '#src/services/file/files.js';
import { listDirectory } from '#src/services/file/listing.js';
import { newFileState } from '#src/services/file/new-entry.js';
import { renameEntry } from '#src/services/file/renames.js';
import { findShare } from '#src/services/file/share-access.js';
import { noWishes } from '#src/services/file/smb-properties.js';
import type { Target } from '#src/services/file/targets.js';
import { addEntry, findRoot } from '#src/services/file/tree.js';
import { account, type GivenFiles, givenFiles } from '../support/file-service.js';

const full = process.env['LAZULI_FULL'] === '1';
const key = [account, 'files'] as const;
const target = (...path: string[]): Target => ({ share: key, path, snapshot: undefined, timeoutMs: 30_000 });

/** So many files in a directory, some thousand in a transaction. */
async function fill(files: GivenFiles, parent: number, count: number): Promise<void> {
  const { store } = files;
  for (let from = 0; from < count; from += 5000) {
    await store.run(async (tx: Transaction) => {
      const share = await findShare(store, tx, key);
      const root = await findRoot(store, tx, { share, snapshot: undefined }, 'none');
      assert.ok(root);
      const now = ticksOf(tx.now);
      for (let at = from; at < Math.min(count, from + 5000); at++) {
        const id = tx.stamp();
        await addEntry(store, tx, share, {
          ...{ format: 1, id, parent, epoch: share.epoch, stamp: id, metadata: [], file: newFileState },
          name: `file ${String(at).padStart(8, '0')}`,
          ...{ attributes: attribute.archive, created: now, accessed: now, written: now, changed: now },
          permission: root.permission,
        });
      }
    });
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

test(`a page of ${full ? '1,000,000' : '50,000'} files costs what it does of 1,000`, async () => {
  await using files = await givenFiles();
  const options = { prefix: '', marker: undefined, max: 100, exact: false };
  const volume = await files.volumes.open(account, 'files');
  const node = { directory: true, attributes: attribute.directory, security: undefined } as const;
  const small = await volume?.transaction((tx) => tx.create({ parent: rootId, name: 'small', ...node }));
  const large = await volume?.transaction((tx) => tx.create({ parent: rootId, name: 'large', ...node }));
  const count = full ? 1_000_000 : 50_000;
  await fill(files, Number(small?.id), 1_000);
  await fill(files, Number(large?.id), count);
  const measure = async (name: string, marker?: string) => {
    const times: number[] = [];
    for (let round = 0; round < 15; round++) {
      times.push(await timed(() => listDirectory(files, target(name), { ...options, marker })));
    }
    return median(times);
  };
  await measure('large');
  const few = await measure('small');
  const many = await measure('large');
  const last = `FILE ${String(count - 50).padStart(8, '0')}`;
  const end = await measure('large', last);
  const page = await listDirectory(files, target('large'), { ...options, marker: last });
  assert.equal(page.entries.length, 50);
  assert.equal(page.next, undefined);
  const told = `first page ${many.toFixed(2)} ms, last ${end.toFixed(2)} ms, of 1,000 ${few.toFixed(2)} ms`;
  assert.ok(many < few * 5 + 5 && end < few * 5 + 5, told);
});

test(`a directory with ${full ? '100,000' : '20,000'} files below is renamed in one transaction`, async () => {
  await using files = await givenFiles();
  const volume = await files.volumes.open(account, 'files');
  const node = { directory: true, attributes: attribute.directory, security: undefined } as const;
  const one = await volume?.transaction((tx) => tx.create({ parent: rootId, name: 'one', ...node }));
  await fill(files, Number(one?.id), full ? 100_000 : 20_000);
  const commits: unknown[] = [];
  files.state.onTransaction((event) => void commits.push(event));
  const rename = {
    ...{ directory: true, source: ['one'], replaces: false, ignoreReadOnly: false, smb: noWishes },
    ...{ sourceLeaseId: undefined, targetLeaseId: undefined, metadata: undefined, contentType: undefined },
  };
  const ms = await timed(() => renameEntry(files, target('two'), rename));
  assert.equal(commits.length, 1);
  assert.ok(ms < 500, `it took ${ms} ms`);
  const options = { prefix: '', marker: undefined, max: 10, exact: false };
  assert.equal((await listDirectory(files, target('two'), options)).entries.length, 10);
});

test('a sparse file of 10 GiB takes no space for its holes', async () => {
  await using files = await givenFiles();
  const volume = await files.volumes.open(account, 'files');
  const node = { directory: false, attributes: attribute.archive, security: undefined } as const;
  const file = await volume?.transaction((tx) => tx.create({ parent: rootId, name: 'sparse', ...node }));
  assert.ok(volume && file);
  const length = 10 * 2 ** 30;
  await volume.transaction((tx) => tx.resize(file.id, length));
  assert.equal(await files.liveBytes(), 0);
  using body = await files.store.content.contents.store(Buffer.alloc(100_000, 7));
  const range = { start: 5 * 2 ** 30, end: 5 * 2 ** 30 + 100_000 };
  await putRange(files, target('sparse'), { range, body, leaseId: undefined, keepWritten: false });
  const live = await files.liveBytes();
  assert.ok(live > 0 && live < 110_000, `${live} bytes live`);
  assert.equal((await volume.ranges(file.id, 0, length)).length, 1);
  // What is read of it is zeros but for these bytes; all of it in the full run.
  const window = full
    ? { start: 0, end: length }
    : { start: range.start - 2 ** 24, end: range.end + 2 ** 24 };
  const read = await readFile(files, target('sparse'), undefined, () => window);
  let [bytes, sevens] = [0, 0];
  for await (const chunk of read.bytes) {
    bytes += chunk.length;
    for (const byte of chunk.includes(7) ? chunk : []) sevens += byte === 7 ? 1 : 0;
  }
  assert.equal(bytes, window.end - window.start);
  assert.equal(sevens, 100_000);
});
