// A backup of everything at one instant, while it is served, and the way back.
//
//   rows, backup.metadata   the engine's (docs/formats/engine.md)
//   extents/                the segments that were there at that instant
//   segments.json           each with its length and checksum
//
// Segments are pinned before the snapshot is taken: whatever it names is there until it is copied. What a segment
// holds beyond that moment is copied or not, and nobody names it. An incremental backup leaves out the segments that
// the one before has copied to the same length.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hasCode } from '../base/files.js';
import type { BackupInfo } from '../engine/engine.js';
import { DamageError } from '../engine/errors.js';
import { type FoundBackup, restore } from '../engine/restore.js';
import type { SegmentInfo } from '../extents/extents.js';
import type { Progress } from './admin/calls.js';
import { dataFolder, extentsName } from './data-folder.js';
import type { OpenStore } from './open-store.js';

const manifestName = 'segments.json';

interface CopiedSegment {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What the last backup holds: for the next one, if it stands on it. */
interface LastBackup {
  readonly id: string;
  readonly segments: Readonly<Record<string, number>>;
}

export interface BackupReport extends BackupInfo {
  readonly folder: string;
  readonly segments: number;
  readonly segmentBytes: number;
}

export async function takeBackup(
  store: OpenStore,
  folder: string,
  kind: 'full' | 'incremental',
  progress: (done: Progress) => void,
): Promise<BackupReport> {
  using _pinned = store.extents.pinAll();
  const known = kind === 'full' ? undefined : await readLast(store);
  let copied: readonly CopiedSegment[] = [];
  let isOurs = false; // a folder that was refused may hold another backup
  let present: readonly SegmentInfo[] = [];
  try {
    const info = await store.engine.backup(folder, {
      kind,
      progress: ({ rows }) => progress({ what: 'rows', done: rows }),
      during: async () => {
        isOurs = true;
        present = store.extents.segments();
        copied = await copySegments(present, known?.segments ?? {}, folder, progress);
      },
    });
    // What was left out must be in the backup that this one stands on; else, after a crash, it is copied now.
    if (known !== undefined && known.id !== info.parent) {
      await rm(join(folder, extentsName), { recursive: true });
      copied = await copySegments(present, {}, folder, progress);
    }
    await writeLast(store, { id: info.id, segments: lengths(present) });
    const segmentBytes = copied.reduce((sum, { bytes }) => sum + bytes, 0);
    return { ...info, folder, segments: copied.length, segmentBytes };
  } catch (error) {
    if (isOurs) {
      await rm(join(folder, extentsName), { recursive: true, force: true });
      await rm(join(folder, manifestName), { force: true });
    }
    throw error;
  }
}

function lengths(segments: readonly SegmentInfo[]): Record<string, number> {
  return Object.fromEntries(segments.map(({ path, bytes }) => [basename(path), bytes]));
}

async function copySegments(
  segments: readonly SegmentInfo[],
  known: Readonly<Record<string, number>>,
  folder: string,
  progress: (done: Progress) => void,
): Promise<CopiedSegment[]> {
  const wanted = segments.filter(({ path, bytes }) => known[basename(path)] !== bytes);
  const total = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
  const copied: CopiedSegment[] = [];
  let done = 0;
  await mkdir(join(folder, extentsName), { mode: 0o700 });
  for (const { path, bytes } of wanted) {
    const name = basename(path);
    const to = join(folder, extentsName, name);
    try {
      await copyFile(path, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    } catch (error) {
      // One that nothing was written to yet has a number and no file.
      if (hasCode(error, 'ENOENT')) continue;
      throw error;
    }
    copied.push({ name, ...(await digest(to)) });
    done += bytes;
    progress({ what: 'bytes', done, total });
  }
  await writeSynced(join(folder, manifestName), `${JSON.stringify(copied, null, 2)}\n`);
  await syncFolder(join(folder, extentsName));
  return copied;
}

/** Reads it to its end, and has it on disk. */
async function digest(path: string): Promise<{ bytes: number; sha256: string }> {
  const file = await open(path, 'r+');
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: 1024 * 1024 })) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
    await file.sync();
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    await file.close();
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600, flush: true });
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Nothing where it cannot be read: all segments are then copied. */
async function readLast({ folder }: OpenStore): Promise<LastBackup | undefined> {
  if (folder === undefined) return undefined;
  try {
    return JSON.parse(await readFile(folder.lastBackup, 'utf8')) as LastBackup;
  } catch {
    return undefined;
  }
}

async function writeLast({ folder }: OpenStore, last: LastBackup): Promise<void> {
  if (folder !== undefined) await writeSynced(folder.lastBackup, JSON.stringify(last));
}

/** Makes a data folder from a backup, or from a full one and those that stand on it. All of it is verified. */
export async function restoreBackup(
  from: readonly string[],
  location: string,
  progress: (done: Progress) => void,
): Promise<BackupInfo> {
  return restore(from, dataFolder(location).store, {
    progress: ({ rows, totalRows }) => progress({ what: 'rows', done: rows, total: totalRows }),
    also: (backups, building) => restoreSegments(backups, join(building, extentsName), progress),
  });
}

/** A later backup's copy of a segment is the longer one. */
async function restoreSegments(
  backups: readonly FoundBackup[],
  to: string,
  progress: (done: Progress) => void,
): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  const chosen = new Map<string, CopiedSegment & { readonly path: string }>();
  for (const { folder } of backups) {
    const manifest = JSON.parse(await readFile(join(folder, manifestName), 'utf8')) as CopiedSegment[];
    for (const one of manifest) {
      if (!/^\d{16}\.segment$/.test(one.name)) throw new DamageError(`${folder}: ${one.name} is no segment`);
      chosen.set(one.name, { ...one, path: join(folder, extentsName, one.name) });
    }
  }
  const total = [...chosen.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const { name, path, sha256, bytes } of chosen.values()) {
    const target = join(to, name);
    await copyFile(path, target, constants.COPYFILE_FICLONE);
    const found = await digest(target);
    if (found.sha256 !== sha256 || found.bytes !== bytes) {
      throw new DamageError(`${path} does not match its checksum: restore another backup`);
    }
    done += bytes;
    progress({ what: 'bytes', done, total });
  }
  await syncFolder(to);
}
