// Who watches which directories for changes, and what they have not been told yet.
//
//   first request on a handle    fixes what is watched; from then on changes are collected for it
//   a change                     answers the oldest request that waits, or is kept for the next one
//   more than the buffer holds   all is dropped, and the next answer says: look for yourself
//
// A change is known by the directory it happened in. A watch of a whole tree finds out whether it concerns
// it by walking up from there.

import type { Change } from '../services/file/changes.js';
import { type FileNode, rootId, type Volume } from '../services/file/file-system.js';
import type { Status } from './status.js';
import { Refused } from './status.js';
import { struct, u32, utf16 } from './wire/struct.js';

export const anyChange = 0xfff;

const record = struct({ next: u32, action: u32, nameLength: u32 });

interface Waiter {
  resolve(bytes: Buffer): void;
  reject(error: Refused): void;
}

export class Watch {
  readonly directory: bigint;
  readonly filter: number;
  readonly tree: boolean;
  readonly #room: number;
  #records: Buffer[] = [];
  #overflowed = false;
  #waiters: Waiter[] = [];

  constructor(directory: bigint, filter: number, tree: boolean, room: number) {
    this.directory = directory;
    this.filter = filter;
    this.tree = tree;
    this.#room = room;
  }

  add(name: string, what: number): void {
    const text = utf16(name);
    const head = record.make({ next: 0, action: what, nameLength: text.length });
    this.#records.push(Buffer.concat([head, text]));
    const size = this.#records.reduce((sum, { length }) => sum + align4(length), 0);
    if (size > this.#room) {
      this.#records = [];
      this.#overflowed = true;
    }
  }

  /** Answers a request that waits, once a change is complete. */
  deliver(): void {
    if (this.#records.length === 0 && !this.#overflowed) return;
    const waiter = this.#waiters.shift();
    waiter?.resolve(this.#take());
  }

  /** All that was collected; nothing of it if there was too much. */
  #take(): Buffer {
    const bytes = this.#overflowed ? Buffer.alloc(0) : link(this.#records);
    this.#records = [];
    this.#overflowed = false;
    return bytes;
  }

  /** The next changes: at once if there are any, else when some happen. */
  next(): { ready: Buffer } | { result: Promise<Buffer>; cancel(): void } {
    if ((this.#records.length > 0 || this.#overflowed) && this.#waiters.length === 0)
      return { ready: this.#take() };
    let waiter: Waiter | undefined;
    const result = new Promise<Buffer>((resolve, reject) => {
      waiter = { resolve, reject };
      this.#waiters.push(waiter);
    });
    const cancel = () => {
      this.#waiters = this.#waiters.filter((other) => other !== waiter);
      waiter?.reject(new Refused('CANCELLED'));
    };
    return { result, cancel };
  }

  /** Ends all requests that wait. */
  end(status: Status): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.reject(new Refused(status));
  }
}

function align4(size: number): number {
  return (size + 3) & ~3;
}

function link(records: readonly Buffer[]): Buffer {
  return Buffer.concat(
    records.map((bytes, index) => {
      if (index === records.length - 1) return bytes;
      const padded = Buffer.alloc(align4(bytes.length));
      padded.set(bytes);
      padded.writeUInt32LE(padded.length, 0);
      return padded;
    }),
  );
}

export class Watches {
  readonly #volumes = new Map<string, Set<Watch>>();

  add(volume: string, watch: Watch): void {
    const watches = this.#volumes.get(volume) ?? new Set();
    watches.add(watch);
    this.#volumes.set(volume, watches);
  }

  /** The handle of a watch is gone. */
  remove(volume: string, watch: Watch): void {
    const watches = this.#volumes.get(volume);
    watches?.delete(watch);
    if (watches?.size === 0) this.#volumes.delete(volume);
    watch.end('NOTIFY_CLEANUP');
  }

  get count(): number {
    return [...this.#volumes.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Tells everybody whom changes concern; those given together are told together. */
  async post(volume: Volume, changes: readonly Change[]): Promise<void> {
    const watches = this.#volumes.get(volume.id);
    if (!watches) return;
    const told = new Set<Watch>();
    for (const { directory, name, action: what, kinds, unless = 0 } of changes) {
      for (const [watch, path] of await concerned(volume, [...watches], directory, name)) {
        if (!(watch.filter & kinds) || watch.filter & unless) continue;
        watch.add(path, what);
        told.add(watch);
      }
    }
    for (const watch of told) watch.deliver();
  }

  /** A directory is marked for deletion: nobody can wait for changes in it any more. */
  endDirectory(volume: string, directory: bigint): void {
    for (const watch of this.#volumes.get(volume) ?? []) {
      if (watch.directory === directory) watch.end('DELETE_PENDING');
    }
  }
}

/** The watches of a directory, and of trees that it is in, each with the name as seen from there. */
async function concerned(
  volume: Volume,
  watches: readonly Watch[],
  directory: bigint,
  name: string,
): Promise<[Watch, string][]> {
  const found: [Watch, string][] = [];
  let path = name;
  for (let at: bigint = directory, depth = 0; ; depth++) {
    for (const watch of watches)
      if (watch.directory === at && (depth === 0 || watch.tree)) found.push([watch, path]);
    const node: FileNode | undefined = at === rootId ? undefined : await volume.node(at);
    if (!node) return found;
    path = `${node.name}\\${path}`;
    at = node.parent;
  }
}
