// One process owns a data folder.
//
//   lock/    an empty LevelDB, open as long as the folder is owned. The system's lock on its LOCK file is
//            the truth: it is gone with the process, however that ended, and no pid is ever guessed at, so a
//            kill, a reboot, a pid used again or another container's pids lock nobody out.
//   owner    who that is, for the message alone; what is found there after a crash means nothing.
//
// It costs 2 ms at start. The lock of LevelDB's own records would do as well, but comes too late: the log is
// read, and its torn end cut off, before LevelDB opens them.

import { mkdir, realpath, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { type Files, hasCode, readWhole, replaceWhole } from '../base/files.js';
import { FolderInUseError, UnavailableError } from './errors.js';

export interface Owner {
  readonly pid: number;
  readonly startedMs: number;
  readonly host: string;
}

const thisProcess: Owner = { pid: process.pid, startedMs: performance.timeOrigin, host: hostname() };

/** Takes an existing folder; the result gives it back. Refused with `FolderInUseError`. */
export async function claimFolder(
  files: Files,
  folder: string,
  owner: Owner = thisProcess,
): Promise<() => Promise<void>> {
  // LevelDB knows the locks of this process by path: two names of one folder must not be two folders.
  const location = await realpath(folder);
  const lock = await lockOf(join(location, 'lock'));
  if (lock === undefined) throw inUse(folder, await currentOwner(files, location));
  const path = join(location, 'owner');
  // Without it the folder is owned all the same, by somebody whom the message cannot name.
  await replaceWhole(files, path, encode(owner)).catch(() => {});
  return async () => {
    await files.remove(path).catch(() => {});
    await lock.close();
  };
}

/** Who says to own the folder; nothing if nobody, or nobody who can be read. */
export async function currentOwner(files: Files, folder: string): Promise<Owner | undefined> {
  const content = await readWhole(files, join(folder, 'owner'));
  return content === undefined ? undefined : decode(content);
}

async function lockOf(path: string): Promise<ClassicLevel | undefined> {
  await mkdir(path, { mode: 0o700 }).catch(ignoreExisting);
  try {
    return await opened(path);
  } catch (error) {
    if (isLocked(error)) return undefined;
  }
  // Damaged, and there is nothing in it to lose. LOCK stays: another process may hold it by now.
  await rm(join(path, 'CURRENT'), { force: true });
  try {
    return await opened(path);
  } catch (error) {
    if (isLocked(error)) return undefined;
    throw cannotLock(dirname(path), error);
  }
}

/** On a full disk, for instance: LevelDB says why underneath. */
function cannotLock(folder: string, error: unknown): UnavailableError {
  const { message } = ((error as Error).cause ?? error) as Error;
  return new UnavailableError(
    `The data folder ${folder} cannot be locked (${message}). Mend that, or choose another folder.`,
    { cause: error },
  );
}

async function opened(path: string): Promise<ClassicLevel> {
  const lock = new ClassicLevel(path, { cacheSize: 0, writeBufferSize: 64 * 1024 });
  await lock.open();
  return lock;
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && hasCode(error.cause, 'LEVEL_LOCKED');
}

function ignoreExisting(error: unknown): void {
  if (!hasCode(error, 'EEXIST')) throw error;
}

function inUse(folder: string, owner: Owner | undefined): FolderInUseError {
  if (owner === undefined) {
    return new FolderInUseError(
      `The data folder ${folder} is in use by another process. Stop it, or choose another folder.`,
    );
  }
  const where = owner.host === hostname() ? '' : ` on ${owner.host}`;
  const since = new Date(owner.startedMs).toISOString();
  return new FolderInUseError(
    `The data folder ${folder} is in use by process ${owner.pid}${where}, which started at ${since}. ` +
      `Stop that process, or choose another folder.`,
  );
}

function encode(owner: Owner): Buffer {
  const { pid, startedMs, host } = owner;
  return Buffer.from(`${JSON.stringify({ pid, started: new Date(startedMs).toISOString(), host })}\n`);
}

function decode(content: Buffer): Owner | undefined {
  try {
    const { pid, started, host } = JSON.parse(content.toString()) as Record<string, unknown>;
    const startedMs = typeof started === 'string' ? Date.parse(started) : Number.NaN;
    if (typeof pid !== 'number' || typeof host !== 'string' || Number.isNaN(startedMs)) return undefined;
    return { pid, startedMs, host };
  } catch {
    return undefined;
  }
}
