// What every service stands on: the collections, and the one way to run an operation.
//
// An operation is one transaction: it reads, decides and writes. It may be run again from the start when it
// lost a race, so nothing in it touches the outside. A refusal is thrown, which aborts it.

import type { StateManager, Transaction } from '../../collections/index.js';

export interface Store {
  readonly state: StateManager;
  /** The time that leases, visibility and expiry are judged by, where there is no transaction to ask. */
  now(): number;
  /** Runs an operation, again if it must, until the request's time is over. */
  run<T>(operation: (tx: Transaction) => Promise<T>, options?: OperationOptions): Promise<T>;
}

export interface OperationOptions {
  /** What is left of the request's time. */
  readonly withinMs?: number;
}

/** How long an operation may wait for locks and be run again, all together. */
const longestMs = 30_000;

export function createStore(state: StateManager): Store {
  return {
    state,
    now: () => state.engine.clock.now(),
    run: (operation, options) =>
      state.transaction(operation, {
        snapshot: 'first read',
        retries: Number.POSITIVE_INFINITY,
        timeoutMs: longestMs,
        withinMs: Math.min(options?.withinMs ?? longestMs, longestMs),
      }),
  };
}

/** A service's store whose operations are part of this transaction, instead of one each of their own. */
export function within<S extends Store>(store: S, tx: Transaction): S {
  return { ...store, run: (operation: (tx: Transaction) => Promise<unknown>) => operation(tx) };
}
