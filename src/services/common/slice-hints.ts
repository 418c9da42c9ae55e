// Where slices of a map were found lately: a slice that begins before a range and reaches over all of it is then found
// by its key, 2 microseconds, and not by a search, which goes through LevelDB's thread and takes 100. Only a hint: the
// row that is found under the key has the word.

import { Recent } from '../../base/recent.js';
import { lowerBound } from '../../base/sorted.js';

const mostMaps = 512;
const mostStarts = 256;

export class SliceHints {
  /** In order. */
  readonly #starts = new Recent<number, number[]>(mostMaps);

  /** The last one that is known to begin before `position`. */
  before(map: number, position: number): number | undefined {
    const starts = this.#starts.get(map);
    return starts?.[lowerBound(starts, position) - 1];
  }

  found(map: number, start: number): void {
    const starts = this.#starts.get(map);
    if (starts === undefined || starts.length >= mostStarts) {
      this.#starts.set(map, [start]);
      return;
    }
    const at = lowerBound(starts, start);
    if (starts[at] !== start) starts.splice(at, 0, start);
  }
}
