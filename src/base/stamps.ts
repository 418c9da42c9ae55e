// Stamps: rising numbers that ETags, Last-Modified and Timestamps are made from.
//
// A stamp is in microseconds since 1970. Each one drawn is above the clock's millisecond, above the
// last one drawn and above every stamp given as `seen`; so the ETags of one name rise within a tick,
// across delete and create, and after an older backup was restored. A number holds them exactly until
// the year 2255.

import type { Clock } from './clock.js';

export type Stamp = number;

export class Stamps {
  readonly #clock: Clock;
  #last: Stamp;

  constructor(clock: Clock, last: Stamp = 0) {
    this.#clock = clock;
    this.#last = last;
  }

  /** The newest stamp drawn; stored with every group so that a restart goes on above it. */
  get last(): Stamp {
    return this.#last;
  }

  draw(seen: Stamp = 0): Stamp {
    const tick = Math.floor(this.#clock.now() * 1000);
    this.#last = Math.max(tick, this.#last + 1, seen + 1);
    return this.#last;
  }

  /** A stamp of an earlier run: from here on, none at or below it. */
  raiseTo(last: Stamp): void {
    this.#last = Math.max(this.#last, last);
  }
}

export function stampToMs(stamp: Stamp): number {
  return Math.floor(stamp / 1000);
}
