// What lies below the overlay: LevelDB on disk or in memory, as little of it as the engine needs.

import { ClassicLevel } from 'classic-level';
import { MemoryLevel } from 'memory-level';
import type { Key } from './engine.js';

export type Operation =
  | { readonly type: 'put'; readonly key: Key; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: Key };

export interface StoreRange {
  readonly gte: Key;
  readonly lt: Key;
  readonly reverse: boolean;
  readonly highWaterMarkBytes: number;
  readonly fillCache: boolean;
  readonly snapshot?: StoreSnapshot;
}

export interface StoreSnapshot {
  close(): Promise<void>;
}

/** The state when it was made, in order. */
export interface StoreCursor {
  /** Up to `count` rows; none at the end. */
  nextv(count: number): Promise<[Uint8Array, Uint8Array][]>;
  close(): Promise<void>;
}

export interface Store {
  /** How it is called in messages. */
  readonly name: string;
  /** The bytes under a key, the caller's own. */
  get(key: Key, snapshot: StoreSnapshot | undefined): Buffer | undefined;
  snapshot(): StoreSnapshot;
  cursor(range: StoreRange): StoreCursor;
  /** All or nothing, and on disk when it resolves. */
  write(operations: Operation[]): Promise<void>;
  close(): Promise<void>;
}

const encodings = { keyEncoding: 'view', valueEncoding: 'view' } as const;
const synced = { ...encodings, sync: true };

export async function openLevelStore(location: string): Promise<Store> {
  const level = new ClassicLevel<Uint8Array, Uint8Array>(location, {
    ...encodings,
    cacheSize: 32 * 1024 * 1024,
    writeBufferSize: 8 * 1024 * 1024,
  });
  await level.open();
  return {
    name: location,
    get(key, snapshot) {
      if (snapshot === undefined) return level.getSync(key) as Buffer | undefined;
      return level.getSync(key, { ...encodings, snapshot } as object) as Buffer | undefined;
    },
    snapshot: () => level.snapshot(),
    cursor: (range) => level.iterator(range as object),
    write: (operations) => level.batch(operations, synced),
    close: () => level.close(),
  };
}

export async function openMemoryStore(): Promise<Store> {
  const level = new MemoryLevel<Uint8Array, Uint8Array>({ ...encodings, storeEncoding: 'view' });
  await level.open();
  return {
    name: 'memory',
    get(key, snapshot) {
      const value = level.getSync(key, { ...encodings, snapshot } as object);
      return value === undefined ? undefined : Buffer.from(value);
    },
    snapshot: () => level.snapshot(),
    cursor: (range) => copying(level.iterator(range as object)),
    write: (operations) => level.batch(operations),
    close: () => level.close(),
  };
}

/** Memory gives out what it holds; a reader gets bytes of its own. */
function copying(cursor: StoreCursor): StoreCursor {
  return {
    nextv: async (count) => {
      const rows = await cursor.nextv(count);
      return rows.map(([key, value]) => [Buffer.from(key), Buffer.from(value)]);
    },
    close: () => cursor.close(),
  };
}
