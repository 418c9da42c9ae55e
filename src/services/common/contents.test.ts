import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc64 } from '../../base/crc64.js';
import { seededRandom } from '../../base/random.js';
import { NoSpaceError } from '../../extents/errors.js';
import type { Extent } from '../../extents/extents.js';
import { BodyLengthError } from './body.js';
import { type Piece, packPiece, placeOf, unpackPiece } from './content-rows.js';
import { bytesOf, checkRows, type Given, givenContents, readAll } from './contents.suite.js';
import { worthMoving } from './reclaim.js';

const KiB = 1024;

async function* inChunks(bytes: Buffer, chunkBytes = 64 * KiB): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

async function put({ contents, store }: Given, bytes: Buffer): Promise<Piece> {
  using body = await contents.receive(inChunks(bytes), bytes.length);
  const piece = await store.run((tx) => contents.name(tx, body));
  assert.ok(piece);
  return piece;
}

function read({ contents, store }: Given, pieces: readonly Piece[], offset?: number, length?: number) {
  const range = offset === undefined || length === undefined ? undefined : { offset, length };
  return store.run((tx) => contents.open(tx, pieces, range)).then(readAll);
}

for (const length of [0, 1, 4096, 4097, 100_000, 700_000]) {
  test(`a body of ${length} bytes is stored with its digests`, async () => {
    await using given = await givenContents();
    const bytes = bytesOf(length, 1);
    using body = await given.contents.receive(inChunks(bytes), length, { md5: true, crc64: true });
    assert.deepEqual(body.digests.md5, createHash('md5').update(bytes).digest());
    assert.equal(body.digests.crc64, crc64(bytes));
    const piece = await given.store.run((tx) => given.contents.name(tx, body));
    assert.equal(piece !== undefined, length > 0);
    const found = await read(given, piece ? [piece] : []);
    assert.ok(found.equals(bytes));
    assert.equal(given.extents.segments().length, length > 4096 ? 1 : 0);
  });

  test(`a body that is not ${length} bytes long as was said is refused`, async () => {
    await using given = await givenContents();
    const { contents, extents, reclaim } = given;
    await assert.rejects(contents.receive(inChunks(bytesOf(length + 1, 1)), length), BodyLengthError);
    if (length > 0)
      await assert.rejects(contents.receive(inChunks(bytesOf(length - 1, 1)), length), BodyLengthError);
    await extents.drop(extents.segments()[0]?.number ?? 0, async () => true);
    await reclaim.run();
    assert.deepEqual(extents.segments(), []);
  });
}

test('a body in memory is stored as one that is sent', async () => {
  await using given = await givenContents();
  for (const length of [10, 50_000]) {
    using body = await given.contents.store(bytesOf(length, 2), { md5: true });
    const piece = await given.store.run((tx) => given.contents.name(tx, body));
    assert.ok((await read(given, piece ? [piece] : [])).equals(bytesOf(length, 2)));
  }
});

test('pieces are read one after the other, and in ranges', async () => {
  await using given = await givenContents();
  const lengths = [100, 300_000, 4096, 20_000, 1];
  const bodies = lengths.map((length, index) => bytesOf(length, index));
  const pieces: Piece[] = [];
  for (const body of bodies) pieces.push(unpackPiece(packPiece(await put(given, body))));
  const all = Buffer.concat(bodies);
  assert.ok((await read(given, pieces)).equals(all));
  const random = seededRandom(3);
  for (let round = 0; round < 30; round++) {
    const offset = Math.floor(random() * all.length);
    const length = Math.floor(random() * (all.length - offset + 1));
    assert.ok((await read(given, pieces, offset, length)).equals(all.subarray(offset, offset + length)));
  }
});

test('short parts are sent together, and what lay in one row comes at once', async () => {
  await using given = await givenContents();
  const pieces: Piece[] = [];
  for (let index = 0; index < 50; index++) pieces.push(await put(given, bytesOf(3000, index)));
  const reader = await given.store.run((tx) => given.contents.open(tx, pieces));
  assert.equal(reader.takeWhole(), undefined);
  const chunks: number[] = [];
  for await (const chunk of reader) chunks.push(chunk.length);
  assert.deepEqual(chunks, [66_000, 66_000, 18_000]);
  const small = await given.store.run((tx) => given.contents.open(tx, pieces.slice(0, 1)));
  assert.ok(small.takeWhole()?.equals(bytesOf(3000, 0)));
});

test('an extent is freed with its last reference, and its segment with its last extent', async () => {
  await using given = await givenContents();
  const { contents, store, extents, reclaim } = given;
  const piece = await put(given, bytesOf(300_000, 1));
  await store.run((tx) => contents.share(tx, [piece, piece]));
  for (let references = 3; references > 0; references--) {
    assert.ok((await read(given, [piece])).equals(bytesOf(300_000, 1)));
    await checkRows(given, new Map([[`${piece.extent.segment} ${piece.extent.offset}`, references]]));
    await store.run((tx) => contents.drop(tx, [piece]));
    await reclaim.run();
  }
  await checkRows(given, new Map());
  assert.deepEqual(extents.segments(), []);
  await assert.rejects(
    store.run((tx) => contents.open(tx, [piece]), { withinMs: 0 }),
    /replaced or deleted/,
  );
  assert.deepEqual(given.reported, []);
});

test('many pieces are dropped by the sweeper', async () => {
  await using given = await givenContents();
  const { contents, store, reclaim, rows } = given;
  const pieces: Piece[] = [];
  for (let index = 0; index < 450; index++) pieces.push(await put(given, bytesOf(20, index)));
  await store.run((tx) => contents.drop(tx, pieces));
  await reclaim.run();
  await checkRows(given, new Map());
  await store.run(async (tx) => {
    for await (const note of rows.garbage.entries(tx)) assert.fail(`is left: ${JSON.stringify(note)}`);
  });
  assert.deepEqual(given.reported, []);
});

test('what lives in a segment that is mostly dead is moved, under readers and with its name', async () => {
  await using given = await givenContents();
  const { contents, store, extents, reclaim } = given;
  const bodies = Array.from({ length: 12 }, (_, index) => bytesOf(50_000, index));
  const pieces: Piece[] = [];
  for (const body of bodies) pieces.push(await put(given, body));
  const kept = pieces.filter((_, index) => index % 6 === 0);
  const keptBytes = Buffer.concat(bodies.filter((_, index) => index % 6 === 0));
  const reader = await store.run((tx) => contents.open(tx, kept));
  const first = await reader.next();
  const before = extents.segments().map(({ number }) => number);

  for (const [index, piece] of pieces.entries()) {
    if (index % 6 !== 0) await store.run((tx) => contents.drop(tx, [piece]));
  }
  await reclaim.run();
  const rest = await readAll(reader);
  assert.ok(
    Buffer.concat([first.value as Buffer, rest]).equals(keptBytes),
    'a reader goes on where it began',
  );
  await reclaim.run();
  const after = extents.segments().map(({ number }) => number);
  assert.equal(before.filter((number) => after.includes(number)).length < before.length, true);
  assert.ok((await read(given, kept)).equals(keptBytes));
  const names = kept.map(({ extent }) => [`${extent.segment} ${extent.offset}`, 1] as const);
  await checkRows(given, new Map(names));

  for (const piece of kept) await store.run((tx) => contents.drop(tx, [piece]));
  await checkRows(given, new Map());
  assert.deepEqual(given.reported, []);
});

test('what was moved can be moved again', async () => {
  await using given = await givenContents();
  const { contents, store, extents, reclaim } = given;
  const names = (pieces: readonly Piece[]) =>
    new Map(pieces.map(({ extent }) => [`${extent.segment} ${extent.offset}`, 1] as const));
  let pieces: Piece[] = [];
  for (let index = 0; index < 60; index++) pieces.push(await put(given, bytesOf(20_000, index)));
  const [followed] = pieces as [Piece];
  const places = new Set<number>();
  while (pieces.length > 1) {
    const kept = pieces.filter((_, index) => index % 4 === 0);
    for (const piece of pieces)
      if (!kept.includes(piece)) await store.run((tx) => contents.drop(tx, [piece]));
    pieces = kept;
    await reclaim.run();
    places.add((await placeNow(given, followed)).segment);
    await checkRows(given, names(pieces));
    assert.ok((await read(given, [followed])).equals(bytesOf(20_000, 0)));
    // The segment it was moved to fills up, and is mostly dead after the next round.
    for (let index = 0; index < 14; index++) {
      using _ = await extents.move(await placeNow(given, followed));
    }
  }
  assert.ok(places.size > 1, 'it was moved more than once');
  await store.run((tx) => contents.drop(tx, pieces));
  await reclaim.run();
  await checkRows(given, new Map());
});

async function placeNow({ store, rows }: Given, { extent }: Piece): Promise<Extent> {
  const key: [number, number] = [extent.segment, extent.offset];
  const row = await store.run((tx) => rows.extents.get(tx, key));
  const place = row && placeOf(key, row);
  assert.ok(place);
  return place;
}

test('room is made before anybody is refused', async () => {
  await using given = await givenContents(4 * 1024 * KiB);
  const { contents, store } = given;
  const bytes = Buffer.alloc(3 * 1024 * KiB, 1);
  for (let round = 0; round < 6; round++) {
    const piece = await put(given, bytes);
    await store.run((tx) => contents.drop(tx, [piece]));
  }
  await put(given, bytes);
  await assert.rejects(put(given, bytes), NoSpaceError);
});

test('segments that are mostly dead are worth moving, and small ones when there are many', () => {
  const lived = (number: number, bytes: number, live: number, open = false) => ({
    number,
    bytes,
    live,
    open,
    path: '',
  });
  const numbers = (segments: ReturnType<typeof lived>[]) =>
    worthMoving(segments, 1000).map(({ number }) => number);
  assert.deepEqual(
    numbers([lived(1, 900, 500), lived(2, 900, 400), lived(3, 900, 100), lived(4, 900, 0)]),
    [3, 2],
  );
  assert.deepEqual(numbers([lived(1, 900, 100, true)]), []);
  const small = Array.from({ length: 16 }, (_, index) => lived(index, 100, 100 + index));
  assert.deepEqual(numbers(small), []);
  assert.equal(numbers([...small, lived(99, 100, 100)]).length, 17);
  assert.ok(!numbers([...small, lived(99, 100, 100), lived(100, 900, 800)]).includes(100));
});

test('readers see whole contents while others replace them and space is reclaimed (seed 5)', async () => {
  await using given = await givenContents();
  const { contents, store, reclaim } = given;
  const owners = await store.state.dictionary<number, { salt: number; piece: Piece }>('owners');
  const length = 30_000;
  let left = 400;
  let read = 0;

  const writer = async (seed: number) => {
    const random = seededRandom(seed);
    while (left-- > 0) {
      const salt = Math.floor(random() * 1000);
      using body = await contents.store(bytesOf(length, salt));
      await store.run(async (tx) => {
        const owner = Math.floor(random() * 10);
        const old = await owners.get(tx, owner, { lock: 'update' });
        const piece = await contents.name(tx, body);
        if (piece) await owners.set(tx, owner, { salt, piece });
        if (old) await contents.drop(tx, [old.piece]);
      });
    }
  };
  const reader = async (seed: number) => {
    const random = seededRandom(seed);
    while (left > 0) {
      await nextTurn();
      const opened = await store.run(async (tx) => {
        const owner = await owners.get(tx, Math.floor(random() * 10), { lock: 'none' });
        return owner && { salt: owner.salt, reader: await contents.open(tx, [owner.piece]) };
      });
      if (!opened) continue;
      if (random() < 0.5) await nextTurn();
      assert.ok((await readAll(opened.reader)).equals(bytesOf(length, opened.salt)));
      read++;
    }
  };
  const reclaimer = async () => {
    while (left > 0) {
      await nextTurn();
      await reclaim.makeRoom();
    }
  };
  await Promise.all([writer(5), writer(6), writer(7), reader(8), reader(9), reader(10), reclaimer()]);
  assert.ok(read > 50, `${read} were read`);
  assert.deepEqual(given.reported, []);
});
