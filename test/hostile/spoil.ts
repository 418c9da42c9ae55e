// Taking what is right and making it wrong, at random and repeatably.

import { seededRandom } from '#src/base/random.js';

export class Spoiler {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }

  chance(share: number): boolean {
    return this.random() < share;
  }

  number(below: number): number {
    return Math.floor(this.random() * below);
  }

  /** A few changes: bytes flipped, stretches cut, doubled, moved, replaced by something from the list. */
  spoil(text: string, insertions: readonly string[]): string {
    let spoilt = text;
    for (let changes = 1 + this.number(3); changes > 0; changes--) spoilt = this.#once(spoilt, insertions);
    return spoilt;
  }

  #once(text: string, insertions: readonly string[]): string {
    const start = this.number(text.length + 1);
    const end = Math.min(text.length, start + this.number(1 + Math.min(40, text.length)));
    const [before, middle, after] = [text.slice(0, start), text.slice(start, end), text.slice(end)];
    switch (this.number(6)) {
      case 0:
        return before + after;
      case 1:
        return before + middle + middle + after;
      case 2:
        return before + this.pick(insertions) + after;
      case 3:
        return before + this.pick(insertions) + middle + after;
      case 4:
        return before + String.fromCharCode(this.number(256)) + text.slice(start + 1);
      default:
        return before;
    }
  }
}
