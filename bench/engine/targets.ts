// What the engine is measured beside: LevelDB alone with the simplest group commit there is, and LMDB.
// Each does the same transaction: a key is read, the value under it written, and a counter counted up.

import { ClassicLevel } from 'classic-level';
import { open as openLmdb } from 'lmdb';
import { decodeCounter, encodeCounter } from '#src/engine/counter.js';
import { openEngine } from '#src/engine/level.js';

export interface Target {
  readonly name: string;
  /** Ends when it is on disk. */
  transact(key: Buffer, value: Buffer): Promise<void>;
  /** How often was counted up. */
  count(): Promise<number>;
  close(): Promise<void>;
}

const counterKey = Buffer.from('counter');

export async function engineTarget(location: string): Promise<Target> {
  const engine = await openEngine({ location });
  return {
    name: 'engine',
    async transact(key, value) {
      const { version } = await engine.get(key);
      const { durable } = await engine.commit({
        reads: [{ key, version }],
        writes: [{ key, value }],
        adds: [{ key: counterKey, amount: 1 }],
      });
      await durable;
    },
    count: async () => decodeCounter((await engine.get(counterKey)).value),
    close: () => engine.close(),
  };
}

/** No versions, no checksums, no conflicts, nothing visible before it is on disk: what LevelDB itself can do. */
export async function levelTarget(location: string): Promise<Target> {
  const level = new ClassicLevel<Uint8Array, Uint8Array>(location, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    writeBufferSize: 8 * 1024 * 1024,
  });
  await level.open();
  let counter = decodeCounter(level.getSync(counterKey));
  let gathering = level.batch();
  let told: (() => void)[] = [];
  let writing = false;

  async function write(): Promise<void> {
    while (gathering.length > 0) {
      const [batch, waiting] = [gathering, told];
      [gathering, told] = [level.batch(), []];
      await batch.write({ sync: true });
      for (const tell of waiting) tell();
      await new Promise((resolve) => setImmediate(resolve));
    }
    writing = false;
  }

  return {
    name: 'classic-level',
    transact(key, value) {
      level.getSync(key);
      gathering.put(key, value).put(counterKey, encodeCounter(++counter));
      const done = new Promise<void>((resolve) => told.push(resolve));
      if (!writing) {
        writing = true;
        setImmediate(() => void write());
      }
      return done;
    },
    count: async () => decodeCounter(level.getSync(counterKey)),
    async close() {
      await gathering.close();
      await level.close();
    },
  };
}

export async function lmdbTarget(location: string): Promise<Target> {
  const database = openLmdb<Buffer, Buffer>({
    path: location,
    keyEncoding: 'binary',
    encoding: 'binary',
    overlappingSync: false,
    mapSize: 8 * 1024 * 1024 * 1024,
  });
  return {
    name: 'lmdb',
    async transact(key, value) {
      await database.transaction(() => {
        database.get(key);
        database.put(key, value);
        database.put(counterKey, Buffer.from(encodeCounter(decodeCounter(database.get(counterKey)) + 1)));
      });
    },
    count: async () => decodeCounter(database.get(counterKey)),
    close: () => database.close(),
  };
}
