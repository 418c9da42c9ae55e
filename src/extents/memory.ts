// Files in memory, for a server that keeps nothing: what segments need of files, and how much may be used.

import type { Bytes } from '../base/bytes.js';
import type { Files, OpenFile } from '../base/files.js';

/** What this layer needs of an open file, and of a disk. */
export type SegmentFile = Pick<OpenFile, 'read' | 'write' | 'sync' | 'close'>;

export interface SegmentFiles
  extends Pick<Files, 'remove' | 'makeFolder' | 'list' | 'status' | 'syncFolder' | 'freeBytes'> {
  open(path: string, mode: 'read' | 'new'): Promise<SegmentFile>;
}

const pageBytes = 64 * 1024;

/** Pages that were written to; the others are zeros. */
class MemoryFile implements SegmentFile {
  readonly pages = new Map<number, Buffer>();
  size = 0;

  async read(target: Bytes, position: number): Promise<number> {
    const count = Math.max(0, Math.min(target.length, this.size - position));
    for (let done = 0; done < count; ) {
      const start = (position + done) % pageBytes;
      const part = target.subarray(done, Math.min(count, done + pageBytes - start));
      const page = this.pages.get(Math.floor((position + done) / pageBytes));
      if (page) part.set(page.subarray(start, start + part.length));
      else part.fill(0);
      done += part.length;
    }
    return count;
  }

  async write(bytes: Bytes | readonly Bytes[], position: number): Promise<void> {
    let at = position;
    for (const piece of bytes instanceof Uint8Array ? [bytes] : bytes) {
      this.#put(piece, at);
      at += piece.length;
    }
    this.size = Math.max(this.size, at);
  }

  async sync(): Promise<void> {}

  async close(): Promise<void> {}

  #put(piece: Bytes, position: number): void {
    for (let done = 0; done < piece.length; ) {
      const start = (position + done) % pageBytes;
      const part = piece.subarray(done, done + pageBytes - start);
      this.#page(Math.floor((position + done) / pageBytes)).set(part, start);
      done += part.length;
    }
  }

  #page(index: number): Buffer {
    let page = this.pages.get(index);
    if (!page) {
      page = Buffer.alloc(pageBytes);
      this.pages.set(index, page);
    }
    return page;
  }
}

/** One folder's files, which may use so much memory together. */
export function memoryFiles(limitBytes: number): SegmentFiles {
  const files = new Map<string, MemoryFile>();
  const find = (path: string): MemoryFile => {
    const file = files.get(path);
    if (!file) throw Object.assign(new Error(`there is no ${path} in memory`), { code: 'ENOENT' });
    return file;
  };
  return {
    async open(path, mode) {
      if (mode === 'new') files.set(path, new MemoryFile());
      return find(path);
    },
    async remove(path) {
      find(path);
      files.delete(path);
    },
    async makeFolder() {},
    async list() {
      return [];
    },
    async status(path) {
      const file = files.get(path);
      return file ? { kind: 'file', size: file.size } : undefined;
    },
    async syncFolder() {},
    async freeBytes() {
      let used = 0;
      for (const file of files.values()) used += file.pages.size * pageBytes;
      return limitBytes - used;
    },
  };
}
