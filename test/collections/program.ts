// Random programs: transactions that run at the same time on the real collections, and what they were told.
//
// Everything that happens has a place: the number of transactions that had ended by then. Whatever a transaction
// was told under its locks is so at the place where it ended; so the model can run them one after the other.

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import {
  ConflictError,
  LimitError,
  LockTimeoutError,
  StateManager,
  type Transaction,
} from '#src/collections/index.js';
import type { Change, Engine } from '#src/engine/engine.js';
import { decodeKey } from '#src/engine/keys.js';
import { openEngine } from '#src/engine/level.js';
import { Items } from './items.js';
import {
  type Collections,
  dictionaryNames,
  type OperationKind,
  operationOf,
  queueNames,
  type Step,
} from './operations.js';

export interface Script {
  readonly steps: readonly Step[];
  readonly ending: 'commit' | 'abort' | 'dispose';
  readonly snapshot: 'begin' | 'first read';
  /** Run by `transaction()`, so often again; nothing: begun and ended by hand. */
  readonly retries: number | undefined;
  readonly turns: number;
}

export interface Clear {
  readonly name: string;
  readonly turns: number;
  readonly timeoutMs: number | undefined;
}

export interface Program {
  readonly scripts: readonly Script[];
  readonly clears: readonly Clear[];
}

/** One call and what became of it. Places are counted in transactions that had ended. */
export interface Called {
  readonly step: Step;
  readonly from: number;
  to: number;
  /** Nothing: a lock was not to be had, and it did nothing. */
  result: { readonly value: unknown } | undefined;
}

/** One run of a transaction. */
export interface Attempt {
  readonly calls: Called[];
  readonly began: number;
  readonly snapshot: Script['snapshot'];
  /** What its snapshot shows, once it has one. */
  visible: number | undefined;
  /** How its commit was refused, if it was. */
  refusal: 'conflict' | 'limit' | undefined;
}

export type Ended = Readonly<
  | { kind: 'committed'; attempt: Attempt; version: number }
  | { kind: 'aborted'; attempt: Attempt }
  | { kind: 'cleared'; name: string; version: number }
>;

export interface Recording {
  /** In the order of their ends. */
  readonly ended: readonly Ended[];
  readonly items: Items;
  readonly final: Readonly<Record<string, unknown>>;
}

/** More than one call, or bound to what came before: not to be overlapped by others of its transaction. */
const alone: ReadonlySet<OperationKind> = new Set([
  'tryUpdate',
  'entries',
  'keysFrom',
  'newestEntries',
  'queueEntries',
]);

export async function runProgram(program: Program): Promise<Recording> {
  const ended: Ended[] = [];
  const bare = await openEngine({ memory: true });
  const setUp = await StateManager.open({ engine: bare });
  await openCollections(setUp);
  await setUp.close();
  const engine = recordingClears(bare, ended);
  const state = await StateManager.open({ engine, timeoutMs: 20_000 });
  const collections = await openCollections(state);
  const run = new Run(state, collections, ended);
  const clears = program.clears.map((clear) => runClear(collections, clear));
  await Promise.all([...program.scripts.map((script) => run.script(script)), ...clears]);
  const { transactions, locks } = state.inspect();
  assert.deepEqual({ transactions, locks }, { transactions: [], locks: [] }, 'nobody holds anything');
  const final = await finalState(state, collections);
  await state.close();
  await engine.close();
  return { ended, items: run.items, final };
}

async function openCollections(state: StateManager): Promise<Collections> {
  const dictionaries = dictionaryNames.map(
    async (name) => [name, await state.dictionary<string, number>(name)] as const,
  );
  const queues = queueNames.map(async (name) => [name, await state.queue<number>(name)] as const);
  return {
    dictionaries: Object.fromEntries(await Promise.all(dictionaries)),
    queues: Object.fromEntries(await Promise.all(queues)),
    concurrent: await state.concurrentQueue<number>('cq'),
    counters: await state.counters<string>('n'),
  };
}

/** A clear has a transaction of its own that nobody sees: its moment is that of a commit with a catalogue record. */
function recordingClears(engine: Engine, ended: Ended[]): Engine {
  const commit = (change: Change) => {
    const committed = engine.commit(change);
    assert.ok(!(committed instanceof Promise), 'so little never waits for the disk');
    const catalog = change.writes?.find(({ key }) => decodeKey(key)[0] === 'c');
    const name = catalog && (decodeKey(catalog.key)[1] as string);
    if (name !== undefined) ended.push({ kind: 'cleared', name, version: committed.version });
    return committed;
  };
  return new Proxy(engine, {
    get(target, property) {
      if (property === 'commit') return commit;
      const member = Reflect.get(target, property, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

async function runClear({ dictionaries, queues }: Collections, clear: Clear): Promise<void> {
  for (let turns = clear.turns; turns > 0; turns--) await turn();
  const collection = dictionaries[clear.name] ?? queues[clear.name];
  try {
    await collection?.clear({ timeoutMs: clear.timeoutMs });
  } catch (error) {
    assert.ok(error instanceof LockTimeoutError, `${error}`);
  }
}

async function finalState(state: StateManager, collections: Collections) {
  return state.transaction(async (tx) => {
    const final: Record<string, unknown> = { cq: await collections.concurrent.count() };
    for (const [name, d] of Object.entries(collections.dictionaries)) {
      final[name] = [];
      for await (const entry of d.entries(tx)) (final[name] as unknown[]).push(entry);
      final[`count ${name}`] = [await d.count(tx), await d.currentCount()];
    }
    for (const [name, q] of Object.entries(collections.queues)) {
      final[name] = [];
      for await (const item of q.entries(tx)) (final[name] as unknown[]).push(item);
      final[`count ${name}`] = await q.count(tx);
    }
    for (const key of ['a', 'b', 'c', 'd']) final[`counter ${key}`] = await collections.counters.get(tx, key);
    return final;
  });
}

class Run {
  readonly items = new Items();
  readonly #state: StateManager;
  readonly #collections: Collections;
  readonly #ended: Ended[];

  constructor(state: StateManager, collections: Collections, ended: Ended[]) {
    this.#state = state;
    this.#collections = collections;
    this.#ended = ended;
  }

  async script(script: Script): Promise<void> {
    for (let turns = script.turns; turns > 0; turns--) await turn();
    const { snapshot, retries } = script;
    try {
      if (retries === undefined) await this.#byHand(script);
      else await this.#state.transaction((tx) => this.#work(tx, script), { snapshot, retries });
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }

  async #byHand(script: Script): Promise<void> {
    await using tx = this.#state.begin({ snapshot: script.snapshot });
    const attempt = await this.#work(tx, script);
    if (script.ending === 'abort') await tx.abort();
    if (script.ending !== 'commit') return;
    await tx.commit().catch((error) => {
      if (error instanceof ConflictError) attempt.refusal = 'conflict';
      if (error instanceof LimitError) attempt.refusal = 'limit';
      throw error;
    });
  }

  async #work(tx: Transaction, script: Script): Promise<Attempt> {
    const { snapshot, retries, steps } = script;
    const attempt: Attempt = {
      calls: [],
      began: this.#ended.length,
      snapshot,
      visible: undefined,
      refusal: undefined,
    };
    this.#follow(tx, attempt);
    const failures: unknown[] = [];
    let pending: Promise<void>[] = [];
    for (const step of steps) {
      for (let turns = step.turns; turns > 0; turns--) await turn();
      if (alone.has(step.kind)) await Promise.all(pending);
      pending.push(this.#call(tx, attempt, step, failures));
      if (step.awaited || alone.has(step.kind)) {
        await Promise.all(pending);
        pending = [];
      }
    }
    await Promise.all(pending);
    const [failure] = failures;
    if (failure !== undefined && retries !== undefined) throw failure; // and is run again
    if (retries !== undefined && script.ending === 'abort') throw new Aborted();
    return attempt;
  }

  /** Its end is noted in the same step in which it happens, before anybody gets its locks. */
  #follow(tx: Transaction, attempt: Attempt): void {
    tx.onEnd({
      ordered: () => {
        const version = Number(tx.commitSequenceNumber);
        this.#ended.push({ kind: 'committed', attempt, version });
        this.items.committed(attempt);
      },
      aborted: () => {
        this.#ended.push({ kind: 'aborted', attempt });
        this.items.aborted(attempt);
      },
    });
  }

  async #call(tx: Transaction, attempt: Attempt, step: Step, failures: unknown[]): Promise<void> {
    const called: Called = { step, from: this.#ended.length, to: 0, result: undefined };
    attempt.calls.push(called);
    const operation = operationOf(step);
    try {
      const value = await (operation === undefined
        ? this.items.call(this.#collections.concurrent, tx, attempt, step)
        : operation.run(this.#collections, tx, step));
      called.result = { value };
    } catch (error) {
      if (!(error instanceof LockTimeoutError)) throw error;
      failures.push(error);
    }
    called.to = this.#ended.length;
    if (operation?.sees === 'snapshot' && called.result !== undefined)
      attempt.visible ??= Number(tx.visibilitySequenceNumber);
  }
}

class Aborted extends Error {}

/** What a program may be told without anything being wrong. */
function isRefusal(error: unknown): boolean {
  return [ConflictError, LimitError, LockTimeoutError, Aborted].some((kind) => error instanceof kind);
}
