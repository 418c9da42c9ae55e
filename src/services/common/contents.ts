// Which bytes are whose. An owner (a blob, a block, a file) names pieces of extents; each extent has a row
// that counts its references, and each segment a counter of the bytes that live in it.
//
//   name     the first reference to bytes that were received, in the commit that makes them somebody's
//   share    one more: a copy, a block that is used again
//   drop     one less; the last one frees the extent
//
// An extent is called by where it was first written. As bytes never change where they lie, a reader goes
// there first; only if that segment is gone does it ask the row where they were moved. So moving bytes
// changes no owner and disturbs no reader.
//
// Who shares a piece holds a lock on an owner of it, or has that owner checked at commit: else its last
// reference could be dropped at the same moment. The count itself is changed under the row's own lock.

import { assert } from '../../base/assert.js';
import { type Bytes, buffer } from '../../base/bytes.js';
import { ConflictError, type Transaction } from '../../collections/index.js';
import { DamageError, NoSpaceError } from '../../extents/errors.js';
import type { Extents, Slice } from '../../extents/extents.js';
import { type Body, type BodyOptions, bodyOf, receive } from './body.js';
import { ContentReader, type Part, Pins } from './content-reader.js';
import {
  type ContentRows,
  extentKey,
  inlineSegment,
  type Piece,
  placeOf,
  takes,
  withMore,
} from './content-rows.js';
import type { ReferenceChange, Source } from './range-map.js';

export interface ContentsOptions {
  readonly rows: ContentRows;
  readonly extents: Extents;
  /** Drops what nobody needs at once, as somebody is about to be refused for want of space. */
  readonly makeRoom: () => Promise<void>;
}

/** Dropping more than this in one transaction is left to the sweeper. */
const dropAtOnce = 64;

export class Contents {
  readonly #rows: ContentRows;
  readonly #extents: Extents;
  readonly #makeRoom: () => Promise<void>;

  constructor({ rows, extents, makeRoom }: ContentsOptions) {
    this.#rows = rows;
    this.#extents = extents;
    this.#makeRoom = makeRoom;
  }

  /** Stores a body of so many bytes. Dispose it when the fate of the commit that names it is known. */
  async receive(source: AsyncIterable<Bytes>, length: number, options?: BodyOptions): Promise<Body> {
    // A stream can be read once: space is made before the first byte is.
    return this.#withRoom(() => receive(this.#extents, source, length, options));
  }

  /** The same for bytes in memory. */
  async store(bytes: Bytes, options?: BodyOptions): Promise<Body> {
    return this.#withRoom(() => bodyOf(this.#extents, bytes, options));
  }

  /** The first reference to a body; nothing for an empty one. */
  async name(tx: Transaction, body: Body): Promise<Piece | undefined> {
    const { stored } = body;
    switch (stored.kind) {
      case 'empty':
        return undefined;
      case 'bytes': {
        const extent = { segment: inlineSegment, offset: tx.stamp(), length: stored.bytes.length };
        await this.#rows.extents.set(tx, extentKey(extent), [stored.bytes, 0]);
        return { extent, offset: body.prefix, length: body.length };
      }
      case 'extent': {
        const { extent, synced } = stored.written;
        tx.after(synced);
        await this.#rows.extents.set(tx, extentKey(extent), [extent.length, 0]);
        await this.#rows.live.add(tx, extent.segment, takes(extent));
        return { extent, offset: body.prefix, length: body.length };
      }
    }
  }

  /** A body as a slice of a map: short ones lie in the map's own row. */
  async source(tx: Transaction, body: Body): Promise<Source> {
    if (body.stored.kind === 'bytes' && body.prefix === 0) return body.stored;
    const piece = await this.name(tx, body);
    assert(piece, 'a slice is not empty');
    return { kind: 'extent', extent: piece.extent, offset: piece.offset };
  }

  /** One more reference to each. */
  async share(tx: Transaction, pieces: readonly Piece[]): Promise<void> {
    for (const { extent } of pieces) await this.refer(tx, { extent, change: 1 });
  }

  /** One reference less to each. */
  async drop(tx: Transaction, pieces: readonly Piece[]): Promise<void> {
    if (pieces.length > dropAtOnce) {
      const names = pieces.map(({ extent }) => extentKey(extent));
      return this.#rows.garbage.set(tx, tx.stamp(), ['extents', ...names]);
    }
    for (const { extent } of pieces) await this.refer(tx, { extent, change: -1 });
  }

  /** More or fewer references to one extent. The last one frees it. */
  async refer(tx: Transaction, { extent, change }: ReferenceChange): Promise<void> {
    const key = extentKey(extent);
    const row = await this.#rows.extents.get(tx, key, { lock: 'update' });
    assert(row, 'an extent that is named has a row');
    const more = row[1] + change;
    if (more >= 0) return this.#rows.extents.set(tx, key, withMore(row, more));
    assert(more === -1, 'an extent is not dropped more often than it was named');
    await this.#rows.extents.remove(tx, key);
    const place = placeOf(key, row);
    if (!place) return;
    await this.#rows.live.add(tx, place.segment, -takes(place));
    if (place.segment !== extent.segment) await this.#rows.moved.remove(tx, [place.segment, ...key]);
  }
  /**
   * Reads the pieces one after the other, or a range of them. A `ConflictError`, which has the operation run
   * again, where they were dropped after their owner was looked at.
   */
  async open(tx: Transaction, pieces: readonly Piece[], range?: Slice): Promise<ContentReader> {
    const pins = new Pins();
    try {
      const parts: Part[] = [];
      for (const piece of range ? slicePieces(pieces, range) : pieces) {
        parts.push(await this.locate(tx, piece, pins));
      }
      return new ContentReader({ extents: this.#extents, first: { parts, pins } });
    } catch (error) {
      pins[Symbol.dispose]();
      throw error;
    }
  }

  /** Where a piece lies now, pinned. */
  async locate(tx: Transaction, { extent, offset, length }: Piece, pins: Pins): Promise<Part> {
    if (extent.segment !== inlineSegment && pins.pin(this.#extents, extent.segment)) {
      return { kind: 'extent', place: extent, offset, length };
    }
    const key = extentKey(extent);
    for (let missing: number | undefined; ; ) {
      const row = await this.#rows.extents.get(tx, key, { lock: 'none' });
      if (!row)
        throw new ConflictError('the content was replaced or deleted while it was looked up: look again');
      const place = placeOf(key, row);
      if (!place)
        return { kind: 'bytes', bytes: buffer(row[0] as Uint8Array).subarray(offset, offset + length) };
      if (pins.pin(this.#extents, place.segment)) return { kind: 'extent', place, offset, length };
      // Moved since the row was read, and its segment dropped; or else that file is lost.
      if (place.segment === missing)
        throw new DamageError(`segment ${missing} is missing: its file was removed`);
      missing = place.segment;
    }
  }

  async #withRoom<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof NoSpaceError)) throw error;
    }
    await this.#makeRoom();
    return work();
  }
}

/** The part of each piece that lies in the range, of those that do. */
function slicePieces(pieces: readonly Piece[], { offset, length }: Slice): Piece[] {
  const sliced: Piece[] = [];
  let start = 0;
  for (const piece of pieces) {
    const from = Math.max(0, offset - start);
    const to = Math.min(piece.length, offset + length - start);
    if (from < to) sliced.push({ ...piece, offset: piece.offset + from, length: to - from });
    start += piece.length;
  }
  return sliced;
}
