// What the collections are measured beside: LevelDB alone with the simplest group commit there is, and LMDB.
// Each does the same transaction: a record is read, changed and written back. (They keep no count of their
// rows, lock nothing and check nothing.)

import { join } from 'node:path';
import { StateManager } from '#src/collections/index.js';
import { levelTarget, lmdbTarget } from '../engine/targets.js';

export interface Account {
  readonly owner: string;
  readonly balance: number;
  readonly note: string;
}

export interface Target {
  readonly name: string;
  /** Reads the record, adds to its balance and writes it; ends when it is on disk. */
  change(key: string): Promise<void>;
  close(): Promise<void>;
}

export const note = 'x'.repeat(150);

export async function collectionsTarget(folder: string): Promise<Target> {
  const state = await StateManager.open({ location: join(folder, 'collections') });
  const accounts = await state.dictionary<string, Account>('accounts');
  return {
    name: 'collections',
    change: (key) =>
      state.transaction(async (tx) => {
        const account = await accounts.get(tx, key, { lock: 'update' });
        const balance = (account?.balance ?? 0) + 1;
        await accounts.set(tx, key, { owner: key, balance, note });
      }),
    close: () => state.close(),
  };
}

/** The value is made once: what a record costs to write and read is ours alone. */
const value = Buffer.alloc(200, 'x');

export async function levelBeside(folder: string): Promise<Target> {
  const { name, transact, close } = await levelTarget(join(folder, 'level'));
  return { name, change: (key) => transact(Buffer.from(key), value), close };
}

export async function lmdbBeside(folder: string): Promise<Target> {
  const { name, transact, close } = await lmdbTarget(join(folder, 'lmdb'));
  return { name, change: (key) => transact(Buffer.from(key), value), close };
}
