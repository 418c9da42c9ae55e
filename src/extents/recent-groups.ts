// Groups of which small pieces are read one after the other, kept whole for a while: the first piece of a group is read
// by itself, with the second one the whole group is, and from then on no disk is asked. What is in a segment never
// changes, so neither does this.

import { Recent } from '../base/recent.js';
import { type Extent, type GroupPart, groupOf, groupPart } from './layout.js';
import type { Segment } from './segment.js';

/** What is longer is read as it is. */
const smallBytes = 32 * 1024;
/** Twice as many at most: 8 MiB. */
const fewestGroups = 16;
const touchedGroups = 1024;

export type ReadPart = (segment: Segment, part: GroupPart) => Promise<Buffer>;

export class RecentGroups {
  /** Of which a piece was read lately. */
  readonly #touched = new Recent<string, true>(touchedGroups);
  readonly #whole = new Recent<string, Promise<Buffer>>(fewestGroups);

  /** The bytes of an extent from `start` on, up to `end` or the end of the group. */
  read(segment: Segment, extent: Extent, start: number, end: number, readPart: ReadPart): Promise<Buffer> {
    const part = groupPart(extent, start, end);
    if (part.to - part.from > smallBytes) return readPart(segment, part);
    const group = groupOf(extent, start);
    const name = `${segment.number} ${extent.offset + group.start}`;
    const kept = this.#whole.get(name);
    if (kept === undefined && this.#touched.get(name) === undefined) {
      this.#touched.set(name, true);
      return readPart(segment, part);
    }
    const whole = kept ?? this.#keep(name, readPart(segment, groupPart(extent, group.start, group.end)));
    const from = start - group.start;
    return whole.then((bytes) => Buffer.from(bytes.subarray(from, from + part.to - part.from)));
  }

  #keep(name: string, reading: Promise<Buffer>): Promise<Buffer> {
    this.#whole.set(name, reading);
    reading.catch(() => this.#whole.delete(name));
    return reading;
  }
}
