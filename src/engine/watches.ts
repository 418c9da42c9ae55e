// Watches: whether a range that was read is still what it was.
//
// A watch begins before the read of its page and sees every write from then on. Only when the page is there is
// it known how far it has looked, so until then the watch notes the write that is nearest to the page's start.
//
//   reading   whole range watched; the nearest write is noted
//   covered   the part the page has looked at is watched; broken if the nearest write lies in it, or by a
//             later write in it
//   broken    a commit that names the page is a conflict

import { mapKey } from '../base/bytes.js';
import type { CheckedPage, Key, Page, Version } from './engine.js';

export class Watch implements Disposable {
  readonly #watches: Watches;
  readonly #reverse: boolean;
  /** Both included. */
  #first: string;
  #last: string | undefined;
  /** The last name is not in the range itself. */
  #openEnd: boolean;
  #reading = true;
  #nearest: string | undefined;
  #broken = false;
  #brokenBy: string | undefined;

  constructor(watches: Watches, from: Key, to: Key | undefined, reverse: boolean) {
    this.#watches = watches;
    this.#reverse = reverse;
    this.#first = mapKey(from);
    this.#last = to === undefined ? undefined : mapKey(to);
    this.#openEnd = true;
  }

  get broken(): boolean {
    return this.#broken;
  }

  /** The first write that broke it; nothing where something was lost. */
  get brokenBy(): string | undefined {
    return this.#brokenBy;
  }

  /** The page is read. `lastRow`: it stopped there and has looked no further; nothing: it saw all. */
  cover(lastRow: Key | undefined): void {
    this.#reading = false;
    if (lastRow !== undefined) {
      if (this.#reverse) {
        this.#first = mapKey(lastRow);
      } else {
        this.#last = mapKey(lastRow);
        this.#openEnd = false;
      }
    }
    if (this.#nearest !== undefined) this.wrote(this.#nearest);
  }

  wrote(name: string): void {
    if (name < this.#first) return;
    if (this.#last !== undefined && (this.#openEnd ? name >= this.#last : name > this.#last)) return;
    if (!this.#reading) {
      if (!this.#broken) this.#brokenBy = name;
      this.#broken = true;
      return;
    }
    const nearer =
      this.#nearest === undefined || (this.#reverse ? name > this.#nearest : name < this.#nearest);
    if (nearer) this.#nearest = name;
  }

  /** What was seen may have been lost. */
  break(): void {
    this.#broken = true;
  }

  [Symbol.dispose](): void {
    this.#watches.end(this);
  }
}

export class Watches {
  readonly #open = new Set<Watch>();

  begin(from: Key, to: Key | undefined, reverse: boolean): Watch {
    const watch = new Watch(this, from, to, reverse);
    this.#open.add(watch);
    return watch;
  }

  end(watch: Watch): void {
    this.#open.delete(watch);
  }

  wrote(name: string): void {
    for (const watch of this.#open) watch.wrote(name);
  }

  breakAll(): void {
    for (const watch of this.#open) watch.break();
  }
}

/** A page and the watch over it. */
export class LevelPage implements CheckedPage {
  readonly rows: Page['rows'];
  readonly more: boolean;
  readonly seen: Version;
  readonly watch: Watch;

  constructor({ rows, more, seen }: Page, watch: Watch) {
    this.rows = rows;
    this.more = more;
    this.seen = seen;
    this.watch = watch;
  }

  [Symbol.dispose](): void {
    this.watch[Symbol.dispose]();
  }
}
