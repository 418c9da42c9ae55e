// What is there now, in no order, where things come and go all the time. A Set would do but for the garbage collector:
// V8 gives a Set with many comings and goings a new table now and then, and an old one that is dead, but not collected
// yet, keeps the next one alive with all that was in it. So everything that ever was in the Set would grow old.

/** What can be in one bag: where it is. */
export interface Bagged {
  /** Nobody else's to set. */
  place: number;
}

export class Bag<T extends Bagged> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** A second time it does nothing. */
  add(item: T): void {
    if (this.#items[item.place] === item) return;
    item.place = this.#items.push(item) - 1;
  }

  /** Of one that is in it; a second time it does nothing. */
  delete(item: T): void {
    if (this.#items[item.place] !== item) return;
    const last = this.#items.pop() as T;
    if (last === item) return;
    this.#items[item.place] = last;
    last.place = item.place;
  }

  /** As it is now: what comes and goes meanwhile changes nothing. */
  [Symbol.iterator](): IterableIterator<T> {
    return [...this.#items][Symbol.iterator]();
  }
}
