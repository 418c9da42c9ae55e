// What a piece of work costs the engine: how many keys were looked up, how many rows were read in ranges, how many
// were written, in how many commits.

import type { Change, Engine } from '#src/engine/engine.js';

export interface Work {
  readonly reads: number;
  readonly commits: number;
  readonly writes: number;
}

/** Counts at the contract, so whatever is asked of the engine is seen. */
export async function workOf(engine: Engine, work: () => Promise<unknown>): Promise<Work> {
  const counted = { reads: 0, commits: 0, writes: 0 };
  const one = (value: unknown) => {
    counted.reads++;
    return value;
  };
  const rows = (value: unknown): unknown => {
    if (value instanceof Promise) return value.then(rows);
    counted.reads += rowsOf(value);
    return value;
  };
  const real = {
    get: engine.get,
    getMany: engine.getMany,
    range: engine.range,
    checkedRange: engine.checkedRange,
    commit: engine.commit,
    snapshot: engine.snapshot,
  };
  const wrapped: Record<string, (...args: never[]) => unknown> = {
    get: (...args) => one(real.get.apply(engine, args as never)),
    getMany: (...args) => rows(real.getMany.apply(engine, args as never)),
    range: (...args) => rows(real.range.apply(engine, args as never)),
    checkedRange: (...args) => rows(real.checkedRange.apply(engine, args as never)),
    snapshot: () => {
      const snapshot = real.snapshot.call(engine);
      const { get, getMany, range } = snapshot;
      return Object.assign(snapshot, {
        get: (...args: never[]) => one(get.apply(snapshot, args as never)),
        getMany: (...args: never[]) => rows(getMany.apply(snapshot, args as never)),
        range: (...args: never[]) => rows(range.apply(snapshot, args as never)),
      });
    },
    commit: (change: Change) => {
      if (change.writes?.length || change.adds?.length) counted.commits++;
      counted.writes += (change.writes?.length ?? 0) + (change.adds?.length ?? 0);
      return real.commit.call(engine, change);
    },
  };
  Object.assign(engine, wrapped);
  try {
    await work();
  } finally {
    for (const name of Object.keys(wrapped)) delete (engine as unknown as Record<string, unknown>)[name];
  }
  return counted;
}

function rowsOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return (value as { rows: readonly unknown[] }).rows.length;
}
