// Directories: create, read, change, delete.

import type { Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import { checkMetadata, type Metadata } from '../common/metadata.js';
import { attribute } from './access.js';
import { action, modified, nameChange, namedAs, propertyChanges, tellChanges } from './changes.js';
import { ticksOf } from './file-system.js';
import { guardPending } from './guards.js';
import { type Entry, type LiveShare, rootDirectory } from './model.js';
import { MustWait, operate } from './operate.js';
import { FileRefused } from './refusals.js';
import type { FileService } from './service.js';
import { volumeId } from './share-access.js';
import { changedSmbPart, newSmbPart, type SmbWishes } from './smb-properties.js';
import { findTarget, lookForDirectory, parentOf, requireDirectory, type Target } from './targets.js';
import { addEntry, findById, isEmptyDirectory, putEntry, removeEntry, type View } from './tree.js';

export function createDirectory(
  service: FileService,
  target: Target,
  wishes: SmbWishes,
  metadata: Metadata,
): Promise<Entry> {
  const { store } = service;
  checkMetadata(metadata);
  return operate(service, target, async (tx) => {
    const { view, name, entry } = await findTarget(store, tx, target, 'update');
    if (entry !== undefined) {
      guardPending(service, view, entry.id);
      throw new StorageError('ResourceAlreadyExists');
    }
    const parent = await parentOf(store, tx, target.path, view);
    guardPending(service, view, parent.id);
    const id = tx.stamp(parent.stamp);
    const added = await addEntry(store, tx, view.share, {
      format: 1,
      ...{ id, parent: parent.id, name, epoch: view.share.epoch, stamp: id, metadata, file: undefined },
      ...{ accessed: ticksOf(tx.now) },
      ...(await newSmbPart(store, tx, view.share, wishes, parent, true)),
    });
    tellChanges(service, tx, target, () => [nameChange(namedAs(added), action.added)]);
    return added;
  });
}

export function getDirectory(service: FileService, target: Target): Promise<Entry> {
  return operate(service, target, async (tx) => {
    const found = await findTarget(service.store, tx, target, 'none');
    const entry = lookForDirectory(found);
    guardPending(service, found.view, entry.id);
    return entry;
  });
}

export function setDirectoryMetadata(
  service: FileService,
  target: Target,
  metadata: Metadata,
): Promise<Entry> {
  checkMetadata(metadata);
  return change(service, target, 0, async (tx, _, entry) => ({
    ...entry,
    metadata,
    changed: ticksOf(tx.now),
  }));
}

export function setDirectoryProperties(
  service: FileService,
  target: Target,
  wishes: SmbWishes,
): Promise<Entry> {
  return change(service, target, propertyChanges, async (tx, share, entry) => ({
    ...entry,
    ...(await changedSmbPart(service.store, tx, share, wishes, entry)),
  }));
}

function change(
  service: FileService,
  target: Target,
  kinds: number,
  edit: (tx: Transaction, share: LiveShare, entry: Entry) => Promise<Entry>,
): Promise<Entry> {
  const { store } = service;
  return operate(service, target, async (tx) => {
    const found = await findTarget(store, tx, target, 'update');
    const entry = requireDirectory(found);
    guardPending(service, found.view, entry.id);
    const edited = await edit(tx, found.view.share, entry);
    const stamped = { ...edited, stamp: tx.stamp(entry.stamp) };
    tellChanges(service, tx, target, () => [modified(namedAs(entry), kinds)]);
    return putEntry(store, tx, found.view.share, entry, stamped);
  });
}

/** At once, never pending; only an empty one that nobody has open. */
export function deleteDirectory(service: FileService, target: Target): Promise<void> {
  const { store } = service;
  return operate(service, target, async (tx) => {
    const found = await findTarget(store, tx, target, 'update');
    const entry = requireDirectory(found);
    const { view } = found;
    if (entry.id === rootDirectory) throw new StorageError('UnsupportedHttpVerb');
    guardPending(service, view, entry.id);
    if (entry.attributes & attribute.readOnly) throw new StorageError('CannotDeleteFileOrDirectory');
    if (!(await isEmptyDirectory(store, tx, view.share.id, entry.id))) {
      throw new StorageError('DirectoryNotEmpty');
    }
    // Waits for whoever is about to open it; who puts something into it meanwhile makes this a conflict.
    await removeEntry(store, tx, view.share, entry);
    await guardTree(service, tx, view, entry.id);
    tellChanges(service, tx, target, () => [nameChange(namedAs(entry), action.removed)]);
  });
}

/**
 * 409 `SharingViolation` if a directory or anything below it is open, after cached handles were given up. Its row is
 * locked, so that nobody opens it meanwhile.
 */
export async function guardTree(
  { store, opens }: FileService,
  tx: Transaction,
  view: View,
  directory: number,
): Promise<void> {
  const volume = volumeId(view);
  const known: Known = new Map();
  for (const id of opens.openFiles(volume)) {
    if (!(await isBelow({ store }, tx, view, Number(id), directory, known))) continue;
    const [wait] = await opens.break(volume, id, 'renameOrDelete');
    if (wait) throw new MustWait(wait);
    if (opens.handles(volume, id).length > 0) throw new FileRefused('SharingViolation');
  }
}

/** What was found of others: many that are open lie in few directories. */
export type Known = Map<number, boolean>;

/** Whether it is the directory or lies below it. */
export async function isBelow(
  { store }: Pick<FileService, 'store'>,
  tx: Transaction,
  view: View,
  id: number,
  directory: number,
  known: Known = new Map(),
): Promise<boolean> {
  const passed: number[] = [];
  let below: boolean | undefined;
  for (let at = id; below === undefined; ) {
    if (at === directory || at === rootDirectory) below = at === directory;
    else {
      passed.push(at);
      const entry = known.has(at) ? undefined : await findById(store, tx, view, at, 'checked');
      if (entry === undefined) below = known.get(at) ?? false;
      else at = entry.parent;
    }
  }
  for (const at of passed) known.set(at, below);
  return below;
}
