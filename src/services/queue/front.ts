// The front of a queue in use: which messages come next, read ahead, so that a get costs the same however
// many there are and never walks over those that are gone.
//
//   taken                      promised to a transaction that has not ended
//   waiting                    read ahead, in order; at most `window` of them
//   up to `covered`            every row there is is taken or waiting
//   behind `covered`           not looked at yet
//
// What stands here is a hint: the transaction that takes a message reads its row under its lock, and finds out
// whether it is still there. A row that is committed before `covered` is put among those waiting. After a
// restart, or when commits were lost, there is nothing here and the front is read again.

import type { Transaction } from '../../collections/index.js';
import type { MessageKey } from './model.js';

/** How many are read ahead. */
export const window = 256;
/** Queues that are in use at a time; beyond it the one least lately used is forgotten. */
const mostFronts = 4_096;

/** Reads on: keys in order from behind this one up to now, `window` of them at most. */
export type ReadAhead = (after: MessageKey | undefined) => Promise<MessageKey[]>;

function before(a: MessageKey, b: MessageKey): boolean {
  return a[1] < b[1] || (a[1] === b[1] && a[2] < b[2]);
}

export class Front {
  #waiting: MessageKey[] = [];
  #covered: MessageKey | undefined;
  /** By their seq. */
  readonly #taken = new Map<number, MessageKey>();
  /** Committed while the front was being read: the read may have missed them. */
  #meanwhile: MessageKey[] | undefined;
  #reading: Promise<void> | undefined;

  /** The next message that is visible, promised to this transaction; nothing if there is none. */
  async take(tx: Transaction, read: ReadAhead): Promise<MessageKey | undefined> {
    if (!this.#nextIsDue(tx.now)) await this.#fill(read);
    if (!this.#nextIsDue(tx.now)) return undefined;
    const key = this.#waiting.shift() as MessageKey;
    this.#taken.set(key[2], key);
    tx.onEnd({
      ordered: () => this.#taken.delete(key[2]),
      aborted: () => {
        this.#taken.delete(key[2]);
        this.#insert(key);
      },
      lost: () => this.forget(),
    });
    return key;
  }

  /** It was taken and then left alone: it comes back when the transaction ends, however that ends. */
  leave(tx: Transaction, key: MessageKey): void {
    tx.onEnd({ ordered: () => this.#insert(key) });
  }

  /** A row that is committed now. */
  arrived(key: MessageKey): void {
    if (this.#covered !== undefined && before(key, this.#covered)) this.#insert(key);
    else this.#meanwhile?.push(key);
  }

  /** No row lies before this one. Nothing: read from the beginning. */
  get start(): MessageKey | undefined {
    let first = this.#waiting[0] ?? this.#covered;
    for (const key of this.#taken.values()) if (first === undefined || before(key, first)) first = key;
    return this.#covered === undefined ? undefined : first;
  }

  forget(): void {
    this.#waiting = [];
    this.#covered = undefined;
  }

  #nextIsDue(now: number): boolean {
    const next = this.#waiting[0];
    return next !== undefined && next[1] <= now;
  }

  /** Several that find nothing share one read. */
  #fill(read: ReadAhead): Promise<void> {
    this.#reading ??= this.#read(read).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(read: ReadAhead): Promise<void> {
    this.#meanwhile = [];
    const from = this.#covered;
    const keys = await read(from);
    const meanwhile = this.#meanwhile;
    this.#meanwhile = undefined;
    if (from !== this.#covered) return; // forgotten in between
    for (const key of keys) {
      if (this.#covered === undefined || before(this.#covered, key)) this.#covered = key;
      this.#insert(key);
    }
    for (const key of meanwhile) this.arrived(key);
  }

  #insert(key: MessageKey): void {
    if (this.#taken.get(key[2])?.[1] === key[1]) return;
    let at = this.#waiting.length;
    while (at > 0 && before(key, this.#waiting[at - 1] as MessageKey)) at--;
    const neighbour = this.#waiting[at - 1];
    if (neighbour === undefined || before(neighbour, key)) this.#waiting.splice(at, 0, key);
  }
}

/** The fronts of the queues in use, by the id of their messages. */
export class Fronts {
  readonly #fronts = new Map<number, Front>();
  /** Who waits for a message to come. */
  readonly #waiters = new Map<number, Set<() => void>>();

  of(messages: number): Front {
    const front = this.#fronts.get(messages) ?? new Front();
    this.#fronts.delete(messages);
    this.#fronts.set(messages, front); // the newest is last
    if (this.#fronts.size > mostFronts) {
      for (const oldest of this.#fronts.keys()) {
        this.#fronts.delete(oldest);
        break;
      }
    }
    return front;
  }

  /** No row of theirs lies before this one; nothing: nobody knows. */
  startOf(messages: number): MessageKey | undefined {
    return this.#fronts.get(messages)?.start;
  }

  /** A row that the transaction writes; told once it is ordered. */
  arrives(tx: Transaction, key: MessageKey): void {
    tx.onEnd({
      ordered: () => this.#fronts.get(key[0])?.arrived(key),
      durable: () => this.#wake(key[0]),
      lost: () => this.#fronts.get(key[0])?.forget(),
    });
  }

  /** Resolves when a message is put or changed from now on, or after `ms`. */
  arrival(messages: number): { within(ms: number): Promise<void>; end(): void } {
    const waiters = this.#waiters.get(messages) ?? new Set();
    this.#waiters.set(messages, waiters);
    let arrived = false;
    let wake: () => void = () => {};
    const waiter = () => {
      arrived = true;
      wake();
    };
    waiters.add(waiter);
    return {
      within: async (ms) => {
        if (arrived) return;
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          timer = setTimeout(resolve, ms);
        });
        clearTimeout(timer);
      },
      end: () => {
        waiters.delete(waiter);
        if (waiters.size === 0 && this.#waiters.get(messages) === waiters) this.#waiters.delete(messages);
      },
    };
  }

  #wake(messages: number): void {
    for (const waiter of [...(this.#waiters.get(messages) ?? [])]) waiter();
  }

  forget(messages: number): void {
    this.#fronts.delete(messages);
  }
}
