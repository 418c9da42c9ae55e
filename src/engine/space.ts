// Room on the disk: new data is refused while too little is free, so that deletes can still be written.

import type { Disk } from './disk.js';

/** How old an answer may be, and how much may be written meanwhile. */
const maxAgeMs = 250;
const maxWrittenBytes = 8 * 1024 * 1024;

export class Space {
  readonly #disk: Disk;
  readonly #floorBytes: number;
  #freeBytes = Number.POSITIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #written = 0;
  #asking = false;

  constructor(disk: Disk, floorBytes: number) {
    this.#disk = disk;
    this.#floorBytes = floorBytes;
  }

  get freeBytes(): number {
    return this.#freeBytes;
  }

  get low(): boolean {
    return this.#freeBytes < this.#floorBytes;
  }

  /** Something was written, or refused: looks again if the last answer is old. */
  note(bytes: number): void {
    this.#written += bytes;
    if (this.#asking) return;
    if (this.#written < maxWrittenBytes && performance.now() - this.#askedAt < maxAgeMs) return;
    void this.ask();
  }

  async ask(): Promise<void> {
    this.#asking = true;
    this.#written = 0;
    this.#askedAt = performance.now();
    try {
      this.#freeBytes = await this.#disk.freeBytes();
    } catch {
      // A disk that cannot tell is not taken for full: its writes will say what is wrong with it.
      this.#freeBytes = Number.POSITIVE_INFINITY;
    }
    this.#asking = false;
  }

  /** Has the reserve made when there is room for it. */
  keepReserve(): Promise<void> {
    return this.#disk.reserve.keep(this.#floorBytes);
  }
}
