// Listing a directory: one level, in the order of names in upper case. Its cost follows what it returns. What waits to
// be deleted is left out.

import { children } from './children.js';
import { fold } from './folding.js';
import { guardPending } from './guards.js';
import type { Entry } from './model.js';
import { MustWait, operate } from './operate.js';
import type { FileService } from './service.js';
import { volumeId } from './share-access.js';
import { findTarget, lookForDirectory, type Target } from './targets.js';
import type { View } from './tree.js';

export interface ListOptions {
  readonly prefix: string;
  /** The name in upper case to go on from. */
  readonly marker: string | undefined;
  readonly max: number;
  /** Sizes must be true: who caches writes has to write them down first. */
  readonly exact: boolean;
}

export interface Listing {
  readonly directory: Entry;
  readonly entries: readonly Entry[];
  readonly next: string | undefined;
}

export function listDirectory(
  service: FileService,
  target: Target,
  { prefix, marker, max, exact }: ListOptions,
): Promise<Listing> {
  const { store, opens } = service;
  return operate(service, target, async (tx) => {
    const found = await findTarget(store, tx, target, 'checked');
    const directory = lookForDirectory(found);
    const { view } = found;
    guardPending(service, view, directory.id);
    const volume = volumeId(view);
    const entries: Entry[] = [];
    const pageSize = Math.min(max + 1, 1000);
    const options = { directory: directory.id, prefix, from: marker, pageSize };
    let next: string | undefined;
    for await (const [, entry] of children(store, tx, view, options)) {
      if (opens.isDeletePending(volume, BigInt(entry.id))) continue;
      if (entries.length === max) {
        next = fold(entry.name);
        break;
      }
      entries.push(entry);
    }
    if (exact) await breakWriters(service, view, entries);
    return { directory, entries, next };
  });
}

async function breakWriters({ opens }: FileService, view: View, entries: readonly Entry[]): Promise<void> {
  const volume = volumeId(view);
  const open = new Set(opens.openFiles(volume));
  if (open.size === 0) return;
  for (const { id, file } of entries) {
    if (file === undefined || !open.has(BigInt(id))) continue;
    const [wait] = await opens.break(volume, BigInt(id), 'restRead');
    if (wait) throw new MustWait(wait);
  }
}
