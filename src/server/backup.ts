// A backup of everything at one instant, while it is served, and the way back.
//
//   rows, backup.metadata   the engine's (docs/formats/engine.md)
//   extents/                the segments that were there at that instant
//   segments                each with its length and checksum
//
// Segments are pinned before the snapshot is taken: whatever it names is there until it is copied. What a segment
// holds beyond that moment is copied or not, and nobody names it. An incremental backup leaves out the segments that
// the one it stands on has copied to the same length; which those are is known only if that one was noted, so after
// a crash in between all are copied. Everything but the metadata is on disk before the metadata is.

import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { checkedText, uncheckedText } from '../base/checked-text.js';
import { type Files, hasCode, type OpenFile, readWhole, realFiles, replaceWhole } from '../base/files.js';
import type { BackupInfo } from '../engine/engine.js';
import { DamageError } from '../engine/errors.js';
import { type FoundBackup, restore } from '../engine/restore.js';
import type { SegmentInfo } from '../extents/extents.js';
import type { Progress } from './admin/calls.js';
import { UsageError } from './command-line.js';
import { dataFolder, extentsName } from './data-folder.js';
import type { OpenStore } from './open-store.js';

const manifestName = 'segments';
const chunkBytes = 1024 * 1024;

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

type Told = (done: Progress) => void;

export async function takeBackup(
  store: Pick<OpenStore, 'engine' | 'extents' | 'folder' | 'files'>,
  folder: string,
  kind: 'full' | 'incremental',
  progress: Told,
): Promise<BackupReport> {
  const { files } = store;
  if (store.folder !== undefined) refuseWithin(store.folder.location, folder);
  using _pinned = store.extents.pinAll();
  let copied: readonly CopiedSegment[] = [];
  let isOurs = false; // a folder that was refused may hold another backup
  let present: readonly SegmentInfo[] = [];
  try {
    const info = await store.engine.backup(folder, {
      kind,
      progress: ({ rows }) => progress({ what: 'rows', done: rows }),
      during: async (_, parent) => {
        isOurs = true;
        present = store.extents.segments();
        const last = parent === undefined ? undefined : await readLast(store);
        const known = last !== undefined && last.id === parent ? last.segments : {};
        copied = await copySegments(files, present, known, folder, progress);
      },
    });
    await writeLast(store, { id: info.id, segments: lengths(present) });
    const segmentBytes = copied.reduce((sum, { bytes }) => sum + bytes, 0);
    return { ...info, folder, segments: copied.length, segmentBytes };
  } catch (error) {
    if (isOurs) await clear(files, folder);
    throw error;
  }
}

/** A backup in the data folder is lost with it, and none of what it is to bring back may be among it. */
function refuseWithin(location: string, folder: string): void {
  const way = relative(truePath(location), truePath(folder));
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return;
  throw new UsageError(
    `${folder} lies in the data folder ${resolve(location)}, and would be lost with it: back up to a folder elsewhere, best on another disk`,
  );
}

/** Without links, as far as it exists. */
function truePath(path: string): string {
  const whole = resolve(path);
  try {
    return realpathSync(whole);
  } catch {
    return whole === dirname(whole) ? whole : join(truePath(dirname(whole)), basename(whole));
  }
}

/** What was copied, so that the folder can be used again. */
async function clear(files: Files, folder: string): Promise<void> {
  const extents = join(folder, extentsName);
  for (const name of await files.list(extents).catch(() => [])) {
    await files.remove(join(extents, name)).catch(() => {});
  }
  await files.removeFolder(extents).catch(() => {});
  await files.remove(join(folder, manifestName)).catch(() => {});
}

function lengths(segments: readonly SegmentInfo[]): Record<string, number> {
  return Object.fromEntries(segments.map(({ path, bytes }) => [basename(path), bytes]));
}

async function copySegments(
  files: Files,
  segments: readonly SegmentInfo[],
  known: Readonly<Record<string, number>>,
  folder: string,
  progress: Told,
): Promise<CopiedSegment[]> {
  const wanted = segments.filter(({ path, bytes }) => known[basename(path)] !== bytes);
  const total = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
  const copied: CopiedSegment[] = [];
  let done = 0;
  const extents = join(folder, extentsName);
  await files.makeFolder(extents);
  for (const { path, bytes } of wanted) {
    const name = basename(path);
    // One that nothing was written to yet has a number and no file.
    if ((await files.status(path)) === undefined) continue;
    copied.push({ name, ...(await copy(files, path, join(extents, name))) });
    done += bytes;
    progress({ what: 'bytes', done, total });
  }
  await files.syncFolder(extents);
  const manifest = checkedText(`${JSON.stringify(copied, null, 2)}\n`);
  await replaceWhole(files, join(folder, manifestName), Buffer.from(manifest));
  return copied;
}

/** To its end. It is on disk when this resolves, but for its name. */
async function copy(
  files: Files,
  path: string,
  to: string,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  await using source = await files.open(path, 'read');
  await using target = await files.open(to, 'new');
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunksOf(source)) {
    hash.update(chunk);
    await target.write(chunk, bytes);
    bytes += chunk.length;
  }
  await target.sync();
  return { bytes, sha256: hash.digest('hex') };
}

async function* chunksOf(file: OpenFile): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  for (let at = 0; ; ) {
    const length = await file.read(buffer, at);
    if (length === 0) return;
    at += length;
    yield buffer.subarray(0, length);
  }
}

/** Nothing where it cannot be read: all segments are then copied. */
async function readLast({
  folder,
  files,
}: Pick<OpenStore, 'folder' | 'files'>): Promise<LastBackup | undefined> {
  if (folder === undefined) return undefined;
  try {
    const content = await readWhole(files, folder.lastBackup);
    return content === undefined ? undefined : (JSON.parse(content.toString()) as LastBackup);
  } catch {
    return undefined;
  }
}

async function writeLast(
  { folder, files }: Pick<OpenStore, 'folder' | 'files'>,
  last: LastBackup,
): Promise<void> {
  if (folder !== undefined) await replaceWhole(files, folder.lastBackup, Buffer.from(JSON.stringify(last)));
}

/** Makes a data folder from a backup, or from a full one and those that stand on it. All of it is verified. */
export async function restoreBackup(
  from: readonly string[],
  location: string,
  progress: Told,
  files: Files = realFiles,
): Promise<BackupInfo> {
  return restore(from, dataFolder(location).store, {
    files,
    progress: ({ rows, totalRows }) => progress({ what: 'rows', done: rows, total: totalRows }),
    also: (backups, building) => restoreSegments(files, backups, join(building, extentsName), progress),
  });
}

/** A later backup's copy of a segment is the longer one. */
async function restoreSegments(
  files: Files,
  backups: readonly FoundBackup[],
  to: string,
  progress: Told,
): Promise<void> {
  await files.makeFolder(to);
  const chosen = new Map<string, CopiedSegment & { readonly path: string }>();
  for (const { folder } of backups) {
    for (const one of await readManifest(files, join(folder, manifestName))) {
      chosen.set(one.name, { ...one, path: join(folder, extentsName, one.name) });
    }
  }
  const total = [...chosen.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const { name, path, sha256, bytes } of chosen.values()) {
    const found = await copy(files, path, join(to, name)).catch((error: unknown) => {
      throw hasCode(error, 'ENOENT') ? damaged(path, 'it is missing') : error;
    });
    if (found.sha256 !== sha256 || found.bytes !== bytes)
      throw damaged(path, 'it does not match its checksum');
    done += bytes;
    progress({ what: 'bytes', done, total });
  }
  await files.syncFolder(to);
}

async function readManifest(files: Files, path: string): Promise<readonly CopiedSegment[]> {
  const content = await readWhole(files, path);
  if (content === undefined) throw damaged(path, 'it is missing');
  const text = uncheckedText(content.toString());
  if (text === undefined) throw damaged(path, 'it does not match its checksum');
  const manifest = JSON.parse(text) as CopiedSegment[];
  for (const { name } of manifest) {
    if (!/^\d{16}\.segment$/.test(name)) throw damaged(path, `${name} is no segment`);
  }
  return manifest;
}

function damaged(path: string, what: string): DamageError {
  return new DamageError(
    `Damaged backup ${path}: ${what}. Use another copy of this backup, or an older one.`,
  );
}
