// Renaming and moving over REST. One transaction, whatever lies below: an entry changes its place, and its new
// ancestors must still be what they were at the commit, so that no directory ever comes to lie in itself.

import type { Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import { checkMetadata, type Metadata } from '../common/metadata.js';
import { namedAs, renameChanges, tellChanges } from './changes.js';
import { guardTree, isBelow } from './directories.js';
import { guardFile, guardPending } from './guards.js';
import type { Entry, FileEntry } from './model.js';
import { operate } from './operate.js';
import type { FileService } from './service.js';
import { useSpace } from './share-access.js';
import { changedSmbPart, type SmbWishes } from './smb-properties.js';
import {
  type Found,
  findPath,
  findTarget,
  parentOf,
  requireDirectory,
  requireFile,
  type Target,
} from './targets.js';
import { moveEntry, removeEntry, type View } from './tree.js';

export interface Rename {
  readonly directory: boolean;
  readonly source: readonly string[];
  readonly replaces: boolean;
  readonly ignoreReadOnly: boolean;
  readonly sourceLeaseId: string | undefined;
  readonly targetLeaseId: string | undefined;
  readonly smb: SmbWishes;
  /** Nothing: it keeps what it has. */
  readonly metadata: Metadata | undefined;
  readonly contentType: string | undefined;
}

export function renameEntry(service: FileService, target: Target, rename: Rename): Promise<Entry> {
  const { store } = service;
  if (rename.metadata !== undefined) checkMetadata(rename.metadata);
  return operate(service, target, async (tx) => {
    const to = await findTarget(store, tx, target, 'update');
    const { view } = to;
    const parent = await parentOf(store, tx, target.path, view);
    const from = await findSource(service, tx, view, rename);
    const source = rename.directory ? requireDirectory(from) : requireFile(from);
    guardPending(service, view, parent.id);
    const lease = await guardSource(service, tx, view, source, parent, rename);
    const replaced = to.entry?.id === source.id ? undefined : to.entry;
    if (replaced !== undefined) await replace(service, tx, view, replaced, rename);
    const { contentType } = rename;
    const file = source.file && {
      ...source.file,
      lease: lease ?? source.file.lease,
      http: contentType === undefined ? source.file.http : { ...source.file.http, contentType },
    };
    const moved = await moveEntry(store, tx, view.share, source, {
      ...source,
      ...(await changedSmbPart(store, tx, view.share, rename.smb, source)),
      ...{ parent: parent.id, name: to.name, file, stamp: tx.stamp(source.stamp) },
      metadata: rename.metadata ?? source.metadata,
    });
    // Its row is taken now: nobody comes to have something below it open any more.
    if (rename.directory) await guardTree(service, tx, view, source.id);
    tellChanges(service, tx, target, () =>
      renameChanges(namedAs(source), namedAs(moved), replaced && namedAs(replaced)),
    );
    return moved;
  });
}

/** A missing source is 404 `ResourceNotFound`, whatever of its path is missing. */
async function findSource(
  { store }: FileService,
  tx: Transaction,
  view: View,
  { source }: Rename,
): Promise<Found> {
  try {
    return await findPath(store, tx, view, source, 'update');
  } catch (error) {
    if (error instanceof StorageError && error.code === 'ParentNotFound') {
      throw new StorageError('ResourceNotFound');
    }
    throw error;
  }
}

async function guardSource(
  service: FileService,
  tx: Transaction,
  view: View,
  source: Entry,
  parent: Entry,
  { sourceLeaseId }: Rename,
): Promise<FileEntry['file']['lease'] | undefined> {
  if (source.file !== undefined) {
    const file = { ...source, file: source.file };
    return guardFile(service, tx, view, file, 'renameSource', { leaseId: sourceLeaseId });
  }
  if (source.name === '') throw new StorageError('InvalidInput'); // the root
  guardPending(service, view, source.id);
  if (await isBelow(service, tx, view, parent.id, source.id)) throw new StorageError('InvalidInput');
  return undefined;
}

/** Only a file is ever replaced. */
async function replace(
  service: FileService,
  tx: Transaction,
  view: View,
  replaced: Entry,
  rename: Rename,
): Promise<void> {
  guardPending(service, view, replaced.id);
  if (!rename.replaces || replaced.file === undefined) throw new StorageError('ResourceAlreadyExists');
  const file = { ...replaced, file: replaced.file };
  const { targetLeaseId: leaseId, ignoreReadOnly } = rename;
  await guardFile(service, tx, view, file, 'replace', { leaseId, ignoreReadOnly });
  await removeEntry(service.store, tx, view.share, replaced);
  await useSpace(service.store, tx, view.share, -file.file.length);
}
