// What the path of a REST request names: found name by name from the root down. Names on the way are not locked; they
// must still be what they were at the commit.

import type { Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import { type Entry, type FileEntry, type FileStore, rootDirectory, type ShareKey } from './model.js';
import { findView } from './share-access.js';
import { type EntryLock, findChild, findRoot, type View } from './tree.js';

export interface Target {
  readonly share: ShareKey;
  /** From the root down; none: the root itself. */
  readonly path: readonly string[];
  /** The second its snapshot is called after. */
  readonly snapshot: number | undefined;
  /** What is left of the request's time. */
  readonly timeoutMs: number;
}

export interface Found {
  readonly view: View;
  /** The id of the directory it is in, or would be. */
  readonly directory: number;
  /** The last name as the request has it. */
  readonly name: string;
  readonly entry: Entry | undefined;
}

/** 404 `ParentNotFound` if a directory on the way is missing. */
export async function findTarget(
  store: FileStore,
  tx: Transaction,
  target: Target,
  lock: EntryLock,
): Promise<Found> {
  const view = await findView(store, tx, target.share, target.snapshot);
  return findPath(store, tx, view, target.path, lock);
}

export async function findPath(
  store: FileStore,
  tx: Transaction,
  view: View,
  path: readonly string[],
  lock: EntryLock,
): Promise<Found> {
  let directory = rootDirectory;
  const name = path.at(-1);
  if (name === undefined) {
    return { view, directory, name: '', entry: await findRoot(store, tx, view, lock) };
  }
  for (const step of path.slice(0, -1)) {
    const passed = await findChild(store, tx, view, directory, step, 'checked');
    if (passed === undefined || passed.file !== undefined) throw new StorageError('ParentNotFound');
    directory = passed.id;
  }
  return { view, directory, name, entry: await findChild(store, tx, view, directory, name, lock) };
}

/** The directory that something new is put into, which is checked at commit. */
export async function parentOf(
  store: FileStore,
  tx: Transaction,
  path: readonly string[],
  view: View,
): Promise<Entry> {
  const { entry } = await findPath(store, tx, view, path.slice(0, -1), 'checked');
  if (entry === undefined || entry.file !== undefined) throw new StorageError('ParentNotFound');
  return entry;
}

/** 404 `ResourceNotFound`, or 409 `ResourceTypeMismatch` for a directory. */
export function requireFile({ entry }: Found): FileEntry {
  if (entry === undefined) throw new StorageError('ResourceNotFound');
  if (entry.file === undefined) throw new StorageError('ResourceTypeMismatch');
  return { ...entry, file: entry.file };
}

export function requireDirectory({ entry }: Found): Entry {
  if (entry === undefined) throw new StorageError('ResourceNotFound');
  if (entry.file !== undefined) throw new StorageError('ResourceTypeMismatch');
  return entry;
}

/** For who only looks: a file is no directory of that name. az asks so whether a name is one. */
export function lookForDirectory(found: Found): Entry {
  if (found.entry?.file !== undefined) throw new StorageError('ResourceNotFound');
  return requireDirectory(found);
}
