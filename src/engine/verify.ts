// Reads every log, table and record of a store that is not in use, and tells what is damaged. Changes nothing.

import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { compareBytes } from '../base/bytes.js';
import { type Files, readWhole, realFiles } from '../base/files.js';
import { storeFolder } from './disk.js';
import { readMark } from './durable-mark.js';
import { DamageError, FormatError } from './errors.js';
import { inspectFolder } from './format.js';
import { readBatch } from './leveldb/batch.js';
import { MalformedError } from './leveldb/cursor.js';
import { checkFrame, type ReadAt, tableEntries, userKey } from './leveldb/table.js';
import { blaming, checkRecords, damage } from './log-check.js';
import { claimFolder } from './owner.js';
import { decodeRecord } from './record.js';

export interface StoreReport {
  readonly tables: number;
  readonly bytes: number;
  /** Values in tables and logs, older versions included. */
  readonly records: number;
  /** Each names its file. */
  readonly damage: readonly DamageError[];
}

export interface VerifyOptions {
  readonly files?: Files;
  readonly signal?: AbortSignal;
  readonly progress?: (done: { readonly bytes: number; readonly totalBytes: number }) => void;
}

/** Entries between two turns of the event loop. */
const stepEntries = 2000;

export async function verifyStore(location: string, options: VerifyOptions = {}): Promise<StoreReport> {
  const files = options.files ?? realFiles;
  const state = await inspectFolder(files, location);
  if (state.kind !== 'ours') {
    throw new FormatError(
      `The folder ${location} is not a data folder of Lazuli. There is nothing to verify.`,
    );
  }
  const release = await claimFolder(files, location);
  try {
    return await new Verification(files, location, options).run();
  } finally {
    await release();
  }
}

class Verification {
  readonly #files: Files;
  readonly #location: string;
  readonly #options: VerifyOptions;
  readonly #damage: DamageError[] = [];
  #records = 0;
  #bytes = 0;

  constructor(files: Files, location: string, options: VerifyOptions) {
    this.#files = files;
    this.#location = location;
    this.#options = options;
  }

  async run(): Promise<StoreReport> {
    const logsRead = this.#attempt(() => this.#checkLogs());
    const paths = [
      ...((await logsRead) ?? (await this.#list(storeFolder))),
      ...(await this.#list('unchecked')),
    ];
    const sizes = await Promise.all(paths.map(async (path) => (await this.#files.status(path))?.size ?? 0));
    const totalBytes = sizes.reduce((sum, size) => sum + size, 0);
    for (const path of paths) {
      this.#options.signal?.throwIfAborted();
      await this.#attempt(() => this.#checkTable(path));
      this.#options.progress?.({ bytes: this.#bytes, totalBytes });
    }
    return { tables: paths.length, bytes: this.#bytes, records: this.#records, damage: this.#damage };
  }

  async #attempt<T>(check: () => Promise<T>): Promise<T | undefined> {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof DamageError)) throw error;
      this.#damage.push(error);
      return undefined;
    }
  }

  /** The paths of the tables that the store has. */
  async #checkLogs(): Promise<string[]> {
    const mark = await readMark(this.#files, this.#location);
    const folder = join(this.#location, storeFolder);
    const { tables } = await checkRecords(this.#files, folder, mark, (path, { start, payload }) => {
      blaming(`${path} at offset ${start}`, () =>
        readBatch(payload, ({ key, value }) => {
          if (value !== undefined) this.#checkRecord(key, value, path);
        }),
      );
    });
    return tables.map(({ path }) => path);
  }

  /** All tables in a folder: what there is to look at where nobody says which of them count. */
  async #list(name: string): Promise<string[]> {
    const folder = join(this.#location, name);
    if ((await this.#files.status(folder)) === undefined) return [];
    const names = await this.#files.list(folder);
    return names.filter((name) => /\.(ldb|sst)$/.test(name)).map((name) => join(folder, name));
  }

  async #checkTable(path: string): Promise<void> {
    const content = await readWhole(this.#files, path);
    if (content === undefined) throw damage(path, 'it is missing');
    this.#bytes += content.length;
    const read: ReadAt = (offset, length) => content.subarray(offset, offset + length);
    const entries = blaming(path, () => tableEntries(read, content.length, checkFrame(read, content.length)));
    let before: Buffer | undefined;
    for (let count = 1; ; count++) {
      const step = blaming(path, () => entries.next());
      if (step.done) return;
      const { internalKey, value } = step.value;
      blaming(path, () => {
        if (before !== undefined && compareInternal(before, internalKey) >= 0) {
          throw new MalformedError('its keys are not in order');
        }
        const isPut = internalKey[internalKey.length - 8] === 1;
        if (isPut) this.#checkRecord(userKey(internalKey), value, path);
      });
      before = internalKey;
      if (count % stepEntries === 0) await nextTurn();
    }
  }

  #checkRecord(key: Buffer, record: Buffer, path: string): void {
    this.#records++;
    decodeRecord(key, record, path);
  }
}

/** By key; the newest of one key first. */
function compareInternal(a: Buffer, b: Buffer): number {
  const keys = compareBytes(userKey(a), userKey(b));
  if (keys !== 0) return keys;
  const [first, second] = [a.readBigUInt64LE(a.length - 8), b.readBigUInt64LE(b.length - 8)];
  return first > second ? -1 : first < second ? 1 : 0;
}
