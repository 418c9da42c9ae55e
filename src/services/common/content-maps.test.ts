import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../base/random.js';
import type { Transaction } from '../../collections/index.js';
import type { MapState } from './content-maps.js';
import { bytesOf, checkRows, type Given, givenContents, readAll } from './contents.suite.js';
import { differences, pageRanges } from './range-map.js';

const size = 100_000;

/** A file with snapshots beside the same in plain buffers. */
class Modelled {
  readonly given: Given;
  state: MapState;
  bytes = Buffer.alloc(size);
  readonly snapshots = new Map<number, Buffer>();

  constructor(given: Given, map: number) {
    this.given = given;
    this.state = { map, epoch: 0 };
  }

  static async create(given: Given): Promise<Modelled> {
    return new Modelled(given, await given.store.run((tx) => given.maps.create(tx)));
  }

  change(work: (tx: Transaction) => Promise<unknown>): Promise<unknown> {
    return this.given.store.run(work);
  }

  async write(start: number, bytes: Buffer): Promise<void> {
    using body = await this.given.contents.store(bytes);
    await this.change((tx) => this.given.maps.write(tx, this.state, start, body));
    bytes.copy(this.bytes, start);
  }

  /** So many slices of so many bytes, every so many bytes; some in each transaction. */
  async writeMany(count: number, every: number, length: number): Promise<void> {
    for (let first = 0; first < count; first += 50) {
      await this.change(async (tx) => {
        for (let index = first; index < Math.min(count, first + 50); index++) {
          const range = { start: index * every, end: index * every + length };
          const bytes = bytesOf(length, index + count);
          await this.given.maps.put(tx, this.state, range, { kind: 'bytes', bytes });
          bytes.copy(this.bytes, range.start);
        }
      });
    }
  }

  async clear(start: number, end: number): Promise<void> {
    await this.change((tx) => this.given.maps.clear(tx, this.state, { start, end }));
    this.bytes.fill(0, start, end);
  }

  async clearPages(start: number, end: number): Promise<void> {
    await this.change((tx) => this.given.maps.clearPages(tx, this.state, { start, end }));
    this.bytes.fill(0, start, end);
  }

  async snapshot(): Promise<void> {
    await this.change((tx) => this.given.maps.share(tx, this.state.map));
    this.snapshots.set(this.state.epoch, Buffer.from(this.bytes));
    this.state = { ...this.state, epoch: this.state.epoch + 1, newestSnapshot: this.state.epoch };
  }

  async deleteSnapshot(epoch: number): Promise<void> {
    this.snapshots.delete(epoch);
    const left = [...this.snapshots.keys()];
    this.state = { ...this.state, newestSnapshot: left.length > 0 ? Math.max(...left) : undefined };
    await this.change(async (tx) => {
      await this.given.maps.drop(tx, this.state.map);
      await this.given.maps.dropSnapshot(tx, this.state, left);
    });
  }

  async read(offset: number, length: number, snapshot?: number): Promise<Buffer> {
    const { store, maps } = this.given;
    return readAll(await store.run((tx) => maps.open(tx, this.state.map, { offset, length }, snapshot)));
  }

  async check(random: () => number): Promise<void> {
    const offset = Math.floor(random() * size);
    const length = Math.floor(random() * (size - offset));
    for (const [snapshot, bytes] of [[undefined, this.bytes] as const, ...this.snapshots]) {
      assert.ok((await this.read(0, size, snapshot)).equals(bytes), `snapshot ${snapshot}`);
      const found = await this.read(offset, length, snapshot);
      assert.ok(found.equals(bytes.subarray(offset, offset + length)));
    }
  }
}

for (const seed of [1, 2, 3, 4]) {
  test(`random writes, snapshots and sweeps agree with plain buffers (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const upTo = (most: number) => Math.floor(random() * (most + 1));
    await using given = await givenContents();
    const file = await Modelled.create(given);
    for (let step = 0; step < 80; step++) {
      const start = upTo(size - 1);
      const most = [500, 4096, 30_000][upTo(2)] as number;
      const end = Math.min(size, start + 1 + upTo(most));
      const dice = random();
      if (dice < 0.5) await file.write(start, bytesOf(end - start, step));
      else if (dice < 0.6) await file.clear(start, end);
      else if (dice < 0.7) await file.clearPages(start, end);
      else if (dice < 0.8) await file.snapshot();
      else if (dice < 0.9 && file.snapshots.size > 0) {
        const all = [...file.snapshots.keys()];
        await file.deleteSnapshot(all[upTo(all.length - 1)] as number);
      } else await given.reclaim.run();
      if (step % 8 === 0) await file.check(random);
    }
    await file.check(random);
    await given.reclaim.run();
    await file.check(random);
    await checkRows(given, new Map());

    for (const epoch of file.snapshots.keys()) await file.deleteSnapshot(epoch);
    await file.change((tx) => given.maps.drop(tx, file.state.map));
    await given.reclaim.run();
    await given.reclaim.run();
    await assertEmpty(given);
    assert.deepEqual(given.reported, []);
  });
}

async function assertEmpty({ store, rows, extents }: Given): Promise<void> {
  await store.run(async (tx) => {
    for (const dictionary of [rows.extents, rows.maps, rows.kept, rows.moved, rows.garbage]) {
      for await (const key of dictionary.keys(tx))
        assert.fail(`${dictionary.name} still has ${JSON.stringify(key)}`);
    }
  });
  for (const { open, number, bytes } of extents.segments()) {
    assert.ok(open && bytes * 64 <= extents.segmentBytes, `segment ${number} is left`);
  }
}

test('a content of more slices than fit into a window is read to its end', async () => {
  await using given = await givenContents();
  const file = await Modelled.create(given);
  await file.writeMany(700, 130, 100);
  await file.snapshot();
  await file.check(seededRandom(1));
  await file.writeMany(600, 150, 60);
  await file.snapshot();
  await file.check(seededRandom(2));
  await file.write(0, bytesOf(size, 3));
  await file.check(seededRandom(3));
});

test('a map that is read is swept when its reader has ended', async () => {
  await using given = await givenContents();
  const file = await Modelled.create(given);
  await file.writeMany(1000, 100, 90);
  const reader = await given.store.run((tx) =>
    given.maps.open(tx, file.state.map, { offset: 0, length: size }),
  );
  const first = await reader.next();
  await file.change((tx) => given.maps.drop(tx, file.state.map));
  await given.reclaim.run();
  const rest = await readAll(reader);
  assert.ok(Buffer.concat([first.value as Buffer, rest]).equals(file.bytes));
  await given.reclaim.run();
  await assertEmpty(given);
});

test('a map that was dropped is not read as zeros', async () => {
  await using given = await givenContents();
  const file = await Modelled.create(given);
  await file.write(0, bytesOf(1000, 1));
  await file.change((tx) => given.maps.drop(tx, file.state.map));
  await given.reclaim.run();
  const open = given.store.run((tx) => given.maps.open(tx, file.state.map, { offset: 0, length: 1000 }), {
    withinMs: 0,
  });
  await assert.rejects(open, /replaced or deleted/);
});

test('when only snapshots are left, what none of them shows is swept', async () => {
  await using given = await givenContents();
  const file = await Modelled.create(given);
  await file.write(0, bytesOf(20_000, 1));
  await file.snapshot();
  await file.write(10_000, bytesOf(50_000, 2));
  await file.change(async (tx) => {
    await given.maps.drop(tx, file.state.map);
    await given.maps.dropNewer(tx, file.state.map, 0);
  });
  await given.reclaim.run();
  assert.ok((await file.read(0, size, 0)).equals(file.snapshots.get(0) as Buffer));
  await checkRows(given, new Map());
  await given.store.run(async (tx) => {
    const names: unknown[] = [];
    for await (const [key, row] of given.rows.extents.entries(tx)) names.push([key[1], row[0]]);
    assert.equal(names.length, 1);
  });
});

test('ranges and differences come from the slices', async () => {
  await using given = await givenContents();
  const file = await Modelled.create(given);
  await file.write(0, bytesOf(1024, 1));
  await file.write(4096, bytesOf(512, 2));
  await file.snapshot();
  await file.write(512, bytesOf(512, 3));
  await file.clear(4096, 4608);
  await file.write(8192, bytesOf(512, 4));
  await file.snapshot();
  const whole = { start: 0, end: size };
  const { map } = file.state;
  await given.store.run(async (tx) => {
    const now = await given.slices.shown(tx, map, whole);
    assert.deepEqual(pageRanges(now.slices, size), [
      { start: 0, end: 1024 },
      { start: 8192, end: 8704 },
    ]);
    const before = await given.slices.shown(tx, map, whole, 0);
    assert.deepEqual(pageRanges(before.slices, size), [
      { start: 0, end: 1024 },
      { start: 4096, end: 4608 },
    ]);
    const gone = await given.slices.gone(tx, map, whole, 0, 1);
    const later = await given.slices.shown(tx, map, whole, 1);
    assert.deepEqual(differences(later.slices, gone.slices, 0, size), [
      { start: 512, end: 1024, kind: 'written' },
      { start: 4096, end: 4608, kind: 'cleared' },
      { start: 8192, end: 8704, kind: 'written' },
    ]);
  });
});
