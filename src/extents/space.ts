// Whether there is room for new data: free space on the disk, or what is left of the memory that may be
// used, less what has been promised to writers and not yet been written.

import type { Clock } from '../base/clock.js';
import { NoSpaceError } from './errors.js';

/** The free space is measured again after this time, and after this much was written. */
const freshMs = 1000;
const freshBytes = 64 * 1024 * 1024;

export interface SpaceOptions {
  readonly clock: Clock;
  readonly measure: () => Promise<number>;
  /** What is full, for the message. */
  readonly what: string;
}

export class Space {
  readonly #options: SpaceOptions;
  #free = 0;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #measuring: Promise<void> | undefined;
  /** To writers under way, and written by those that ended since the last measurement. */
  #promised = 0;
  #written = 0;

  constructor(options: SpaceOptions) {
    this.#options = options;
  }

  /** Promises room for so many bytes, until `ended`, if `floorBytes` stay free; else a `NoSpaceError`. */
  async admit(bytes: number, floorBytes: number): Promise<void> {
    const age = this.#options.clock.now() - this.#measuredAt;
    if (age > freshMs || this.#written > freshBytes) await this.#measure();
    // Space that came back is seen before anybody is refused.
    if (!this.#fits(bytes + floorBytes)) await this.#measure();
    if (!this.#fits(bytes + floorBytes)) throw this.#refusal(bytes, floorBytes);
    this.#promised += bytes;
  }

  /** The writer that was admitted with so many bytes has ended. */
  ended(bytes: number): void {
    this.#promised -= bytes;
    this.#written += bytes;
  }

  #fits(bytes: number): boolean {
    return this.#free - this.#promised - this.#written >= bytes;
  }

  #measure(): Promise<void> {
    this.#measuring ??= this.#measureOnce().finally(() => {
      this.#measuring = undefined;
    });
    return this.#measuring;
  }

  async #measureOnce(): Promise<void> {
    const before = this.#written;
    this.#free = await this.#options.measure();
    this.#written -= before;
    this.#measuredAt = this.#options.clock.now();
  }

  #refusal(bytes: number, floorBytes: number): NoSpaceError {
    const { what } = this.#options;
    const kept = floorBytes > 0 ? `; ${floorBytes} bytes are kept free` : '';
    return new NoSpaceError(`${what} is full: ${bytes} bytes more do not fit into ${this.#free}${kept}`);
  }
}
