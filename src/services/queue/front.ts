// The front of a queue in use: which messages come next, read ahead, so that a get costs the same however
// many there are and never walks over those that are gone.
//
//   taken                      promised to a transaction that has not ended
//   waiting                    read ahead, in order; some `window` of them
//   up to `covered`            every row there is is taken or waiting
//   behind `covered`           not looked at yet
//
// What stands here is a hint: the transaction that takes a message reads its row under its lock, and finds out
// whether it is still there. A row that is committed before `covered` is put among those waiting. After a
// restart, or when commits were lost, there is nothing here and the front is read again.
//
// That there is nothing is an answer too, and must be as true as a message. Who finds nothing has looked itself, after
// it began; waits for those who have something and may still give it back; and is told once what they did is on disk.
// Who has something already does not wait, so no two ever wait for each other.

import type { Transaction } from '../../collections/index.js';
import type { MessageKey } from './model.js';

/** How many are read ahead. */
export const window = 256;

/** Reads on: keys in order from behind this one up to now, `window` of them at most. */
export type ReadAhead = (after: MessageKey | undefined) => Promise<MessageKey[]>;

interface Taken {
  readonly key: MessageKey;
  readonly by: Transaction;
}

/** A message that moves has another name. */
function nameOf(key: MessageKey): string {
  return `${key[1]} ${key[2]}`;
}

function before(a: MessageKey, b: MessageKey): boolean {
  return a[1] < b[1] || (a[1] === b[1] && a[2] < b[2]);
}

export class Front {
  #waiting: MessageKey[] = [];
  #covered: MessageKey | undefined;
  readonly #taken = new Map<string, Taken>();
  /** Who waits for one of those to be kept or given back. */
  #watching: (() => void)[] = [];
  /** For each read under way what was committed meanwhile: it may have missed that. */
  readonly #reads = new Set<MessageKey[]>();
  /** The newest read under way; it never fails. */
  #reading: Promise<void> | undefined;
  /** How often it was forgotten. */
  #age = 0;
  #seen = 0;

  /** The next message that is visible, promised to this transaction; nothing if there is none. */
  async take(tx: Transaction, read: ReadAhead): Promise<MessageKey | undefined> {
    if (!this.#nextIsDue(tx.now) && this.#reading) await this.#reading; // it may find enough for all
    let looked: { readonly age: number; readonly stamp: number } | undefined;
    while (!this.#nextIsDue(tx.now)) {
      if (looked?.age !== this.#age) {
        if (!(await this.#readOn(read))) looked = { age: this.#age, stamp: tx.stamp() };
      } else if (this.#mayComeBack(tx, looked.stamp)) {
        await new Promise<void>((resolve) => this.#watching.push(resolve));
      } else {
        tx.see(this.seen);
        return undefined;
      }
    }
    return this.#promise(tx);
  }

  #promise(tx: Transaction): MessageKey {
    const key = this.#waiting.shift() as MessageKey;
    const taken = { key, by: tx };
    this.#taken.set(nameOf(key), taken);
    tx.onEnd({
      ordered: (version) => {
        this.#seen = Math.max(this.#seen, version);
        this.#letGo(taken);
      },
      aborted: () => {
        this.#letGo(taken);
        this.#insert(key);
      },
      lost: () => this.forget(),
    });
    return key;
  }

  /** It was taken and is not there any more. */
  gone(key: MessageKey): void {
    const taken = this.#taken.get(nameOf(key));
    if (taken !== undefined) this.#letGo(taken);
  }

  /** It was taken and then left alone: it comes back when the transaction ends, however that ends. */
  leave(tx: Transaction, key: MessageKey): void {
    tx.onEnd({ ordered: () => this.#insert(key) });
  }

  /** A row that is committed now. */
  arrived(key: MessageKey): void {
    for (const meanwhile of this.#reads) meanwhile.push(key);
    this.#place(key);
  }

  /** No row lies before this one. Nothing: read from the beginning. */
  get start(): MessageKey | undefined {
    let first = this.#waiting[0] ?? this.#covered;
    for (const { key } of this.#taken.values()) if (first === undefined || before(key, first)) first = key;
    return this.#covered === undefined ? undefined : first;
  }

  /** The newest commit that somebody who took from here has made or seen: who tells what comes next tells of that. */
  get seen(): number {
    return this.#seen;
  }

  forget(): void {
    this.#waiting = [];
    this.#covered = undefined;
    this.#seen = 0;
    this.#age++;
  }

  #nextIsDue(now: number): boolean {
    const next = this.#waiting[0];
    return next !== undefined && next[1] <= now;
  }

  /** Whether somebody else has one that was put before and may give it back. Who has some itself waits for nobody. */
  #mayComeBack(tx: Transaction, stamp: number): boolean {
    let isSome = false;
    for (const { key, by } of this.#taken.values()) {
      if (by === tx) return false;
      if (key[1] <= tx.now && key[2] < stamp) isSome = true;
    }
    return isSome;
  }

  /** Whether there may be more than was known. */
  async #readOn(read: ReadAhead): Promise<boolean> {
    const age = this.#age;
    const meanwhile: MessageKey[] = [];
    this.#reads.add(meanwhile);
    let ended = () => {};
    const reading = new Promise<void>((resolve) => {
      ended = resolve;
    });
    this.#reading = reading;
    try {
      const keys = await read(this.#covered);
      if (age !== this.#age) return true; // what it missed may have come back
      for (const key of keys) {
        if (this.#covered === undefined || before(this.#covered, key)) this.#covered = key;
        this.#insert(key);
      }
      for (const key of meanwhile) this.#place(key);
      return keys.length > 0;
    } finally {
      this.#reads.delete(meanwhile); // not before the read counts: what is committed between the two would be missed
      if (this.#reading === reading) this.#reading = undefined;
      ended();
    }
  }

  /** What lies behind `covered` is found when that is read. */
  #place(key: MessageKey): void {
    if (this.#covered !== undefined && !before(this.#covered, key)) this.#insert(key);
  }

  #insert(key: MessageKey): void {
    if (this.#taken.has(nameOf(key))) return;
    let at = this.#waiting.length;
    while (at > 0 && before(key, this.#waiting[at - 1] as MessageKey)) at--;
    const neighbour = this.#waiting[at - 1];
    if (neighbour === undefined || before(neighbour, key)) this.#waiting.splice(at, 0, key);
  }

  #letGo(taken: Taken): void {
    const name = nameOf(taken.key);
    if (this.#taken.get(name) === taken) this.#taken.delete(name); // it may have come back there, and be another's
    const watching = this.#watching;
    this.#watching = [];
    for (const wake of watching) wake();
  }
}
