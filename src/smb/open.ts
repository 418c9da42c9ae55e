// What one file id of a session stands for: a file or directory, or a pipe.

import type { Volume } from '../services/file/file-system.js';
import type { OpenAction } from '../services/file/open-file.js';
import type { OpenHandle } from '../services/file/open-handles.js';
import type { Listing } from './commands/query-directory.js';
import type { Durability } from './durables.js';
import type { Pipe } from './pipes/pipe.js';
import type { Tree } from './session.js';
import type { Watch } from './watches.js';

export interface FileOpen {
  readonly kind: 'file';
  readonly id: bigint;
  readonly tree: Tree;
  readonly volume: Volume;
  readonly handle: OpenHandle;
  readonly file: bigint;
  readonly directory: boolean;
  readonly access: number;
  readonly options: number;
  /** Where the last read ended, or what the client set; only shown. */
  position: bigint;
  /** Times that writing through this handle leaves alone. */
  frozen: { written: boolean; changed: boolean };
  /** What opening it did, told again if the client asks again. */
  readonly action: OpenAction;
  /** How it is kept if its connection is lost. */
  readonly durability: Durability | undefined;
  /** Of a durable handle: the number of the last LOCK under each index, so that one sent again is not done again. */
  readonly lockSequences: Map<number, number>;
  listing: Listing | undefined;
  /** What it watches for changes, from its first CHANGE_NOTIFY on. */
  watch: Watch | undefined;
}

export interface PipeOpen {
  readonly kind: 'pipe';
  readonly id: bigint;
  readonly tree: Tree;
  readonly pipe: Pipe;
}

export type Open = FileOpen | PipeOpen;

/** On the wire an id is two numbers, the persistent and the volatile one; here they are the same. */
export function fileIdBytes(id: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeBigUInt64LE(id, 0);
  bytes.writeBigUInt64LE(id, 8);
  return bytes;
}

export const allOnesFileId: Buffer = Buffer.alloc(16, 0xff);
