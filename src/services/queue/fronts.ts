// The fronts of the queues in use, and who waits for a message to come.

import type { Transaction } from '../../collections/index.js';
import { Front } from './front.js';
import type { MessageKey } from './model.js';

/** Queues that are in use at a time; beyond it the one least lately used is forgotten. */
const mostFronts = 4_096;

/** By the id of their messages. */
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
