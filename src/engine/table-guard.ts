// Nothing is read from a table whose checksums have not been checked since the start.
//
// LevelDB as bound here checks none of them: a flipped bit in a key, an index or a filter makes it miss what
// is stored, or show an older value, and no checksum of a value's own can tell. So tables are checked here,
// before LevelDB reads them:
//
//   at the start    all of a small store; of a larger one what LevelDB reads when it opens a table
//   before a get    the blocks in which LevelDB looks for the key
//   before a range  is given out, all tables that may hold a key of it
//   meanwhile       one after the other, until all are done and the guard is out of the way
//
// LevelDB may merge tables, with what is wrong in them, before they are checked. So those still to be checked
// are kept under a second name in the folder `unchecked` until they have been; what a crash leaves there is
// checked at the next start. Tables written since the start come from memory, or from tables kept there.

import { closeSync, openSync, readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { buffer, compareBytes } from '../base/bytes.js';
import { type Files, hasCode, readWhole } from '../base/files.js';
import type { Key } from './engine.js';
import { DamageError } from './errors.js';
import { checkBlocksOf, checkDataBlocks, checkFrame, type ReadAt } from './leveldb/table.js';
import { blaming, type CheckedTable, damage } from './log-check.js';

interface Unchecked extends CheckedTable {
  /** Its second name. */
  readonly kept: string;
  state: 'unchecked' | 'sound' | DamageError;
}

export interface GuardOptions {
  /** Up to so many bytes of tables are checked before the store is opened. */
  readonly bytesBeforeOpen: number;
}

export const defaultGuard: GuardOptions = { bytesBeforeOpen: 64 * 1024 * 1024 };

/** What the background does between two turns of the event loop: half a millisecond. */
const stepBytes = 512 * 1024;
const maxPauseMs = 20;

/** Checks what has to be checked before LevelDB opens `tables`; the guard of the rest, if there is any. */
export async function guardTables(
  files: Files,
  location: string,
  tables: readonly CheckedTable[],
  options = defaultGuard,
): Promise<TableGuard | undefined> {
  const folder = join(location, 'unchecked');
  await checkLeftOver(files, folder, tables);
  const total = tables.reduce((sum, { size }) => sum + size, 0);
  if (total > options.bytesBeforeOpen) {
    for (const { path, size } of tables) {
      readingFrom(path, (read) => blaming(path, () => checkFrame(read, size)));
    }
    const kept = await keep(files, folder, tables);
    if (kept !== undefined) return new TableGuard(files, folder, kept);
  }
  for (const { path } of tables) await checkTable(files, path);
  await keepNone(files, folder);
  return undefined;
}

/** Checks one table without holding up the event loop for long. Throws `DamageError`. */
export async function checkTable(files: Files, path: string, named = path): Promise<void> {
  const content = await readWhole(files, path);
  if (content === undefined) throw damage(named, 'it is missing');
  const steps = blocksOf(content, named);
  let bytes = 0;
  for (const size of steps) {
    bytes += size;
    if (bytes < stepBytes) continue;
    bytes = 0;
    await nextTurn();
  }
}

export class TableGuard {
  readonly #files: Files;
  readonly #folder: string;
  readonly #levels: Unchecked[][] = [];
  #left: number;
  #stopped = false;
  #found: DamageError | undefined;

  constructor(files: Files, folder: string, tables: readonly Unchecked[]) {
    this.#files = files;
    this.#folder = folder;
    this.#left = tables.length;
    for (const table of tables) (this.#levels[table.level] ??= []).push(table);
    for (const level of this.#levels) level?.sort((a, b) => compareBytes(a.smallest, b.smallest));
  }

  /** Whether every table was found sound. */
  get done(): boolean {
    return this.#left === 0;
  }

  /** The first damage found. */
  get found(): DamageError | undefined {
    return this.#found;
  }

  /** Throws `DamageError` if what stands under the key may come from a damaged table. */
  checkKey(key: Key): void {
    for (const table of this.#overlapping(key, key)) {
      if (table.state === 'unchecked') this.#checkBlocks(table, key);
      if (typeof table.state !== 'string') throw table.state;
    }
  }

  /** The same for all keys from `from` to `to`. */
  async checkRange(from: Key, to: Key): Promise<void> {
    for (const table of [...this.#overlapping(from, to)]) await this.#check(table);
  }

  /** Checks all tables, one after the other. Damage is kept for those who read. */
  async checkAll(): Promise<void> {
    for (const table of this.#levels.flat()) {
      if (this.#stopped) return;
      const began = performance.now();
      await this.#check(table).catch(() => {});
      // As long again for others.
      await delay(Math.min(performance.now() - began, maxPauseMs));
    }
    if (this.done) await keepNone(this.#files, this.#folder).catch(() => {});
  }

  stop(): void {
    this.#stopped = true;
  }

  #checkBlocks(table: Unchecked, key: Key): void {
    try {
      readingFrom(table.kept, (read) =>
        blaming(table.path, () => checkBlocksOf(read, table.size, buffer(key))),
      );
    } catch (error) {
      this.#judge(table, error);
    }
  }

  async #check(table: Unchecked): Promise<void> {
    if (table.state === 'unchecked') {
      await checkTable(this.#files, table.kept, table.path).then(
        () => this.#judge(table, undefined),
        (error: unknown) => this.#judge(table, error),
      );
    }
    if (typeof table.state !== 'string') throw table.state;
  }

  /** The first outcome counts: a read may have been faster than the background. */
  #judge(table: Unchecked, error: unknown): void {
    if (table.state !== 'unchecked') return;
    if (error === undefined) {
      table.state = 'sound';
      this.#left--;
      // One that cannot be removed now is checked and removed at the next start.
      this.#files.remove(table.kept).catch(() => {});
    } else if (error instanceof DamageError) {
      table.state = error;
      this.#found ??= error;
    } else throw error;
  }

  *#overlapping(from: Key, to: Key): Generator<Unchecked> {
    for (const [level, tables] of this.#levels.entries()) {
      if (tables === undefined) continue;
      // Only tables of level 0 overlap each other; elsewhere both ends rise.
      const begin = level === 0 ? 0 : firstEndingAt(tables, from);
      for (let index = begin; index < tables.length; index++) {
        const table = tables[index] as Unchecked;
        if (compareBytes(table.smallest, to) > 0) break;
        if (compareBytes(table.largest, from) >= 0) yield table;
      }
    }
  }
}

/** The index of the first table whose last key is not below `key`. */
function firstEndingAt(tables: readonly Unchecked[], key: Key): number {
  let low = 0;
  let high = tables.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes((tables[middle] as Unchecked).largest, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Checks all blocks, one with each step. */
function* blocksOf(content: Buffer, path: string): Generator<number> {
  const read: ReadAt = (offset, length) => content.subarray(offset, offset + length);
  const frame = blaming(path, () => checkFrame(read, content.length));
  const blocks = checkDataBlocks(read, content.length, frame);
  while (true) {
    const step = blaming(path, () => blocks.next());
    if (step.done) return;
    yield step.value;
  }
}

/** Reads of the file no more than what is asked for. */
function readingFrom(path: string, run: (read: ReadAt) => void): void {
  const file = openSync(path, 'r');
  try {
    run((offset, length) => {
      const bytes = Buffer.allocUnsafe(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
    });
  } finally {
    closeSync(file);
  }
}

/** Gives each table its second name; nothing if the file system has none to give. */
async function keep(
  files: Files,
  folder: string,
  tables: readonly CheckedTable[],
): Promise<Unchecked[] | undefined> {
  try {
    await files.makeFolder(folder).catch(unless('EEXIST'));
    const kept: Unchecked[] = tables.map((table) => ({
      ...table,
      kept: join(folder, basename(table.path)),
      state: 'unchecked',
    }));
    for (const table of kept) await files.link(table.path, table.kept).catch(unless('EEXIST'));
    await files.syncFolder(folder);
    await files.syncFolder(dirname(folder));
    return kept;
  } catch {
    return undefined;
  }
}

/** What a run that ended early kept, and LevelDB has removed since. */
async function checkLeftOver(files: Files, folder: string, tables: readonly CheckedTable[]): Promise<void> {
  if ((await files.status(folder)) === undefined) return;
  const current = new Set(tables.map(({ path }) => basename(path)));
  for (const name of await files.list(folder)) {
    if (current.has(name)) continue;
    await checkTable(files, join(folder, name));
    await files.remove(join(folder, name));
  }
}

/** All tables are checked: nothing is to be kept. */
async function keepNone(files: Files, folder: string): Promise<void> {
  if ((await files.status(folder)) === undefined) return;
  for (const name of await files.list(folder)) {
    await files.remove(join(folder, name)).catch(unless('ENOENT'));
  }
  await files.removeFolder(folder);
}

function unless(code: string): (error: unknown) => void {
  return (error) => {
    if (!hasCode(error, code)) throw error;
  };
}
