// The contract of services/file/file-system.ts in its plainest form, in memory: what the real store is compared with.
// Transactions of a volume run one after the other; what one wrote is undone if it fails.

import { setImmediate } from 'node:timers/promises';
import { attribute } from '#src/services/file/access.js';
import {
  type FileNode,
  type NewNode,
  type NodeChange,
  rootId,
  type Space,
  type Ticks,
  ticksOf,
  type Volume,
  type VolumeTransaction,
  type WriteOptions,
} from '#src/services/file/file-system.js';
import { FileRefused } from '#src/services/file/refusals.js';

const pageSize = 64 * 1024;
const largestFile = 4 * 2 ** 40;
const totalBytes = 5120 * 2 ** 30;

const keyOf = (name: string) => name.toUpperCase();

type Pages = Map<number, Buffer>;

export class MemoryVolume implements Volume, VolumeTransaction {
  readonly id: string;
  readonly name: string;
  readonly readOnly = false;
  readonly created: Ticks;
  readonly #now: () => number;
  readonly #nodes = new Map<bigint, FileNode>();
  /** Children of each directory by their upper-cased names. */
  readonly #children = new Map<bigint, Map<string, bigint>>();
  readonly #pages = new Map<bigint, Pages>();
  #nextId = 1n;
  #used = 0;
  #queue: Promise<unknown> = Promise.resolve();
  #undo: (() => void)[] = [];

  constructor(id: string, name: string, now: () => number) {
    this.id = id;
    this.name = name;
    this.#now = now;
    this.created = this.now;
    this.#put(
      this.#fresh(
        { parent: rootId, name: '', directory: true, attributes: attribute.directory, security: undefined },
        rootId,
      ),
    );
  }

  get now(): Ticks {
    return ticksOf(this.#now());
  }

  transaction<T>(run: (tx: VolumeTransaction) => Promise<T>): Promise<T> {
    const result = this.#queue.then(async () => {
      this.#undo = [];
      try {
        return await run(this);
      } catch (error) {
        for (const undo of this.#undo.reverse()) undo();
        throw error;
      }
    });
    this.#queue = result.catch(() => {});
    return result;
  }

  ordered<T>(run: (tx: VolumeTransaction) => Promise<T>): Promise<T> {
    return this.transaction(run);
  }

  async node(id: bigint): Promise<FileNode | undefined> {
    return this.#nodes.get(id);
  }

  async get(id: bigint): Promise<FileNode | undefined> {
    return this.#nodes.get(id);
  }

  async child(parent: bigint, name: string): Promise<FileNode | undefined> {
    const id = this.#children.get(parent)?.get(keyOf(name));
    return id === undefined ? undefined : this.#nodes.get(id);
  }

  async isEmpty(directory: bigint): Promise<boolean> {
    return (this.#children.get(directory)?.size ?? 0) === 0;
  }

  async children(directory: bigint, after: string | undefined, limit: number): Promise<FileNode[]> {
    const names = [...(this.#children.get(directory)?.entries() ?? [])];
    return names
      .filter(([key]) => after === undefined || key > keyOf(after))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limit)
      .flatMap(([, id]) => this.#nodes.get(id) ?? []);
  }

  async create(node: NewNode): Promise<FileNode> {
    const made = this.#fresh(node, this.#nextId++);
    this.#put(made);
    this.#link(made);
    return made;
  }

  async update(id: bigint, change: NodeChange): Promise<FileNode> {
    const node = this.#must(id);
    const updated = { ...node, ...change };
    this.#put(updated);
    return updated;
  }

  async resize(id: bigint, length: number): Promise<FileNode> {
    if (length > largestFile) throw new FileRefused('DiskFull');
    const node = this.#must(id);
    if (length < node.length) this.#clear(id, length, node.length);
    const resized = { ...node, length };
    this.#put(resized);
    return resized;
  }

  async move(id: bigint, parent: bigint, name: string): Promise<FileNode> {
    const node = this.#must(id);
    this.#unlink(node);
    const moved = { ...node, parent, name };
    this.#put(moved);
    this.#link(moved);
    return moved;
  }

  async remove(id: bigint): Promise<void> {
    const node = this.#must(id);
    this.#unlink(node);
    this.#nodes.delete(id);
    this.#clear(id, 0, Number.POSITIVE_INFINITY);
    this.#undo.push(() => this.#nodes.set(id, node));
  }

  async read(id: bigint, offset: number, length: number): Promise<Uint8Array> {
    const node = this.#must(id);
    const end = Math.min(node.length, offset + length);
    const bytes = Buffer.alloc(Math.max(0, end - offset));
    this.#eachPage(id, offset, end, (page, from, to, at) => {
      if (page) bytes.set(page.subarray(from, to), at - offset);
    });
    return bytes;
  }

  write(id: bigint, offset: number, bytes: Uint8Array, options: WriteOptions): Promise<boolean> {
    return this.transaction(async () => {
      const node = this.#must(id);
      if (node.length !== (options.ifEndsAt ?? node.length)) return false;
      const end = offset + bytes.length;
      if (end > largestFile) throw new FileRefused('DiskFull');
      const pages = this.#pages.get(id) ?? new Map<number, Buffer>();
      this.#pages.set(id, pages);
      for (let at = offset; at < end; ) {
        const index = Math.floor(at / pageSize);
        const page = pages.get(index) ?? this.#newPage(pages, index);
        const from = at - index * pageSize;
        const count = Math.min(pageSize - from, end - at);
        page.set(bytes.subarray(at - offset, at - offset + count), from);
        at += count;
      }
      const length = Math.max(node.length, end);
      const { now } = this;
      this.#put({
        ...node,
        ...{ length, changed: now },
        written: options.keepWritten ? node.written : now,
      });
      return true;
    });
  }

  zero(id: bigint, offset: number, end: number): Promise<void> {
    return this.transaction(async () => {
      this.#clear(id, offset, Math.min(end, this.#must(id).length));
    });
  }

  async ranges(id: bigint, offset: number, length: number): Promise<{ offset: number; length: number }[]> {
    const found: { offset: number; length: number }[] = [];
    const end = Math.min(this.#must(id).length, offset + length);
    this.#eachPage(id, offset, end, (page, from, to, at) => {
      if (page) found.push({ offset: at, length: to - from });
    });
    return found;
  }

  async flush(): Promise<void> {
    await setImmediate();
  }

  async space(): Promise<Space> {
    return { totalBytes, freeBytes: totalBytes - this.#used };
  }

  #fresh(node: NewNode, id: bigint): FileNode {
    const { now } = this;
    return {
      ...{ ...node, id, created: now, accessed: now, written: now, changed: now },
      ...{ length: 0, leased: false },
    };
  }

  #must(id: bigint): FileNode {
    const node = this.#nodes.get(id);
    if (!node) throw new FileRefused('HandleClosed');
    return node;
  }

  #put(node: FileNode): void {
    const before = this.#nodes.get(node.id);
    this.#nodes.set(node.id, node);
    this.#undo.push(() => (before ? this.#nodes.set(node.id, before) : this.#nodes.delete(node.id)));
  }

  #link(node: FileNode): void {
    const names = this.#children.get(node.parent) ?? new Map<string, bigint>();
    this.#children.set(node.parent, names);
    names.set(keyOf(node.name), node.id);
    this.#undo.push(() => names.delete(keyOf(node.name)));
  }

  #unlink(node: FileNode): void {
    const names = this.#children.get(node.parent);
    names?.delete(keyOf(node.name));
    this.#undo.push(() => names?.set(keyOf(node.name), node.id));
  }

  #newPage(pages: Pages, index: number): Buffer {
    const page = Buffer.alloc(pageSize);
    pages.set(index, page);
    this.#used += pageSize;
    return page;
  }

  #clear(id: bigint, offset: number, end: number): void {
    const pages = this.#pages.get(id);
    if (!pages) return;
    for (const [index, page] of [...pages]) {
      const start = index * pageSize;
      if (start >= end || start + pageSize <= offset) continue;
      page.fill(0, Math.max(0, offset - start), Math.min(pageSize, end - start));
      if (offset <= start && end >= start + pageSize) {
        pages.delete(index);
        this.#used -= pageSize;
      }
    }
  }

  #eachPage(
    id: bigint,
    offset: number,
    end: number,
    visit: (page: Buffer | undefined, from: number, to: number, at: number) => void,
  ): void {
    const pages = this.#pages.get(id);
    for (let at = offset; at < end; ) {
      const index = Math.floor(at / pageSize);
      const from = at - index * pageSize;
      const to = Math.min(pageSize, from + end - at);
      visit(pages?.get(index), from, to, at);
      at += to - from;
    }
  }
}
