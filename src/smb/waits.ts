// The requests of one connection that wait: for a lock, a change in a directory, another client's cache. A CANCEL names
// one by its id; a session that ends takes all of its own along.

import type { Call, CancellableWait } from './call.js';
import type { Session } from './session.js';
import { Refused } from './status.js';
import { flags, type Header } from './wire/header.js';

/** A request that was answered with PENDING, or waits in the middle of a chain. */
interface Waiting {
  readonly asyncId: bigint;
  readonly messageId: bigint;
  readonly session: Session | undefined;
  cancel(): void;
}

export class Waits {
  readonly #waiting = new Set<Waiting>();
  readonly #most: number;
  #nextAsyncId = 1n;

  constructor(most: number) {
    this.#most = most;
  }

  newAsyncId(): bigint {
    return this.#nextAsyncId++;
  }

  /** Waits until it is done or cancelled. `asyncIdOf`: the id that the client was told, or is told now. */
  async add<T>(call: Call, wait: CancellableWait<T>, asyncIdOf: () => bigint): Promise<T> {
    if (this.#waiting.size >= this.#most) {
      wait.cancel();
      wait.result.catch(() => {});
      throw new Refused('INSUFFICIENT_RESOURCES');
    }
    const asyncId = asyncIdOf();
    const { messageId } = call.header;
    const waiting: Waiting = { asyncId, messageId, session: call.session, cancel: () => wait.cancel() };
    this.#waiting.add(waiting);
    try {
      return await wait.result;
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  /** Ends the wait that a CANCEL names; one that nobody waits for is ignored. */
  cancel(head: Header): void {
    const asyncId = (BigInt(head.treeId) << 32n) | BigInt(head.processId);
    for (const waiting of [...this.#waiting]) {
      const meant =
        head.flags & flags.async ? waiting.asyncId === asyncId : waiting.messageId === head.messageId;
      if (meant) waiting.cancel();
    }
  }

  /** Ends all waits of a session that is gone, or of all. */
  cancelAll(session: Session | undefined): void {
    for (const waiting of [...this.#waiting]) if (!session || waiting.session === session) waiting.cancel();
  }
}
