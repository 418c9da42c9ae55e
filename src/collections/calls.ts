// The calls of one transaction, one after the other in the order in which they were made. Mostly nothing has to be
// waited for, and then a call is over when it returns.

import type { Awaitable } from '../base/awaitable.js';

/** A transaction: it must be active when the turn of a call has come, and tells what a call fails with. */
export interface Caller {
  assertActive(): void;
  refusal(error: unknown): unknown;
}

export class Calls {
  readonly #caller: Caller;
  /** The last one, while it is under way. */
  #tail: Promise<unknown> | undefined;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  run<T>(operation: () => Awaitable<T>): Promise<T> {
    let result: Awaitable<T>;
    if (this.#tail !== undefined) {
      const enter = () => this.#enter(operation);
      result = this.#tail.then(enter, enter);
    } else {
      try {
        result = this.#enter(operation);
      } catch (error) {
        return Promise.reject(this.#caller.refusal(error));
      }
      if (!(result instanceof Promise)) return Promise.resolve(result);
    }
    const tail = result.then(
      (value) => {
        if (this.#tail === tail) this.#tail = undefined;
        return value;
      },
      (error) => {
        if (this.#tail === tail) this.#tail = undefined;
        throw this.#caller.refusal(error);
      },
    );
    this.#tail = tail;
    return tail;
  }

  #enter<T>(operation: () => Awaitable<T>): Awaitable<T> {
    this.#caller.assertActive();
    return operation();
  }

  /** Ends when none is under way. */
  async idle(): Promise<void> {
    while (this.#tail !== undefined) await this.#tail.catch(() => {});
  }
}
