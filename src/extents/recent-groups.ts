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

  /** The bytes of an extent from `start` to `end`, which lie in one group. */
  read(segment: Segment, extent: Extent, start: number, end: number, readPart: ReadPart): Promise<Buffer> {
    if (end - start > smallBytes) return readPart(segment, groupPart(extent, start, end));
    const group = groupOf(extent, start);
    const whole = groupPart(extent, group.start, group.end);
    const name = `${segment.number} ${whole.position}`;
    const kept = this.#whole.get(name);
    if (kept === undefined && this.#touched.get(name) === undefined) {
      this.#touched.set(name, true);
      return readPart(segment, groupPart(extent, start, end));
    }
    const reading = kept ?? this.#keep(name, readPart(segment, whole));
    return reading.then((bytes) => Buffer.from(bytes.subarray(start - group.start, end - group.start)));
  }

  #keep(name: string, reading: Promise<Buffer>): Promise<Buffer> {
    this.#whole.set(name, reading);
    reading.catch(() => this.#whole.delete(name));
    return reading;
  }
}
