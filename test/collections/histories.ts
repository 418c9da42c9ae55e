// Histories of real transactions for the checker of isolation: clients that append to lists and read them, in two
// dictionaries, all at the same time. Each attempt is noted, with what it was told and when.

import { setImmediate as turn } from 'node:timers/promises';
import { seededRandom } from '#src/base/random.js';
import {
  type Dictionary,
  mayRetry,
  OutcomeUnknownError,
  type StateManager,
  type Transaction,
} from '#src/collections/index.js';
import type { ListOperation, ListTransaction } from './dependencies.js';

/** How lists are read: under a lock, without one and checked at the commit, without any promise, or in a snapshot. */
export type Reads = 'locked' | 'checked' | 'unlocked' | 'snapshot';

export interface Workload {
  readonly reads: Reads;
  readonly transactions: number;
  readonly clients: number;
  readonly seed: number;
}

type Lists = Dictionary<string, readonly number[]>;

/** What is thrown to abort: a decision that was told outside, like any other. */
class Decided extends Error {}

interface Attempt {
  readonly reads: ListOperation[];
  readonly appends: ListOperation[];
  /** Both, in order. */
  readonly all: ListOperation[];
  readonly began: number;
}

const liveKeys = 6;
/** A list that has grown so long is left for a new one. */
const longest = 40;

export async function runHistory(state: StateManager, workload: Workload): Promise<ListTransaction[]> {
  const run = new Run(
    [await state.dictionary('lists 0'), await state.dictionary('lists 1')],
    state,
    workload,
  );
  await Promise.all(Array.from({ length: workload.clients }, () => run.client()));
  await run.readAll();
  return run.history;
}

class Run {
  readonly history: ListTransaction[] = [];
  readonly #lists: readonly [Lists, Lists];
  readonly #state: StateManager;
  readonly #workload: Workload;
  readonly #random: () => number;
  readonly #appended: number[] = new Array(liveKeys).fill(0);
  #time = 0;
  #values = 0;
  #begun = 0;

  constructor(lists: readonly [Lists, Lists], state: StateManager, workload: Workload) {
    this.#lists = lists;
    this.#state = state;
    this.#workload = workload;
    this.#random = seededRandom(workload.seed);
  }

  async client(): Promise<void> {
    while (this.#begun < this.#workload.transactions) {
      this.#begun++;
      await this.#transaction(`t${this.#begun}`);
    }
  }

  /** At the end: which appends are there, in which order. */
  async readAll(): Promise<void> {
    const began = ++this.#time;
    const work = async (tx: Transaction): Promise<ListOperation[]> => {
      const operations: ListOperation[] = [];
      for (const lists of this.#lists) {
        for await (const [key, list] of lists.entries(tx)) operations.push({ kind: 'read', key, list });
      }
      return operations;
    };
    // The last write may have failed: then the store is being opened again.
    const operations = await this.#state.transaction(work, { retries: 20 });
    this.history.push({ name: 'final', status: 'committed', operations, began, ended: ++this.#time });
  }

  async #transaction(name: string): Promise<void> {
    for (let attempts = 0; attempts < 20; attempts++) {
      const attempt: Attempt = { reads: [], appends: [], all: [], began: ++this.#time };
      try {
        await this.#state.transaction((tx) => this.#work(tx, attempt), {
          snapshot: this.#pick(['begin', 'first read'] as const),
        });
        return this.#note(`${name}.${attempts}`, attempt, 'committed');
      } catch (error) {
        const status = error instanceof OutcomeUnknownError ? 'unknown' : 'aborted';
        this.#note(`${name}.${attempts}`, attempt, status, error instanceof Decided);
        if (!mayRetry(error) && status === 'aborted' && !(error instanceof Decided)) throw error;
        if (!mayRetry(error)) return;
      }
      await turn();
    }
  }

  #note(name: string, attempt: Attempt, status: ListTransaction['status'], isDecision = false): void {
    const { reads, appends, all, began } = attempt;
    const ended = ++this.#time;
    const note = (part: string, operations: ListOperation[], of: ListTransaction['status']) => {
      if (operations.length > 0)
        this.history.push({ name: name + part, status: of, operations, began, ended });
    };
    // What was read before a decision to abort was told outside and must be as true as any other read. Without
    // locks, and without the check of a commit, that holds for each by itself.
    const told = isDecision ? reads.filter((read) => isForeign(read, appends)) : [];
    const { reads: how } = this.#workload;
    if (how === 'locked' || how === 'snapshot') note(' decided', told, 'committed');
    else told.forEach((read, index) => void note(` decided ${index}`, [read], 'committed'));
    // A snapshot is another moment than that of the commit: what it shows is judged by itself.
    if (how === 'snapshot') {
      if (status === 'committed') note(' reads', reads, 'committed');
      note('', appends, status);
    } else note('', all, status);
  }

  async #work(tx: Transaction, attempt: Attempt): Promise<void> {
    const add = (operation: ListOperation) => {
      attempt.all.push(operation);
      (operation.kind === 'read' ? attempt.reads : attempt.appends).push(operation);
    };
    const size = 1 + Math.floor(this.#random() * 4);
    // Reads of a snapshot come first: own appends would show in them.
    const plan = Array.from({ length: size }, () => this.#random() < 0.5);
    if (this.#workload.reads === 'snapshot') plan.sort((a, b) => Number(b) - Number(a));
    for (const isRead of plan) {
      const place = Math.floor(this.#random() * liveKeys);
      const key = `${place}-${String(Math.floor((this.#appended[place] ?? 0) / longest)).padStart(6, '0')}`;
      const lists = this.#lists[place % 2] as Lists;
      if (isRead) add({ kind: 'read', key, list: await this.#read(tx, lists, key) });
      else add({ kind: 'append', key, value: await this.#append(tx, lists, key, place) });
      if (this.#random() < 0.3) await turn();
    }
    if (this.#random() < 0.05) throw new Decided();
  }

  async #read(tx: Transaction, lists: Lists, key: string): Promise<readonly number[]> {
    switch (this.#workload.reads) {
      case 'locked':
        return (
          (await lists.get(tx, key, { lock: this.#pick(['shared', 'shared', 'update'] as const) })) ?? []
        );
      case 'unlocked':
        return (await lists.get(tx, key, { lock: 'none' })) ?? [];
      case 'checked': {
        if (this.#random() < 0.7) return (await lists.get(tx, key, { lock: 'none', check: true })) ?? [];
        const range = { from: key, to: `${key}~`, newest: true, check: true };
        for await (const [found, list] of lists.entries(tx, range)) if (found === key) return list;
        return [];
      }
      case 'snapshot':
        for await (const [, list] of lists.entries(tx, { from: key, to: `${key}~` })) return list;
        return [];
    }
  }

  async #append(tx: Transaction, lists: Lists, key: string, place: number): Promise<number> {
    const value = ++this.#values;
    this.#appended[place] = (this.#appended[place] ?? 0) + 1;
    if (this.#random() < 0.5) {
      await lists.addOrUpdate(tx, key, [value], (_, list) => [...list, value]);
    } else {
      const list = (await lists.get(tx, key, { lock: 'update' })) ?? [];
      await lists.set(tx, key, [...list, value]);
    }
    return value;
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random() * choices.length)] as T;
  }
}

/** Whether a read shows nothing that its own transaction appended, which was aborted. */
function isForeign(read: ListOperation, appends: readonly ListOperation[]): boolean {
  return !appends.some(({ key }) => key === read.key);
}
