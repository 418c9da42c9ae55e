// Files as everything above sees them: the few calls that writing safely needs, and no others. What we
// write ourselves goes through here, so that a test can run it on a simulated disk and cut the power
// after any call (files.simulated.ts).
//
//   data      a write is durable once `sync` of that file has resolved
//   names     a create, rename or remove is durable once `syncFolder` of its folder has resolved
//
// Folders are made 0700 and files 0600. Errors are Node's own, with their `code` (ENOENT, EEXIST, ENOSPC).

import { constants } from 'node:fs';
import {
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  rename,
  rmdir,
  stat,
  statfs,
  unlink,
} from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Bytes } from './bytes.js';

/** `read` and `edit` (read and write): it exists. `new` (read and write): it does not. */
export type OpenMode = 'read' | 'edit' | 'new';

export interface OpenFile extends AsyncDisposable {
  /** Fills `target` from `position` on; fewer bytes than asked for only at the end of the file. */
  read(target: Bytes, position: number): Promise<number>;
  /** All of the bytes, one piece after the other. */
  write(bytes: Bytes | readonly Bytes[], position: number): Promise<void>;
  truncate(size: number): Promise<void>;
  /** Ends when what was written to this file, and its size, are on disk. */
  sync(): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

export interface FileStatus {
  readonly kind: 'file' | 'folder' | 'other';
  readonly size: number;
}

export interface Files {
  open(path: string, mode: OpenMode): Promise<OpenFile>;
  /** Replaces `to` if it exists. */
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** A second name for a file. Not every file system has them: ENOTSUP, EPERM or such. */
  link(path: string, to: string): Promise<void>;
  makeFolder(path: string): Promise<void>;
  /** An empty one. */
  removeFolder(path: string): Promise<void>;
  /** Names alone, sorted. */
  list(folder: string): Promise<string[]>;
  /** Nothing where nothing is. */
  status(path: string): Promise<FileStatus | undefined>;
  /** Ends when the names in this folder are on disk. */
  syncFolder(folder: string): Promise<void>;
  /** Bytes that we may still write to the disk that `path` is on. */
  freeBytes(path: string): Promise<number>;
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && codes.includes(code);
}

/** The whole content; nothing where there is no such file. */
export async function readWhole(files: Files, path: string): Promise<Buffer | undefined> {
  try {
    await using file = await files.open(path, 'read');
    const content = Buffer.allocUnsafe(await file.size());
    return content.subarray(0, await file.read(content, 0));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** The old content or the new one, never less, whenever the power is cut; the new one once this resolves. */
export async function replaceWhole(files: Files, path: string, content: Bytes): Promise<void> {
  const temporary = `${path}.new`;
  if (await files.status(temporary)) await files.remove(temporary);
  {
    await using file = await files.open(temporary, 'new');
    await file.write(content, 0);
    await file.sync();
  }
  await files.rename(temporary, path);
  await files.syncFolder(dirname(path));
}

/** The folder and those above it, as far as they are not there; their names are on disk when this resolves. */
export async function makeFolders(files: Files, path: string): Promise<void> {
  if ((await files.status(path)) !== undefined) return;
  const parent = dirname(resolve(path));
  await makeFolders(files, parent);
  try {
    await files.makeFolder(path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  await files.syncFolder(parent);
}

const flags: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY,
  edit: constants.O_RDWR,
  new: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
};

class RealFile implements OpenFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async read(target: Bytes, position: number): Promise<number> {
    let done = 0;
    while (done < target.length) {
      const { bytesRead } = await this.#handle.read(target, done, target.length - done, position + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return done;
  }

  async write(bytes: Bytes | readonly Bytes[], position: number): Promise<void> {
    if (!(bytes instanceof Uint8Array)) {
      const total = bytes.reduce((sum, piece) => sum + piece.length, 0);
      const { bytesWritten } = await this.#handle.writev(bytes, position);
      if (bytesWritten === total) return;
      // A short write: the rest in one piece, which the loop below finishes or fails with its reason.
      return this.write(Buffer.concat(bytes).subarray(bytesWritten), position + bytesWritten);
    }
    let done = 0;
    while (done < bytes.length) {
      const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done, position + done);
      done += bytesWritten;
    }
  }

  truncate(size: number): Promise<void> {
    return this.#handle.truncate(size);
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The files of this machine. */
export const realFiles: Files = {
  async open(path, mode) {
    return new RealFile(await open(path, flags[mode], 0o600));
  },

  link,
  rename,
  remove: unlink,
  removeFolder: rmdir,

  async makeFolder(path) {
    await mkdir(path, { mode: 0o700 });
  },

  async list(folder) {
    return (await readdir(folder)).sort();
  },

  async status(path) {
    try {
      const found = await stat(path);
      return { kind: found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other', size: found.size };
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
      throw error;
    }
  },

  async syncFolder(folder) {
    // Windows has no handle of a folder that can be synced; its names are journaled.
    if (process.platform === 'win32') return;
    const handle = await open(folder, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },

  async freeBytes(path) {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  },
};
