// What a data folder says of itself, in the file `format`: that it is ours, and in which version.
//
//   lazuli data folder
//   format 1
//   check 8a3f09c1            CRC-32 of the lines above
//
// A folder without it is made ours if it is empty; one that holds anything else is refused and left as it
// is, as is one of a newer version. An older one is brought up step by step: each step goes from version n
// to n + 1, and the new version is written after it. A step that was cut off runs again from the start.

import { join } from 'node:path';
import { checkedText } from '../base/checked-text.js';
import { type Files, readWhole, replaceWhole } from '../base/files.js';
import { DamageError, FormatError } from './errors.js';

/** The version that this program writes. */
export const formatVersion = 1;

export interface Migration {
  /** From the version before. */
  readonly to: number;
  /** Must bear being cut off anywhere and run again. */
  run(files: Files, folder: string): Promise<void>;
}

/** One step for each version after the first. */
const migrations: readonly Migration[] = [];

export type FolderState =
  | { readonly kind: 'empty' }
  | { readonly kind: 'ours'; readonly version: number }
  | { readonly kind: 'foreign'; readonly found: readonly string[] };

/** Names that are there before the folder is ours, or whose presence says nothing. */
const harmless = new Set(['lock', 'owner', 'owner.new', 'format.new', 'lost+found', '.DS_Store']);
const title = 'lazuli data folder';

/** What is there; changes nothing. */
export async function inspectFolder(files: Files, folder: string): Promise<FolderState> {
  const status = await files.status(folder);
  if (status === undefined) return { kind: 'empty' };
  if (status.kind !== 'folder') throw new FormatError(`${folder} is not a folder. Choose another one.`);
  const path = join(folder, 'format');
  const content = await readWhole(files, path);
  if (content !== undefined) return { kind: 'ours', version: decode(path, content.toString('latin1')) };
  const found = (await files.list(folder)).filter((name) => !harmless.has(name));
  return found.length === 0 ? { kind: 'empty' } : { kind: 'foreign', found };
}

/** Throws unless the folder can be made ours or is; changes nothing. */
export async function checkFolder(
  files: Files,
  folder: string,
  version = formatVersion,
): Promise<FolderState> {
  const state = await inspectFolder(files, folder);
  if (state.kind === 'foreign' && state.found.includes('restoring')) {
    throw new FormatError(
      `A backup was being restored into ${folder}, and that was cut off. Restore it again.`,
    );
  }
  if (state.kind === 'foreign') {
    const some = state.found.slice(0, 3).join(', ') + (state.found.length > 3 ? ', ...' : '');
    throw new FormatError(
      `The folder ${folder} is not a data folder of Lazuli and holds other files (${some}). ` +
        'Choose an empty folder, or one that does not exist yet.',
    );
  }
  if (state.kind === 'ours' && state.version > version) {
    throw new FormatError(
      `The data folder ${folder} was written in format ${state.version} by a newer version of Lazuli; ` +
        `this one knows formats up to ${version}. Start the newer version, or choose another folder.`,
    );
  }
  return state;
}

/** Makes an empty folder ours and brings an older one up. To be called by its owner. */
export async function prepareFolder(
  files: Files,
  folder: string,
  target = { version: formatVersion, migrations },
): Promise<void> {
  const state = await checkFolder(files, folder, target.version);
  if (state.kind !== 'ours') return writeVersion(files, folder, target.version);
  for (let version = state.version + 1; version <= target.version; version++) {
    const step = target.migrations.find(({ to }) => to === version);
    if (step === undefined) {
      throw new FormatError(
        `The data folder ${folder} is in format ${version - 1}, which this version of Lazuli cannot bring up. ` +
          'Start an older version that can first.',
      );
    }
    await step.run(files, folder);
    await writeVersion(files, folder, version);
  }
}

function writeVersion(files: Files, folder: string, version: number): Promise<void> {
  return replaceWhole(files, join(folder, 'format'), Buffer.from(encode(version)));
}

function encode(version: number): string {
  return checkedText(`${title}\nformat ${version}\n`);
}

function decode(path: string, content: string): number {
  const version = Number(/^format (\d{1,9})$/m.exec(content)?.[1]);
  if (content !== encode(version)) {
    throw new DamageError(
      `Damaged file ${path}: it does not match its checksum. Restore a backup into another folder.`,
    );
  }
  return version;
}
