// On a failing disk, whoever tells it: a read of any kind, a refusal, a listener, a watch, a rebuild, the catalogue. All
// that is told goes one way, from not yet there over there to gone for good, so nothing may be told that is behind
// what was told before.

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import {
  type Clients,
  failingAfter,
  GivenUp,
  runTold,
  testOnFailingDisk,
  untilTold,
} from './failing-disk.suite.js';
import {
  ArgumentError,
  type Counters,
  type Dictionary,
  LimitError,
  type StateManager,
  type Transaction,
  TransientError,
} from './index.js';
import { all, turns } from './scenario.suite.js';

/** Rows and collections, each name used once. */
type Stage = 0 | 1 | 2;
const there: Stage = 1;
const gone: Stage = 2;

class Told {
  readonly #told = new Map<string, number>();
  /** What somebody wanted to take away, or to be there for a time. */
  readonly #mayGo = new Set<string>();

  least(name: string): number {
    return this.#told.get(name) ?? 0;
  }

  /** `least`: what had been told when the call began. */
  tell(name: string, value: number, least = 0): void {
    assert.ok(value >= least, `${name} was told to be ${least} and is ${value}`);
    this.#told.set(name, Math.max(value, this.least(name)));
  }

  mayGo(name: string): void {
    this.#mayGo.add(name);
  }

  /** Whether it is there. What is not, and was, is gone. */
  tellThere(name: string, isThere: boolean, least: number): void {
    if (!isThere && least < there) return;
    assert.ok(isThere || this.#mayGo.has(name), `${name} was there, and nobody took it away`);
    this.tell(name, isThere ? there : gone, least);
  }

  names(stage: Stage): string[] {
    return [...this.#told].flatMap(([name, told]) => (told === stage ? [name] : []));
  }
}

type Rows = Dictionary<string, number>;
type Look = (rows: Rows, tx: Transaction, key: string) => Promise<unknown>;

const isIn = (keys: readonly string[], key: string) => (keys.includes(key) ? 1 : undefined);
const newest: Look = (rows, tx, key) => rows.get(tx, key, { lock: 'none' });
/** Taken back: written again, it would stay, though others have seen it expire. */
const updated: Look = async (rows, tx, key) => {
  throw new Seen((await rows.tryUpdate(tx, key, 1, 1)) ? 1 : undefined);
};
const everyLook: readonly Look[] = [
  (rows, tx, key) => rows.get(tx, key),
  (rows, tx, key) => rows.get(tx, key, { lock: 'update' }),
  newest,
  (rows, tx, key) => rows.get(tx, key, { lock: 'none', check: true }),
  (rows, tx, key) => rows.get(tx, key, { lock: 'snapshot' }),
  async (rows, tx, key) => (await rows.getMany(tx, ['other', key]))[1],
  async (rows, tx, key) => ((await rows.has(tx, key)) ? 1 : undefined),
  async (rows, tx, key) => isIn(await all(rows.keys(tx)), key),
  async (rows, tx, key) => isIn(await all(rows.keys(tx, { newest: true })), key),
  async (rows, tx, key) => isIn(await all(rows.keys(tx, { newest: true, check: true, from: key })), key),
  updated,
  // A refusal: it is not added, one way or the other.
  async (rows, tx, key) => {
    throw new Seen((await rows.tryAdd(tx, key, 1)) ? undefined : 1);
  },
];

class Seen extends GivenUp {
  readonly value: number | undefined;
  constructor(value: number | undefined) {
    super();
    this.value = value;
  }
}

/** How rows are looked at, and how many of them expire. */
interface Kind {
  readonly looks: readonly Look[];
  readonly expiring: number;
}
const mixed: Kind = { looks: everyLook, expiring: 0.3 };
const shortLived: Kind = { looks: [newest, updated], expiring: 0.9 };

class StageClients implements Clients {
  readonly #told = new Told();
  readonly #kind: Kind;
  readonly #state: StateManager;
  readonly #random: () => number;
  readonly #rows: Rows;
  readonly #counters: Counters<string>;
  readonly #stop = new AbortController();
  readonly #watching: Promise<void>;
  /** What one knows who reads all and watches from then on. */
  #watched = new Map<string, number>();
  /** The same, by listeners and rebuilds. */
  #heard = new Map<string, number>();
  #last = 0;
  #clearing = 0;

  constructor(
    state: StateManager,
    random: () => number,
    rows: Rows,
    counters: Counters<string>,
    kind: Kind = mixed,
  ) {
    this.#kind = kind;
    this.#state = state;
    this.#random = random;
    this.#rows = rows;
    this.#counters = counters;
    this.#listen();
    this.#watching = this.#watch();
    this.#watching.catch(() => {}); // told at the end
  }

  async work(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const drawn = this.#random();
      if (drawn < 0.2) await this.#add();
      else if (drawn < 0.5) await this.#look(this.#name('k'));
      else if (drawn < 0.6) await this.#remove(this.#name('k'));
      else if (drawn < 0.61) await this.#clear();
      else if (drawn < 0.63) await this.#state.sweep();
      else if (drawn < 0.8) await this.#count();
      else if (drawn < 0.9) await this.#pair();
      else await this.#collection();
      if (this.#random() < 0.05) await turn();
    }
  }

  /** One of the last few. */
  #name(kind: string): string {
    return `${kind}${Math.max(1, this.#last - Math.floor(this.#random() * 12))}`;
  }

  async #pause(tx: Transaction): Promise<void> {
    if (this.#random() < 0.1) await turn();
    if (this.#random() < 0.05) tx.after(failingAfter(this.#random));
  }

  async #add(): Promise<void> {
    const key = `k${++this.#last}`;
    const ttlMs = this.#random() < this.#kind.expiring ? 1 + this.#random() * 3 : Number.POSITIVE_INFINITY;
    if (ttlMs < Number.POSITIVE_INFINITY || this.#clearing > 0) this.#told.mayGo(key);
    const done = await runTold(this.#state, async (tx) => {
      await this.#rows.add(tx, key, 1, { ttlMs });
      await this.#pause(tx);
    });
    if (done !== undefined) this.#told.tell(key, there);
  }

  async #look(key: string): Promise<void> {
    const { looks } = this.#kind;
    const look = looks[Math.floor(this.#random() * looks.length)] as Look;
    let least = 0;
    const work = async (tx: Transaction) => {
      const value = await look(this.#rows, tx, key);
      await this.#pause(tx);
      return value;
    };
    const done = await untilTold(() => {
      least = this.#told.least(key);
      return this.#state.transaction(work).catch((error) => {
        if (error instanceof Seen) return error.value;
        throw error;
      });
    });
    if (done !== undefined) this.#told.tellThere(key, done.result !== undefined, least);
  }

  async #remove(key: string): Promise<void> {
    this.#told.mayGo(key);
    const least = this.#told.least(key);
    const done = await runTold(this.#state, (tx) => this.#rows.remove(tx, key));
    if (done === undefined) return;
    if (done.result === undefined) this.#told.tellThere(key, false, least);
    else {
      assert.ok(least <= there, `${key} was gone and is there`);
      this.#told.tell(key, gone);
    }
  }

  async #clear(): Promise<void> {
    const names = this.#told.names(there).filter((name) => name.startsWith('k'));
    for (let number = this.#last; number > 0; number--) this.#told.mayGo(`k${number}`);
    this.#clearing++;
    const done = await untilTold(() => this.#rows.clear());
    this.#clearing--;
    if (done !== undefined) for (const name of names) this.#told.tell(name, gone);
  }

  async #count(): Promise<void> {
    const least = this.#told.least('count');
    const max = this.#random() < 0.3 ? least + Math.floor(this.#random() * 3) : Number.POSITIVE_INFINITY;
    const raises = this.#random() < 0.5;
    const snapshot = this.#random() < 0.3;
    const done = await untilTold(() => {
      const work = this.#state.transaction(async (tx) => {
        const count = await this.#counters.get(tx, 'all', { snapshot });
        if (raises) await this.#counters.add(tx, 'all', 1, { max });
        await this.#pause(tx);
        return count;
      });
      return work.catch((error) => {
        if (error instanceof LimitError) return max;
        throw error;
      });
    });
    if (done !== undefined) this.#told.tell('count', done.result, least);
  }

  /** Two numbers that are always the same, read or raised under locks. */
  async #pair(): Promise<void> {
    const raises = this.#random() < 0.5;
    const done = await runTold(this.#state, async (tx) => {
      const lock = raises ? 'update' : 'shared';
      const a = (await this.#rows.get(tx, 'pair a', { lock })) ?? 0;
      if (this.#random() < 0.3) await turns();
      const b = (await this.#rows.get(tx, 'pair b', { lock })) ?? 0;
      for (const key of raises ? ['pair a', 'pair b'] : []) await this.#rows.set(tx, key, a + 1);
      await this.#pause(tx);
      return [a, b] as const;
    });
    if (done === undefined) return;
    const [a, b] = done.result;
    assert.equal(a, b, 'half of a commit');
  }

  async #collection(): Promise<void> {
    const name = this.#random() < 0.4 ? `c${++this.#last}` : this.#name('c');
    const drawn = this.#random();
    let least = 0;
    const done = await untilTold(async () => {
      least = this.#told.least(name);
      if (least === 0 && drawn < 0.5) return [await this.#state.dictionary(name), there] as const;
      if (least === there && drawn < 0.3) return [await this.#removal(name), gone] as const;
      if (drawn < 0.7) return [await this.#state.get(name), undefined] as const;
      const names = (await this.#state.list()).map((collection) => collection.name);
      return [isIn(names, name), undefined] as const;
    });
    if (done === undefined) return;
    const [found, stage] = done.result;
    if (stage !== undefined) this.#told.tell(name, stage);
    else this.#told.tellThere(name, found !== undefined, least);
  }

  async #removal(name: string): Promise<void> {
    this.#told.mayGo(name);
    try {
      await this.#state.remove(name);
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error; // it is gone already
    }
  }

  #listen(): void {
    this.#rows.onChange((change) => {
      if (change.action === 'clear') return this.#heard.clear();
      if (change.action === 'remove') this.#heard.delete(change.key);
      else this.#heard.set(change.key, change.value);
      if (change.key.startsWith('k')) this.#told.tell(change.key, change.action === 'remove' ? gone : there);
    });
    this.#rows.onRebuild(async (entries) => {
      this.#heard = new Map();
      for await (const [key, value] of entries) {
        this.#heard.set(key, value);
        if (key.startsWith('k')) this.#told.tell(key, there);
      }
    });
    this.#state.onStateChange((change) => {
      if (change.action === 'rebuild') {
        for (const { name } of change.collections) this.#told.tell(name, there);
      } else this.#told.tell(change.collection.name, change.action === 'add' ? there : gone);
    });
  }

  async #watch(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const changes = this.#rows.watch({ signal: this.#stop.signal });
        const found = await runTold(this.#state, (tx) => all(this.#rows.entries(tx)));
        this.#watched = new Map(found?.result);
        for await (const change of changes) {
          if (change.action === 'clear') this.#watched.clear();
          else if (change.action === 'remove') this.#watched.delete(change.key);
          else this.#watched.set(change.key, change.value);
          if (change.action === 'set' && change.key.startsWith('k')) this.#told.tell(change.key, there);
        }
      } catch (error) {
        if (!(error instanceof TransientError)) throw error;
      }
    }
  }

  async finish(): Promise<void> {
    await turns(); // what had a time is gone
    await this.#state.sweep();
    await turns();
    const [rows, count, sum] = await this.#state.transaction(
      async (tx) => [
        await all(this.#rows.entries(tx)),
        await this.#rows.count(tx),
        await this.#counters.get(tx, 'all'),
      ],
      { retries: 5 },
    );
    assert.equal(rows.length, count);
    assert.ok(sum >= this.#told.least('count'));
    const keys = rows.map(([key]) => key).filter((key) => key.startsWith('k'));
    for (const key of keys) this.#told.tell(key, there, this.#told.least(key));
    for (const key of this.#told.names(there).filter((name) => name.startsWith('k')))
      this.#told.tellThere(key, keys.includes(key), there);
    assert.deepEqual(new Map([...this.#watched].sort()), new Map(rows), 'what a watch tells');
    assert.deepEqual(new Map([...this.#heard].sort()), new Map(rows), 'what listeners are told');
    this.#stop.abort();
    await this.#watching;
    assert.deepEqual(this.#state.inspect().transactions, []);
    assert.deepEqual(this.#state.inspect().locks, []);
  }
}

testOnFailingDisk(
  'whoever tells it, it stays true',
  { clients: 10, rounds: 60, seeds: 6 },
  async (state, random) => {
    const rows = await state.dictionary<string, number>('rows');
    return new StageClients(state, random, rows, await state.counters('counters'));
  },
);

// With these seeds a commit, and its locks, once stayed for ever: who had read what was lost took back what another was
// to be told.
testOnFailingDisk(
  'whoever tells it, it stays true where most of it expires',
  { clients: 10, rounds: 60, seeds: 2, from: 145 },
  async (state, random) => {
    const rows = await state.dictionary<string, number>('rows');
    return new StageClients(state, random, rows, await state.counters('counters'), shortLived);
  },
);
