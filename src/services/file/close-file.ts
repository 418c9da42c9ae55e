// Closing a handle, and deleting a file: at once is not possible while others have it open, so it is marked
// and goes with its last handle.

import { attribute } from './access.js';
import { attempts, done, type FileContext } from './attempts.js';
import { type FileNode, rootId, type Volume, type VolumeTransaction } from './file-system.js';
import type { OpenHandle } from './open-handles.js';
import type { Opens } from './opens.js';
import { FileRefused } from './refusals.js';

export interface Closed {
  /** The file that went with its last handle. */
  readonly removed: FileNode | undefined;
  /** It is a directory, and now marked for deletion. */
  readonly markedDirectory: boolean;
}

/** Closes a handle, and removes the file if it is marked and this was the last one. If that fails, it is closed too. */
export async function closeFile(
  volume: Volume,
  opens: Opens,
  handle: OpenHandle,
  forced = false,
): Promise<Closed> {
  const { id, file } = handle;
  try {
    if (handle.deleteOnClose && !(await removable(volume, file))) await opens.setDeleteOnClose(id, false);
    const marks = handle.deleteOnClose && !forced && !opens.isDeletePending(volume.id, file);
    const markedDirectory = marks && (await volume.node(file))?.directory === true;
    const isLast = (await opens.close(id, forced)) === 'remove';
    return { removed: isLast ? await remove(volume, opens, file) : undefined, markedDirectory };
  } finally {
    await opens.withdraw(id);
  }
}

async function remove(volume: Volume, opens: Opens, file: bigint): Promise<FileNode | undefined> {
  try {
    return await volume.transaction(async (tx) => {
      const node = await tx.get(file);
      // A directory that was filled again through an open handle stays.
      if (!node || (node.directory && !(await tx.isEmpty(file)))) return undefined;
      await tx.remove(file);
      return node;
    });
  } finally {
    await opens.removed(volume.id, file);
  }
}

async function removable(volume: Volume, id: bigint): Promise<boolean> {
  const node = await volume.node(id);
  return node !== undefined && (!node.directory || (await volume.children(id, undefined, 1)).length === 0);
}

/** Marks the file of a handle for deletion, or takes the mark away. */
export async function setDisposition(
  context: FileContext,
  handle: OpenHandle,
  disposition: { deletes: boolean; ignoreReadOnly: boolean },
): Promise<void> {
  const { volume, opens } = context;
  if (!disposition.deletes) return opens.setDeletePending(handle.id, false);
  const wasPending = opens.isDeletePending(volume.id, handle.file);
  let marked = false;
  const mark = async (tx: VolumeTransaction) => {
    const node = await tx.get(handle.file);
    if (!node) throw new FileRefused('HandleClosed');
    if (node.id === rootId || volume.readOnly) throw new FileRefused('AccessDenied');
    if (node.attributes & attribute.readOnly && !disposition.ignoreReadOnly)
      throw new FileRefused('CannotDelete');
    if (node.directory && !(await tx.isEmpty(node.id))) throw new FileRefused('DirectoryNotEmpty');
    const [wait] = await opens.break(volume.id, node.id, 'renameOrDelete', handle.id);
    if (wait) return { wait };
    await opens.setDeletePending(handle.id, true);
    marked = !wasPending;
    return done(undefined);
  };
  try {
    await attempts(context, mark);
  } catch (error) {
    // It was run again, and refused: a directory was filled meanwhile.
    if (marked) await opens.setDeletePending(handle.id, false);
    throw error;
  }
}
