// What was deleted by a single write and is still stored: the contents of a container, a queue, a table or a
// share that is gone. The note to sweep it is part of the commit that deletes it; the sweep takes a little at
// a time and can stop anywhere. Nobody sees any of it: ids are never used again.

import type { Dictionary, Transaction } from '../../collections/index.js';
import type { Store } from './store.js';

/** Removes some of what lies under this id. Whether there may be more. */
export type Sweep = (id: number) => Promise<boolean>;

type Notes = Dictionary<readonly [kind: string, id: number], true>;

const intervalMs = 1_000;

export class Garbage {
  readonly #notes: Notes;
  readonly #store: Store;
  readonly #sweeps = new Map<string, Sweep>();
  readonly #chores: (() => Promise<void>)[] = [];
  readonly #report: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  private constructor(store: Store, notes: Notes, report: (error: unknown) => void) {
    this.#store = store;
    this.#notes = notes;
    this.#report = report;
    this.#timer = setInterval(() => void this.sweep(), intervalMs).unref();
  }

  static async open(store: Store, report: (error: unknown) => void): Promise<Garbage> {
    const notes = await store.state.dictionary<readonly [string, number], true>('$system/garbage', {
      system: true,
    });
    return new Garbage(store, notes, report);
  }

  /** Who can sweep ids of this kind. */
  register(kind: string, sweep: Sweep): void {
    this.#sweeps.set(kind, sweep);
  }

  /** Done in every round: what is to go when its time has come. */
  also(chore: () => Promise<void>): void {
    this.#chores.push(chore);
  }

  /** What lies under this id is nobody's once the transaction has committed. */
  async discard(tx: Transaction, kind: string, id: number): Promise<void> {
    await this.#notes.set(tx, [kind, id], true);
  }

  /** One round. Rounds do not overlap. */
  sweep(): Promise<void> {
    this.#running ??= this.#round()
      .catch(this.#report)
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async close(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  async #round(): Promise<void> {
    const notes = await this.#store.run(async (tx) => {
      const found: (readonly [string, number])[] = [];
      for await (const key of this.#notes.keys(tx, { newest: true, pageSize: 100 })) {
        found.push(key);
        if (found.length === 100) break;
      }
      return found;
    });
    for (const [kind, id] of notes) {
      const sweep = this.#sweeps.get(kind);
      if (sweep === undefined) continue; // of a service that is not served now
      let more = true;
      while (more && !this.#stopped) more = await sweep(id);
      if (this.#stopped) return;
      await this.#store.run((tx) => this.#notes.remove(tx, [kind, id]));
    }
    for (const chore of this.#chores) await chore();
  }
}
