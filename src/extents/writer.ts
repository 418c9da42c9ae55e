// One extent being written. Bytes are copied as they come into pieces of 64 KiB; a full piece gets its
// checksums and goes to the open segment. One writer holds the piece being filled and at most a megabyte on
// its way to the disk, so memory follows the number of writers and not what they write.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '../base/assert.js';
import type { Bytes } from '../base/bytes.js';
import type { Appender } from './appender.js';
import { blockBytes, checksumBytes, type Extent, groupBytes, putChecksums, tableBytes } from './layout.js';
import { type Pieces, pieceBytes } from './pieces.js';

export interface Written {
  readonly extent: Extent;
  /** On disk: only now may a commit that names the extent be durable. Rejects if it never will be. */
  readonly synced: Promise<void>;
}

/** Is shown all bytes, in order, to make digests of them. They do not change until it has ended. */
export type Tap = (bytes: Bytes) => Promise<void> | undefined;

export interface WriterOptions {
  readonly appender: Appender;
  readonly pieces: Pieces;
  /** What was taken for it in the segment. */
  readonly offset: number;
  /** The most that may come. */
  readonly length: number;
  readonly tap: Tap | undefined;
  /** Called once, when nothing more will be written. */
  readonly ended: () => void;
}

const piecesOnTheWay = 16;
/** What is copied and summed in one turn of the event loop. */
const turnBytes = groupBytes;

/** Pins its segment until it is disposed: not before the commit that names the extent is durable or has failed. */
export class ExtentWriter implements Disposable {
  readonly #options: WriterOptions;
  readonly #pin: Disposable;
  readonly #table = Buffer.allocUnsafe(tableBytes);
  #tableLength = 0;
  #length = 0;
  /** Where the piece being filled goes. */
  #position: number;
  #piece: Buffer | undefined;
  #filled = 0;
  #onTheWay = 0;
  #arrival: (() => void) | undefined;
  #failure: Error | undefined;
  #ended = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#position = options.offset;
    this.#pin = options.appender.segment.pin();
  }

  /** Copies the chunk. Nothing, or a promise to wait for before the next. */
  append(chunk: Bytes): Promise<void> | undefined {
    assert(!this.#ended, 'nothing is appended to an extent that has ended');
    assert(this.#length + chunk.length <= this.#options.length, 'an extent is not longer than was said');
    if (this.#failure) throw this.#failure;
    if (chunk.length > turnBytes) return this.#appendInTurns(chunk);
    this.#copy(chunk);
    return this.#crowded ? this.#uncrowded() : undefined;
  }

  /** Ends when all was written and tapped; on disk it is when `synced` resolves. */
  async finish(): Promise<Written> {
    assert(!this.#ended, 'an extent ends once');
    const { appender, offset } = this.#options;
    if (this.#filled + this.#tableLength > 0) this.#send(true);
    while (this.#onTheWay > 0) await this.#nextArrival();
    if (this.#failure) throw this.#failure;
    const synced = appender.sync();
    synced.catch(() => {});
    this.#end();
    return { extent: { segment: appender.segment.number, offset, length: this.#length }, synced };
  }

  [Symbol.dispose](): void {
    this.#end();
    this.#pin[Symbol.dispose]();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.ended();
  }

  async #appendInTurns(chunk: Bytes): Promise<void> {
    for (let start = 0; start < chunk.length; start += turnBytes) {
      this.#copy(chunk.subarray(start, start + turnBytes));
      await nextTurn();
      if (this.#ended) return;
      if (this.#crowded) await this.#uncrowded();
      if (this.#failure) throw this.#failure;
    }
  }

  #copy(chunk: Bytes): void {
    for (let start = 0; start < chunk.length; ) {
      this.#piece ??= this.#options.pieces.take(Math.min(pieceBytes, this.#options.length - this.#length));
      const part = chunk.subarray(start, start + pieceBytes - this.#filled);
      this.#piece.set(part, this.#filled);
      this.#filled += part.length;
      this.#length += part.length;
      start += part.length;
      if (this.#filled === pieceBytes) this.#send();
    }
  }

  /** The piece being filled goes on its way, and the group's checksums with it if it ends the group. */
  #send(last = this.#length === this.#options.length || this.#length % groupBytes === 0): void {
    const { appender, pieces } = this.#options;
    const piece = this.#piece ?? pieces.take(0);
    const data = piece.subarray(0, this.#filled);
    putChecksums(data, appender.segment.seed, this.#position, this.#table, this.#tableLength);
    this.#tableLength += checksumBytes * Math.ceil(data.length / blockBytes);
    let bytes = data.length;
    if (last) {
      bytes += this.#table.copy(piece, bytes, 0, this.#tableLength);
      this.#tableLength = 0;
    }
    void this.#carry(piece, data, bytes, !last);
    this.#position += bytes;
    this.#piece = undefined;
    this.#filled = 0;
  }

  async #carry(piece: Buffer, data: Buffer, bytes: number, more: boolean): Promise<void> {
    const { appender, pieces, tap } = this.#options;
    pieces.sent();
    this.#onTheWay++;
    try {
      const writing = appender.write(this.#position, piece.subarray(0, bytes), more);
      const tapping = data.length > 0 ? tap?.(data) : undefined;
      // Both end before the piece is used again, also when one of them fails.
      if (tapping) await Promise.allSettled([writing, tapping]);
      await writing;
      await tapping;
    } catch (error) {
      this.#failure ??= error as Error;
    }
    pieces.arrived(piece);
    this.#onTheWay--;
    this.#arrival?.();
  }

  get #crowded(): boolean {
    if (this.#onTheWay >= piecesOnTheWay) return true;
    return this.#onTheWay > 0 && this.#options.pieces.crowded;
  }

  async #uncrowded(): Promise<void> {
    while (this.#crowded) await this.#nextArrival();
    if (this.#failure) throw this.#failure;
  }

  #nextArrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#arrival = resolve;
    });
  }
}
