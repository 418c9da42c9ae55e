// The bytes of blobs and files: append-only segments in one folder, or in memory. docs/formats/extents.md has
// the format, docs/decisions/extents.md the reasons.
//
// This layer knows files only. Which extents are live is a dictionary above, which `drop` is handed a look
// into; a segment that is pinned, by a writer, a reader or a backup, is not dropped.
//
//   lane     takes                  has an open segment of its own because
//   small    256 KiB or less        its sync waits for no large body
//   large    more                   many write into it side by side
//   moved    what compaction saved  that has lived long, and probably will

import { dirname, join } from 'node:path';
import { assert } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import { hasCode, realFiles } from '../base/files.js';
import { Appender } from './appender.js';
import { ExtentsClosedError, SegmentGoneError } from './errors.js';
import { type Extent, groupBytes, headerBytes, segmentName, segmentNumber, storedBytes } from './layout.js';
import { memoryFiles, type SegmentFiles } from './memory.js';
import { Pieces } from './pieces.js';
import { ExtentReader, Readers } from './reader.js';
import { Handles, Segment } from './segment.js';
import { Space } from './space.js';
import { ExtentWriter, type Tap, type Written } from './writer.js';

export { type Extent, storedBytes } from './layout.js';
export type { ExtentReader } from './reader.js';
export type { ExtentWriter, Tap, Written } from './writer.js';

export type Place =
  | { readonly location: string }
  /** Nothing is kept, and no more than so much is held. */
  | { readonly memory: true; readonly limitBytes: number };

export interface ExtentsOptions {
  readonly clock: Clock;
  readonly files?: SegmentFiles;
  /** A segment takes no more once it has reached this. */
  readonly segmentBytes?: number;
  /** New data is refused while less than this is free. */
  readonly floorBytes?: number;
  /** Files open for reading beyond those being read. */
  readonly openFiles?: number;
}

export interface Slice {
  readonly offset: number;
  readonly length: number;
}

export interface SegmentInfo {
  readonly number: number;
  readonly path: string;
  /** All of it, dead bytes and checksums included. */
  readonly bytes: number;
  /** Still appended to. */
  readonly open: boolean;
}

type Lane = 'small' | 'large' | 'moved';

const MiB = 1024 * 1024;
const smallBytes = groupBytes;
/** 32 MiB wait for the disk at most. */
const piecesOnTheWay = 512;
const inMemory = 'memory';

export async function openExtents(place: Place, options: ExtentsOptions): Promise<Extents> {
  if ('memory' in place) {
    const files = memoryFiles(place.limitBytes);
    return new Extents(inMemory, [], files, { segmentBytes: MiB, floorBytes: 0, ...options });
  }
  const files = options.files ?? realFiles;
  await files.makeFolder(place.location).catch((error) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  // The folder's own name must be on disk too, also where an earlier start got no further than making it.
  await files.syncFolder(dirname(place.location));
  const found: Found[] = [];
  for (const name of await files.list(place.location)) {
    const number = segmentNumber(name);
    if (number === undefined) continue;
    const status = await files.status(join(place.location, name));
    found.push({ number, bytes: status?.size ?? 0 });
  }
  return new Extents(place.location, found, files, options);
}

interface Found {
  readonly number: number;
  readonly bytes: number;
}

export class Extents implements AsyncDisposable {
  readonly #folder: string;
  readonly #files: SegmentFiles;
  readonly #clock: Clock;
  /** A segment takes no more once it has reached this. */
  readonly segmentBytes: number;
  readonly #handles: Handles;
  readonly #space: Space;
  /** What stays free. Moving ends in more room than there was, so it may use some of that. */
  readonly #floors: Readonly<Record<Lane, number>>;
  readonly #pieces = new Pieces(piecesOnTheWay);
  readonly #readers = new Readers();
  readonly #segments = new Map<number, Segment>();
  /** Those being appended to, and those that were and have not ended. */
  readonly #appenders = new Map<number, Appender>();
  readonly #lanes = new Map<Lane, Appender>();
  #newest = 0;
  #holds = 0;
  #closed = false;

  constructor(folder: string, found: readonly Found[], files: SegmentFiles, options: ExtentsOptions) {
    this.#folder = folder;
    this.#files = files;
    this.#clock = options.clock;
    this.segmentBytes = options.segmentBytes ?? 256 * MiB;
    const floor = options.floorBytes ?? 256 * MiB;
    const moving = folder === inMemory ? -2 * this.segmentBytes : floor / 2;
    this.#floors = { small: floor, large: floor, moved: moving };
    this.#handles = new Handles(files, options.openFiles ?? 128);
    this.#space = new Space({
      clock: options.clock,
      measure: () => files.freeBytes(folder),
      what: folder === inMemory ? 'the memory for extents' : `the disk of ${folder}`,
    });
    for (const { number, bytes } of found) this.#add(number, bytes);
  }

  /** Room for at most `length` bytes, or `NoSpaceError`. Dispose the writer when the fate of its commit is known. */
  async write(length: number, tap?: Tap): Promise<ExtentWriter> {
    return this.#write(length <= smallBytes ? 'small' : 'large', length, tap);
  }

  /** Verified bytes of an extent, or of a slice of it, piece by piece; `SegmentGoneError`: look it up again. */
  read(extent: Extent, slice: Slice = { offset: 0, length: extent.length }): ExtentReader {
    const end = slice.offset + slice.length;
    assert(slice.offset >= 0 && slice.length >= 0 && end <= extent.length, 'a slice lies in its extent');
    return new ExtentReader(this.#find(extent.segment), extent, slice.offset, end, this.#readers);
  }

  /** The same in one buffer. For what is small: one read from the disk where it lies in one group. */
  async readBytes(extent: Extent, slice?: Slice): Promise<Buffer> {
    using reader = this.read(extent, slice);
    const first = await reader.next();
    if (first.done || reader.atEnd) return first.value ?? Buffer.alloc(0);
    const chunks = [first.value];
    for await (const chunk of reader) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** A verified copy beside others that were moved. Dispose it when the fate of the commit that names it is known. */
  async move(extent: Extent): Promise<Written & Disposable> {
    using reader = this.read(extent);
    const writer = await this.#write('moved', extent.length);
    try {
      for await (const chunk of reader) await writer.append(chunk);
      const written = await writer.finish();
      return { ...written, [Symbol.dispose]: () => writer[Symbol.dispose]() };
    } catch (error) {
      writer[Symbol.dispose]();
      throw error;
    }
  }

  /** Keeps a segment from being dropped until disposed. Nothing where it is gone: look the extent up again. */
  pin(segment: number): Disposable | undefined {
    return this.#segments.get(segment)?.pin();
  }

  /** Keeps all segments, also those begun later, from being dropped until disposed: for a backup. */
  pinAll(): Disposable {
    let held = true;
    this.#holds++;
    return {
      [Symbol.dispose]: () => {
        if (held) this.#holds--;
        held = false;
      },
    };
  }

  segments(): SegmentInfo[] {
    return [...this.#segments.values()].map(({ number, path, end }) => ({
      number,
      path,
      bytes: end,
      open: this.#appenders.has(number),
    }));
  }

  /**
   * Removes a segment that nothing lives in: `unused` finds that out, and is asked when no writer can be in it
   * any more. False where something does, or where somebody has it pinned: try again later.
   */
  async drop(number: number, unused: () => Promise<boolean>): Promise<boolean> {
    const segment = this.#segments.get(number);
    if (!segment) return true;
    if (this.#kept(segment)) return false;
    const appender = this.#appenders.get(number);
    appender?.seal();
    await appender?.done;
    if (this.#kept(segment) || !(await unused()) || this.#kept(segment)) return false;
    this.#segments.delete(number);
    await segment.close();
    try {
      await this.#files.remove(segment.path);
    } catch (error) {
      // One that could not be created is not there either.
      if (hasCode(error, 'ENOENT')) return true;
      this.#segments.set(number, segment);
      throw error;
    }
    return true;
  }

  /** Ends when all files are closed. Writers that have not finished are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#appenders.values()].map((appender) => appender.close()));
    await Promise.all([...this.#segments.values()].map((segment) => segment.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #write(lane: Lane, length: number, tap?: Tap): Promise<ExtentWriter> {
    const bytes = storedBytes(length);
    await this.#space.admit(bytes, this.#floors[lane]);
    if (this.#closed) throw new ExtentsClosedError('the store was closed');
    const appender = this.#appender(lane);
    const ended = () => {
      appender.leave();
      this.#space.ended(bytes);
    };
    const offset = appender.enter(bytes);
    if (appender.segment.end >= this.segmentBytes) appender.seal();
    return new ExtentWriter({
      appender,
      pieces: this.#pieces,
      offset,
      length,
      tap,
      ended,
    });
  }

  #appender(lane: Lane): Appender {
    const current = this.#lanes.get(lane);
    if (current && !current.ended) return current;
    const number = Math.max(this.#newest + 1, Math.floor(this.#clock.now()));
    const appender = new Appender(this.#add(number, headerBytes), this.#files, this.#folder);
    this.#lanes.set(lane, appender);
    this.#appenders.set(number, appender);
    void appender.done.then(() => this.#appenders.delete(number));
    return appender;
  }

  #add(number: number, bytes: number): Segment {
    const segment = new Segment(number, join(this.#folder, segmentName(number)), bytes, this.#handles);
    this.#segments.set(number, segment);
    this.#newest = Math.max(this.#newest, number);
    return segment;
  }

  #find(number: number): Segment {
    const segment = this.#segments.get(number);
    if (segment) return segment;
    throw new SegmentGoneError(
      `segment ${number} is not in ${this.#folder}: its extents were moved or freed`,
    );
  }

  #kept(segment: Segment): boolean {
    return this.#holds > 0 || segment.pinned || !segment.idle;
  }
}
