// A disk in memory whose power can be cut after any call.
//
// It promises as little as a real one may: until a file is synced each write to it may be lost, kept, cut
// off at a sector, or leave zeros where it grew the file, each on its own, so later ones can be there
// without earlier ones. Until a folder is synced each change of a name in it may be lost or kept; a rename
// is whole or not at all. After a sync that failed the writes it stood for stay in doubt for ever, as the
// kernel forgets them. `crash` leaves this disk as it is and gives the one found after the power cut, so a
// proof can look at every prefix:
//
//   disk.before = () => prefixes.push(disk.crash(seed));
//
// `before` sees each call that changes something and may throw: that call then fails and changes nothing.

import { basename, dirname, resolve } from 'node:path';
import type { Bytes } from './bytes.js';
import type { FileStatus, Files, OpenFile, OpenMode } from './files.js';
import { seededRandom } from './random.js';

export interface DiskCall {
  readonly name: 'create' | 'write' | 'truncate' | 'sync' | 'rename' | 'remove' | 'makeFolder' | 'syncFolder';
  readonly path: string;
}

type DataChange = { position: number; bytes: Buffer } | { size: number };
type Pending = { change: DataChange; fate: 'open' | 'doubtful' | 'synced' };

class FileNode {
  content: Buffer;
  synced: Buffer;
  pending: Pending[] = [];

  constructor(content: Buffer) {
    this.content = content;
    this.synced = content;
  }

  apply(change: DataChange): void {
    this.content = applied(this.content, change);
    this.pending.push({ change, fate: 'open' });
  }

  sync(): void {
    for (const entry of this.pending) if (entry.fate === 'open') entry.fate = 'synced';
    if (this.pending.some(({ fate }) => fate === 'doubtful')) return;
    this.synced = this.content;
    this.pending = [];
  }

  syncFailed(): void {
    for (const entry of this.pending) if (entry.fate === 'open') entry.fate = 'doubtful';
  }
}

type Node = FileNode | FolderNode;
/** One change of names, whole or not at all: a name now stands for that node, or for none. */
type NameChange = readonly { folder: FolderNode; name: string; node: Node | undefined }[];

class FolderNode {
  readonly names = new Map<string, Node>();
  readonly synced = new Map<string, Node>();
  pending: NameChange[] = [];
}

const sector = 512;

function applied(content: Buffer, change: DataChange): Buffer {
  if ('size' in change) return resized(content, change.size);
  const end = change.position + change.bytes.length;
  const next = resized(content, Math.max(content.length, end));
  change.bytes.copy(next, change.position);
  return next;
}

/** A copy, as an earlier one may be what was synced. */
function resized(content: Buffer, size: number): Buffer {
  const next = Buffer.alloc(size);
  content.copy(next);
  return next;
}

function errorWith(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

export class SimulatedDisk implements Files {
  before: ((call: DiskCall) => void) | undefined;
  free = 2 ** 40;
  readonly #root: FolderNode;

  constructor(root = new FolderNode()) {
    this.#root = root;
  }

  /** The disk as it may be found after a power cut now. Seeds 0 and 1: all that was not synced is lost; is kept. */
  crash(seed: number): SimulatedDisk {
    const random = seededRandom(seed);
    const kept = () => (seed === 0 ? false : seed === 1 ? true : random() < 0.5);
    const fates = new Map<NameChange, boolean>();
    const nodes = new Map<Node, Node>();
    const survive = (node: Node): Node => {
      const known = nodes.get(node);
      if (known) return known;
      if (node instanceof FileNode) {
        const file = new FileNode(contentAfterCrash(node, kept, random));
        nodes.set(node, file);
        return file;
      }
      const folder = new FolderNode();
      nodes.set(node, folder);
      const names = new Map(node.synced);
      for (const change of node.pending) {
        if (!fates.has(change)) fates.set(change, kept());
        if (fates.get(change)) renamed(names, node, change);
      }
      for (const [name, child] of names) {
        const survivor = survive(child);
        folder.names.set(name, survivor);
        folder.synced.set(name, survivor);
      }
      return folder;
    };
    return new SimulatedDisk(survive(this.#root) as FolderNode);
  }

  async open(path: string, mode: OpenMode): Promise<OpenFile> {
    const { folder, name } = this.#place(path);
    const found = folder.names.get(name);
    if (mode === 'new') {
      if (found) throw errorWith('EEXIST', path);
      this.before?.({ name: 'create', path });
      const node = new FileNode(Buffer.alloc(0));
      this.#change([{ folder, name, node }]);
      return new SimulatedFile(this, path, node);
    }
    if (!found) throw errorWith('ENOENT', path);
    if (found instanceof FolderNode) throw errorWith('EISDIR', path);
    return new SimulatedFile(this, path, found);
  }

  async rename(from: string, to: string): Promise<void> {
    const source = this.#place(from);
    const target = this.#place(to);
    const node = source.folder.names.get(source.name);
    if (!node) throw errorWith('ENOENT', from);
    const replaced = target.folder.names.get(target.name);
    if (replaced instanceof FolderNode && replaced.names.size > 0) throw errorWith('ENOTEMPTY', to);
    this.before?.({ name: 'rename', path: to });
    this.#change([
      { ...source, node: undefined },
      { ...target, node },
    ]);
  }

  async remove(path: string): Promise<void> {
    const place = this.#place(path);
    const node = place.folder.names.get(place.name);
    if (!node) throw errorWith('ENOENT', path);
    if (node instanceof FolderNode) throw errorWith('EISDIR', path);
    this.before?.({ name: 'remove', path });
    this.#change([{ ...place, node: undefined }]);
  }

  async link(path: string, to: string): Promise<void> {
    const source = this.#place(path);
    const target = this.#place(to);
    const node = source.folder.names.get(source.name);
    if (!node) throw errorWith('ENOENT', path);
    if (target.folder.names.has(target.name)) throw errorWith('EEXIST', to);
    this.before?.({ name: 'create', path: to });
    this.#change([{ ...target, node }]);
  }

  async makeFolder(path: string): Promise<void> {
    const place = this.#place(path);
    if (place.folder.names.has(place.name)) throw errorWith('EEXIST', path);
    this.before?.({ name: 'makeFolder', path });
    this.#change([{ ...place, node: new FolderNode() }]);
  }

  async removeFolder(path: string): Promise<void> {
    if (this.#folder(path).names.size > 0) throw errorWith('ENOTEMPTY', path);
    this.before?.({ name: 'remove', path });
    this.#change([{ ...this.#place(path), node: undefined }]);
  }

  async list(folder: string): Promise<string[]> {
    return [...this.#folder(folder).names.keys()].sort();
  }

  async status(path: string): Promise<FileStatus | undefined> {
    const node = this.#find(path);
    if (!node) return undefined;
    return node instanceof FileNode
      ? { kind: 'file', size: node.content.length }
      : { kind: 'folder', size: 0 };
  }

  async syncFolder(path: string): Promise<void> {
    const folder = this.#folder(path);
    this.before?.({ name: 'syncFolder', path });
    for (const change of folder.pending) {
      for (const entry of change) {
        renamed(entry.folder.synced, entry.folder, [entry]);
        if (entry.folder !== folder) {
          entry.folder.pending = entry.folder.pending.filter((other) => other !== change);
        }
      }
    }
    folder.pending = [];
  }

  async freeBytes(): Promise<number> {
    return this.free;
  }

  #change(change: NameChange): void {
    for (const { folder } of change) if (folder.pending.at(-1) !== change) folder.pending.push(change);
    for (const entry of change) renamed(entry.folder.names, entry.folder, [entry]);
  }

  #find(path: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of resolve('/', path).split('/').filter(Boolean)) {
      node = node instanceof FolderNode ? node.names.get(name) : undefined;
    }
    return node;
  }

  #folder(path: string): FolderNode {
    const node = this.#find(path);
    if (!node) throw errorWith('ENOENT', path);
    if (!(node instanceof FolderNode)) throw errorWith('ENOTDIR', path);
    return node;
  }

  #place(path: string): { folder: FolderNode; name: string } {
    return { folder: this.#folder(dirname(resolve('/', path))), name: basename(path) };
  }
}

/** Applies to `names`, which are those of `folder`, what the change says of that folder. */
function renamed(names: Map<string, Node>, folder: FolderNode, change: NameChange): void {
  for (const entry of change) {
    if (entry.folder !== folder) continue;
    if (entry.node) names.set(entry.name, entry.node);
    else names.delete(entry.name);
  }
}

function contentAfterCrash(file: FileNode, kept: () => boolean, random: () => number): Buffer {
  let content = file.synced;
  for (const { change, fate } of file.pending) {
    if (fate === 'synced' || kept()) content = applied(content, change);
    else if ('bytes' in change && random() < 0.5) content = applied(content, torn(change, random));
  }
  return content;
}

/** A write that reached the disk in part: up to a sector, the rest absent or, where the file grew, zeros. */
function torn(change: { position: number; bytes: Buffer }, random: () => number): DataChange {
  const end = change.position + change.bytes.length;
  const firstSector = Math.floor(change.position / sector);
  const sectors = Math.ceil(end / sector) - firstSector;
  const cut = Math.max(change.position, (firstSector + Math.floor(random() * sectors)) * sector);
  const bytes = Buffer.from(change.bytes.subarray(0, cut - change.position));
  return random() < 0.5
    ? { position: change.position, bytes }
    : { position: change.position, bytes: resized(bytes, change.bytes.length) };
}

class SimulatedFile implements OpenFile {
  readonly #disk: SimulatedDisk;
  readonly #path: string;
  readonly #node: FileNode;
  #closed = false;

  constructor(disk: SimulatedDisk, path: string, node: FileNode) {
    this.#disk = disk;
    this.#path = path;
    this.#node = node;
  }

  async read(target: Bytes, position: number): Promise<number> {
    this.#open();
    return this.#node.content.copy(target, 0, Math.min(position, this.#node.content.length));
  }

  async write(bytes: Bytes | readonly Bytes[], position: number): Promise<void> {
    this.#open('write');
    const whole = bytes instanceof Uint8Array ? Buffer.from(bytes) : Buffer.concat(bytes);
    this.#node.apply({ position, bytes: whole });
  }

  async truncate(size: number): Promise<void> {
    this.#open('truncate');
    this.#node.apply({ size });
  }

  async sync(): Promise<void> {
    try {
      this.#open('sync');
    } catch (error) {
      this.#node.syncFailed();
      throw error;
    }
    this.#node.sync();
  }

  async size(): Promise<number> {
    this.#open();
    return this.#node.content.length;
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #open(call?: DiskCall['name']): void {
    if (this.#closed) throw errorWith('EBADF', this.#path);
    if (call) this.#disk.before?.({ name: call, path: this.#path });
  }
}
