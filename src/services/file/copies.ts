// Copying a file of this server. A copy is visible when it is done, all of it at once: a small one is one transaction; a
// long one fills a map first, some slices at a time, and begins again if its source changes meanwhile.

import type { Transaction } from '../../collections/index.js';
import { StorageError } from '../common/errors.js';
import { copySlices, stateOf } from './content.js';
import { type CopyRequest, wishesOf } from './copy-request.js';
import { putNewFile } from './files.js';
import { guardFile } from './guards.js';
import type { CopyState, FileEntry, LiveShare } from './model.js';
import { operate } from './operate.js';
import { descriptorOf } from './permissions.js';
import type { FileService } from './service.js';
import { findView } from './share-access.js';
import type { PermissionWish } from './smb-properties.js';
import { dropStagedMap, lockStaged, stageMap, takeStaged } from './staged-bytes.js';
import { findTarget, requireFile, type Target } from './targets.js';
import type { View } from './tree.js';

const mostAttempts = 10;

/** From a file of this store. */
export async function copyFile(
  service: FileService,
  target: Target,
  from: Target,
  request: CopyRequest,
): Promise<FileEntry> {
  let done = await copyAtOnce(service, target, from, request);
  for (let attempt = 0; done === undefined && attempt < mostAttempts; attempt++) {
    done = await copyStaged(service, target, from, request);
  }
  if (done !== undefined) return done;
  throw new StorageError('ConditionNotMet', { message: 'The source changed again and again.' });
}

async function findSource(
  service: FileService,
  tx: Transaction,
  from: Target,
): Promise<{ view: View; source: FileEntry }> {
  const found = await findTarget(service.store, tx, from, 'checked').catch(asSourceMissing);
  if (found.entry === undefined) asSourceMissing(new StorageError('ResourceNotFound'));
  const source = requireFile(found);
  const range = { start: 0, end: source.file.length };
  await guardFile(service, tx, found.view, source, 'copySource', { range });
  return { view: found.view, source };
}

/** A source that is not there is told apart from a target that is not. */
function asSourceMissing(error: unknown): never {
  if (!(error instanceof StorageError)) throw error;
  const { code, message } = error;
  throw new StorageError('CannotVerifyCopySource', {
    status: 404,
    message,
    details: { CopySourceStatusCode: '404', CopySourceErrorCode: code, CopySourceErrorMessage: message },
  });
}

/** The source has more slices than one transaction copies. */
class TooManySlices extends Error {}

/** Nothing if it is too long for one transaction. */
async function copyAtOnce(
  service: FileService,
  target: Target,
  from: Target,
  request: CopyRequest,
): Promise<FileEntry | undefined> {
  const { store } = service;
  try {
    return await operate(service, target, (tx) =>
      putCopy(service, tx, target, from, request, async (share, { view, source }) => {
        const { file } = source;
        if (file.map === undefined) return undefined;
        const map = await store.content.maps.create(tx);
        const slices = { file, snapshot: view.snapshot, from: 0 };
        const { next } = await copySlices(store, tx, slices, stateOf(share, map));
        if (next < file.length) throw new TooManySlices();
        return map;
      }),
    );
  } catch (error) {
    if (error instanceof TooManySlices) return undefined;
    throw error;
  }
}

/** Nothing if the source changed on the way. */
async function copyStaged(
  service: FileService,
  target: Target,
  from: Target,
  request: CopyRequest,
): Promise<FileEntry | undefined> {
  const { store } = service;
  const map = await stageMap(store);
  try {
    const first = await fill(service, target, from, map, 0, undefined);
    for (let { next, length } = first; next < length; ) {
      const step = await fill(service, target, from, map, next, first.stamp);
      if (step.stamp !== first.stamp) return undefined;
      ({ next, length } = step);
    }
    return await operate(service, target, async (tx) => {
      const { source } = await findSource(service, tx, from);
      if (source.stamp !== first.stamp) return undefined;
      return putCopy(service, tx, target, from, request, async () => {
        await takeStaged(store, tx, map);
        return map;
      });
    });
  } finally {
    await dropStagedMap(store, map);
  }
}

/** The file with the bytes of its source, in the transaction that makes them visible. */
async function putCopy(
  service: FileService,
  tx: Transaction,
  target: Target,
  from: Target,
  request: CopyRequest,
  mapOf: (share: LiveShare, found: { view: View; source: FileEntry }) => Promise<number | undefined>,
): Promise<FileEntry> {
  const found = await findSource(service, tx, from);
  const { view, source } = found;
  return putNewFile(service, tx, target, request, 'copyOnto', async ({ view: to }, old) => {
    const { length, http } = source.file;
    const map = await mapOf(to.share, found);
    const file = { ...old, http, length, map, copy: copyState(request, length, tx.now) };
    const permission = await permissionOf(service, tx, view, to, source, request);
    const smb = wishesOf(request, source, permission);
    return { file, smb, metadata: request.metadata ?? source.metadata };
  });
}

interface Filled {
  readonly next: number;
  readonly length: number;
  readonly stamp: number;
}

/** Copies some slices into the staged map, unless the source is not of this stamp any more. */
function fill(
  service: FileService,
  target: Target,
  from: Target,
  map: number,
  start: number,
  stamp: number | undefined,
): Promise<Filled> {
  const { store } = service;
  return operate(service, from, async (tx) => {
    await lockStaged(store, tx, map);
    const { view, source } = await findSource(service, tx, from);
    const { length } = source.file;
    if (stamp !== undefined && source.stamp !== stamp) return { next: length, length, stamp: source.stamp };
    const { share } = await findView(store, tx, target.share, undefined);
    const to = stateOf(share, map);
    const slices = { file: source.file, snapshot: view.snapshot, from: start };
    return { ...(await copySlices(store, tx, slices, to)), length, stamp: source.stamp };
  });
}

function copyState({ id, url }: CopyRequest, length: number, now: number): CopyState {
  const status = 'success' as const;
  return { id, source: url, status, copied: length, total: length, completed: now, description: undefined };
}

/** The permission of the copy: the source's, as its own share has it, or what the request gives. */
async function permissionOf(
  { store }: FileService,
  tx: Transaction,
  from: View,
  to: View,
  source: FileEntry,
  { smb, fromSource }: CopyRequest,
): Promise<PermissionWish> {
  if (!fromSource.permission) return smb.permission;
  if (from.share.id === to.share.id) return { kind: 'key', key: source.permission };
  const descriptor = await descriptorOf(store, tx, from.share.id, source.permission);
  return { kind: 'descriptor', descriptor };
}
