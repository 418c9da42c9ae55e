// Makes a store of backups: one full one and those that stand on it.
//
// Everything is verified before anything is written. The store is made in a folder `restoring` within its place.
// When all of it is on disk its parts are renamed to where they belong, `format` last: whenever the power is
// cut, there is a whole store there or none. What an attempt left behind is cleared away by the next. A store that
// is replaced loses its `format` first, when the new one is on disk: from then on it cannot be opened, and the
// message says to restore again.
//
// Versions, stamps and the clock of the new store go on above those of the last backup. It has no chain of its
// own: its first backup is a full one.

import { join } from 'node:path';
import { type Files, makeFolders, realFiles } from '../base/files.js';
import { type BackupMetadata, metadataNames, readMetadata, readRows } from './backup-files.js';
import { folderDisk, storeFolder } from './disk.js';
import type { BackupInfo } from './engine.js';
import { BrokenChainError, FormatError, MissingFullBackupError, OlderBackupError } from './errors.js';
import { inspectFolder } from './format.js';
import { loadMarks, marksOperation } from './marks.js';
import { claimFolder } from './owner.js';
import { encodeRecord } from './record.js';
import { type Operation, openLevelStore, type Store } from './store.js';

export interface FoundBackup extends BackupMetadata {
  readonly folder: string;
}

export interface RestoreOptions {
  readonly files?: Files;
  /** A store that is there is replaced: if the backup is newer, or `always`. Refused unless given. */
  readonly replace?: 'older' | 'always' | undefined;
  readonly signal?: AbortSignal;
  readonly progress?: (done: { readonly rows: number; readonly totalRows: number }) => void;
  /**
   * Called with the backups, the full one first, and the folder that becomes the store: what else belongs to
   * them is copied here, and is on disk when the promise resolves.
   */
  readonly also?: (backups: readonly FoundBackup[], folder: string) => Promise<void>;
}

const restoringFolder = 'restoring';
const batchBytes = 4 * 1024 * 1024;
/** How deep backups may lie below the folder that was given. */
const maxDepth = 4;

/** `from`: a folder that holds the backups, at any depth down to four, or all their folders. */
export async function restore(
  from: string | readonly string[],
  location: string,
  options: RestoreOptions = {},
): Promise<BackupInfo> {
  const files = options.files ?? realFiles;
  const chain = await verifyChain(from, options);
  await refuseTaken(files, location, options.replace !== undefined);
  await makeFolders(files, location);
  const release = await claimFolder(files, location);
  try {
    const building = join(location, restoringFolder);
    if (options.replace === 'older') await refuseNewer(files, location, chain.at(-1) as FoundBackup);
    await clear(files, location);
    await files.makeFolder(building);
    await files.syncFolder(location);
    await writeStore(files, building, chain, options);
    await options.also?.(chain, building);
    await clearStore(files, location);
    await moveUp(files, building, location);
  } finally {
    await release();
  }
  const { kind, id, parent, firstVersion, lastVersion } = chain.at(-1) as FoundBackup;
  return { kind, id, parent, firstVersion, lastVersion };
}

/** The backups that a restore would use, the full one first, each read to its end and found whole. */
export async function verifyChain(
  from: string | readonly string[],
  options: Pick<RestoreOptions, 'files' | 'signal'> = {},
): Promise<readonly FoundBackup[]> {
  const files = options.files ?? realFiles;
  const folders = typeof from === 'string' ? [from] : from;
  const found: FoundBackup[] = [];
  for (const folder of folders) await findBackups(files, folder, maxDepth, found);
  const chain = chainOf(found, folders.join(', '));
  for (const backup of chain) {
    for await (const _ of readRows(files, backup.folder, backup)) options.signal?.throwIfAborted();
  }
  return chain;
}

async function findBackups(files: Files, folder: string, depth: number, found: FoundBackup[]): Promise<void> {
  const status = await files.status(folder);
  if (status === undefined) throw new MissingFullBackupError(`There is no folder ${folder}.`);
  if (status.kind !== 'folder') return;
  const names = await files.list(folder);
  for (const name of Object.values(metadataNames)) {
    if (!names.includes(name)) continue;
    const metadata = await readMetadata(files, join(folder, name));
    if (metadata !== undefined) found.push({ ...metadata, folder });
  }
  if (depth === 0) return;
  for (const name of names) await findBackups(files, join(folder, name), depth - 1, found);
}

/** From the newest back to the full one; what no other stands on is passed over. */
export function chainOf<Backup extends BackupInfo>(found: readonly Backup[], where: string): Backup[] {
  const full = found.filter(({ kind }) => kind === 'full');
  const [first] = full;
  if (first === undefined || full.length > 1) {
    throw new MissingFullBackupError(
      `In ${where} there are ${full.length} full backups. Give one, and the incremental ones that stand on it.`,
    );
  }
  const byId = new Map(found.map((backup) => [backup.id, backup]));
  let backup = found.reduce((newest, other) => (other.lastVersion > newest.lastVersion ? other : newest));
  const chain = [backup];
  while (backup.kind === 'incremental') {
    const parent = byId.get(backup.parent);
    if (parent === undefined)
      throw broken(where, `the backup ${backup.parent}, on which ${backup.id} stands, is missing`);
    if (parent.lastVersion + 1 !== backup.firstVersion || chain.includes(parent)) {
      throw broken(where, `the backup ${backup.id} does not go on where ${parent.id} ends`);
    }
    chain.unshift(parent);
    backup = parent;
  }
  return chain;
}

function broken(where: string, what: string): BrokenChainError {
  return new BrokenChainError(
    `The backups in ${where} are not a chain: ${what}. Add what is missing, or take away what does not belong.`,
  );
}

/** Unless it is empty, holds what a restore that was cut off has left, or a store that may be replaced. */
async function refuseTaken(files: Files, location: string, replace: boolean): Promise<void> {
  const state = await inspectFolder(files, location);
  if (state.kind === 'empty' || (state.kind === 'ours' && replace)) return;
  if (state.kind === 'foreign' && state.found.includes(restoringFolder)) return;
  throw new FormatError(`The folder ${location} is not empty. Choose another one to restore into.`);
}

/** The marks of a store move with every start, so one that was opened since counts as newer. */
async function refuseNewer(files: Files, location: string, backup: FoundBackup): Promise<void> {
  if ((await inspectFolder(files, location)).kind !== 'ours') return;
  const store = await openLevelStore(join(location, storeFolder));
  try {
    const { version } = loadMarks(store);
    if (version < backup.lastVersion) return;
    throw new OlderBackupError(
      `The store in ${location} has come to version ${version}, and the backup ends with ${backup.lastVersion}: ` +
        'it is older. Restore it elsewhere, or say that what is there is to be replaced all the same.',
    );
  } finally {
    await store.close();
  }
}

/** All that a restore has put there. */
async function clear(files: Files, location: string): Promise<void> {
  const state = await inspectFolder(files, location);
  const names = state.kind === 'foreign' ? state.found : [restoringFolder];
  for (const name of names) await removeTree(files, join(location, name));
}

/** The store that is replaced: `format` first, and on disk, so that what is left of it is never taken for whole. */
async function clearStore(files: Files, location: string): Promise<void> {
  if ((await inspectFolder(files, location)).kind !== 'ours') return;
  await files.remove(join(location, 'format'));
  await files.syncFolder(location);
  for (const name of await files.list(location)) {
    if (!['lock', 'owner', restoringFolder].includes(name)) await removeTree(files, join(location, name));
  }
}

/** The lock and its owner are those of the place itself. */
async function moveUp(files: Files, building: string, location: string): Promise<void> {
  await syncTree(files, building);
  const parts = (await files.list(building)).filter((name) => !['lock', 'owner', 'format'].includes(name));
  for (const name of parts) await files.rename(join(building, name), join(location, name));
  await files.syncFolder(location);
  await files.rename(join(building, 'format'), join(location, 'format'));
  await files.syncFolder(location);
  await removeTree(files, building);
}

async function writeStore(
  files: Files,
  folder: string,
  chain: readonly FoundBackup[],
  options: RestoreOptions,
): Promise<void> {
  const last = chain.at(-1) as FoundBackup;
  const disk = await folderDisk(folder, { files, reserveBytes: 0 });
  try {
    const store = await disk.open();
    try {
      await copyRows(files, store, chain, options);
      const marks = { version: last.lastVersion, stamp: last.stamp, clock: last.clock };
      await store.write([marksOperation(marks)]);
    } finally {
      await store.close();
    }
  } finally {
    await disk.close();
  }
}

async function copyRows(
  files: Files,
  store: Store,
  chain: readonly FoundBackup[],
  options: RestoreOptions,
): Promise<void> {
  const totalRows = chain.reduce((sum, { rows }) => sum + rows, 0);
  let done = 0;
  let batch: Operation[] = [];
  let bytes = 0;
  const write = async () => {
    options.signal?.throwIfAborted();
    await store.write(batch);
    done += batch.length;
    batch = [];
    bytes = 0;
    options.progress?.({ rows: done, totalRows });
  };
  for (const backup of chain) {
    for await (const rows of readRows(files, backup.folder, backup)) {
      for (const { key, value, version } of rows) {
        batch.push(
          value === undefined
            ? { type: 'del', key }
            : { type: 'put', key, value: encodeRecord(key, value, version) },
        );
        bytes += key.length + (value?.length ?? 0);
        if (bytes >= batchBytes) await write();
      }
    }
  }
  if (batch.length > 0) await write();
}

/** LevelDB syncs its files, but not all of their names. */
async function syncTree(files: Files, folder: string): Promise<void> {
  for (const name of await files.list(folder)) {
    const path = join(folder, name);
    if ((await files.status(path))?.kind === 'folder') await syncTree(files, path);
  }
  await files.syncFolder(folder);
}

async function removeTree(files: Files, path: string): Promise<void> {
  const status = await files.status(path);
  if (status === undefined) return;
  if (status.kind !== 'folder') return files.remove(path);
  for (const name of await files.list(path)) await removeTree(files, join(path, name));
  await files.removeFolder(path);
}
