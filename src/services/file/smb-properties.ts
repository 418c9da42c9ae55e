// Attributes, times and permissions as a REST request asks for them, applied to an entry.
//
//                    create             set, rename      copy
//   attributes       archive            as they were     archive
//   creation         now                as it was        now
//   last write       now                as it was        the source's
//   change           now                now              now
//   permission       inherited          as it was        inherited

import type { Transaction } from '../../collections/index.js';
import { attribute } from './access.js';
import { type Ticks, ticksOf } from './file-system.js';
import type { Entry, FileStore, LiveShare } from './model.js';
import { inheritPermission, loadPermission, storePermission } from './permissions.js';

export type PermissionWish = Readonly<
  | { kind: 'default' }
  | { kind: 'inherit' }
  | { kind: 'key'; key: string }
  | { kind: 'descriptor'; descriptor: Buffer }
>;

/** What is left out has the default of the operation. */
export interface SmbWishes {
  readonly attributes: number | undefined;
  readonly created: Ticks | 'now' | undefined;
  readonly written: Ticks | 'now' | undefined;
  readonly changed: Ticks | 'now' | undefined;
  readonly permission: PermissionWish;
  /** Attributes as they are given, nothing added. */
  readonly verbatim?: boolean;
}

export const noWishes: SmbWishes = {
  attributes: undefined,
  created: undefined,
  written: undefined,
  changed: undefined,
  permission: { kind: 'default' },
};

type SmbPart = Pick<Entry, 'attributes' | 'created' | 'written' | 'changed' | 'permission'>;

function timeOf(wish: Ticks | 'now' | undefined, otherwise: Ticks, now: Ticks): Ticks {
  return wish === undefined ? otherwise : wish === 'now' ? now : wish;
}

/** The attributes as they are stored: a directory always has that bit, a file never. */
function storedAttributes(given: number, directory: boolean): number {
  const kept = given & ~attribute.normal;
  return directory ? kept | attribute.directory : kept & ~attribute.directory;
}

export async function newSmbPart(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  wishes: SmbWishes,
  parent: Entry,
  directory: boolean,
): Promise<SmbPart> {
  const now = ticksOf(tx.now);
  const archive = directory || (wishes.verbatim && wishes.attributes !== undefined) ? 0 : attribute.archive;
  return {
    attributes: storedAttributes((wishes.attributes ?? 0) | archive, directory),
    created: timeOf(wishes.created, now, now),
    written: timeOf(wishes.written, now, now),
    changed: timeOf(wishes.changed, now, now),
    permission: await permissionOf(store, tx, share, wishes.permission, () =>
      inheritPermission(store, tx, share.id, parent.permission, directory),
    ),
  };
}

export async function changedSmbPart(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  wishes: SmbWishes,
  entry: Entry,
): Promise<SmbPart> {
  const now = ticksOf(tx.now);
  return {
    attributes:
      wishes.attributes === undefined
        ? entry.attributes
        : storedAttributes(wishes.attributes, entry.file === undefined),
    created: timeOf(wishes.created, entry.created, now),
    written: timeOf(wishes.written, entry.written, now),
    changed: timeOf(wishes.changed, now, now),
    permission: await permissionOf(store, tx, share, wishes.permission, async () => entry.permission),
  };
}

async function permissionOf(
  store: FileStore,
  tx: Transaction,
  share: LiveShare,
  wish: PermissionWish,
  otherwise: () => Promise<string>,
): Promise<string> {
  if (wish.kind === 'key') {
    await loadPermission(store, tx, share.id, wish.key);
    return wish.key;
  }
  return wish.kind === 'descriptor' ? storePermission(store, tx, share.id, wish.descriptor) : otherwise();
}
