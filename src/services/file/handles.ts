// Handles that SMB clients hold on a file or directory, or below one: shown, and closed by force.

import type { Transaction } from '../../collections/index.js';
import { invalidHeader, StorageError } from '../common/errors.js';
import { closeFile } from './close-file.js';
import { isBelow, type Known } from './directories.js';
import { rootDirectory } from './model.js';
import type { OpenHandle } from './open-handles.js';
import { operate } from './operate.js';
import type { FileService } from './service.js';
import { volumeId } from './share-access.js';
import { findTarget, type Target } from './targets.js';
import { findById, type View } from './tree.js';

export interface HandleQuery {
  readonly recursive: boolean;
  /** Handles from this id on. */
  readonly from: bigint | undefined;
  readonly max: number;
}

export interface ShownHandle {
  readonly handle: OpenHandle;
  /** From the root, joined by slashes. */
  readonly path: string;
  readonly parent: number;
}

export interface HandlePage {
  readonly handles: readonly ShownHandle[];
  readonly next: bigint | undefined;
}

/** In the order of their ids. Also of what waits to be deleted: who repairs needs to see it. */
export function listHandles(service: FileService, target: Target, query: HandleQuery): Promise<HandlePage> {
  return operate(service, target, async (tx) => {
    const { view, handles } = await handlesOf(service, tx, target, query.recursive);
    const { from, max } = query;
    const left = handles.filter(({ id }) => from === undefined || id >= from);
    const shown: ShownHandle[] = [];
    for (const handle of left.slice(0, max)) {
      shown.push({ handle, ...(await placeOf(service, tx, view, Number(handle.file))) });
    }
    return { handles: shown, next: left[max]?.id };
  });
}

async function handlesOf(
  service: FileService,
  tx: Transaction,
  target: Target,
  recursive: boolean,
): Promise<{ view: View; handles: OpenHandle[] }> {
  const { store, opens } = service;
  const { view, entry } = await findTarget(store, tx, target, 'none');
  if (entry === undefined) throw new StorageError('ResourceNotFound');
  if (recursive && entry.file !== undefined) throw invalidHeader('x-ms-recursive', 'true');
  const volume = volumeId(view);
  const found: OpenHandle[] = [];
  const known: Known = new Map();
  for (const id of recursive ? opens.openFiles(volume) : [BigInt(entry.id)]) {
    if (await isBelow(service, tx, view, Number(id), entry.id, known))
      found.push(...opens.handles(volume, id));
  }
  return { view, handles: found.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

async function placeOf(
  { store }: FileService,
  tx: Transaction,
  view: View,
  id: number,
): Promise<{ path: string; parent: number }> {
  const names: string[] = [];
  let parent = rootDirectory;
  for (let at = id; at !== rootDirectory; ) {
    const entry = await findById(store, tx, view, at, 'none');
    if (entry === undefined) break;
    if (at === id) parent = entry.parent;
    names.unshift(entry.name);
    at = entry.parent;
  }
  return { path: names.join('/'), parent };
}

/** How many were closed. `only`: this one, if it is there. */
export async function closeHandles(
  service: FileService,
  target: Target,
  recursive: boolean,
  only: bigint | undefined,
): Promise<number> {
  const handles = await operate(
    service,
    target,
    async (tx) => (await handlesOf(service, tx, target, recursive)).handles,
  );
  const [account, share] = target.share;
  const taken = handles.filter(({ id }) => only === undefined || id === only);
  const volume = await service.volumes.open(account, share, snapshotTicks(target));
  if (volume === undefined) throw new StorageError('ShareNotFound');
  for (const handle of taken) await closeFile(volume, service.opens, handle, true);
  return taken.length;
}

function snapshotTicks({ snapshot }: Target): bigint | undefined {
  return snapshot === undefined ? undefined : BigInt(snapshot) * 10_000_000n + 116_444_736_000_000_000n;
}

/** Whoever has something open in a share that is gone is told. */
export async function closeVolume({ opens }: Pick<FileService, 'opens'>, volume: string): Promise<void> {
  for (const id of opens.openFiles(volume)) {
    for (const handle of opens.handles(volume, id)) await opens.close(handle.id, true);
    await opens.removed(volume, id);
  }
}
