import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ManualClock } from '../base/clock.js';
import { type DiskCall, SimulatedDisk } from '../base/files.simulated.js';
import { seededRandom } from '../base/random.js';
import { AppendError, DamageError, ExtentsClosedError, NoSpaceError, SegmentGoneError } from './errors.js';
import { openExtents } from './extents.js';
import { content, contentOf, openOn, put } from './extents.suite.js';
import { blockBytes, groupBytes, headerBytes, storedBytes } from './layout.js';

const seed = 11;
const unused = async () => true;

const lengths = [
  ...[0, 1, blockBytes - 1, blockBytes, blockBytes + 1, 4 * blockBytes],
  ...[groupBytes - 1, groupBytes, groupBytes + 1, 2 * groupBytes + 70_000],
];

for (const length of lengths) {
  test(`${length} bytes come back whole and in slices, whatever the chunks (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    await using extents = await openOn(new SimulatedDisk());
    const bytes = content(length);
    for (const chunkBytes of [bytes.length || 1, 65_536, 50_000, 3_001]) {
      const extent = await put(extents, bytes, chunkBytes);
      assert.equal(extent.length, length);
      assert.ok((await contentOf(extents, extent)).equals(bytes));
      for (let round = 0; round < 20; round++) {
        const from = Math.floor(random() * (length + 1));
        const slice = { offset: from, length: Math.floor(random() * (length - from + 1)) };
        const found = await extents.readBytes(extent, slice);
        assert.ok(found.equals(bytes.subarray(from, from + slice.length)));
      }
    }
  });
}

test('writers side by side each get one piece of one segment', async () => {
  await using extents = await openOn(new SimulatedDisk());
  const bodies = Array.from({ length: 8 }, (_, index) => content(300_000 + index * 1000, index));
  const written = await Promise.all(bodies.map((body) => put(extents, body, 20_000)));
  assert.equal(new Set(written.map(({ segment }) => segment)).size, 1);
  for (const [index, extent] of written.entries()) {
    assert.ok((await contentOf(extents, extent)).equals(bodies[index] as Buffer));
  }
});

test('what ends before its length leaves a gap and is whole', async () => {
  await using extents = await openOn(new SimulatedDisk());
  for (const length of [0, 1, 65_536, 131_072, 200_000, groupBytes, groupBytes + 65_536]) {
    const bytes = content(length);
    using writer = await extents.write(2 * groupBytes);
    await writer.append(bytes);
    const { extent } = await writer.finish();
    assert.equal(extent.length, length);
    assert.ok((await contentOf(extents, extent)).equals(bytes));
  }
});

test('64 small writers share a write and a sync', async () => {
  const disk = new SimulatedDisk();
  await using extents = await openOn(disk);
  await put(extents, content(10));
  const calls: DiskCall['name'][] = [];
  disk.before = ({ name }) => calls.push(name);
  await Promise.all(Array.from({ length: 64 }, (_, index) => put(extents, content(5_000, index))));
  assert.deepEqual(calls, ['write', 'sync']);
});

test('an extent is on disk when the name of its file is', async () => {
  let nameSynced = false;
  let openGate = () => {};
  const gate = new Promise<void>((resolve) => {
    openGate = resolve;
  });
  class SlowFolders extends SimulatedDisk {
    override async syncFolder(path: string): Promise<void> {
      if (path === '/extents') await gate;
      await super.syncFolder(path);
      nameSynced ||= path === '/extents';
    }
  }
  const disk = new SlowFolders();
  await using extents = await openOn(disk);
  const dataSynced = new Promise<void>((resolve) => {
    disk.before = ({ name }) => name === 'sync' && resolve();
  });
  const whenPut = put(extents, content(1000)).then(() => nameSynced);
  await dataSynced;
  setImmediate(openGate);
  assert.equal(await whenPut, true);
});

test('a chunk belongs to the caller again at once', async () => {
  await using extents = await openOn(new SimulatedDisk());
  using writer = await extents.write(200_000);
  const chunk = Buffer.alloc(100_000, 1);
  const first = writer.append(chunk);
  chunk.fill(2);
  await first;
  await writer.append(chunk);
  chunk.fill(3);
  const { extent } = await writer.finish();
  const expected = Buffer.concat([Buffer.alloc(100_000, 1), Buffer.alloc(100_000, 2)]);
  assert.ok((await contentOf(extents, extent)).equals(expected));
});

test('a full segment takes no more, and a new number is above all others', async () => {
  const disk = new SimulatedDisk();
  const clock = new ManualClock();
  await using extents = await openOn(disk, { clock, segmentBytes: 100_000 });
  const first = await put(extents, content(60_000));
  const second = await put(extents, content(60_000, 1));
  assert.equal(second.segment, first.segment);
  const third = await put(extents, content(60_000, 2));
  assert.equal(third.segment, first.segment + 1);
  assert.deepEqual(
    extents.segments().map(({ number, bytes, open }) => ({ number, bytes, open })),
    [
      { number: first.segment, bytes: headerBytes + 2 * storedBytes(60_000), open: false },
      { number: third.segment, bytes: headerBytes + storedBytes(60_000), open: true },
    ],
  );
});

test('small bodies, large bodies and moved ones have segments of their own', async () => {
  await using extents = await openOn(new SimulatedDisk());
  const small = await put(extents, content(10_000));
  const large = await put(extents, content(groupBytes + 1));
  using moved = await extents.move(small);
  assert.equal(new Set([small.segment, large.segment, moved.extent.segment]).size, 3);
  assert.ok((await contentOf(extents, moved.extent)).equals(content(10_000)));
});

test('after a start all is there, and what is new goes to a new segment', async () => {
  const disk = new SimulatedDisk();
  const before = await openOn(disk);
  const old = await put(before, content(10_000));
  await before.close();
  await using extents = await openOn(disk);
  assert.ok((await contentOf(extents, old)).equals(content(10_000)));
  assert.deepEqual(
    extents.segments().map(({ number, open }) => ({ number, open })),
    [{ number: old.segment, open: false }],
  );
  assert.ok((await put(extents, content(10))).segment > old.segment);
});

test('damage is found where it is read, and nowhere else', async () => {
  const disk = new SimulatedDisk();
  await using extents = await openOn(disk);
  const bytes = content(2 * groupBytes);
  const extent = await put(extents, bytes);
  const path = extents.segments()[0]?.path ?? '';
  const block = extent.offset + 5 * blockBytes;
  await flip(disk, path, block + 77);
  const message = `DamageError: ${path} is damaged at ${block}: the block there does not match its checksum`;
  const slice = (offset: number, length: number) => extents.readBytes(extent, { offset, length });
  for (const [offset, length] of [
    [5 * blockBytes, 1],
    [6 * blockBytes - 1, 1],
    [0, bytes.length],
    [70_000, 20_000],
  ]) {
    await assert.rejects(slice(offset as number, length as number), (error) => String(error) === message);
  }
  assert.ok((await slice(0, 5 * blockBytes)).equals(bytes.subarray(0, 5 * blockBytes)));
  assert.ok(
    (await slice(6 * blockBytes, 400_000)).equals(bytes.subarray(6 * blockBytes, 6 * blockBytes + 400_000)),
  );
  await assert.rejects(extents.move(extent), DamageError);
});

test('a sound block in the wrong place is damage', async () => {
  const disk = new SimulatedDisk();
  await using extents = await openOn(disk);
  const first = await put(extents, content(blockBytes, 1));
  const second = await put(extents, content(blockBytes, 2));
  const path = extents.segments()[0]?.path ?? '';
  await using file = await disk.open(path, 'edit');
  const stored = Buffer.alloc(storedBytes(blockBytes));
  await file.read(stored, first.offset);
  await file.write(stored, second.offset);
  await assert.rejects(contentOf(extents, second), DamageError);
});

test('a file that is too short, and one that is another segment, is damage', async () => {
  const disk = new SimulatedDisk();
  const before = await openOn(disk);
  const extent = await put(before, content(100_000));
  const path = before.segments()[0]?.path ?? '';
  await before.close();
  {
    await using file = await disk.open(path, 'edit');
    await file.truncate(50_000);
  }
  await using extents = await openOn(disk);
  await assert.rejects(
    contentOf(extents, extent),
    /^DamageError: \S+ ends at 50000: bytes stored from 24 on are lost/,
  );
  await disk.rename(path, path.replace(/\d\.segment/, '9.segment'));
  await using renamed = await openOn(disk);
  const other = renamed.segments()[0]?.number ?? 0;
  await assert.rejects(contentOf(renamed, { ...extent, segment: other }), /does not begin as segment/);
});

async function flip(disk: SimulatedDisk, path: string, position: number): Promise<void> {
  await using file = await disk.open(path, 'edit');
  const byte = Buffer.alloc(1);
  await file.read(byte, position);
  byte.writeUInt8(byte.readUInt8(0) ^ 0x10);
  await file.write(byte, position);
}

test('a segment is dropped when nobody has it pinned', async () => {
  const disk = new SimulatedDisk();
  await using extents = await openOn(disk);
  const extent = await put(extents, content(2 * groupBytes));
  const drop = () => extents.drop(extent.segment, unused);

  const pin = extents.pin(extent.segment);
  assert.equal(await drop(), false);
  pin?.[Symbol.dispose]();
  pin?.[Symbol.dispose]();

  const all = extents.pinAll();
  assert.equal(await drop(), false);
  all[Symbol.dispose]();

  using writer = await extents.write(2 * groupBytes);
  assert.equal(await drop(), false);
  await writer.finish();
  assert.equal(await drop(), false);
  writer[Symbol.dispose]();

  for await (const _ of extents.read(extent)) {
    assert.equal(await drop(), false);
    break;
  }
  assert.equal(await drop(), true);
  assert.deepEqual(await disk.list('/extents'), []);
  assert.deepEqual(extents.segments(), []);
  assert.equal(extents.pin(extent.segment), undefined);
  assert.throws(() => extents.read(extent), SegmentGoneError);
  assert.equal(await drop(), true);
  assert.notEqual((await put(extents, content(groupBytes + 1))).segment, extent.segment);
});

test('whether a segment is used is asked when no writer can be in it, and it stays if it is', async () => {
  await using extents = await openOn(new SimulatedDisk());
  const extent = await put(extents, content(1000));
  const { segment } = extent;
  let asked = 0;
  const used = async () => {
    asked++;
    using writer = await extents.write(10);
    const next = await writer.finish();
    assert.notEqual(next.extent.segment, segment, 'it is sealed');
    return false;
  };
  {
    using _ = await extents.write(10);
    assert.equal(await extents.drop(segment, used), false);
    assert.equal(asked, 0);
  }
  assert.equal(await extents.drop(segment, used), false);
  assert.equal(asked, 1);
  assert.ok((await contentOf(extents, extent)).equals(content(1000)));
  const pinned = async () => {
    extents.pin(segment);
    return true;
  };
  assert.equal(await extents.drop(segment, pinned), false);
});

test('a reader that ends, fails or is disposed lets go', async () => {
  const disk = new SimulatedDisk();
  await using extents = await openOn(disk);
  const extent = await put(extents, content(3 * groupBytes));
  await contentOf(extents, extent);

  extents.read(extent)[Symbol.dispose]();

  await flip(disk, extents.segments()[0]?.path ?? '', extent.offset + 2 * groupBytes);
  const reader = extents.read(extent);
  await reader.next();
  await assert.rejects(contentOf(extents, extent), DamageError);
  await reader.return();
  await reader.next();
  assert.equal(await extents.drop(extent.segment, unused), true);
});

test('a pin that was forgotten ends with its memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  await using extents = await openOn(new SimulatedDisk());
  const extent = await put(extents, content(1000));
  (() => {
    extents.pin(extent.segment);
    extents.read(extent);
  })();
  let dropped = await extents.drop(extent.segment, unused);
  assert.equal(dropped, false);
  for (let round = 0; round < 50 && !dropped; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    dropped = await extents.drop(extent.segment, unused);
  }
  assert.equal(dropped, true);
});

test('after a failed sync what waited is rejected, what was synced stays, the next goes to a new segment', async () => {
  const disk = new SimulatedDisk();
  await using extents = await openOn(disk);
  const before = await put(extents, content(10_000));
  using unfinished = await extents.write(20_000);
  await unfinished.append(content(10_000));
  disk.before = ({ name }) => {
    if (name !== 'sync') return;
    disk.before = undefined;
    throw Object.assign(new Error('EIO: the disk is failing'), { code: 'EIO' });
  };
  await assert.rejects(put(extents, content(10_000)), /^AppendError: writing \S+ failed.*EIO/);
  await assert.rejects(async () => {
    await unfinished.append(content(10_000));
    await unfinished.finish();
  }, AppendError);
  assert.ok((await contentOf(extents, before)).equals(content(10_000)));
  const next = await put(extents, content(10_000));
  assert.ok(next.segment > before.segment);
  assert.ok((await contentOf(extents, next)).equals(content(10_000)));
});

for (const failing of ['create', 'write', 'syncFolder'] as const) {
  test(`a segment whose first ${failing} fails takes nothing and can be dropped`, async () => {
    const disk = new SimulatedDisk();
    await using extents = await openOn(disk);
    disk.before = ({ name }) => {
      if (name === failing) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    };
    await assert.rejects(put(extents, content(10)), AppendError);
    await assert.rejects(put(extents, content(groupBytes * 8)), AppendError);
    disk.before = undefined;
    assert.ok(await contentOf(extents, await put(extents, content(10))));
    const [first, second, last] = extents.segments();
    assert.equal(await extents.drop(first?.number ?? 0, unused), true);
    assert.equal(await extents.drop(second?.number ?? 0, unused), true);
    assert.deepEqual(extents.segments(), [last]);
  });
}

test('new data is refused while too little is free, and taken again when there is room', async () => {
  const disk = new SimulatedDisk();
  const clock = new ManualClock();
  await using extents = await openOn(disk, { clock, floorBytes: 1_000_000 });
  const extent = await put(extents, content(10_000));
  disk.free = 1_100_000;
  clock.advance(2000);
  await assert.rejects(extents.write(200_000), NoSpaceError);
  using admitted = await extents.write(80_000);
  await assert.rejects(extents.write(80_000), NoSpaceError);
  admitted[Symbol.dispose]();
  disk.free = 900_000;
  clock.advance(2000);
  await assert.rejects(
    extents.write(1),
    /^NoSpaceError: the disk of \/extents is full: .* 1000000 bytes are kept free/,
  );
  assert.ok((await contentOf(extents, extent)).equals(content(10_000)));
  assert.equal(await extents.drop(extent.segment, unused), true);
  disk.free = 2_000_000;
  await put(extents, content(200_000));
});

test('in memory no more is held than was allowed, and what is dropped makes room', async () => {
  const limitBytes = 4 * 1024 * 1024;
  await using extents = await openExtents({ memory: true, limitBytes }, { clock: new ManualClock() });
  const bytes = content(1024 * 1024);
  const held = [await put(extents, bytes), await put(extents, bytes), await put(extents, bytes)];
  await assert.rejects(put(extents, bytes), /^NoSpaceError: the memory for extents is full/);
  for (const extent of held) assert.ok((await contentOf(extents, extent)).equals(bytes));
  assert.equal(await extents.drop(held[0]?.segment ?? 0, unused), true);
  assert.ok((await contentOf(extents, await put(extents, bytes))).equals(bytes));
});

test('files used longest ago are closed, and opened again when they are read', async () => {
  const disk = new SimulatedDisk();
  await using extents = await openOn(disk, { segmentBytes: 1, openFiles: 2 });
  const written = [];
  for (let index = 0; index < 6; index++) written.push(await put(extents, content(100, index)));
  for (const [index, extent] of [...written.entries(), ...written.entries()]) {
    assert.ok((await contentOf(extents, extent)).equals(content(100, index)));
  }
});

test('a close ends writers that have not finished and keeps what was finished', async () => {
  const disk = new SimulatedDisk();
  const extents = await openOn(disk);
  using done = await extents.write(1000);
  await done.append(content(1000));
  const { extent, synced } = await done.finish();
  using unfinished = await extents.write(groupBytes * 2);
  await unfinished.append(content(100));
  await extents.close();
  await synced;
  await assert.rejects(unfinished.finish(), ExtentsClosedError);
  await assert.rejects(extents.write(10), ExtentsClosedError);
  await using again = await openOn(disk);
  assert.ok((await contentOf(again, extent)).equals(content(1000)));
});
