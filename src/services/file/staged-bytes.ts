// The bytes of a copy before it is done: a map that belongs to nobody but the copy, filled over several transactions and
// handed to the file in the one that makes the copy visible. What a crash leaves of it is dropped at the next start.

import type { Transaction } from '../../collections/index.js';
import type { FileStore } from './model.js';

export async function stageMap(store: FileStore): Promise<number> {
  return store.run(async (tx) => {
    const map = await store.content.maps.create(tx);
    await store.staged.set(tx, map, true);
    return map;
  });
}

/** Whoever fills it holds its lock. */
export async function lockStaged(store: FileStore, tx: Transaction, map: number): Promise<void> {
  await store.staged.get(tx, map, { lock: 'update' });
}

/** The map is the file's now. */
export async function takeStaged(store: FileStore, tx: Transaction, map: number): Promise<void> {
  await store.staged.delete(tx, map);
}

/** The copy failed. */
export async function dropStagedMap(store: FileStore, map: number): Promise<void> {
  await store.run(async (tx) => {
    if ((await store.staged.remove(tx, map)) === undefined) return;
    await store.content.maps.drop(tx, map);
  });
}

/** At the start nobody copies anything. */
export async function dropStaged(store: FileStore): Promise<void> {
  const left = await store.run(async (tx) => {
    const maps: number[] = [];
    for await (const map of store.staged.keys(tx, { newest: true })) maps.push(map);
    return maps;
  });
  for (const map of left) await dropStagedMap(store, map);
}
