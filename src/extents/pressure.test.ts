// Memory is bounded: a writer waits for a slow disk, a reader reads no more than one group ahead.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OpenFile, OpenMode } from '../base/files.js';
import { SimulatedDisk } from '../base/files.simulated.js';
import { content, contentOf, openOn, put } from './extents.suite.js';
import { groupBytes, tableBytes } from './layout.js';
import { pieceBytes } from './pieces.js';

/** A disk whose writes wait until they are let through or forgotten, and that counts what is read. */
class SlowDisk extends SimulatedDisk {
  bytesRead = 0;
  keeps = true;
  #waiting: (() => void)[] | undefined;

  hold(): void {
    this.#waiting = [];
  }

  letThrough(): void {
    for (const go of this.#waiting ?? []) go();
    this.#waiting = undefined;
  }

  override async open(path: string, mode: OpenMode): Promise<OpenFile> {
    const file = await super.open(path, mode);
    const { read, write } = file;
    file.read = async (target, position) => {
      this.bytesRead += target.length;
      return read.call(file, target, position);
    };
    file.write = async (bytes, position) => {
      const waiting = this.#waiting;
      if (waiting) await new Promise<void>((resolve) => waiting.push(resolve));
      if (this.keeps) await write.call(file, bytes, position);
    };
    return file;
  }
}

/** Appends until a promise stays open, and gives how much was taken and that promise. */
async function appendUntilHeld(append: (chunk: Buffer) => Promise<void> | undefined) {
  const chunk = Buffer.alloc(pieceBytes, 7);
  for (let taken = 0; ; taken += chunk.length) {
    const promise = append(chunk);
    let held = promise !== undefined;
    promise?.then(() => {
      held = false;
    });
    await nextTurn();
    if (held) return { taken: taken + chunk.length, promise };
  }
}

test('a writer takes a megabyte while the disk takes nothing, and goes on when it does', async () => {
  const disk = new SlowDisk();
  await using extents = await openOn(disk);
  await put(extents, content(groupBytes + 1));
  disk.hold();
  using writer = await extents.write(4 * 1024 * 1024);
  const { taken, promise } = await appendUntilHeld((chunk) => writer.append(chunk));
  assert.equal(taken, 1024 * 1024);
  disk.letThrough();
  await promise;
  const { extent } = await writer.finish();
  assert.ok((await contentOf(extents, extent)).equals(Buffer.alloc(taken, 7)));
});

test('many writers together take 32 MiB and one piece each while the disk takes nothing', async () => {
  const disk = new SlowDisk();
  await using extents = await openOn(disk);
  await put(extents, content(groupBytes + 1));
  disk.hold();
  disk.keeps = false;
  const writers = await Promise.all(Array.from({ length: 40 }, () => extents.write(4 * 1024 * 1024)));
  const held = [];
  for (const writer of writers) held.push(await appendUntilHeld((chunk) => writer.append(chunk)));
  const taken = held.reduce((sum, each) => sum + each.taken, 0);
  assert.equal(taken, 32 * 1024 * 1024 + 8 * pieceBytes);
  disk.letThrough();
  await Promise.all(held.map(({ promise }) => promise));
  for (const writer of writers) writer[Symbol.dispose]();
});

test('a reader has read one group more than was taken from it', async () => {
  const disk = new SlowDisk();
  await using extents = await openOn(disk);
  const extent = await put(extents, content(5 * groupBytes));
  await extents.readBytes(extent, { offset: 0, length: 1 });
  disk.bytesRead = 0;
  using reader = extents.read(extent);
  await reader.next();
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  assert.equal(disk.bytesRead, 2 * (groupBytes + tableBytes));
});

test('a slice reads its blocks and their checksums, and no more; with a second one of the same group all of it is read, once', async () => {
  const disk = new SlowDisk();
  await using extents = await openOn(disk);
  const bytes = content(4 * groupBytes);
  const extent = await put(extents, bytes);
  await extents.readBytes(extent, { offset: 3 * groupBytes, length: 1 }); // the file is open
  const read = async (offset: number, length: number): Promise<number> => {
    disk.bytesRead = 0;
    const found = await extents.readBytes(extent, { offset, length });
    assert.deepEqual(found, bytes.subarray(offset, offset + length));
    found.fill(0); // it is the reader's own
    return disk.bytesRead;
  };
  assert.equal(await read(20_000, 100), 16 * 1024 + 4);
  assert.equal(await read(100_000, 100), groupBytes + tableBytes);
  for (const offset of [0, 20_000, 99_999, groupBytes - 100]) assert.equal(await read(offset, 100), 0);
  assert.equal(await read(groupBytes, 100), 16 * 1024 + 4, 'of the next group');
  assert.equal(
    await read(2 * groupBytes - 50, 100),
    groupBytes + tableBytes + 16 * 1024 + 4,
    'over a border',
  );
  assert.equal(await read(0, groupBytes), groupBytes + tableBytes, 'what is long is not kept');
});

test('of groups that are kept whole there are few', async () => {
  const disk = new SlowDisk();
  await using extents = await openOn(disk);
  const groups = 40;
  const extent = await put(extents, content(groups * groupBytes));
  for (const at of [0, 1]) {
    for (let group = 0; group < groups; group++) {
      await extents.readBytes(extent, { offset: group * groupBytes + at, length: 10 });
    }
  }
  disk.bytesRead = 0;
  for (let group = groups - 16; group < groups; group++)
    await extents.readBytes(extent, { offset: group * groupBytes, length: 10 });
  assert.equal(disk.bytesRead, 0);
  await extents.readBytes(extent, { offset: 0, length: 10 });
  assert.equal(disk.bytesRead, groupBytes + tableBytes);
});
