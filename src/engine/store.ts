// What lies below the overlay: LevelDB on disk or in memory, as little of it as the engine needs.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { ClassicLevel } from 'classic-level';
import { ownCopy } from '../base/bytes.js';
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
  /** What makes a read one of this snapshot. */
  readonly options: object;
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
      return level.getSync(key, snapshot?.options as never) as Buffer | undefined;
    },
    snapshot: () => snapshotOf(level),
    cursor: ({ snapshot, ...range }) => level.iterator({ ...range, ...snapshot?.options }),
    async write(operations) {
      if (bytesOf(operations) > mostChained(operations.length)) return level.batch(operations, synced);
      const batch = level.batch();
      let added = 0;
      for (const operation of operations) {
        if (operation.type === 'put') batch.put(operation.key, operation.value);
        else batch.del(operation.key);
        if (++added % inEachTurn === 0) await nextTurn();
      }
      await batch.write({ sync: true });
    },
    close: () => level.close(),
  };
}

/** So much of a long batch is made at once: all who ask are looked at in between. */
export const inEachTurn = 2000;

/**
 * Up to this size a chained batch: 1 microsecond for each operation where an array takes 9. It gives back its
 * memory only when the garbage collector comes to it, which does not know how large it is; so not beyond, unless it
 * has many operations, which leave as much behind that the collector knows of.
 */
function mostChained(operations: number): number {
  return Math.max(256 * 1024, operations * 512);
}

function bytesOf(operations: readonly Operation[]): number {
  let bytes = 0;
  for (const operation of operations) {
    bytes += operation.key.length + (operation.type === 'put' ? operation.value.length : 0);
  }
  return bytes;
}

export async function openMemoryStore(): Promise<Store> {
  const { MemoryLevel } = await import('memory-level'); // a start on a folder need not load it
  const level = new MemoryLevel<Uint8Array, Uint8Array>({ ...encodings, storeEncoding: 'view' });
  await level.open();
  return {
    name: 'memory',
    get(key, snapshot) {
      const value = level.getSync(key, snapshot?.options as never);
      return value === undefined ? undefined : ownCopy(value);
    },
    snapshot: () => snapshotOf(level),
    cursor: ({ snapshot, ...range }) => copying(level.iterator({ ...range, ...snapshot?.options })),
    write: (operations) => level.batch(operations.map(owned)),
    close: () => level.close(),
  };
}

function snapshotOf(level: { snapshot(): { close(): Promise<void> } }): StoreSnapshot {
  const snapshot = level.snapshot();
  return { options: { ...encodings, snapshot }, close: () => snapshot.close() };
}

/** What is stored here is stored for long. */
function owned(operation: Operation): Operation {
  const { type, key } = operation;
  if (type === 'del') return operation;
  return { type, key: ownCopy(key), value: ownCopy(operation.value) };
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
