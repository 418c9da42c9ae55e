// Copies of what is not a file of this server: a blob of it, or whatever another server has. The file is there at once
// with its length, pending and all holes; its bytes come in the background (services/common/pending-copies.ts) and are
// visible when all have come. One that is aborted or fails leaves an empty file.
//
// A share that is deleted keeps its copies where they are: if it is restored they go on, if it is swept they go with it.

import type { Transaction } from '../../collections/index.js';
import type { Body } from '../common/body.js';
import { StorageError } from '../common/errors.js';
import type { Metadata } from '../common/metadata.js';
import type { CopyTargets } from '../common/pending-copies.js';
import { pendingCopy, type ToldSource } from '../common/sources.js';
import { contentChanges, modified, namedAs, tellChanges } from './changes.js';
import { resizeBytes, writeBytes } from './content.js';
import { type CopyRequest, wishesOf } from './copy-request.js';
import { ticksOf } from './file-system.js';
import { putNewFile } from './files.js';
import { guardFile } from './guards.js';
import type {
  CopyKey,
  CopyState,
  FileEntry,
  FileStore,
  HttpProperties,
  LiveShare,
  PendingFileCopy,
} from './model.js';
import { operate } from './operate.js';
import type { FileService } from './service.js';
import { findShare, isLive, useSpace } from './share-access.js';
import type { SmbWishes } from './smb-properties.js';
import { findTarget, requireFile, type Target } from './targets.js';
import { findById, putEntry } from './tree.js';

/** What is told of the source. */
export interface ForeignSource extends ToldSource {
  readonly length: number;
  readonly http: HttpProperties;
  readonly metadata: Metadata;
  /** Of a file, where it is told. */
  readonly smb: Pick<SmbWishes, 'attributes' | 'created' | 'written' | 'changed'>;
}

export interface BegunCopy {
  readonly entry: FileEntry;
  readonly key: CopyKey;
  readonly copy: PendingFileCopy;
}

export function beginCopy(
  service: FileService,
  target: Target,
  source: ForeignSource,
  request: CopyRequest,
): Promise<BegunCopy> {
  const { store } = service;
  const { length, http } = source;
  const metadata = request.metadata ?? source.metadata;
  const state = { id: request.id, source: source.url, copied: 0, total: length };
  const pending = { ...state, status: 'pending', completed: undefined, description: undefined } as const;
  return operate(service, target, async (tx) => {
    const entry = await putNewFile(service, tx, target, request, 'copyOnto', async (_, old) => ({
      ...{ metadata, smb: wishesOf(request, source.smb, request.smb.permission) },
      file: { ...old, http, length, map: undefined, copy: pending },
    }));
    const { id } = await findShare(store, tx, target.share);
    const copy = { ...pendingCopy(source, request.id, tx.now), share: target.share };
    await store.copies.set(tx, [id, entry.id], copy);
    return { entry, key: [id, entry.id], copy };
  });
}

/** The target as it is now, to tell how its copy ended; nothing if it is gone. */
export function currentFile(
  { store }: FileService,
  { key, copy }: BegunCopy,
): Promise<FileEntry | undefined> {
  return store.run(async (tx) => {
    const share = await store.shares.get(tx, copy.share, { lock: 'none' });
    if (!isLive(share) || share.id !== key[0]) return undefined;
    const entry = await findById(store, tx, { share, snapshot: undefined }, key[1], 'none');
    return entry?.file && { ...entry, file: entry.file };
  });
}

/** Leaves an empty file with the metadata that the copy gave it. */
export function abortCopy(
  service: FileService,
  target: Target,
  copyId: string,
  leaseId: string | undefined,
): Promise<void> {
  const { store } = service;
  return operate(service, target, async (tx) => {
    const found = await findTarget(store, tx, target, 'update');
    const entry = requireFile(found);
    const { share } = found.view;
    const lease = await guardFile(service, tx, found.view, entry, 'abortCopy', { leaseId, duringCopy: true });
    const { copy } = entry.file;
    if (copy?.status !== 'pending') throw new StorageError('NoPendingCopyOperation');
    if (copy.id !== copyId) throw new StorageError('CopyIdMismatch');
    await store.copies.delete(tx, [share.id, entry.id]);
    const aborted = { ...copy, status: 'aborted', completed: tx.now, description: undefined } as const;
    await leaveEmpty(store, tx, share, { ...entry, file: { ...entry.file, lease } }, entry, aborted);
    tellEnd(service, tx, { target, entry });
  });
}

/** The service, as far as a copy in the background needs it. */
type Receiving = Pick<FileService, 'store' | 'accounts' | 'listeners'>;

export function copyTargets(service: Receiving): CopyTargets<CopyKey, PendingFileCopy> {
  const { store } = service;
  return {
    all: () =>
      store.run(async (tx) => {
        const found: (readonly [CopyKey, PendingFileCopy])[] = [];
        for await (const row of store.copies.entries(tx)) found.push(row);
        return found;
      }),
    now: () => store.now(),
    receive: (chunks, length) => store.content.contents.receive(chunks, length, {}),
    tell: (key, { id }, copied, description) =>
      store.run(async (tx) => {
        const found = await findPending(store, tx, key, id);
        if (found === undefined) throw new Error('the copy has ended');
        const { share, entry, copy } = found;
        const file = { ...entry.file, copy: { ...copy, copied, description } };
        await putEntry(store, tx, share, entry, { ...entry, file });
      }),
    finish: (key, { id }, body) => store.run((tx) => finish(service, tx, key, id, body)),
    fail: (key, { id }, description) =>
      store.run(async (tx) => {
        const found = await findPending(store, tx, key, id);
        if (found === undefined) return;
        const { share, entry, copy } = found;
        await store.copies.delete(tx, key);
        const failed = { ...copy, status: 'failed', completed: tx.now, description } as const;
        await leaveEmpty(store, tx, share, entry, entry, failed);
        tellEnd(service, tx, found);
      }),
  };
}

interface Pending {
  readonly target: Pick<Target, 'share'>;
  readonly share: LiveShare;
  readonly entry: FileEntry;
  readonly copy: CopyState;
}

/** The target under its lock, if the copy is still pending and its share is there. */
async function findPending(
  store: FileStore,
  tx: Transaction,
  key: CopyKey,
  id: string,
): Promise<Pending | undefined> {
  const row = await store.copies.get(tx, key, { lock: 'update' });
  if (row?.id !== id) return undefined;
  const share = await store.shares.get(tx, row.share, { lock: 'none', check: true });
  if (!isLive(share) || share.id !== key[0]) return undefined;
  const entry = await findById(store, tx, { share, snapshot: undefined }, key[1], 'update');
  const { file } = entry ?? {};
  if (entry === undefined || file?.copy?.id !== id || file.copy.status !== 'pending') {
    await store.copies.delete(tx, key);
    return undefined;
  }
  return { target: row, share, entry: { ...entry, file }, copy: file.copy };
}

/** What a copy wrote is there, or gone, when it ends. */
function tellEnd(
  service: Receiving,
  tx: Transaction,
  { target, entry }: Pick<Pending, 'target' | 'entry'>,
): void {
  tellChanges(service, tx, target, () => [modified(namedAs(entry), contentChanges)]);
}

async function finish(
  service: Receiving,
  tx: Transaction,
  key: CopyKey,
  id: string,
  body: Body,
): Promise<void> {
  const { store } = service;
  const found = await findPending(store, tx, key, id);
  if (found === undefined) return;
  const { share, entry, copy } = found;
  await store.copies.delete(tx, key);
  const done: CopyState = {
    ...copy,
    status: 'success',
    copied: body.length,
    completed: tx.now,
    description: undefined,
  };
  const empty = { ...entry.file, length: 0, map: undefined, copy: done };
  const file = await writeBytes(store, tx, share, empty, 0, body);
  await useSpace(store, tx, share, file.length - entry.file.length);
  await putEntry(store, tx, share, entry, { ...entry, file, stamp: tx.stamp(entry.stamp) });
  tellEnd(service, tx, found);
}

async function leaveEmpty(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  entry: FileEntry,
  before: FileEntry,
  copy: CopyState,
): Promise<void> {
  const file = { ...(await resizeBytes(store, tx, share, entry.file, 0)), copy };
  await useSpace(store, tx, share, -before.file.length);
  const stamp = tx.stamp(before.stamp);
  await putEntry(store, tx, share, before, { ...entry, file, stamp, changed: ticksOf(tx.now) });
}
