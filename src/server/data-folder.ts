// What lies where in the folder that `--location` names. Ours is one folder inside it, so that the location may
// be a project's folder, or one with the files of Azurite: whatever else is there is left alone.
//
//   lazuli.json          options, if somebody writes it
//   lazuli-certificate.pem, lazuli-certificate-key.pem    made by --devCert
//   lazuli/              ours: docs/formats/engine.md, and besides
//     extents/             the bytes of blobs and files
//     admin.sock           where the command line finds a server that runs
//     last-backup.json     what an incremental backup need not copy again

import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export interface DataFolder {
  readonly location: string;
  /** The engine's, and of all that belongs to it. */
  readonly store: string;
  readonly extents: string;
  readonly certificate: string;
  readonly certificateKey: string;
  readonly lastBackup: string;
}

export const extentsName = 'extents';

export function dataFolder(location: string): DataFolder {
  const store = join(location, 'lazuli');
  return {
    location,
    store,
    extents: join(store, extentsName),
    certificate: join(location, 'lazuli-certificate.pem'),
    certificateKey: join(location, 'lazuli-certificate-key.pem'),
    lastBackup: join(store, 'last-backup.json'),
  };
}

/** The path of a Unix socket must be short; where the folder's is not, one in the system's folder stands in. */
const longestSocketPath = 100;

/** Where a server with this data folder listens for the command line. */
export function socketPath(folder: DataFolder): string {
  const path = join(resolve(folder.store), 'admin.sock');
  if (process.platform === 'win32') return `\\\\.\\pipe\\lazuli-${digest(path)}`;
  return Buffer.byteLength(path) <= longestSocketPath ? path : join(privateFolder(), `${digest(path)}.sock`);
}

function digest(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 24);
}

/** In a folder that others can write to, one that is this user's alone; somebody else's is not used. */
function privateFolder(): string {
  const user = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `lazuli-${user}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const status = lstatSync(folder);
  if (!status.isDirectory() || status.uid !== user || (status.mode & 0o077) !== 0) {
    throw new Error(`${folder} belongs to somebody else: choose a data folder with a shorter path`);
  }
  return folder;
}

const azuriteNames = [
  '__azurite_db_blob__.json',
  '__azurite_db_queue__.json',
  '__azurite_db_table__.json',
  '__blobstorage__',
  '__queuestorage__',
];

/** Whether Azurite has kept its data here. */
export function isAzuriteWorkspace(location: string): boolean {
  return azuriteNames.some((name) => existsSync(join(location, name)));
}
