// Takes backups while work goes on.
//
//   full          every row of a snapshot. From its moment on the change log notes what changes.
//   incremental   the rows, as a snapshot shows them, of the keys that were noted since the last one
//
// A backup stands on the one before it (`parent`) and says up to which version it goes. It counts, for the
// next one, when its files are on disk and the chain that names it is stored. One that fails in between leaves
// a backup that no other will stand on; restore passes over it.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Files, makeFolders } from '../base/files.js';
import {
  type BackupMetadata,
  type BackupRow,
  metadataNames,
  RowWriter,
  rowsName,
  writeMetadata,
} from './backup-files.js';
import { type Chain, type ChangeLog, readChanges } from './change-log.js';
import type { BackupInfo, BackupOptions, Key, Snapshot, Version } from './engine.js';
import { BackupInProgressError, FormatError, MissingFullBackupError } from './errors.js';
import type { Marks } from './marks.js';
import type { Store } from './store.js';

/** What a backup needs of the engine. */
export interface BackupSource {
  snapshot(): Snapshot;
  settled(version: Version): Promise<void> | undefined;
  marks(version: Version): Marks;
  /** As it is open now. */
  store(): Store;
  /** Ends when what the change log wants to have written is on disk. */
  flush(): Promise<void>;
}

const pageSize = { limit: 1000, maxBytes: 1024 * 1024 } as const;
const changeRecords = 100;

export class Backups {
  readonly #source: BackupSource;
  readonly #log: ChangeLog;
  readonly #files: Files;
  #running = false;
  #sweeping = false;

  constructor(source: BackupSource, log: ChangeLog, files: Files) {
    this.#source = source;
    this.#log = log;
    this.#files = files;
  }

  async take(folder: string, options: BackupOptions): Promise<BackupInfo> {
    if (this.#running) {
      throw new BackupInProgressError('A backup is being taken. Wait until it ends, then try again.');
    }
    this.#running = true;
    try {
      if (options.kind === 'incremental') lastOf(this.#log.chain);
      await takeFolder(this.#files, folder);
      return await this.#take(folder, options);
    } finally {
      this.#running = false;
    }
  }

  /** Removes what the change log has no use for any more, some at a time. */
  async tidy(): Promise<void> {
    if (this.#sweeping || !this.#log.untidy) return;
    this.#sweeping = true;
    try {
      while (this.#log.untidy) {
        await this.#log.sweep(this.#source.store());
        if (this.#log.waiting) await this.#source.flush();
      }
    } catch {
      // The store failed or was closed meanwhile; a later call goes on.
    } finally {
      this.#sweeping = false;
    }
  }

  async #take(folder: string, options: BackupOptions): Promise<BackupInfo> {
    const first = this.#log.chain === undefined;
    try {
      if (first) await this.#follow({});
      const chain = this.#log.chain;
      const info = await this.#write(folder, options, chain);
      // If the chain was given up meanwhile this is a good backup, but the next one cannot stand on it.
      if (this.#log.chain === chain) await this.#follow({ last: { id: info.id, version: info.lastVersion } });
      return info;
    } catch (error) {
      if (first && this.#isWithoutBackup()) this.#log.follow(undefined);
      throw error;
    }
  }

  #isWithoutBackup(): boolean {
    return this.#log.chain !== undefined && this.#log.chain.last === undefined;
  }

  async #follow(chain: Chain): Promise<void> {
    this.#log.follow(chain);
    await this.#source.flush();
  }

  async #write(folder: string, options: BackupOptions, chain: Chain | undefined): Promise<BackupInfo> {
    try {
      using snapshot = this.#source.snapshot();
      const { stamp, clock } = this.#source.marks(snapshot.seen);
      await this.#source.settled(snapshot.seen);
      const written = await this.#writeRows(folder, options, snapshot, chain);
      await options.during?.(snapshot, options.kind === 'full' ? undefined : lastOf(chain).id);
      options.signal?.throwIfAborted();
      const info = this.#describe(options.kind, snapshot.seen, chain);
      // The name of the rows as well: the metadata must not be there without them.
      await this.#files.syncFolder(folder);
      await writeMetadata(this.#files, folder, { ...info, stamp, clock, ...written });
      await options.accept?.(info);
      return info;
    } catch (error) {
      await clear(this.#files, folder);
      throw error;
    }
  }

  #describe(kind: BackupInfo['kind'], lastVersion: Version, chain: Chain | undefined): BackupInfo {
    const id = randomUUID();
    if (kind === 'full') return { kind, id, parent: id, firstVersion: 0, lastVersion };
    if (this.#log.chain !== chain) throw missingFull();
    const last = lastOf(chain);
    return { kind, id, parent: last.id, firstVersion: last.version + 1, lastVersion };
  }

  async #writeRows(
    folder: string,
    options: BackupOptions,
    snapshot: Snapshot,
    chain: Chain | undefined,
  ): Promise<Pick<BackupMetadata, 'rows' | 'bytes' | 'check'>> {
    const writer = await RowWriter.create(this.#files, folder);
    try {
      const pages =
        options.kind === 'full' ? allRows(snapshot) : this.#changedRows(snapshot, lastOf(chain).version);
      for await (const page of pages) {
        options.signal?.throwIfAborted();
        for (const row of page) await writer.add(row);
        options.progress?.(writer.written);
      }
      return await writer.finish();
    } finally {
      await writer.close();
    }
  }

  /** The rows of the keys that were noted after `version`, each with the group that changed it last. */
  async *#changedRows(snapshot: Snapshot, version: Version): AsyncGenerator<BackupRow[]> {
    let before = version;
    while (before < snapshot.seen) {
      const records = await readChanges(this.#source.store(), before, changeRecords);
      if (records.length === 0) return;
      for (const record of records) {
        const found = await snapshot.getMany(record.keys);
        const rows = found.map(({ value, version }, index) => ({
          key: record.keys[index] as Key,
          value,
          version,
        }));
        yield rows.filter(
          (row) => row.value === undefined || (row.version > before && row.version <= record.version),
        );
        before = record.version;
      }
    }
  }
}

async function* allRows(snapshot: Snapshot): AsyncGenerator<readonly BackupRow[]> {
  let from: Key = Buffer.alloc(0);
  while (true) {
    const { rows, more } = await snapshot.range(from, undefined, pageSize);
    yield rows;
    const last = rows.at(-1);
    if (!more || last === undefined) return;
    from = Buffer.concat([last.key, Buffer.alloc(1)]);
  }
}

function lastOf(chain: Chain | undefined): { readonly id: string; readonly version: Version } {
  if (chain?.last === undefined) throw missingFull();
  return chain.last;
}

function missingFull(): MissingFullBackupError {
  return new MissingFullBackupError(
    'There is no backup that an incremental one could stand on: none was taken, or too much has changed since. ' +
      'Take a full one.',
  );
}

async function takeFolder(files: Files, folder: string): Promise<void> {
  await makeFolders(files, folder);
  if ((await files.list(folder)).length > 0) {
    throw new FormatError(`The folder ${folder} is not empty. Choose another one for the backup.`);
  }
}

/** What was written, so that the folder can be used again. */
async function clear(files: Files, folder: string): Promise<void> {
  for (const name of [rowsName, ...Object.values(metadataNames)]) {
    await files.remove(join(folder, name)).catch(() => {});
  }
}
