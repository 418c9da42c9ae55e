// Reads a slice of an extent, group by group, and verifies every block before a byte of it is handed out.
// While one group is being sent the next is read. Memory is two groups for each reader, one when many read.

import type { Bytes } from '../base/bytes.js';
import { DamageError } from './errors.js';
import { type Extent, findDamage, type GroupPart, groupOf } from './layout.js';
import { RecentGroups } from './recent-groups.js';
import type { Segment } from './segment.js';

/** Groups read ahead by all readers together: 32 MiB. */
const mostAhead = 128;

/** What all readers share. */
export class Readers {
  /** Groups that are being read ahead. */
  ahead = 0;
  readonly groups = new RecentGroups();
}

/** Where the checksums are no farther away than this, reading what lies between is cheaper than a call. */
const bridgedBytes = 48 * 1024;

/** Pins its segment until it has ended, was ended early, or was disposed. */
export class ExtentReader implements AsyncIterableIterator<Buffer>, Disposable {
  readonly #segment: Segment;
  readonly #extent: Extent;
  readonly #end: number;
  readonly #shared: Readers;
  readonly #pin: Disposable;
  #next: number;
  #reading: Promise<Buffer> | undefined;
  #ended = false;

  constructor(segment: Segment, extent: Extent, start: number, end: number, shared: Readers) {
    this.#segment = segment;
    this.#extent = extent;
    this.#next = start;
    this.#end = end;
    this.#shared = shared;
    this.#pin = segment.pin();
  }

  /** The next bytes, verified: 256 KiB at most. Called again only when the last one has ended. */
  async next(): Promise<IteratorResult<Buffer, undefined>> {
    if (this.#ended || this.atEnd) return this.return();
    try {
      const reading = this.#takeReading() ?? this.#read();
      const value = await reading;
      this.#readAhead();
      return { done: false, value };
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Whether all has been handed out. */
  get atEnd(): boolean {
    return this.#next >= this.#end && !this.#reading;
  }

  async return(): Promise<IteratorResult<Buffer, undefined>> {
    this[Symbol.dispose]();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.dispose](): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#takeReading();
    this.#pin[Symbol.dispose]();
  }

  #read(): Promise<Buffer> {
    const start = this.#next;
    this.#next = Math.min(this.#end, groupOf(this.#extent, start).end);
    return this.#shared.groups.read(this.#segment, this.#extent, start, this.#next, readPart);
  }

  #readAhead(): void {
    if (this.#ended || this.#next >= this.#end || this.#shared.ahead >= mostAhead) return;
    this.#shared.ahead++;
    this.#reading = this.#read();
    this.#reading.catch(() => {});
  }

  #takeReading(): Promise<Buffer> | undefined {
    const reading = this.#reading;
    this.#reading = undefined;
    if (reading) this.#shared.ahead--;
    return reading;
  }
}

/** The bytes of a part of a group, verified. */
async function readPart(segment: Segment, part: GroupPart): Promise<Buffer> {
  const gap = part.tablePosition - (part.position + part.bytes);
  const bridged = gap <= bridgedBytes;
  const all = Buffer.allocUnsafeSlow(part.bytes + (bridged ? gap : 0) + part.tableBytes);
  const data = all.subarray(0, part.bytes);
  const table = all.subarray(all.length - part.tableBytes);
  if (bridged) await segment.read(all, part.position);
  else await readBoth(segment, data, part.position, table, part.tablePosition);
  const damage = findDamage(data, segment.seed, part.position, table);
  if (damage !== undefined) {
    throw new DamageError(
      `${segment.path} is damaged at ${damage}: the block there does not match its checksum`,
    );
  }
  return data.subarray(part.from, part.to);
}

async function readBoth(
  segment: Segment,
  data: Bytes,
  at: number,
  table: Bytes,
  tableAt: number,
): Promise<void> {
  await Promise.all([segment.read(data, at), segment.read(table, tableAt)]);
}
