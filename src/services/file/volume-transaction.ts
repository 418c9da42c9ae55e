// One transaction on a share as the operations on open files see it. What it reads it locks: a file for whoever means
// to change it, a directory so that others may pass through it at the same time.

import { buffer } from '../../base/bytes.js';
import type { Transaction } from '../../collections/index.js';
import { observe } from '../common/lease.js';
import { attribute } from './access.js';
import { resizeBytes } from './content.js';
import { readDescriptor } from './descriptor.js';
import {
  type FileNode,
  type NewNode,
  type NodeChange,
  type Ticks,
  ticksOf,
  type VolumeTransaction,
} from './file-system.js';
import { type Entry, type FileEntry, type FileState, type FileStore, largestFile } from './model.js';
import { newFileState } from './new-entry.js';
import { descriptorOf, inheritPermission, storePermission } from './permissions.js';
import { FileRefused } from './refusals.js';
import { useSpace } from './share-access.js';
import {
  addEntry,
  type EntryLock,
  findById,
  findChild,
  isEmptyDirectory,
  moveEntry,
  putEntry,
  removeEntry,
  type View,
} from './tree.js';

export class ShareTransaction implements VolumeTransaction {
  readonly #store: FileStore;
  readonly #tx: Transaction;
  readonly #view: View;

  constructor(store: FileStore, tx: Transaction, view: View) {
    this.#store = store;
    this.#tx = tx;
    this.#view = view;
  }

  get now(): Ticks {
    return ticksOf(this.#tx.now);
  }

  get(id: bigint): Promise<FileNode | undefined> {
    return this.#locked((lock) => findById(this.#store, this.#tx, this.#view, Number(id), lock));
  }

  child(parent: bigint, name: string): Promise<FileNode | undefined> {
    return this.#locked((lock) => findChild(this.#store, this.#tx, this.#view, Number(parent), name, lock));
  }

  isEmpty(directory: bigint): Promise<boolean> {
    return isEmptyDirectory(this.#store, this.#tx, this.#view.share.id, Number(directory));
  }

  async create(node: NewNode): Promise<FileNode> {
    const { share } = this.#view;
    const parent = await this.#entry(node.parent);
    const id = this.#tx.stamp(parent.stamp);
    const { now } = this;
    const entry = await addEntry(this.#store, this.#tx, share, {
      format: 1,
      ...{ id, parent: parent.id, name: node.name, epoch: share.epoch, stamp: id },
      attributes: node.directory ? node.attributes | attribute.directory : node.attributes,
      ...{ created: now, accessed: now, written: now, changed: now },
      permission: await this.#permission(node, parent),
      metadata: [],
      file: node.directory ? undefined : newFileState,
    });
    return this.#node(entry);
  }

  async update(id: bigint, { security, ...change }: NodeChange): Promise<FileNode> {
    const entry = await this.#entry(id);
    const permission = security === undefined ? {} : { permission: await this.#keyOf(buffer(security)) };
    return this.#put(entry, { ...entry, ...change, ...permission });
  }

  async resize(id: bigint, length: number): Promise<FileNode> {
    if (length > largestFile) throw new FileRefused('DiskFull');
    const entry = entryOf(await this.#entry(id));
    const { share } = this.#view;
    await useSpace(this.#store, this.#tx, share, length - entry.file.length);
    const file = await resizeBytes(this.#store, this.#tx, share, entry.file, length);
    return this.#put(entry, { ...entry, file });
  }

  async move(id: bigint, parent: bigint, name: string): Promise<FileNode> {
    const entry = await this.#entry(id);
    const stamp = this.#tx.stamp(entry.stamp);
    const after = { ...entry, parent: Number(parent), name, stamp };
    return this.#node(await moveEntry(this.#store, this.#tx, this.#view.share, entry, after));
  }

  async remove(id: bigint): Promise<void> {
    const entry = await this.#entry(id);
    const { share } = this.#view;
    await removeEntry(this.#store, this.#tx, share, entry);
    await useSpace(this.#store, this.#tx, share, -(entry.file?.length ?? 0));
  }

  async #locked(find: (lock: EntryLock) => Promise<Entry | undefined>): Promise<FileNode | undefined> {
    // What kind it is tells which lock to take; a name that is free is locked by who takes it.
    const seen = await find('checked');
    if (seen === undefined) return undefined;
    const entry = await find(seen.file === undefined ? 'shared' : 'update');
    return entry && this.#node(entry);
  }

  async #entry(id: bigint): Promise<Entry> {
    if (this.#view.snapshot !== undefined) throw new FileRefused('WriteProtected');
    const entry = await findById(this.#store, this.#tx, this.#view, Number(id), 'shared');
    if (entry === undefined) throw new FileRefused('HandleClosed');
    return entry;
  }

  async #put(before: Entry, after: Entry): Promise<FileNode> {
    const stamped = { ...after, stamp: this.#tx.stamp(before.stamp) };
    return this.#node(await putEntry(this.#store, this.#tx, this.#view.share, before, stamped));
  }

  #permission({ security, directory }: NewNode, parent: Entry): Promise<string> {
    if (security !== undefined) return this.#keyOf(buffer(security));
    return inheritPermission(this.#store, this.#tx, this.#view.share.id, parent.permission, directory);
  }

  #keyOf(descriptor: Buffer): Promise<string> {
    if (!readDescriptor(descriptor).ok) throw new FileRefused('InvalidParameter');
    return storePermission(this.#store, this.#tx, this.#view.share.id, descriptor);
  }

  #node(entry: Entry): Promise<FileNode> {
    return nodeOf(this.#store, this.#tx, this.#view, entry);
  }
}

export async function nodeOf(
  store: FileStore,
  tx: Transaction,
  { share }: View,
  entry: Entry,
): Promise<FileNode> {
  const { name, attributes, created, accessed, written, changed, file } = entry;
  return {
    ...{ id: BigInt(entry.id), parent: BigInt(entry.parent), name, attributes },
    ...{ created, accessed, written, changed },
    directory: file === undefined,
    length: file?.length ?? 0,
    security: await descriptorOf(store, tx, share.id, entry.permission),
    leased: file !== undefined && isHeld(file, tx.now),
  };
}

/** A copy that is pending keeps writers away as a lease does. */
function isHeld({ lease, copy }: FileState, now: number): boolean {
  return observe(lease, now).state === 'leased' || copy?.status === 'pending';
}

/** An entry that was made sure to be a file's. */
export function entryOf(entry: Entry): FileEntry {
  if (entry.file === undefined) throw new FileRefused('IsADirectory');
  return { ...entry, file: entry.file };
}
