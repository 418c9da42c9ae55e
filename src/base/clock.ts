// The one clock of a server. Every time a rule is judged by comes from here and is passed along as a
// number of milliseconds since 1970.
//
//   machine's clock goes on     the clock follows it
//   machine's clock set back    the clock runs on by the monotonic clock and loses a tenth of each
//                               interval until the two meet: it never stands still and never turns back
//   start after a crash         goes on from the last value stored (`floor`), however the machine's
//                               clock was set meanwhile
//
// A test moves the clock by `shift`, an offset in memory that is never stored.

export interface Clock {
  /** Milliseconds since 1970, possibly with a fraction; never less than before. */
  now(): number;
}

export interface ClockSources {
  /** The machine's clock, in milliseconds since 1970. */
  readonly wall: () => number;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
}

const machine: ClockSources = { wall: () => Date.now(), monotonic: () => performance.now() };

/** How much of each interval is lost while the clock is ahead of the machine's. */
const slowdown = 0.1;
/** The machine's clock stands for so long between two values: that does not make it behind. */
const tick = 1;

export class SystemClock implements Clock {
  readonly #sources: ClockSources;
  #last: number;
  #lastMonotonic: number;
  #shift = 0;

  constructor(floor = 0, sources: ClockSources = machine) {
    this.#sources = sources;
    this.#last = Math.max(floor, sources.wall());
    this.#lastMonotonic = sources.monotonic();
  }

  now(): number {
    return this.unshifted() + this.#shift;
  }

  /** The clock without a test's offset: what is stored as the floor of the next start. */
  unshifted(): number {
    const monotonic = this.#sources.monotonic();
    const passed = Math.max(0, monotonic - this.#lastMonotonic);
    this.#lastMonotonic = monotonic;
    const wall = this.#sources.wall();
    const slowed = this.#last + passed * (1 - slowdown);
    this.#last = wall > slowed - tick ? Math.max(wall, this.#last) : slowed;
    return this.#last;
  }

  /** The stored time of an earlier run: from here on, no value below it. */
  raiseTo(floor: number): void {
    this.#last = Math.max(this.#last, floor);
  }

  /** Moves the clock for a test; a negative amount takes back an earlier shift. */
  shift(ms: number): void {
    this.#shift += ms;
  }
}

/** A clock that stands until it is told to move. */
export class ManualClock implements Clock {
  #now: number;

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}
