// Changes in a directory, as SMB clients that watch it are told. A change over REST is told only to those whose account
// wants it (`notifySmbOnRest`): Azure does not.

import type { Transaction } from '../../collections/index.js';
import type { FileNode } from './file-system.js';
import type { Entry } from './model.js';
import type { FileService } from './service.js';
import type { Target } from './targets.js';

// biome-ignore format: a table
export const change = {
  fileName: 0x1, directoryName: 0x2, attributes: 0x4, size: 0x8, lastWrite: 0x10, lastAccess: 0x20,
  creation: 0x40, security: 0x100,
} as const;

export const action = { added: 1, removed: 2, modified: 3, renamedOld: 4, renamedNew: 5 } as const;

export interface Change {
  readonly directory: bigint;
  readonly name: string;
  readonly action: number;
  /** What kinds of change it is. */
  readonly kinds: number;
  /** Who watches these kinds is not told. */
  readonly unless?: number;
}

/** What writing bytes changes, and what setting properties does. */
export const contentChanges = change.size | change.lastWrite;
export const propertyChanges = change.attributes | change.lastWrite | change.creation | change.security;

type Named = Pick<FileNode, 'parent' | 'name' | 'directory'>;

/** The change that a node's name is: created, removed, moved. */
export function nameChange(node: Named, what: number): Change {
  const kinds = node.directory ? change.directoryName : change.fileName;
  return { directory: node.parent, name: node.name, action: what, kinds };
}

export function modified(node: Named, kinds: number): Change {
  return { directory: node.parent, name: node.name, action: action.modified, kinds };
}

/**
 * In one directory a file changes its name; from one to another it goes and comes. Who watches attributes and not
 * names is told of a file that it was modified.
 */
export function renameChanges(before: Named, after: Named, replaced: Named | undefined): Change[] {
  const gone = replaced ? [nameChange(replaced, action.removed)] : [];
  const [away, here] =
    before.parent === after.parent ? [action.renamedOld, action.renamedNew] : [action.removed, action.added];
  const names = [nameChange(before, away), nameChange(after, here)];
  const unnoticed = { ...modified(after, change.attributes | change.creation), unless: change.fileName };
  return [...gone, ...names, ...(after.directory ? [] : [unnoticed])];
}

export function namedAs({ parent, name, file }: Entry): Named {
  return { parent: BigInt(parent), name, directory: file === undefined };
}

export type ChangeListener = (share: Target['share'], changes: readonly Change[]) => void;

/** Has SMB clients told once the change is on disk. */
export function tellChanges(
  { listeners, accounts }: Pick<FileService, 'listeners' | 'accounts'>,
  tx: Transaction,
  { share }: Pick<Target, 'share'>,
  changesOf: () => readonly Change[],
): void {
  if (listeners.size === 0 || !accounts.get(share[0])?.settings.notifySmbOnRest) return;
  tx.onEnd({
    durable: () => {
      const changes = changesOf();
      for (const listener of listeners) listener(share, changes);
    },
  });
}
