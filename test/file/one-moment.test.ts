// What an operation on a share tells was so at one moment, whatever others do to the same files meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openContentRows } from '#src/services/common/content-rows.js';
import { StorageError } from '#src/services/common/errors.js';
import { createDirectory } from '#src/services/file/directories.js';
import { listRanges, putRange } from '#src/services/file/file-ranges.js';
import { createFile, readFile, setFileProperties } from '#src/services/file/files.js';
import { noHttpProperties } from '#src/services/file/new-entry.js';
import { renameEntry } from '#src/services/file/renames.js';
import { snapshotShare } from '#src/services/file/share-snapshots.js';
import { noWishes } from '#src/services/file/smb-properties.js';
import type { Target } from '#src/services/file/targets.js';
import { account, type GivenFiles, givenFiles } from '../support/file-service.js';

const half = 1024;

function target(path: readonly string[], snapshot?: number): Target {
  return { share: [account, 'files'], path, snapshot, timeoutMs: 30_000 };
}

async function create(files: GivenFiles, length: number): Promise<void> {
  const file = { http: noHttpProperties, metadata: [], smb: noWishes, leaseId: undefined, body: undefined };
  await createFile(files, target(['file']), { ...file, length, mayOverwrite: true });
}

async function write(files: GivenFiles, start: number, end: number, letter: string): Promise<void> {
  using body = await files.store.content.contents.store(Buffer.alloc(end - start, letter));
  const range = { start, end };
  await putRange(files, target(['file']), { range, body, leaseId: undefined, keepWritten: false });
}

/** The letters there are, each once for a run of it. */
async function read(files: GivenFiles, start: number, snapshot?: number): Promise<string> {
  const cut = (length: number) => ({ start: Math.min(start, length), end: length });
  const { bytes, entry } = await readFile(files, target(['file'], snapshot), undefined, cut);
  const chunks: Buffer[] = [];
  for await (const chunk of bytes) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString('latin1');
  assert.equal(text.length, Math.max(0, entry.file.length - start), 'as many bytes as it says');
  return text.replace(/(.)\1*/gs, '$1');
}

/** The one works until the others have looked so often. */
async function meanwhile(work: (round: number) => Promise<void>, looks: number, look: () => Promise<void>) {
  let left = looks;
  const looking = Array.from({ length: 12 }, async () => {
    while (left-- > 0) await look();
  });
  for (let round = 0; left > 0; round++) await work(round);
  await Promise.all(looking);
}

test('a range that begins within what is written over is read as it was before or after', async () => {
  await using files = await givenFiles();
  await create(files, 2 * half);
  await write(files, 0, half, 'A');
  await write(files, half, 2 * half, 'B');
  const { maps } = await openContentRows(files.state);
  const entries = maps.entries.bind(maps);
  let isBetween = true;
  // After the slice that the range begins in, before those behind it.
  maps.entries = async function* (tx, options) {
    for await (const row of entries(tx, options)) {
      if (isBetween && options?.reverse) {
        isBetween = false;
        await write(files, 0, 2 * half, 'C');
      }
      yield row;
    }
  };
  assert.equal(await read(files, half / 2), 'C');
  assert.ok(!isBetween);
});

test('a file that is cut is read with a length and bytes that it had together', async () => {
  await using files = await givenFiles();
  await create(files, 2 * half);
  await write(files, 0, half, 'A');
  await write(files, half, 2 * half, 'B');
  const cut = { http: undefined, length: half, smb: noWishes, leaseId: undefined };
  const admit = files.opens.admit.bind(files.opens);
  let isBetween = false;
  // After the file was found, before its bytes are.
  files.opens.admit = async (...asked) => {
    if (!isBetween) return admit(...asked);
    isBetween = false;
    await setFileProperties(files, target(['file']), cut);
    return admit(...asked);
  };
  isBetween = true;
  assert.equal(await read(files, 0), 'A');
  await setFileProperties(files, target(['file']), { ...cut, length: 2 * half });
  await write(files, half, 2 * half, 'B');
  isBetween = true;
  const query = { range: undefined, leaseId: undefined, since: undefined, supportsRename: false };
  const { entry, ranges } = await listRanges(files, target(['file']), query);
  assert.deepEqual([entry.file.length, ranges], [half, [{ start: 0, end: half }]]);
});

test('a snapshot shows the same while what it shows is written over', async () => {
  await using files = await givenFiles();
  await create(files, 4 * half);
  for (const at of [0, 1, 2, 3]) await write(files, at * half, (at + 1) * half, 'ABCD'.charAt(at));
  const { second } = await snapshotShare(files.store, [account, 'files'], undefined);
  const { kept } = await openContentRows(files.state);
  const keys = kept.keys.bind(kept);
  let isBetween = true;
  // After what is current, before what is kept.
  kept.keys = async function* (tx, options) {
    if (isBetween) {
      isBetween = false;
      await write(files, half, 3 * half, 'x');
    }
    yield* keys(tx, options);
  };
  assert.equal(await read(files, 0, second), 'ABCD');
  assert.ok(!isBetween);
});

test('a refusal is true: a directory that changes its name never lies in itself', async () => {
  await using files = await givenFiles();
  await createDirectory(files, target(['a']), noWishes, []);
  const rename = (source: readonly string[], onto: readonly string[]) =>
    renameEntry(files, target(onto), {
      ...{ directory: true, source, replaces: false, ignoreReadOnly: false, smb: noWishes },
      ...{ sourceLeaseId: undefined, targetLeaseId: undefined, metadata: undefined, contentType: undefined },
    });
  const work = async () => {
    await rename(['a'], ['b']);
    await rename(['b'], ['a']);
  };
  const seen = new Set<string>();
  await meanwhile(work, 300, async () => {
    const told = await rename(['b'], ['a', 'a']).catch((error: unknown) => error);
    assert.ok(told instanceof StorageError, String(told));
    seen.add(told.code);
  });
  assert.deepEqual([...seen].sort(), ['ParentNotFound', 'ResourceNotFound']);
});
