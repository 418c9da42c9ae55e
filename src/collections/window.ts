// The front of a concurrent queue, in memory: the items read ahead, and the places that are out.
//
//   out                 taken by a transaction that has not ended
//   ready               can be taken, in order
//   up to `covered`     every item there is is ready or out
//   behind `covered`    not looked at yet
//
// It follows load, not data. An item that commits behind `covered` is found when the window is filled again;
// one that commits before it is put among the ready ones. When the queue is cleared, or commits were lost, all
// that was read ahead is forgotten and read again; a read that was under way then counts for nothing.

import type { Awaitable } from '../base/awaitable.js';
import type { Version } from '../engine/engine.js';

export interface Item {
  readonly place: number;
  readonly row: Uint8Array;
  readonly version: Version;
  /** The commit that brought it if that may not be durable yet, else 0. */
  readonly seen: Version;
}

/** There is no item; that depends on this commit, which took the last one away, if that may not be durable yet. */
export interface Nothing {
  readonly place: undefined;
  readonly seen: Version;
}

/** Reads the next items behind a place, in order. */
export type ReadOn = (after: number) => Promise<{
  readonly items: readonly Item[];
  readonly seen: Version;
}>;

export class Window {
  readonly #readOn: ReadOn;
  #ready: Item[] = [];
  #covered = 0;
  /** Each with the epoch in which it was taken. */
  readonly #out = new Map<number, { readonly item: Item; readonly epoch: number }>();
  /** Nothing is found by it, or there may be something now. */
  #filling: Promise<Nothing | undefined> | undefined;
  /** Items that were committed while the window was being filled: the read may have missed them. */
  #arrivedMeanwhile: Item[] = [];
  /** Places that were emptied while the window was being filled: the read may still have them. */
  readonly #goneMeanwhile = new Set<number>();
  /** How often all was forgotten. */
  #epoch = 0;
  readonly #listeners = new Set<() => void>();
  /** How often there was an item, perhaps, that was not there before. */
  arrivals = 0;
  /** The newest commit that took an item away. */
  #seen: Version = 0;

  constructor(readOn: ReadOn) {
    this.#readOn = readOn;
  }

  /** How many are out. */
  get out(): number {
    return this.#out.size;
  }

  /** The first item that nobody has, now out. */
  take(): Awaitable<Item | Nothing> {
    const item = this.#takeReady();
    if (item !== undefined) return item;
    if (this.#filling === undefined) return this.#takeRead();
    // That read began before this call did: what it does not find may have come since.
    const readAgain = () => this.#takeReady() ?? this.#takeRead();
    return this.#filling.then(readAgain, readAgain);
  }

  async #takeRead(): Promise<Item | Nothing> {
    this.#filling ??= this.#fill(this.#epoch);
    const nothing = await this.#filling;
    return this.#takeReady() ?? nothing ?? this.take(); // others were faster: there may be more behind
  }

  #takeReady(): Item | undefined {
    const item = this.#ready.shift();
    if (item !== undefined) this.#out.set(item.place, { item, epoch: this.#epoch });
    return item;
  }

  /** An item was committed. */
  arrived(item: Item): void {
    if (item.place <= this.#covered) this.#insert(item);
    else if (this.#filling !== undefined) this.#arrivedMeanwhile.push(item);
    this.#tell();
  }

  /** An item that was out can be taken again: the transaction that had it was aborted. */
  returned(item: Item): void {
    const out = this.#out.get(item.place);
    if (out?.item !== item) return;
    this.#out.delete(item.place);
    if (out.epoch !== this.#epoch) {
      this.forget(); // it may be lost, and what was read since has left it out
      return;
    }
    if (item.place <= this.#covered) this.#insert(item);
    this.#tell();
  }

  /** An item that was out was removed by this commit. */
  gone(item: Item, version: Version): void {
    this.#out.delete(item.place);
    if (this.#filling !== undefined) this.#goneMeanwhile.add(item.place);
    this.#seen = version;
  }

  /** Called when `arrivals` rises. The result ends it. */
  onItem(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  forget(): void {
    this.#epoch++;
    this.#ready = [];
    this.#covered = 0;
    this.#endFilling();
    this.#seen = 0;
    this.#tell();
  }

  #endFilling(): void {
    this.#filling = undefined;
    this.#arrivedMeanwhile = [];
    this.#goneMeanwhile.clear();
  }

  #tell(): void {
    this.arrivals++;
    for (const listener of [...this.#listeners]) listener();
  }

  #insert(item: Item): void {
    if (this.#out.has(item.place)) return;
    let at = this.#ready.length;
    while (at > 0 && (this.#ready[at - 1] as Item).place > item.place) at--;
    if (this.#ready[at - 1]?.place !== item.place) this.#ready.splice(at, 0, item);
  }

  /** Several that find it empty share one read. */
  async #fill(epoch: number): Promise<Nothing | undefined> {
    try {
      const { items, seen } = await this.#readOn(this.#covered);
      if (epoch !== this.#epoch) return undefined;
      const arrived = this.#arrivedMeanwhile;
      for (const item of items) {
        if (item.place > this.#covered) this.#covered = item.place;
        if (!this.#goneMeanwhile.has(item.place)) this.#insert(item);
      }
      for (const item of arrived) if (item.place <= this.#covered) this.#insert(item);
      this.#seen = Math.max(this.#seen, seen);
      return items.length > 0 ? undefined : { place: undefined, seen: this.#seen };
    } finally {
      if (epoch === this.#epoch) this.#endFilling();
    }
  }
}
