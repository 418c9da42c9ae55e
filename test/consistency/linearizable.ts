// Whether a history is linearizable: whether there is an order of its calls, each placed inside its interval, in
// which a sequential model gives every result that was seen.
//
// The search is that of Wing and Gong (Testing and Verifying Concurrent Objects, 1993): take any call that no other
// one must precede, let the model do it, go on, and go back where that leads nowhere. Lowe (Testing for
// Linearizability, 2016) remembers each set of calls done together with the state it led to, and never enters the
// same pair twice.
//
// Calls whose outcome is unknown need two more ideas, or a few dozen of them would take for ever.
//   1. They need not be done at all: the search ends when all others are.
//   2. One that is done must matter. Where the call after it would have had the same result and the same state
//      without it, the order without it is found elsewhere, and this one is left.
//
// The search is bounded. A history that it could not decide is told as such; it does not pass.

import type { Recorded } from './history.js';

export interface Model<State, Call, Result> {
  readonly initial: State;
  /**
   * The state after the call; nothing if it cannot have had that result in this state. Without a result: the state
   * if it was done, which is the same state where it would have been refused.
   */
  step(state: State, call: Call, result: Result | undefined): State | undefined;
  /** Two states are the same if this is. */
  key(state: State): string;
}

export type Verdict =
  | { readonly kind: 'linearizable'; readonly order: readonly Recorded[] }
  | {
      readonly kind: 'violation' | 'undecided';
      /** As far as any order came, and the calls of which one should have come next. */
      readonly order: readonly Recorded[];
      readonly stuck: readonly Recorded[];
      readonly state: string;
    };

const mostSteps = 3_000_000;

/** One end of a call's interval, in a list ordered by time. */
interface Entry {
  readonly index: number;
  /** Nothing in the entry of a return. */
  readonly returns: Entry | undefined;
  readonly isCall: boolean;
  before: Entry | undefined;
  after: Entry | undefined;
}

interface Choice<State> {
  readonly entry: Entry;
  readonly state: State;
}

export function linearize<State, Call, Result>(
  model: Model<State, Call, Result>,
  history: readonly Recorded[],
  limit = mostSteps,
): Verdict {
  const records = [...history].sort((a, b) => a.startMs - b.startMs) as Recorded<Call, Result>[];
  const search = new Search(model, records);
  for (let steps = 0; !search.isDone; steps++) {
    if (steps > limit) return search.failure('undecided');
    if (!search.forward() && !search.back()) return search.failure('violation');
  }
  return { kind: 'linearizable', order: search.order() };
}

class Search<State, Call, Result> {
  readonly #model: Model<State, Call, Result>;
  readonly #records: readonly Recorded<Call, Result>[];
  readonly #head: Entry;
  readonly #done: DoneSet;
  readonly #seen = new Set<string>();
  readonly #choices: Choice<State>[] = [];
  #state: State;
  #left: number;
  #at: Entry | undefined;
  #longest: { order: number[]; stuck: number[]; state: string } = { order: [], stuck: [], state: '' };

  constructor(model: Model<State, Call, Result>, records: readonly Recorded<Call, Result>[]) {
    this.#model = model;
    this.#records = records;
    this.#state = model.initial;
    this.#head = {
      index: -1,
      returns: undefined,
      isCall: false,
      before: undefined,
      after: entriesOf(records),
    };
    if (this.#head.after) this.#head.after.before = this.#head;
    this.#at = this.#head.after;
    this.#left = records.filter(({ result }) => result !== undefined).length;
    this.#done = new DoneSet(records.map(({ result }) => result === undefined));
  }

  get isDone(): boolean {
    return this.#left === 0;
  }

  order(): Recorded[] {
    return this.#choices.map(({ entry }) => this.#records[entry.index] as Recorded);
  }

  /** Does the next call that can be done here; nothing left to try: false. */
  forward(): boolean {
    for (let entry = this.#at; entry?.isCall; entry = entry.after) {
      const next = this.#tryCall(entry.index);
      if (next === undefined) continue;
      this.#choices.push({ entry, state: this.#state });
      this.#state = next;
      if (entry.returns) this.#left--;
      lift(entry);
      this.#at = this.#head.after;
      return true;
    }
    this.#noteLongest();
    return false;
  }

  /** Undoes the last call, to try what follows it in the list. */
  back(): boolean {
    const choice = this.#choices.pop();
    if (!choice) return false;
    this.#done.remove(choice.entry.index);
    this.#state = choice.state;
    if (choice.entry.returns) this.#left++;
    putBack(choice.entry);
    this.#at = choice.entry.after;
    return true;
  }

  failure(kind: 'violation' | 'undecided'): Verdict {
    const named = (list: number[]) => list.map((index) => this.#records[index] as Recorded);
    const { order, stuck, state } = this.#longest;
    return { kind, order: named(order), stuck: named(stuck), state };
  }

  #tryCall(index: number): State | undefined {
    const { call, result } = this.#records[index] as Recorded<Call, Result>;
    const next = this.#model.step(this.#state, call, result);
    if (next === undefined) return undefined;
    const key = this.#model.key(next);
    if (result === undefined && key === this.#model.key(this.#state)) return undefined;
    if (this.#lastDidNotMatter(call, result, key)) return undefined;
    this.#done.add(index);
    const name = `${this.#done.name()} ${key}`;
    if (!this.#seen.has(name)) {
      this.#seen.add(name);
      return next;
    }
    this.#done.remove(index);
    return undefined;
  }

  #lastDidNotMatter(call: Call, result: Result | undefined, key: string): boolean {
    const last = this.#choices.at(-1);
    if (!last || last.entry.returns) return false;
    const without = this.#model.step(last.state, call, result);
    return without !== undefined && this.#model.key(without) === key;
  }

  #noteLongest(): void {
    if (this.#choices.length < this.#longest.order.length) return;
    const stuck: number[] = [];
    for (let entry = this.#head.after; entry?.isCall; entry = entry.after) {
      if (entry.returns) stuck.push(entry.index);
    }
    const order = this.#choices.map(({ entry }) => entry.index);
    this.#longest = { order, stuck, state: this.#model.key(this.#state) };
  }
}

/** Which calls are done, with a short name: nearly always a first stretch of the known ones and a few more. */
class DoneSet {
  readonly #unknown: readonly boolean[];
  readonly #done: boolean[];
  readonly #doneUnknown = new Set<number>();
  #low = 0;
  #high = -1;

  constructor(unknown: readonly boolean[]) {
    this.#unknown = unknown;
    this.#done = unknown.slice(); // unknown ones never hold the stretch up
    while (this.#done[this.#low]) this.#low++;
  }

  add(index: number): void {
    if (this.#unknown[index]) {
      this.#doneUnknown.add(index);
      return;
    }
    this.#done[index] = true;
    this.#high = Math.max(this.#high, index);
    while (this.#done[this.#low]) this.#low++;
  }

  remove(index: number): void {
    if (this.#unknown[index]) {
      this.#doneUnknown.delete(index);
      return;
    }
    this.#done[index] = false;
    this.#low = Math.min(this.#low, index);
  }

  name(): string {
    let bits = `${this.#low}:`;
    let end = this.#high;
    while (end > this.#low && (this.#unknown[end] || !this.#done[end])) end--;
    for (let index = this.#low; index <= end; index++) {
      if (!this.#unknown[index]) bits += this.#done[index] ? '1' : '0';
    }
    return this.#doneUnknown.size === 0 ? bits : `${bits} ${[...this.#doneUnknown].sort((a, b) => a - b)}`;
  }
}

function entriesOf(records: readonly Recorded[]): Entry | undefined {
  const ends: { time: number; entry: Entry }[] = [];
  records.forEach(({ result, startMs, endMs }, index) => {
    const returns: Entry | undefined =
      result === undefined
        ? undefined
        : { index, returns: undefined, isCall: false, before: undefined, after: undefined };
    ends.push({
      time: startMs,
      entry: { index, returns, isCall: true, before: undefined, after: undefined },
    });
    if (returns) ends.push({ time: endMs, entry: returns });
  });
  // At the same time calls come first: they are taken to overlap.
  ends.sort((a, b) => a.time - b.time || Number(b.entry.isCall) - Number(a.entry.isCall));
  ends.forEach(({ entry }, at) => {
    entry.before = ends[at - 1]?.entry;
    entry.after = ends[at + 1]?.entry;
  });
  return ends[0]?.entry;
}

function lift(entry: Entry): void {
  unlink(entry);
  if (entry.returns) unlink(entry.returns);
}

function putBack(entry: Entry): void {
  if (entry.returns) link(entry.returns);
  link(entry);
}

function unlink(entry: Entry): void {
  if (entry.before) entry.before.after = entry.after;
  if (entry.after) entry.after.before = entry.before;
}

function link(entry: Entry): void {
  if (entry.before) entry.before.after = entry;
  if (entry.after) entry.after.before = entry;
}
