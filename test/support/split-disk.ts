// Two disks as one: a simulated one whose power can be cut, and this machine's for what LevelDB writes itself.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Files, readWhole, realFiles } from '#src/base/files.js';
import type { SimulatedDisk } from '#src/base/files.simulated.js';

/** `place`: where a path lies on the simulated disk; nothing for one on the real disk. */
export function splitDisk(disk: SimulatedDisk, place: (path: string) => string | undefined): Files {
  const on = <Result>(path: string, call: (files: Files, at: string) => Result): Result => {
    const at = place(path);
    return at === undefined ? call(realFiles, path) : call(disk, at);
  };
  const both = <Result>(
    from: string,
    to: string,
    call: (files: Files, from: string, to: string) => Result,
  ): Result => on(from, (files, at) => call(files, at, place(to) ?? to));
  return {
    open: (path, mode) => on(path, (files, at) => files.open(at, mode)),
    rename: (from, to) => both(from, to, (files, ...paths) => files.rename(...paths)),
    link: (from, to) => both(from, to, (files, ...paths) => files.link(...paths)),
    remove: (path) => on(path, (files, at) => files.remove(at)),
    makeFolder: (path) => on(path, (files, at) => files.makeFolder(at)),
    removeFolder: (path) => on(path, (files, at) => files.removeFolder(at)),
    list: (path) => on(path, (files, at) => files.list(at)),
    status: (path) => on(path, (files, at) => files.status(at)),
    freeBytes: (path) => on(path, (files, at) => files.freeBytes(at)),
    async syncFolder(path) {
      await on(path, (files, at) => files.syncFolder(at));
      // A folder on this machine stands for the root of the simulated disk as well.
      if (place(path) === undefined) await disk.syncFolder('/');
    },
  };
}

/** Writes what is in a folder of the simulated disk into one of this machine. */
export async function copyOut(disk: SimulatedDisk, from: string, to: string): Promise<void> {
  mkdirSync(to, { recursive: true });
  for (const name of await disk.list(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if ((await disk.status(source))?.kind === 'folder') await copyOut(disk, source, target);
    else writeFileSync(target, (await readWhole(disk, source)) ?? '');
  }
}
