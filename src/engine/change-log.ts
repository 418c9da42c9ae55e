// Which keys have changed since the last backup, so that the next one need not copy all.
//
// From the first full backup on, each group stores the keys it changes in one record of its own, in the same
// batch; their values are read when the backup is taken. Keys here begin with the reserved byte:
//
//   ff 'b'             the chain: the id and version of the last backup; kept up while there is this record
//   ff 'c' version(6)  the keys of the group that ended with this version (big-endian, so in order), after
//                      the sum of the sizes of all such records up to this one (6)
//
// Past `maxBytes` of keys the chain is given up in the same batch that would have passed it, and the next
// backup must be full. Records that are of no use are swept, some at a time.

import { buffer } from '../base/bytes.js';
import type { Key, Version } from './engine.js';
import { reservedPrefix } from './page-reader.js';
import { decodeRecord, encodeRecord } from './record.js';
import type { Operation, Store } from './store.js';

export interface Chain {
  /** Nothing while the first full backup is being taken. */
  readonly last?: { readonly id: string; readonly version: Version };
}

/** The keys that one group has changed. */
export interface ChangeRecord {
  readonly version: Version;
  readonly keys: readonly Key[];
}

const chainKey = Buffer.from([reservedPrefix, 0x62]); // b
const changesPrefix = Buffer.from([reservedPrefix, 0x63]); // c
const changesEnd = Buffer.from([reservedPrefix, 0x64]);
const totalBytes = 6;
/** Records swept with one group. */
const sweepBatch = 1000;

export class ChangeLog {
  readonly #maxBytes: number;
  #chain: Chain | undefined;
  /** The size of all records there ever were, and of those among them that are of no use any more. */
  #total = 0;
  #useless = 0;
  /** Put into the next group's batch. */
  #pending: Operation[] = [];
  /** Whether there may be records of no use. */
  untidy = true;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get chain(): Chain | undefined {
    return this.#chain;
  }

  /** What is stored. A first full backup that did not end leaves nothing to go on from. */
  async load(store: Store): Promise<void> {
    this.#pending = [];
    this.untidy = true;
    const record = store.get(chainKey, undefined);
    this.#chain = record && (JSON.parse(contentOf(chainKey, record, store).toString()) as Chain);
    [this.#total, this.#useless] = [0, 0];
    if (this.#chain === undefined) return;
    if (this.#chain.last === undefined) return this.follow(undefined);
    const [newest] = await rawRecords(store, changesPrefix, changesEnd, 1, true);
    const [oldest] = await rawRecords(store, changesKey(this.#chain.last.version + 1), changesEnd, 1, false);
    this.#total = newest === undefined ? 0 : totalOf(newest.content);
    this.#useless = oldest === undefined ? this.#total : totalOf(oldest.content) - oldest.content.length;
  }

  /** What the batch of a group has to contain besides its changes. */
  operations(version: Version, changes: Iterable<{ readonly key: Key }>): Operation[] {
    if (this.#chain !== undefined) this.#note(version, changes);
    return this.#pending.splice(0);
  }

  /** Whether something waits for the next group. */
  get waiting(): boolean {
    return this.#pending.length > 0;
  }

  /** From the next group on: this chain, or none. */
  follow(chain: Chain | undefined): void {
    this.#chain = chain;
    this.untidy = true;
    if (chain === undefined) {
      this.#useless = this.#total;
      this.#pending.push({ type: 'del', key: chainKey });
    } else {
      const content = Buffer.from(JSON.stringify(chain));
      const value = encodeRecord(chainKey, content, chain.last?.version ?? 0);
      this.#pending.push({ type: 'put', key: chainKey, value });
    }
  }

  /** Has the next group remove some records that are of no use. Whether there are more is known after that. */
  async sweep(store: Store): Promise<void> {
    const end = this.#chain === undefined ? changesEnd : changesKey((this.#chain.last?.version ?? 0) + 1);
    const found = await rawRecords(store, changesPrefix, end, sweepBatch, false);
    for (const { key } of found) this.#pending.push({ type: 'del', key });
    const newest = found.at(-1);
    if (newest !== undefined)
      this.#useless = Math.min(this.#total, Math.max(this.#useless, totalOf(newest.content)));
    else this.untidy = false;
  }

  #note(version: Version, changes: Iterable<{ readonly key: Key }>): void {
    const pieces: Uint8Array[] = [Buffer.alloc(totalBytes)];
    for (const { key } of changes) pieces.push(lengthOf(key), key);
    if (pieces.length === 1) return;
    const content = Buffer.concat(pieces);
    if (this.#total - this.#useless + content.length > this.#maxBytes) {
      this.follow(undefined);
      return;
    }
    this.#total += content.length;
    content.writeUIntBE(this.#total, 0, totalBytes);
    const key = changesKey(version);
    this.#pending.push({ type: 'put', key, value: encodeRecord(key, content, version) });
  }
}

/** Records of groups after `version`, oldest first. */
export async function readChanges(store: Store, version: Version, limit: number): Promise<ChangeRecord[]> {
  const found = await rawRecords(store, changesKey(version + 1), changesEnd, limit, false);
  return found.map(({ key, content }) => ({
    version: key.readUIntBE(changesPrefix.length, 6),
    keys: keysIn(content.subarray(totalBytes)),
  }));
}

async function rawRecords(
  store: Store,
  gte: Key,
  lt: Key,
  limit: number,
  reverse: boolean,
): Promise<{ key: Buffer; content: Buffer }[]> {
  const cursor = store.cursor({ gte, lt, reverse, highWaterMarkBytes: 1024 * 1024, fillCache: false });
  try {
    const rows = await cursor.nextv(limit);
    return rows.map(([key, record]) => ({ key: buffer(key), content: contentOf(key, record, store) }));
  } finally {
    await cursor.close();
  }
}

function changesKey(version: Version): Buffer {
  const key = Buffer.alloc(changesPrefix.length + 6);
  changesPrefix.copy(key);
  key.writeUIntBE(version, changesPrefix.length, 6);
  return key;
}

function contentOf(key: Key, record: Uint8Array, store: Store): Buffer {
  return buffer(decodeRecord(key, buffer(record), store.name).value);
}

function totalOf(content: Buffer): number {
  return content.readUIntBE(0, totalBytes);
}

function lengthOf(key: Key): Buffer {
  const length = Buffer.allocUnsafe(2);
  length.writeUInt16BE(key.length);
  return length;
}

function keysIn(content: Buffer): Key[] {
  const keys: Key[] = [];
  for (let offset = 0; offset < content.length; ) {
    const end = offset + 2 + content.readUInt16BE(offset);
    keys.push(content.subarray(offset + 2, end));
    offset = end;
  }
  return keys;
}
