// The collections of the crash test: accounts between which money moves, and what is noted of it in the same
// transaction.

import type { ConcurrentQueue, Counters, Dictionary, Queue, StateManager } from '#src/collections/index.js';

export interface Account {
  readonly balance: number;
  /** How often it was changed: it only grows. */
  readonly changes: number;
}

/** Of the last transfer from an account that wrote some. */
export interface Bulk {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const bulkBytes = 256 * 1024;

export function bulkOf(name: string): Bulk {
  return { name, bytes: new Uint8Array(Buffer.alloc(bulkBytes, name)) };
}

export interface Bank {
  readonly accounts: Dictionary<string, Account>;
  /** So much for each account that the store writes its tables anew while it is killed. */
  readonly bulk: Dictionary<string, Bulk>;
  readonly journal: Dictionary<string, { readonly from: string; readonly to: string }>;
  readonly counters: Counters<string>;
  readonly work: Queue<string>;
  readonly fast: ConcurrentQueue<string>;
  /** What left the queues, and in which run. */
  readonly takenWork: Dictionary<string, string>;
  readonly takenFast: Dictionary<string, string>;
  /** Of this run: there from its beginning, and removed one after the other. */
  readonly tokens: Dictionary<number, string>;
  readonly line: Queue<number>;
  readonly board: Dictionary<number, number>;
}

export const accountKeys = Array.from({ length: 12 }, (_, index) => `account ${index}`);
export const openingBalance = 1000;
/** Of the counter of each run. */
export const limitOf = 4;
const tokens = 200;

export async function openBank(state: StateManager, run: string): Promise<Bank> {
  const bank: Bank = {
    accounts: await state.dictionary('accounts'),
    bulk: await state.dictionary('bulk'),
    journal: await state.dictionary('journal'),
    counters: await state.counters('counters'),
    work: await state.queue('work'),
    fast: await state.concurrentQueue('fast'),
    takenWork: await state.dictionary('taken work'),
    takenFast: await state.dictionary('taken fast'),
    tokens: await state.dictionary(`tokens ${run}`),
    line: await state.queue(`line ${run}`),
    board: await state.dictionary('board'),
  };
  await state.transaction(async (tx) => {
    for (const key of accountKeys)
      await bank.accounts.tryAdd(tx, key, { balance: openingBalance, changes: 0 });
    if ((await bank.counters.get(tx, `filled ${run}`)) > 0) return;
    await bank.counters.add(tx, `filled ${run}`, 1);
    for (let number = 0; number < tokens; number++) {
      await bank.tokens.set(tx, number, 'here');
      await bank.line.enqueue(tx, number);
    }
  });
  return bank;
}
