// The power is cut while contents are put, copied, deleted and moved: the bytes lie on a simulated disk that loses,
// reorders and tears what was not synced, the rows in LevelDB as a process that is killed leaves it. Afterwards every
// owner that was told of is whole, any other is there in whole or not at all, the rows agree, and work goes on.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Files, OpenFile } from '#src/base/files.js';
import { SimulatedDisk } from '#src/base/files.simulated.js';
import { seededRandom } from '#src/base/random.js';
import { packPiece, unpackPiece } from '#src/services/common/content-rows.js';
import { bytesOf, checkRows, readAll } from '#src/services/common/contents.suite.js';
import { type OwnedContents, type Owner, openOwnedContents } from './contents-store.js';

const seeds = process.env.LAZULI_FULL ? Array.from({ length: 30 }, (_, index) => index + 1) : [1];
const rounds = process.env.LAZULI_FULL ? 40 : 16;
/** Cuts come before every so many calls to the disk: an odd number, so that none of its calls is spared. */
const cutEvery = 7;
const ownerCount = 16;
const lengths = [100, 5000, 17_000, 40_000, 90_000];
const extentsOn = (files: Files) => ({ extentsAt: '/extents', files, segmentBytes: 150_000 });

/** Longer than a commit: one that does not wait for its bytes is on disk before they are. */
const syncMs = 20;

/** A disk that takes its time to sync, as real ones do. The cut comes before it has. */
function slow(disk: SimulatedDisk): Files {
  const slowFile = (file: OpenFile): OpenFile => {
    const sync = file.sync.bind(file);
    file.sync = async () => {
      await delay(syncMs);
      await sync();
    };
    return file;
  };
  return new Proxy<Files>(disk, {
    get(_, name) {
      if (name === 'open')
        return async (...args: Parameters<Files['open']>) => slowFile(await disk.open(...args));
      const member: unknown = Reflect.get(disk, name);
      return typeof member === 'function' ? member.bind(disk) : member;
    },
  });
}

const made = new Map<string, Buffer>();

/** Bytes are made once: they are compared with many times. */
function contentOf(length: number, salt: number): Buffer {
  const name = `${length} ${salt}`;
  const known = made.get(name);
  if (known) return known;
  const bytes = bytesOf(length, salt);
  made.set(name, bytes);
  return bytes;
}

/** `salt length`, or nothing. While something is under way either may be there. */
type Content = string | undefined;

interface Image {
  readonly disk: SimulatedDisk;
  readonly folder: string;
  readonly expected: readonly (readonly [owner: number, possible: readonly Content[]])[];
}

class Writer {
  readonly #opened: OwnedContents;
  readonly expected = new Map<number, readonly Content[]>();

  constructor(opened: OwnedContents) {
    this.#opened = opened;
  }

  async put(owner: number, salt: number, length: number): Promise<void> {
    const { store, contents, owners } = this.#opened;
    await this.#tell(owner, `${salt} ${length}`, async () => {
      using body = await contents.store(contentOf(length, salt), { syncLater: salt % 2 === 0 });
      await store.run(async (tx) => {
        const old = await owners.get(tx, owner, { lock: 'update' });
        const piece = await contents.name(tx, body);
        if (piece) await owners.set(tx, owner, { salt, length, piece: packPiece(piece) });
        if (old) await contents.drop(tx, [unpackPiece(old.piece)]);
      });
    });
  }

  async remove(owner: number): Promise<void> {
    const { store, contents, owners } = this.#opened;
    await this.#tell(owner, undefined, () =>
      store.run(async (tx) => {
        const old = await owners.remove(tx, owner);
        if (old) await contents.drop(tx, [unpackPiece(old.piece)]);
      }),
    );
  }

  async copy(owner: number, from: number): Promise<void> {
    const { store, contents, owners } = this.#opened;
    const [source] = this.expected.get(from) ?? [];
    if (source === undefined) return;
    await this.#tell(owner, source, () =>
      store.run(async (tx) => {
        const found = await owners.get(tx, from);
        const old = await owners.get(tx, owner, { lock: 'update' });
        assert.ok(found);
        await contents.share(tx, [unpackPiece(found.piece)]);
        await owners.set(tx, owner, found);
        if (old) await contents.drop(tx, [unpackPiece(old.piece)]);
      }),
    );
  }

  async #tell(owner: number, content: Content, work: () => Promise<void>): Promise<void> {
    const [before] = this.expected.get(owner) ?? [undefined];
    this.expected.set(owner, [before, content]);
    await work();
    this.expected.set(owner, [content]);
  }
}

for (const seed of seeds) {
  test(`contents survive a power cut at any call to the disk (seed ${seed})`, {
    timeout: 300_000,
  }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'lazuli-cut-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const disk = new SimulatedDisk();
    const reported: unknown[] = [];
    await using opened = await openOwnedContents(
      join(folder, 'live'),
      (error) => reported.push(error),
      extentsOn(slow(disk)),
    );
    const writer = new Writer(opened);
    const images: Image[] = [];
    let [calls, cuts] = [0, 0];
    disk.before = () => {
      if (calls++ % cutEvery !== 0) return;
      const image = join(folder, `image-${cuts}`);
      cpSync(join(folder, 'live'), image, { recursive: true });
      const fate = cuts % 4 < 2 ? cuts % 2 : seed * 1000 + cuts;
      images.push({ disk: disk.crash(fate), folder: image, expected: [...writer.expected] });
      cuts++;
    };
    const random = seededRandom(seed);
    for (let round = 0; round < rounds; round++) {
      await doSome(writer, random, round);
      if (random() < 0.4)
        await Promise.all([opened.reclaim.makeRoom(), doSome(writer, random, round + 1000)]);
      for (const image of images.splice(0)) await check(image);
    }
    disk.before = undefined;
    t.diagnostic(`${calls} calls to the disk, ${cuts} power cuts`);
    assert.ok(cuts >= rounds, `the power was cut ${cuts} times`);
    assert.deepEqual(reported, []);
  });
}

/** A few changes at once, each of another owner; copies come from owners that nobody changes meanwhile. */
async function doSome(writer: Writer, random: () => number, round: number): Promise<void> {
  const upTo = (most: number) => Math.floor(random() * most);
  const first = upTo(ownerCount / 2);
  const changed = [first, first + 1, first + 2];
  await Promise.all(
    changed.map((owner) => {
      const dice = random();
      if (dice < 0.6) return writer.put(owner, round * 100 + owner, lengths[upTo(lengths.length)] as number);
      return dice < 0.8 ? writer.remove(owner) : writer.copy(owner, ownerCount - 1 - upTo(4));
    }),
  );
  const source = ownerCount - 1 - upTo(4);
  await writer.put(source, round * 100 + source, lengths[upTo(lengths.length)] as number);
}

async function check({ disk, folder, expected }: Image): Promise<void> {
  const reported: unknown[] = [];
  await using opened = await openOwnedContents(folder, (error) => reported.push(error), extentsOn(disk));
  const found = await opened.store.run(async (tx) => {
    const all = new Map<number, Owner>();
    for await (const [key, owner] of opened.owners.entries(tx)) all.set(key, owner);
    return all;
  });
  for (const [owner, possible] of expected) {
    const there = found.get(owner);
    const shown = there && `${there.salt} ${there.length}`;
    assert.ok(possible.includes(shown), `owner ${owner}: ${shown}, not ${possible.join(' or ')}`);
  }
  const references = new Map<string, number>();
  for (const { piece } of found.values()) {
    const name = `${piece[0]} ${piece[1]}`;
    references.set(name, (references.get(name) ?? 0) + 1);
  }
  await checkWhole(opened, found, references);
  await opened.reclaim.makeRoom(); // goes on where it was cut off
  await checkWhole(opened, found, references);
  await new Writer(opened).put(1000, 1, 50_000);
  assert.deepEqual(reported, []);
  rmSync(folder, { recursive: true, force: true });
}

async function checkWhole(
  opened: OwnedContents,
  found: ReadonlyMap<number, Owner>,
  references: ReadonlyMap<string, number>,
): Promise<void> {
  for (const { salt, length, piece } of found.values()) {
    const reader = await opened.store.run((tx) => opened.contents.open(tx, [unpackPiece(piece)]));
    assert.ok(
      (await readAll(reader)).equals(contentOf(length, salt)),
      `the content ${salt} ${length} is whole`,
    );
  }
  await checkRows(opened, references);
}
