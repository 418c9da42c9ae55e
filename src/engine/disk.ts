// What the store stands on: a folder, or memory. It can be opened again after a failure, tells how much room
// there is and keeps a reserve. Tests put one below the engine that fails when it is told to.

import { randomFillSync } from 'node:crypto';
import { join } from 'node:path';
import { type Files, makeFolders, realFiles } from '../base/files.js';
import { CheckedLevel } from './checked-store.js';
import type { DamageError } from './errors.js';
import { checkFolder, prepareFolder } from './format.js';
import { claimFolder } from './owner.js';
import { isFull, Reserve } from './reserve.js';
import { openMemoryStore, type Store } from './store.js';
import type { GuardOptions } from './table-guard.js';

export interface Disk {
  open(): Promise<Store>;
  /** Ends when something was written and synced, as much as opening the store may need. */
  probe(): Promise<void>;
  freeBytes(): Promise<number>;
  /** What was found damaged since the store was opened. */
  readonly damage: DamageError | undefined;
  /** Gives the folder back. The store is closed. */
  close(): Promise<void>;
  /** See reserve.ts. */
  readonly reserve: Pick<Reserve, 'keep' | 'giveUp'>;
}

export interface FolderOptions {
  readonly files?: Files;
  readonly reserveBytes?: number;
  readonly probeBytes?: number;
  readonly guard?: GuardOptions;
}

/** The folder and, below it, what is in it. */
export const storeFolder = 'store';
const reserveFile = 'reserve';
const probeFile = 'probe';

const defaultReserveBytes = 64 * 1024 * 1024;
/** Opening writes the log of the last run as a table. */
const defaultProbeBytes = 16 * 1024 * 1024;

/** Takes the folder as its owner. Refused, with everything left as it is, if it is in use or not ours. */
export async function folderDisk(location: string, options: FolderOptions = {}): Promise<Disk> {
  const files = options.files ?? realFiles;
  await checkFolder(files, location);
  await makeFolders(files, location);
  const reserve = new Reserve(
    files,
    join(location, reserveFile),
    options.reserveBytes ?? defaultReserveBytes,
  );
  const release = await withRoom(reserve, () => own(files, location));
  const level = new CheckedLevel(files, location, join(location, storeFolder), options.guard);
  return {
    open: () => level.open(),
    get damage() {
      return level.damage;
    },
    async close() {
      level.stop();
      await reserve.close();
      await release();
    },
    probe: () => probe(files, join(location, probeFile), options.probeBytes ?? defaultProbeBytes),
    freeBytes: () => files.freeBytes(location),
    reserve,
  };
}

async function own(files: Files, location: string): Promise<() => Promise<void>> {
  const release = await claimFolder(files, location);
  try {
    await prepareFolder(files, location);
    await makeFolders(files, join(location, storeFolder));
    return release;
  } catch (error) {
    await release();
    throw error;
  }
}

/** A disk that is full keeps nobody from what is stored: the reserve is given up for it. */
async function withRoom<T>(reserve: Reserve, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!isFull(error) || !(await reserve.giveUp())) throw error;
    return run();
  }
}

async function probe(files: Files, path: string, bytes: number): Promise<void> {
  if (await files.status(path)) await files.remove(path);
  try {
    await using file = await files.open(path, 'new');
    await file.write(randomFillSync(Buffer.allocUnsafe(bytes)), 0);
    await file.sync();
  } finally {
    await files.remove(path).catch(() => {});
  }
}

export function memoryDisk(): Disk {
  return {
    open: openMemoryStore,
    damage: undefined,
    close: async () => {},
    probe: async () => {},
    freeBytes: async () => Number.POSITIVE_INFINITY,
    reserve: { keep: async () => {}, giveUp: async () => false },
  };
}
