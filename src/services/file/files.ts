// Files: create, read, change, delete. The last writer wins; whoever leases a file or has it open over SMB is asked
// first (guards.ts).

import type { Transaction } from '../../collections/index.js';
import type { Body } from '../common/body.js';
import { orThrow, StorageError } from '../common/errors.js';
import { availableLease, use } from '../common/lease.js';
import { checkMetadata, type Metadata } from '../common/metadata.js';
import { attribute } from './access.js';
import {
  action,
  contentChanges,
  modified,
  nameChange,
  namedAs,
  propertyChanges,
  tellChanges,
} from './changes.js';
import { openBytes, resizeBytes, writeBytes } from './content.js';
import { ticksOf } from './file-system.js';
import { guardFile, guardPending, type Operation } from './guards.js';
import type { FileEntry, FileState, HttpProperties } from './model.js';
import { newFileState } from './new-entry.js';
import { operate } from './operate.js';
import type { FileService } from './service.js';
import { useSpace } from './share-access.js';
import { changedSmbPart, newSmbPart, type SmbWishes } from './smb-properties.js';
import { type Found, findTarget, parentOf, requireFile, type Target } from './targets.js';
import { addEntry, putEntry, removeEntry, type View } from './tree.js';

export interface NewFile {
  readonly length: number;
  readonly http: HttpProperties;
  readonly metadata: Metadata;
  readonly smb: SmbWishes;
  readonly leaseId: string | undefined;
  /** A SAS that only lets create files lets overwrite none. */
  readonly mayOverwrite: boolean;
  /** Its first bytes. */
  readonly body: Body | undefined;
}

export function createFile(service: FileService, target: Target, request: NewFile): Promise<FileEntry> {
  checkMetadata(request.metadata);
  return operate(service, target, (tx) =>
    putNewFile(service, tx, target, request, 'overwrite', async ({ view: { share } }, old) => {
      const { http, length, body, smb, metadata } = request;
      const empty: FileState = { ...old, http, length, map: undefined, copy: undefined };
      const file = body === undefined ? empty : await writeBytes(service.store, tx, share, empty, 0, body);
      return { file, smb, metadata };
    }),
  );
}

export interface NewState {
  readonly file: FileState;
  readonly smb: SmbWishes;
  readonly metadata: Metadata;
}

/** A file under a name that is free, or the new state of the one that has it. */
export async function putNewFile(
  service: FileService,
  tx: Transaction,
  target: Target,
  request: Pick<NewFile, 'leaseId' | 'mayOverwrite'> & { ignoreReadOnly?: boolean },
  operation: Extract<Operation, 'overwrite' | 'copyOnto'>,
  stateOf: (found: Found, old: FileState) => Promise<NewState>,
): Promise<FileEntry> {
  const { store } = service;
  const found = await findTarget(store, tx, target, 'update');
  const { view, name } = found;
  const { share } = view;
  const { leaseId, ignoreReadOnly = false } = request;
  const parent = await parentOf(store, tx, target.path, view);
  const before = found.entry === undefined ? undefined : requireFile(found);
  if (before === undefined) {
    guardPending(service, view, parent.id);
    orThrow(use(availableLease, leaseId, 'required', tx.now, 'file'), { resource: 'file' });
    const { file, smb, metadata } = await stateOf(found, newFileState);
    await useSpace(store, tx, share, file.length);
    const id = tx.stamp(parent.stamp);
    const added = await addEntry(store, tx, share, {
      format: 1,
      ...{ id, parent: parent.id, name, epoch: share.epoch, stamp: id, metadata, file },
      accessed: ticksOf(tx.now),
      ...(await newSmbPart(store, tx, share, smb, parent, false)),
    });
    tellChanges(service, tx, target, () => [nameChange(namedAs(added), action.added)]);
    return { ...added, file };
  }
  const lease = await guardFile(service, tx, view, before, operation, { leaseId, ignoreReadOnly });
  if (!request.mayOverwrite) throw new StorageError('AuthorizationPermissionMismatch');
  const { file, smb, metadata } = await stateOf(found, { ...before.file, lease });
  await useSpace(store, tx, share, file.length - before.file.length);
  const put = await putEntry(store, tx, share, before, {
    ...{ ...before, metadata, file, stamp: tx.stamp(before.stamp) },
    ...(await newSmbPart(store, tx, share, smb, parent, false)),
  });
  tellChanges(service, tx, target, () => [modified(namedAs(before), contentChanges | propertyChanges)]);
  return put;
}

/** Its properties; `operation` tells whether an SMB client has to write down what it caches first. */
export function getFile(
  service: FileService,
  target: Target,
  leaseId: string | undefined,
): Promise<FileEntry & { readonly now: number }> {
  return operate(service, target, async (tx) => {
    const found = await findTarget(service.store, tx, target, 'none');
    const entry = requireFile(found);
    await guardFile(service, tx, found.view, entry, 'getProperties', { leaseId });
    return { ...entry, now: tx.now };
  });
}

export interface ReadFile {
  readonly entry: FileEntry;
  readonly start: number;
  /** Not part of it. */
  readonly end: number;
  readonly bytes: AsyncIterable<Buffer>;
  readonly now: number;
}

/** `cut` gives the bytes to read of a file of this length. */
export function readFile(
  service: FileService,
  target: Target,
  leaseId: string | undefined,
  cut: (length: number) => { readonly start: number; readonly end: number },
  operation: Extract<Operation, 'getFile' | 'copySource'> = 'getFile',
): Promise<ReadFile> {
  return operate(service, target, async (tx) => {
    // Checked: what it says of the file is of the same moment as its bytes.
    const found = await findTarget(service.store, tx, target, 'checked');
    const entry = requireFile(found);
    const range = cut(entry.file.length);
    await guardFile(service, tx, found.view, entry, operation, { leaseId, range });
    const bytes = await openBytes(service.store, tx, found.view, entry.file, range);
    return { entry, ...range, bytes, now: tx.now };
  });
}

export function setFileMetadata(
  service: FileService,
  target: Target,
  leaseId: string | undefined,
  metadata: Metadata,
): Promise<FileEntry> {
  checkMetadata(metadata);
  return changeFile(service, target, 'setMetadata', { leaseId }, async (tx, _, entry) => ({
    ...entry,
    metadata,
    changed: ticksOf(tx.now),
  }));
}

export interface FileChange {
  /** Nothing: they stay as they are. */
  readonly http: HttpProperties | undefined;
  readonly length: number | undefined;
  readonly smb: SmbWishes;
  readonly leaseId: string | undefined;
}

/** Also ends what is known of a copy. */
export function setFileProperties(
  service: FileService,
  target: Target,
  { http, length, smb, leaseId }: FileChange,
): Promise<FileEntry> {
  const { store } = service;
  const ignoreReadOnly = smb.attributes !== undefined && !(smb.attributes & attribute.readOnly);
  const operation = length === undefined ? 'setProperties' : 'resize';
  return changeFile(service, target, operation, { leaseId, ignoreReadOnly }, async (tx, view, entry) => {
    const sameLength = length === undefined || length === entry.file.length;
    const part = await changedSmbPart(store, tx, view.share, smb, entry);
    const written = sameLength || smb.written !== undefined ? part.written : ticksOf(tx.now);
    const sized =
      length === undefined ? entry.file : await resizeBytes(store, tx, view.share, entry.file, length);
    const file: FileState = { ...sized, http: http ?? entry.file.http, copy: undefined };
    return { ...entry, ...part, written, file };
  });
}

/** What an SMB client sees of it. */
const changesOf: Partial<Record<Operation, number>> = {
  putRange: contentChanges,
  resize: contentChanges | propertyChanges,
  setProperties: propertyChanges,
};

/** The file with an edit, under its lock and after all who have a say were asked. */
export function changeFile(
  service: FileService,
  target: Target,
  operation: Operation,
  guarded: Parameters<typeof guardFile>[5],
  edit: (tx: Transaction, view: View, entry: FileEntry) => Promise<FileEntry>,
): Promise<FileEntry> {
  const { store } = service;
  return operate(service, target, async (tx) => {
    const found = await findTarget(store, tx, target, 'update');
    const entry = requireFile(found);
    const { view } = found;
    const lease = await guardFile(service, tx, view, entry, operation, guarded);
    const edited = await edit(tx, view, { ...entry, file: { ...entry.file, lease } });
    await useSpace(store, tx, view.share, edited.file.length - entry.file.length);
    const stamped = { ...edited, stamp: tx.stamp(entry.stamp) };
    const kinds = changesOf[operation] ?? 0;
    tellChanges(service, tx, target, () => [modified(namedAs(entry), kinds)]);
    return putEntry(store, tx, view.share, entry, stamped);
  });
}

/** At once, never pending. */
export function deleteFile(service: FileService, target: Target, leaseId: string | undefined): Promise<void> {
  const { store } = service;
  return operate(service, target, async (tx) => {
    const found = await findTarget(store, tx, target, 'update');
    const entry = requireFile(found);
    const { view } = found;
    await guardFile(service, tx, view, entry, 'deleteFile', { leaseId });
    await removeEntry(store, tx, view.share, entry);
    await useSpace(store, tx, view.share, -entry.file.length);
    tellChanges(service, tx, target, () => [nameChange(namedAs(entry), action.removed)]);
  });
}
