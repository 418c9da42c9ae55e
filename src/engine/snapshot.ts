// A snapshot as the contract has it: one moment, usable until it is closed or what it shows is lost.

import type { Key, Page, RangeOptions, Snapshot, Version, Versioned } from './engine.js';
import { ClosedError } from './errors.js';
import type { Moment } from './handle.js';

export class LevelSnapshot implements Snapshot {
  readonly seen: Version;
  readonly #moment: Moment;
  /** Throws if what this shows can no longer be relied on. */
  readonly #check: (snapshot: { seen: Version; moment: Moment }) => void;
  #open = true;

  constructor(moment: Moment, seen: Version, check: (snapshot: { seen: Version; moment: Moment }) => void) {
    this.#moment = moment;
    this.seen = seen;
    this.#check = check;
  }

  get(key: Key): Versioned {
    this.#assertUsable();
    return this.#moment.get(key);
  }

  getMany(keys: readonly Key[]): readonly Versioned[] {
    this.#assertUsable();
    return keys.map((key) => this.#moment.get(key));
  }

  async range(from: Key, to: Key | undefined, options?: RangeOptions): Promise<Page> {
    this.#assertUsable();
    return this.#moment.page({ from, to, options });
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    this.#moment.close();
  }

  #assertUsable(): void {
    if (!this.#open) throw new ClosedError('The snapshot was closed.');
    this.#check({ seen: this.seen, moment: this.#moment });
  }
}
