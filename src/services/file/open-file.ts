// Opening a file or directory by its path, creating or emptying it if asked: one transaction, in which the
// lock table registers the handle.

import { access, allAccess, attribute } from './access.js';
import { grantAccess } from './acl-rules.js';
import { type Attempt, attempts, done, type FileContext } from './attempts.js';
import type { Cache, CacheWish } from './caches.js';
import { allowedOn, checkAdding, newSecurity } from './enforcement.js';
import { type FileNode, rootId, type VolumeTransaction } from './file-system.js';
import type { HandleOwner } from './open-handles.js';
import { leaseRefusesOpen } from './opens-rules.js';
import { type FileRefusal, FileRefused } from './refusals.js';

// biome-ignore format: a table
const dispositions = {
  //              if it exists            if it is missing
  supersede:   { exists: 'superseded',   missing: 'created' },
  open:        { exists: 'opened',       missing: undefined },
  create:      { exists: undefined,      missing: 'created' },
  openIf:      { exists: 'opened',       missing: 'created' },
  overwrite:   { exists: 'overwritten',  missing: undefined },
  overwriteIf: { exists: 'overwritten',  missing: 'created' },
} as const;

export type Disposition = keyof typeof dispositions;
export type OpenAction = 'superseded' | 'opened' | 'created' | 'overwritten';

export interface OpenFileRequest {
  /** The handle's id, chosen by the caller. */
  readonly id: bigint;
  /** Names from the root down; none is the root itself. */
  readonly path: readonly string[];
  readonly kind: 'file' | 'directory' | 'any';
  readonly disposition: Disposition;
  /** Specific rights; with `maximum` whatever the file allows is granted on top. */
  readonly access: number;
  readonly maximum: boolean;
  readonly share: number;
  readonly attributes: number;
  readonly deleteOnClose: boolean;
  /** What it creates or empties is on disk when it is answered, and not only when it is flushed or closed. */
  readonly writeThrough: boolean;
  readonly security: Uint8Array | undefined;
  readonly wish: CacheWish;
  readonly owner: HandleOwner;
}

export interface OpenedFile {
  readonly node: FileNode;
  readonly access: number;
  /** The most that could have been asked for. */
  readonly maximal: number;
  readonly action: OpenAction;
  readonly cache: Cache | undefined;
}

export async function openFile(context: FileContext, request: OpenFileRequest): Promise<OpenedFile> {
  try {
    const attempt = async (tx: VolumeTransaction) => {
      await context.opens.withdraw(request.id); // The transaction may be run again.
      const { parent, existing } = await resolve(tx, request.path);
      return existing
        ? openExisting(context, tx, request, existing, parent)
        : createMissing(context, tx, request, parent);
    };
    const flushedOf = ({ node }: OpenedFile) => ({ file: node.id, by: context.opens.handle(request.id) });
    return await attempts(context, attempt, request.writeThrough ? undefined : flushedOf);
  } catch (error) {
    await context.opens.withdraw(request.id);
    throw error;
  }
}

/** The node of a path, or the directory that it would be in. */
export async function resolve(
  tx: VolumeTransaction,
  path: readonly string[],
): Promise<{ parent: FileNode; existing: FileNode | undefined }> {
  let parent = await tx.get(rootId);
  if (!parent) throw new FileRefused('ShareNotFound');
  const last = path.at(-1);
  if (last === undefined) return { parent, existing: parent };
  for (const name of path.slice(0, -1)) {
    parent = await tx.child(parent.id, name);
    if (!parent?.directory) throw new FileRefused('PathNotFound');
  }
  return { parent, existing: await tx.child(parent.id, last) };
}

async function openExisting(
  context: FileContext,
  tx: VolumeTransaction,
  request: OpenFileRequest,
  node: FileNode,
  parent: FileNode,
): Promise<Attempt<OpenedFile>> {
  const action = dispositions[request.disposition].exists;
  const pending = context.opens.isDeletePending(context.volume.id, node.id);
  if (!action) throw new FileRefused(pending ? 'DeletePending' : 'NameCollision');
  const overwrites = action !== 'opened';
  const wrongKind = kindRefusal(request, node, overwrites);
  if (wrongKind) throw new FileRefused(wrongKind);
  if (pending) throw new FileRefused('DeletePending');
  const denied = attributeRefusal(request, node, overwrites, context.volume.readOnly);
  if (denied) throw new FileRefused(denied);
  const allowed = allowedOn(context.judged, node, parent);
  const maximal = maximalAccess(allowed, node, context.volume.readOnly);
  const granted = grantedAccess(request, action, allowed, maximal);
  if (leaseRefusesOpen(node.leased, granted, overwrites)) throw new FileRefused('SharingViolation');

  const reserved = await reserve(context, request, node, granted, overwrites ? 'overwrites' : 'opens');
  if ('wait' in reserved) return reserved;
  const opened = overwrites ? await overwrite(tx, request, node, action) : node;
  return done({ node: opened, access: granted, maximal, action, cache: reserved.cache });
}

function kindRefusal(request: OpenFileRequest, node: FileNode, overwrites: boolean): FileRefusal | undefined {
  if (node.directory && request.kind === 'file') return 'IsADirectory';
  if (node.directory && overwrites) return 'NameCollision';
  if (!node.directory && request.kind === 'directory') return 'NotADirectory';
  return undefined;
}

const writing = access.writeData | access.appendData;
const changing =
  writing | access.delete | access.deleteChild | access.writeAttributes | access.writeEa | access.writeDac;

function attributeRefusal(
  request: OpenFileRequest,
  node: FileNode,
  overwrites: boolean,
  snapshot: boolean,
): FileRefusal | undefined {
  const readOnly = !node.directory && (node.attributes & attribute.readOnly) !== 0;
  if (snapshot && (overwrites || request.deleteOnClose || request.access & changing)) return 'AccessDenied';
  if (readOnly && (overwrites || request.access & writing)) return 'AccessDenied';
  const lost = node.attributes & (attribute.hidden | attribute.system) & ~request.attributes;
  if (overwrites && lost !== 0) return 'AccessDenied';
  if (!request.deleteOnClose) return undefined;
  if (node.id === rootId) return 'AccessDenied';
  return node.attributes & attribute.readOnly ? 'CannotDelete' : undefined;
}

/** What is done to the file before there is a handle needs rights that the handle need not have. */
const overwriting = access.writeData | access.writeEa | access.writeAttributes;
// biome-ignore format: a table
const actionRights: Readonly<Record<OpenAction, number>> = {
  opened: 0, created: 0, overwritten: overwriting, superseded: overwriting | access.delete,
};

/** The rights of the handle: those asked for, or all that can be had. */
function grantedAccess(
  request: OpenFileRequest,
  action: OpenAction,
  allowed: number,
  maximal: number,
): number {
  const needed = request.access | actionRights[action] | (request.deleteOnClose ? access.delete : 0);
  const judged = grantAccess({ access: needed, maximum: request.maximum }, allowed);
  if (!judged.ok) throw new FileRefused(judged.code);
  return request.maximum ? request.access | maximal : request.access;
}

/** Of what the permissions of a file allow: all but writing one that is read-only. */
export function maximalAccess(allowed: number, node: FileNode, snapshot: boolean): number {
  if (snapshot) return allowed & ~(changing | access.writeOwner);
  const readOnlyFile = !node.directory && (node.attributes & attribute.readOnly) !== 0;
  return readOnlyFile ? allowed & ~writing : allowed;
}

async function reserve(
  context: FileContext,
  request: OpenFileRequest,
  node: FileNode,
  granted: number,
  does: 'opens' | 'creates' | 'overwrites',
): Promise<Readonly<{ wait: Promise<void> } | { cache: Cache | undefined }>> {
  const { id, share, deleteOnClose, owner, wish } = request;
  const reserved = await context.opens.reserve({
    ...{ id, share, deleteOnClose, owner, wish },
    overwrites: does === 'overwrites',
    creates: does === 'creates',
    cacheable: !node.directory && !context.volume.readOnly,
    ...{ volume: context.volume.id, file: node.id, access: granted },
  });
  if (reserved.outcome === 'refused') throw new FileRefused(reserved.code);
  return reserved.outcome === 'wait' ? { wait: reserved.changed } : { cache: reserved.cache };
}

async function overwrite(
  tx: VolumeTransaction,
  request: OpenFileRequest,
  node: FileNode,
  action: OpenAction,
): Promise<FileNode> {
  await tx.resize(node.id, 0);
  return tx.update(node.id, {
    attributes: newAttributes(request.attributes, false),
    written: tx.now,
    changed: tx.now,
    ...(action === 'superseded' ? { created: tx.now } : {}),
  });
}

async function createMissing(
  context: FileContext,
  tx: VolumeTransaction,
  request: OpenFileRequest,
  parent: FileNode,
): Promise<Attempt<OpenedFile>> {
  const action = dispositions[request.disposition].missing;
  if (!action) throw new FileRefused('NameNotFound');
  if (!parent.directory) throw new FileRefused('PathNotFound');
  if (context.volume.readOnly) throw new FileRefused('WriteProtected');
  if (context.opens.isDeletePending(context.volume.id, parent.id)) throw new FileRefused('DeletePending');
  if (request.deleteOnClose && request.attributes & attribute.readOnly) throw new FileRefused('CannotDelete');

  const directory = request.kind === 'directory';
  checkAdding(context.judged, parent, directory);
  const attributes = newAttributes(request.attributes, directory);
  const name = request.path.at(-1) ?? '';
  const node = await tx.create({
    parent: parent.id,
    name,
    directory,
    attributes,
    security: newSecurity(context.judged, parent, request.security, directory),
  });
  // Who creates a file may do everything with it through this handle, read-only or not.
  const granted = request.maximum ? allAccess : request.access;
  const reserved = await reserve(context, request, node, granted, 'creates');
  if ('wait' in reserved) return reserved;
  const maximal = maximalAccess(allowedOn(context.judged, node, parent), node, false);
  return done({ node, access: granted, maximal, action, cache: reserved.cache });
}

const settable = 0x00003127;

/** The attributes of something new: a file is always marked for backup, a directory never temporary. */
function newAttributes(requested: number, directory: boolean): number {
  if (!directory) return (requested & settable) | attribute.archive;
  return (requested & settable & ~(attribute.archive | attribute.temporary)) | attribute.directory;
}
