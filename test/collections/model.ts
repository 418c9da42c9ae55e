// The collections as a simple sequential model: plain maps and lists, one transaction after the other.
//
// A state is never changed. What a transaction means to write is kept beside it, and a view shows the two
// together: over the state at the transaction's end for what it reads under locks, over that of its snapshot for
// counts and enumerations, over the newest one for reads that lock nothing.

export interface Row {
  readonly value: number;
  /** The commit that wrote it; 0: the transaction at hand. */
  readonly version: number;
}

export interface State {
  readonly dictionaries: Readonly<Record<string, ReadonlyMap<string, Row>>>;
  /** Every value is enqueued once in a program, so a value is as good as a place. */
  readonly queues: Readonly<Record<string, readonly number[]>>;
  readonly counters: ReadonlyMap<string, number>;
}

export function emptyState(dictionaries: readonly string[], queues: readonly string[]): State {
  return {
    dictionaries: Object.fromEntries(dictionaries.map((name) => [name, new Map()])),
    queues: Object.fromEntries(queues.map((name) => [name, []])),
    counters: new Map(),
  };
}

/** What one transaction has done so far. */
export class Own {
  /** By dictionary and key; nothing: removed. */
  readonly rows = new Map<string, Map<string, number | undefined>>();
  readonly enqueued = new Map<string, number[]>();
  readonly dequeued = new Map<string, Set<number>>();
  /** How much more each collection holds. */
  readonly counts = new Map<string, number>();
  readonly amounts = new Map<string, { sum: number; max: number }>();
}

export class View {
  readonly #state: State;
  readonly #own: Own;

  constructor(state: State, own: Own) {
    this.#state = state;
    this.#own = own;
  }

  row(name: string, key: string): Row | undefined {
    const own = this.#own.rows.get(name);
    if (!own?.has(key)) return this.#state.dictionaries[name]?.get(key);
    const value = own.get(key);
    return value === undefined ? undefined : { value, version: 0 };
  }

  write(name: string, key: string, value: number | undefined): void {
    const [was, is] = [this.row(name, key) !== undefined, value !== undefined];
    this.#count(name, Number(is) - Number(was));
    if (was || is) sub(this.#own.rows, name, () => new Map<string, number | undefined>()).set(key, value);
  }

  entries(name: string): [key: string, value: number][] {
    const keys = new Set([
      ...(this.#state.dictionaries[name]?.keys() ?? []),
      ...(this.#own.rows.get(name)?.keys() ?? []),
    ]);
    return [...keys].sort().flatMap((key) => {
      const row = this.row(name, key);
      return row === undefined ? [] : [[key, row.value] as [string, number]];
    });
  }

  items(name: string): number[] {
    const gone = this.#own.dequeued.get(name);
    const left = (this.#state.queues[name] ?? []).filter((item) => !gone?.has(item));
    return [...left, ...(this.#own.enqueued.get(name) ?? [])];
  }

  enqueue(name: string, item: number): void {
    sub(this.#own.enqueued, name, () => [] as number[]).push(item);
    this.#count(name, 1);
  }

  dequeue(name: string): number | undefined {
    const [first] = this.items(name);
    if (first === undefined) return undefined;
    const own = this.#own.enqueued.get(name);
    if (own?.[0] === first) own.shift();
    else sub(this.#own.dequeued, name, () => new Set<number>()).add(first);
    this.#count(name, -1);
    return first;
  }

  /** Of the state, and what the transaction's own changes add to it. */
  count(name: string): number {
    const { dictionaries, queues } = this.#state;
    return (dictionaries[name]?.size ?? queues[name]?.length ?? 0) + (this.#own.counts.get(name) ?? 0);
  }

  counter(key: string): number {
    return (this.#state.counters.get(key) ?? 0) + (this.#own.amounts.get(key)?.sum ?? 0);
  }

  add(key: string, amount: number, max: number): void {
    const own = sub(this.#own.amounts, key, () => ({ sum: 0, max: Number.POSITIVE_INFINITY }));
    own.sum += amount;
    own.max = Math.min(own.max, max);
  }

  /** Whether a counter would pass a limit given with its amounts. */
  get isOverLimit(): boolean {
    return [...this.#own.amounts].some(([key, { sum, max }]) => sum > 0 && this.counter(key) > max);
  }

  /** The state with the transaction's changes, written by this commit. */
  committed(version: number): State {
    const { dictionaries, queues, counters } = this.#state;
    const rows = (name: string, old: ReadonlyMap<string, Row>) => {
      const next = new Map(old);
      for (const [key, value] of this.#own.rows.get(name) ?? []) {
        if (value === undefined) next.delete(key);
        else next.set(key, { value, version });
      }
      return next;
    };
    return {
      dictionaries: Object.fromEntries(
        Object.entries(dictionaries).map(([name, old]) => [name, rows(name, old)]),
      ),
      queues: Object.fromEntries(Object.keys(queues).map((name) => [name, this.items(name)])),
      counters: new Map([
        ...counters,
        ...[...this.#own.amounts.keys()].map((key) => [key, this.counter(key)] as const),
      ]),
    };
  }

  #count(name: string, amount: number): void {
    this.#own.counts.set(name, (this.#own.counts.get(name) ?? 0) + amount);
  }
}

/** A clear is a transaction of its own. */
export function cleared(state: State, name: string): State {
  return name in state.queues
    ? { ...state, queues: { ...state.queues, [name]: [] } }
    : { ...state, dictionaries: { ...state.dictionaries, [name]: new Map() } };
}

function sub<V>(map: Map<string, V>, name: string, make: () => V): V {
  let found = map.get(name);
  if (found === undefined) map.set(name, (found = make()));
  return found;
}
