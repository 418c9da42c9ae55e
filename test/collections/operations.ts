// What a transaction of a random program can do: each call on the real collections, and the same on the model.
//
//   serial      what it finds is so at the end of the transaction: it was locked, or is checked at the commit
//   snapshot    as it was at the moment that the transaction's snapshot shows, with its own changes
//   newest      as it was at some moment during the call, with its own changes; with `check`, serial too

import type { ConcurrentQueue, Counters, Dictionary, Queue, Transaction } from '#src/collections/index.js';
import { ArgumentError } from '#src/collections/index.js';
import { all } from '#src/collections/scenario.suite.js';
import type { View } from './model.js';

export const dictionaryNames = ['d1', 'd2'] as const;
export const queueNames = ['q1', 'q2'] as const;
export const keys = ['a', 'b', 'c', 'd'] as const;

export interface Collections {
  readonly dictionaries: Readonly<Record<string, Dictionary<string, number>>>;
  readonly queues: Readonly<Record<string, Queue<number>>>;
  readonly concurrent: ConcurrentQueue<number>;
  readonly counters: Counters<string>;
}

/** One call. Every kind takes what it needs of this. */
export interface Step {
  readonly kind: OperationKind;
  /** Which of the two dictionaries or queues. */
  readonly which: 0 | 1;
  readonly key: string;
  /** No other step of the program has it. */
  readonly value: number;
  readonly lock: 'shared' | 'update';
  readonly check: boolean;
  readonly timeoutMs: number | undefined;
  /** Whether it ends before the next one is made. */
  readonly awaited: boolean;
  /** How long it dallies before the call. */
  readonly turns: number;
}

export interface Operation {
  readonly sees: 'serial' | 'snapshot' | 'newest';
  run(collections: Collections, tx: Transaction, step: Step): Promise<unknown>;
  model(view: View, step: Step): unknown;
}

type Call = (d: Dictionary<string, number>, tx: Transaction, s: Step) => Promise<unknown>;
type QueueCall = (q: Queue<number>, tx: Transaction, s: Step) => Promise<unknown>;
type ModelCall = (view: View, name: string, s: Step) => unknown;

function onDictionary(sees: Operation['sees'], call: Call, model: ModelCall): Operation {
  return {
    sees,
    run: ({ dictionaries }, tx, step) => call(pick(dictionaries, dictionaryNames[step.which]), tx, step),
    model: (view, step) => model(view, dictionaryNames[step.which], step),
  };
}

function onQueue(sees: Operation['sees'], call: QueueCall, model: ModelCall): Operation {
  return {
    sees,
    run: ({ queues }, tx, step) => call(pick(queues, queueNames[step.which]), tx, step),
    model: (view, step) => model(view, queueNames[step.which], step),
  };
}

const exists = 'it exists';

export const operations = {
  get: onDictionary(
    'serial',
    (d, tx, s) => d.get(tx, s.key, { lock: s.lock, timeoutMs: s.timeoutMs }),
    (view, name, { key }) => view.row(name, key)?.value,
  ),
  getVersioned: onDictionary(
    'serial',
    (d, tx, s) => d.getVersioned(tx, s.key, { lock: s.lock, timeoutMs: s.timeoutMs }),
    (view, name, { key }) => view.row(name, key),
  ),
  getNewest: onDictionary(
    'newest',
    (d, tx, s) => d.get(tx, s.key, { lock: 'none', check: s.check }),
    (view, name, { key }) => view.row(name, key)?.value,
  ),
  has: onDictionary(
    'serial',
    (d, tx, s) => d.has(tx, s.key, { lock: s.lock, timeoutMs: s.timeoutMs }),
    (view, name, { key }) => view.row(name, key) !== undefined,
  ),
  add: onDictionary(
    'serial',
    (d, tx, s) =>
      d.add(tx, s.key, s.value, { timeoutMs: s.timeoutMs }).catch((error) => {
        if (error instanceof ArgumentError) return exists;
        throw error;
      }),
    (view, name, { key, value }) =>
      view.row(name, key) === undefined ? view.write(name, key, value) : exists,
  ),
  tryAdd: onDictionary(
    'serial',
    (d, tx, s) => d.tryAdd(tx, s.key, s.value, { timeoutMs: s.timeoutMs }),
    (view, name, { key, value }) => {
      const absent = view.row(name, key) === undefined;
      if (absent) view.write(name, key, value);
      return absent;
    },
  ),
  set: onDictionary(
    'serial',
    (d, tx, s) => d.set(tx, s.key, s.value, { timeoutMs: s.timeoutMs }),
    (view, name, { key, value }) => view.write(name, key, value),
  ),
  addOrUpdate: onDictionary(
    'serial',
    (d, tx, s) => d.addOrUpdate(tx, s.key, s.value, (_, old) => old + 100_000, { timeoutMs: s.timeoutMs }),
    (view, name, { key, value }) => {
      const old = view.row(name, key)?.value;
      const next = old === undefined ? value : old + 100_000;
      view.write(name, key, next);
      return next;
    },
  ),
  getOrAdd: onDictionary(
    'serial',
    (d, tx, s) => d.getOrAdd(tx, s.key, () => s.value, { timeoutMs: s.timeoutMs }),
    (view, name, { key, value }) => {
      const found = view.row(name, key)?.value;
      if (found === undefined) view.write(name, key, value);
      return found ?? value;
    },
  ),
  /** What was read under a lock is still there: true, unless there was nothing. */
  tryUpdate: onDictionary(
    'serial',
    async (d, tx, s) => {
      const old = (await d.get(tx, s.key, { lock: 'update', timeoutMs: s.timeoutMs })) ?? -1;
      return d.tryUpdate(tx, s.key, s.value, s.check ? old : -1);
    },
    (view, name, { key, value, check }) => {
      const there = check && view.row(name, key) !== undefined;
      if (there) view.write(name, key, value);
      return there;
    },
  ),
  remove: onDictionary(
    'serial',
    (d, tx, s) => d.remove(tx, s.key, { timeoutMs: s.timeoutMs }),
    (view, name, { key }) => {
      const old = view.row(name, key)?.value;
      view.write(name, key, undefined);
      return old;
    },
  ),
  delete: onDictionary(
    'serial',
    (d, tx, s) => d.delete(tx, s.key, { timeoutMs: s.timeoutMs }),
    (view, name, { key }) => view.write(name, key, undefined),
  ),
  count: onDictionary(
    'snapshot',
    (d, tx, s) => d.count(tx, { timeoutMs: s.timeoutMs }),
    (view, name) => view.count(name),
  ),
  entries: onDictionary(
    'snapshot',
    (d, tx, s) => all(d.entries(tx, { reverse: s.check, timeoutMs: s.timeoutMs, pageSize: 2 })),
    (view, name, { check }) => (check ? view.entries(name).reverse() : view.entries(name)),
  ),
  keysFrom: onDictionary(
    'snapshot',
    (d, tx, s) => all(d.keys(tx, { from: s.key, timeoutMs: s.timeoutMs })),
    (view, name, { key }) =>
      view
        .entries(name)
        .map(([each]) => each)
        .filter((each) => each >= key),
  ),
  newestEntries: onDictionary(
    'newest',
    (d, tx, s) => all(d.entries(tx, { newest: true, check: s.check })),
    (view, name) => view.entries(name),
  ),
  enqueue: onQueue(
    'serial',
    (q, tx, s) => q.enqueue(tx, s.value, { timeoutMs: s.timeoutMs }),
    (view, name, { value }) => view.enqueue(name, value),
  ),
  dequeue: onQueue(
    'serial',
    (q, tx, s) => q.tryDequeue(tx, { timeoutMs: s.timeoutMs }),
    (view, name) => view.dequeue(name),
  ),
  peek: onQueue(
    'serial',
    (q, tx, s) => q.tryPeek(tx, { lock: s.lock, timeoutMs: s.timeoutMs }),
    (view, name) => view.items(name)[0],
  ),
  queueCount: onQueue(
    'snapshot',
    (q, tx, s) => q.count(tx, { timeoutMs: s.timeoutMs }),
    (view, name) => view.count(name),
  ),
  queueEntries: onQueue(
    'snapshot',
    (q, tx, s) => all(q.entries(tx, { timeoutMs: s.timeoutMs })),
    (view, name) => view.items(name),
  ),
  addAmount: {
    sees: 'serial',
    run: ({ counters }, tx, s) => counters.add(tx, s.key, amountOf(s), { max: maxOf(s) }),
    model: (view, s) => view.add(s.key, amountOf(s), maxOf(s)),
  },
  readCounter: {
    sees: 'newest',
    run: ({ counters }, tx, { key }) => counters.get(tx, key),
    model: (view, { key }) => view.counter(key),
  },
} as const satisfies Record<string, Operation>;

/** Those of the concurrent queue are judged as they happen: it isolates nobody. */
export type OperationKind = keyof typeof operations | 'enqueueConcurrent' | 'dequeueConcurrent';

export const operationKinds: readonly OperationKind[] = [
  ...(Object.keys(operations) as (keyof typeof operations)[]),
  'enqueueConcurrent',
  'dequeueConcurrent',
];

export function operationOf({ kind }: Step): Operation | undefined {
  return kind in operations ? operations[kind as keyof typeof operations] : undefined;
}

/** Whether it promises that what it saw is still so at the commit, without a lock. */
export function isChecked(step: Step): boolean {
  return operationOf(step)?.sees === 'newest' && step.check && step.kind !== 'readCounter';
}

function amountOf({ value, which }: Step): number {
  return (value % 3) + (which === 0 ? 1 : -2);
}

function maxOf({ check }: Step): number {
  return check ? 3 : 1_000_000;
}

function pick<V>(all: Readonly<Record<string, V>>, name: string): V {
  const found = all[name];
  if (found === undefined) throw new Error(`there is no collection ${name}`);
  return found;
}
