// What the scenarios of the specification are told with: a dictionary `d` where `k` is 1, `j` is 1 and `m` is
// absent, a queue `q`, a concurrent queue `cq`, and transactions T1, T2 ... A call that must wait is asked
// after every other one has had its turn.

import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { memoryDisk } from '../engine/disk.js';
import { FaultyDisk } from '../engine/faulty-disk.suite.js';
import { openEngineOn } from '../engine/level.js';
import {
  type ConcurrentQueue,
  type Dictionary,
  type Queue,
  StateManager,
  type StateOptions,
  type Transaction,
} from './index.js';

export interface Scene extends AsyncDisposable {
  readonly state: StateManager;
  readonly d: Dictionary<string, unknown>;
  readonly q: Queue<string>;
  readonly cq: ConcurrentQueue<string>;
  /** T1, T2 ...: begun when it is first named. */
  t(number: number): Transaction;
  S(t: number, key?: string, timeoutMs?: number): Promise<unknown>;
  U(t: number, key?: string, timeoutMs?: number): Promise<unknown>;
  X(t: number, key?: string, value?: unknown, timeoutMs?: number): Promise<void>;
  end(t: number): Promise<void>;
  abort(t: number): Promise<void>;
  /** What anybody reads now. */
  value(key: string): Promise<unknown>;
}

export async function scene(options: Partial<StateOptions> = {}): Promise<Scene> {
  const state = await StateManager.open({ memory: true, ...options } as StateOptions);
  const d = await state.dictionary<string, unknown>('d');
  const q = await state.queue<string>('q');
  const cq = await state.concurrentQueue<string>('cq');
  await state.transaction(async (tx) => {
    await d.set(tx, 'k', 1);
    await d.set(tx, 'j', 1);
  });
  const transactions = new Map<number, Transaction>();
  const t = (number: number) => {
    let tx = transactions.get(number);
    if (tx === undefined) transactions.set(number, (tx = state.begin()));
    return tx;
  };
  return {
    state,
    d,
    q,
    cq,
    t,
    S: (n, key = 'k', timeoutMs) => d.get(t(n), key, { timeoutMs }),
    U: (n, key = 'k', timeoutMs) => d.get(t(n), key, { lock: 'update', timeoutMs }),
    X: (n, key = 'k', value = 2, timeoutMs) => d.set(t(n), key, value, { timeoutMs }),
    end: (n) => t(n).commit(),
    abort: (n) => t(n).abort(),
    value: (key) => state.transaction((tx) => d.get(tx, key, { lock: 'none' })),
    [Symbol.asyncDispose]: () => state.close(),
  };
}

/** A state manager in memory whose disk can be made to wait, and to fail. */
export async function stalled(
  options: Partial<StateOptions> = {},
): Promise<{ state: StateManager; disk: FaultyDisk & { stall(): void; go(): void } }> {
  let gate: Promise<void> | undefined;
  let open = () => {};
  const memory = memoryDisk();
  const inner = {
    ...memory,
    open: async () => {
      const store = await memory.open();
      return {
        ...store,
        write: async (operations: Parameters<typeof store.write>[0]) => {
          await gate;
          return store.write(operations);
        },
      };
    },
  };
  const disk = Object.assign(new FaultyDisk(inner, true), {
    stall() {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    go() {
      gate = undefined;
      open();
    },
  });
  const engine = await openEngineOn(disk, { retryMs: 1 });
  const state = await StateManager.open({ ...options, engine } as StateOptions);
  return { state, disk };
}

const folders: string[] = [];
// When all tests are over: what a test has open is closed by hooks that come after those of its folder.
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

/** A folder of its own that is gone after the tests. */
export async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lazuli-collections-'));
  folders.push(folder);
  return folder;
}

/** What a crash of the process now would leave: the files as they are, beside the state manager that has them open. */
export async function crashCopy(location: string): Promise<string> {
  const copy = join(await temporary(), 'crashed');
  // Not one instant: the note of how far the log was on disk must not be newer than the log.
  const mark = join(location, 'durable');
  await mkdir(copy);
  await cp(mark, join(copy, 'durable'));
  await cp(location, copy, { recursive: true, filter: (source) => source !== mark });
  return copy;
}

/** The machine's own, where a test sets the time. */
const { setTimeout: later, setImmediate: turn } = globalThis;

/** Every call that can go on has gone on: on a busy machine the time may be over before the first turn. */
export async function turns(): Promise<void> {
  await new Promise<void>((resolve) => later(resolve, 5));
  for (let left = 3; left > 0; left--) await new Promise<void>((resolve) => turn(resolve));
}

type State = 'waits' | 'granted' | 'failed';

async function stateOf(call: Promise<unknown>): Promise<State> {
  let state: State = 'waits';
  call.then(
    () => {
      state = 'granted';
    },
    () => {
      state = 'failed';
    },
  );
  await turns();
  return state;
}

/** Is still pending. */
export async function waits(...calls: Promise<unknown>[]): Promise<void> {
  for (const call of calls) assert.equal(await stateOf(call), 'waits');
}

/** Has been granted. */
export async function granted(...calls: Promise<unknown>[]): Promise<void> {
  for (const call of calls) assert.equal(await stateOf(call), 'granted');
}

/** Collects an enumeration. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
