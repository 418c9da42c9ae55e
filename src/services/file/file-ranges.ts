// Ranges of a file: put, clear, list, and what changed since a snapshot.

import type { Body } from '../common/body.js';
import { invalidParameter, StorageError } from '../common/errors.js';
import type { Difference, Range } from '../common/range-map.js';
import { allocatedRanges, changedRanges, clearBytes, writeBytes } from './content.js';
import { ticksOf } from './file-system.js';
import { changeFile } from './files.js';
import { guardFile } from './guards.js';
import type { FileEntry } from './model.js';
import { operate } from './operate.js';
import type { FileService } from './service.js';
import { findSnapshot } from './share-access.js';
import { findPath, findTarget, requireFile, type Target } from './targets.js';
import { findById } from './tree.js';

export interface RangeWrite {
  readonly range: Range;
  /** Nothing: the range is cleared. */
  readonly body: Body | undefined;
  readonly leaseId: string | undefined;
  readonly keepWritten: boolean;
}

/** Never makes the file longer: 416 `InvalidRange`. */
export function putRange(service: FileService, target: Target, write: RangeWrite): Promise<FileEntry> {
  const { range, body, leaseId, keepWritten } = write;
  const { store } = service;
  return changeFile(service, target, 'putRange', { leaseId, range }, async (tx, { share }, entry) => {
    if (range.end > entry.file.length) throw new StorageError('InvalidRange');
    const file =
      body === undefined
        ? await clearBytes(store, tx, share, entry.file, range)
        : await writeBytes(store, tx, share, entry.file, range.start, body);
    const now = ticksOf(tx.now);
    return { ...entry, file, changed: now, written: keepWritten ? entry.written : now };
  });
}

export interface RangeQuery {
  /** All of it unless given; up to the end of the file. */
  readonly range: Range | undefined;
  readonly leaseId: string | undefined;
  /** The second that an older snapshot is called after: only what changed since then. */
  readonly since: number | undefined;
  /** Whether the file may have had another name then. */
  readonly supportsRename: boolean;
}

export interface RangeList {
  readonly entry: FileEntry;
  readonly ranges: readonly (Range & Partial<Difference>)[];
}

export function listRanges(service: FileService, target: Target, query: RangeQuery): Promise<RangeList> {
  const { store } = service;
  return operate(service, target, async (tx) => {
    const found = await findTarget(store, tx, target, 'checked');
    const entry = requireFile(found);
    const { view } = found;
    const { length } = entry.file;
    const range = query.range ?? { start: 0, end: length };
    await guardFile(service, tx, view, entry, 'listRanges', { leaseId: query.leaseId });
    if (range.start > 0 && range.start >= length) throw new StorageError('InvalidRange');
    if (query.since === undefined) {
      return { entry, ranges: await allocatedRanges(store, tx, view, entry.file, range) };
    }
    if (target.snapshot !== undefined && target.snapshot <= query.since) {
      throw invalidParameter('prevsharesnapshot', String(query.since), 'It must be older than the snapshot.');
    }
    const { epoch } = await findSnapshot(store, tx, view.share, query.since);
    const old = { share: view.share, snapshot: epoch };
    const before = await findBefore(service, tx, old, target, query, entry);
    const ranges = await changedRanges(store, tx, view, entry.file, before.file, epoch, range);
    return { entry, ranges };
  });
}

/** The same file in the older snapshot. */
async function findBefore(
  { store }: FileService,
  tx: Parameters<typeof findById>[1],
  view: Parameters<typeof findById>[2],
  target: Target,
  { supportsRename }: RangeQuery,
  entry: FileEntry,
): Promise<FileEntry> {
  const byId = await findById(store, tx, view, entry.id, 'none');
  const byName = await findPath(store, tx, view, target.path, 'none').catch(missing);
  if (byId?.file !== undefined && (supportsRename || byName?.entry?.id === entry.id)) {
    return { ...byId, file: byId.file };
  }
  if (byId !== undefined) throw new StorageError('PreviousSnapshotNotFound');
  throw new StorageError(byName?.entry === undefined ? 'ResourceNotFound' : 'FileGenerationMismatch');
}

function missing(error: unknown): undefined {
  if (error instanceof StorageError && error.code === 'ParentNotFound') return undefined;
  throw error;
}
