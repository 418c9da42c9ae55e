// Brings the entities that a table had before into an index that was declared, some at a time in the background.
//
// One step locks a few entities, adds their rows and notes how far it is, all in one transaction: a write to one of
// them comes before or after the step, and keeps the rows it finds or makes. What is written behind the step puts
// its rows itself (indexes.ts). After a crash the next start goes on from the note. The last step, which finds no
// further entity, makes the index ready.

import type { Transaction } from '../../collections/index.js';
import { indexEntity } from './indexes.js';
import { type IndexBuild, rowKeyOf, type TableEntry, type TableIndex, type TableStore } from './model.js';

/** How many entities are locked together. */
const stepSize = 500;

export class IndexBuilder {
  readonly #store: TableStore;
  readonly #report: (error: unknown) => void;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(store: TableStore, report: (error: unknown) => void) {
    this.#store = store;
    this.#report = report;
    // Also where a step failed, on a full disk for instance.
    store.garbage.also(async () => this.start());
  }

  /** Builds what is to be built, unless it is at it. */
  start(): void {
    if (this.#closed) return;
    this.#running ??= this.#buildAll()
      .catch(this.#report)
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Resolves when nothing is left to build. */
  async finish(): Promise<void> {
    this.start();
    await this.#running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #buildAll(): Promise<void> {
    for (;;) {
      const [id] = await this.#waiting();
      if (id === undefined) return;
      while (!this.#closed && (await buildStep(this.#store, id)));
      if (this.#closed) return;
    }
  }

  #waiting(): Promise<number[]> {
    return this.#store.run(async (tx) => {
      const ids: number[] = [];
      for await (const id of this.#store.builds.keys(tx, { newest: true, pageSize: 1 })) {
        ids.push(id);
        break;
      }
      return ids;
    });
  }
}

/** Whether there may be more to do. */
function buildStep(store: TableStore, id: number): Promise<boolean> {
  return store.run(async (tx) => {
    const build = await store.builds.get(tx, id, { lock: 'update' });
    if (build === undefined) return false; // dropped, or its table was
    const entry = await store.tables.get(tx, build.table, { lock: 'none', check: true });
    const index = entry?.indexes?.find((one) => one.id === id);
    if (entry === undefined || index === undefined) return false;
    const { count, last } = await indexSome(store, tx, entry, index, build.after);
    if (count === stepSize) {
      await store.builds.set(tx, id, { ...build, after: last, done: build.done + count });
      return true;
    }
    await store.builds.delete(tx, id);
    const indexes = entry.indexes?.map((one) => (one === index ? { ...one, ready: true } : one));
    await store.tables.set(tx, build.table, { ...entry, indexes });
    return false;
  });
}

async function indexSome(
  store: TableStore,
  tx: Transaction,
  { id }: TableEntry,
  index: TableIndex,
  after: IndexBuild['after'],
): Promise<{ count: number; last: IndexBuild['after'] }> {
  let [count, last] = [0, after];
  const behind = after && { after: rowKeyOf(id, { partitionKey: after[0], rowKey: after[1] }) };
  const range = { prefix: [id], newest: true, pageSize: stepSize, ...behind };
  for await (const row of store.entities.keys(tx, range)) {
    const record = await store.entities.get(tx, row, { lock: 'update' });
    await indexEntity(store, tx, index, row, undefined, record);
    last = [row[1].text, row[2].text];
    if (++count === stepSize) break;
  }
  return { count, last };
}
