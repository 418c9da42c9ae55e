// A record of a log file: one write to LevelDB. Its sequence (8 bytes) and count (4), then the changes, each
// a tag (1 put, 0 delete), its key and, for a put, its value. Each change takes one number of the sequence,
// and the next batch goes on from there.

import { Cursor, MalformedError } from './cursor.js';

export interface BatchHead {
  readonly sequence: number;
  readonly count: number;
}

export interface BatchChange {
  readonly key: Buffer;
  /** Nothing: removed. */
  readonly value: Buffer | undefined;
}

const headBytes = 12;

export function readBatchHead(payload: Buffer): BatchHead {
  const cursor = new Cursor(payload);
  return { sequence: cursor.uint64(), count: cursor.uint32() };
}

/** Whether these may be the first bytes of a batch that was written soon after `sequence`. */
export function isBatchAfter(sequence: number, bytes: Buffer): boolean {
  if (bytes.length < headBytes || bytes.readUInt32LE(4) >= 2 ** 21) return false;
  const found = readBatchHead(bytes).sequence;
  return found > sequence && found < sequence + 2 ** 32;
}

export function readBatch(payload: Buffer, visit: (change: BatchChange) => void): void {
  const { count } = readBatchHead(payload);
  const cursor = new Cursor(payload, headBytes);
  let found = 0;
  while (!cursor.atEnd) {
    const tag = cursor.byte();
    if (tag > 1) throw new MalformedError('a batch holds a change of an unknown kind');
    const key = cursor.string();
    visit({ key, value: tag === 1 ? cursor.string() : undefined });
    found++;
  }
  if (found !== count) throw new MalformedError(`a batch of ${count} changes holds ${found}`);
}
