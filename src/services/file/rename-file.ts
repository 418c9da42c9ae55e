// Renaming what a handle stands for. All its handles follow: they know the file by its id.

import { access, attribute, share } from './access.js';
import { type Attempt, attempts, done, type FileContext } from './attempts.js';
import { allowedOn, checkAdding } from './enforcement.js';
import { type FileNode, rootId, type VolumeTransaction } from './file-system.js';
import { resolve } from './open-file.js';
import type { OpenHandle } from './open-handles.js';
import { sharingConflict } from './opens-rules.js';
import { FileRefused } from './refusals.js';

export interface Renamed {
  readonly before: FileNode;
  readonly after: FileNode;
  readonly replaced: FileNode | undefined;
}

export function renameFile(
  context: FileContext,
  handle: OpenHandle,
  target: { path: readonly string[]; replace: boolean },
): Promise<Renamed> {
  return attempts(context, async (tx): Promise<Attempt<Renamed>> => {
    const node = await tx.get(handle.file);
    if (!node) throw new FileRefused('HandleClosed');
    if (node.id === rootId || context.volume.readOnly) throw new FileRefused('AccessDenied');
    const { parent, existing } = await resolve(tx, target.path);
    const name = target.path.at(-1);
    if (name === undefined || !parent.directory) throw new FileRefused('PathNotFound');
    const replaced = existing?.id === node.id ? undefined : existing;

    checkSource(context, handle);
    await checkNotBelow(tx, parent, node);
    checkAdding(context.judged, parent, node.directory);
    checkParent(context, parent);
    if (replaced) checkReplaced(context, replaced, parent, target.replace);

    const [wait] = await context.opens.break(context.volume.id, node.id, 'renameOrDelete', handle.id);
    if (wait) return { wait };
    if (replaced) await tx.remove(replaced.id);
    await tx.move(node.id, parent.id, name);
    // Its row is taken now: nobody comes to have it or something below it open any more.
    checkSource(context, handle);
    await checkNotOpenBelow(context, tx, node);
    const after = await tx.update(node.id, { changed: tx.now });
    return done({ before: node, after, replaced });
  });
}

/** Every other handle of the source must share deleting; the own one may share nothing. */
function checkSource({ volume, opens }: FileContext, handle: OpenHandle): void {
  const asked = { access: access.delete, share: share.all };
  const others = opens.handles(volume.id, handle.file).filter(({ id }) => id !== handle.id);
  if (others.some((other) => sharingConflict(asked, other))) throw new FileRefused('SharingViolation');
}

/** A directory cannot be moved while anything below it is open. */
async function checkNotOpenBelow(context: FileContext, tx: VolumeTransaction, node: FileNode): Promise<void> {
  if (!node.directory) return;
  for (const id of context.opens.openFiles(context.volume.id)) {
    if (id !== node.id && (await isBelow(tx, id, node.id))) throw new FileRefused('AccessDenied');
  }
}

async function checkNotBelow(tx: VolumeTransaction, parent: FileNode, node: FileNode): Promise<void> {
  if (node.directory && (await isBelow(tx, parent.id, node.id))) throw new FileRefused('AccessDenied');
}

async function isBelow(tx: VolumeTransaction, id: bigint, directory: bigint): Promise<boolean> {
  for (let at = id; at !== rootId; ) {
    if (at === directory) return true;
    const node = await tx.get(at);
    if (!node) return false;
    at = node.parent;
  }
  return false;
}

/** The directory moved into is used as if it were opened to add a file. */
function checkParent({ volume, opens }: FileContext, parent: FileNode): void {
  if (opens.isDeletePending(volume.id, parent.id)) throw new FileRefused('DeletePending');
  const asked = { access: access.writeData, share: share.read | share.write };
  const conflicts = opens.handles(volume.id, parent.id).some((handle) => sharingConflict(asked, handle));
  if (conflicts) throw new FileRefused('SharingViolation');
}

function checkReplaced(
  { volume, opens, judged }: FileContext,
  replaced: FileNode,
  parent: FileNode,
  replace: boolean,
): void {
  if (!replace) throw new FileRefused('NameCollision');
  if (!(allowedOn(judged, replaced, parent) & access.delete)) throw new FileRefused('AccessDenied');
  const open = opens.handles(volume.id, replaced.id).length > 0;
  if (replaced.directory || open || replaced.attributes & attribute.readOnly || replaced.leased) {
    throw new FileRefused('AccessDenied');
  }
}
