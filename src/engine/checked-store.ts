// LevelDB in a data folder, opened only after its files were looked at, and watched from then on: what is
// read comes from checked tables (table-guard.ts), what is written moves the durable mark (durable-mark.ts).

import { type Files, hasCode } from '../base/files.js';
import { MarkWriter, readMark } from './durable-mark.js';
import type { Key } from './engine.js';
import { DamageError } from './errors.js';
import { checkRecords, cutTornEnds } from './log-check.js';
import { openLevelStore, type Store, type StoreCursor, type StoreRange } from './store.js';
import { defaultGuard, type GuardOptions, guardTables, type TableGuard } from './table-guard.js';

/** The LevelDB of one data folder, which this process owns. It is opened again after a write has failed. */
export class CheckedLevel {
  readonly #files: Files;
  readonly #location: string;
  readonly #records: string;
  readonly #options: GuardOptions;
  #guard: TableGuard | undefined;
  #opened = false;

  constructor(files: Files, location: string, records: string, options = defaultGuard) {
    this.#files = files;
    this.#location = location;
    this.#records = records;
    this.#options = options;
  }

  /** Damage that was found since the start; reads of what it may touch throw it. */
  get damage(): DamageError | undefined {
    return this.#guard?.found;
  }

  /** Throws `DamageError` and leaves everything as it is if the files are not what was written. */
  async open(): Promise<Store> {
    const mark = await readMark(this.#files, this.#location);
    const { tables, tornEnds } = await checkRecords(this.#files, this.#records, mark);
    // Tables that came since the first time were written by this process.
    if (!this.#opened) this.#guard = await guardTables(this.#files, this.#location, tables, this.#options);
    await cutTornEnds(this.#files, tornEnds);
    const marks = new MarkWriter(this.#files, this.#location, this.#records);
    const store = await openLevelStore(this.#records).catch((error: unknown) => {
      marks.close();
      throw error;
    });
    if (!this.#opened) void this.#guard?.checkAll();
    this.#opened = true;
    return watched(store, () => this.#activeGuard(), marks);
  }

  stop(): void {
    this.#guard?.stop();
  }

  #activeGuard(): TableGuard | undefined {
    if (this.#guard?.done) this.#guard = undefined;
    return this.#guard;
  }
}

function watched(store: Store, guard: () => TableGuard | undefined, marks: MarkWriter): Store {
  return {
    ...store,
    get(key, snapshot) {
      guard()?.checkKey(key);
      try {
        return store.get(key, snapshot);
      } catch (error) {
        throw named(store, error);
      }
    },
    cursor: (range) => watchedCursor(store, range, guard),
    async write(operations) {
      await store.write(operations);
      const named = marks.note();
      if (named !== undefined) await named;
    },
    async close() {
      try {
        await store.close();
      } finally {
        marks.close();
      }
    },
  };
}

/** Rows are given out when the tables that may hold a key between them, or before them, are checked. */
function watchedCursor(store: Store, range: StoreRange, guard: () => TableGuard | undefined): StoreCursor {
  const cursor = store.cursor(range);
  const end = range.reverse ? range.gte : range.lt;
  let position: Key = range.reverse ? range.lt : range.gte;
  return {
    async nextv(count) {
      let rows: [Uint8Array, Uint8Array][] = [];
      let failure: unknown;
      try {
        rows = await cursor.nextv(count);
      } catch (error) {
        failure = named(store, error);
      }
      const last = rows.at(-1)?.[0] ?? end;
      await (range.reverse ? guard()?.checkRange(last, position) : guard()?.checkRange(position, last));
      if (failure !== undefined) throw failure;
      position = last;
      return rows;
    },
    close: () => cursor.close(),
  };
}

/** What LevelDB calls corrupt is damage in our words. */
function named(store: Store, error: unknown): unknown {
  if (!hasCode(error, 'LEVEL_CORRUPTION')) return error;
  return new DamageError(
    `Damaged data in ${store.name}: ${(error as Error).message}. Stop the server and restore a backup.`,
    { cause: error },
  );
}
