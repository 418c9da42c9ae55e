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
  /** How often anything was changed. */
  sum(): Promise<number>;
  close(): Promise<void>;
}

const note = 'x'.repeat(150);

export function accountOf(owner: string, balance: number): Account {
  return { owner, balance, note };
}

export async function collectionsTarget(folder: string): Promise<Target> {
  const state = await StateManager.open({ location: join(folder, 'collections') });
  const accounts = await state.dictionary<string, Account>('accounts');
  return {
    name: 'collections',
    change: (key) =>
      state.transaction(async (tx) => {
        const account = await accounts.get(tx, key, { lock: 'update' });
        await accounts.set(tx, key, accountOf(key, (account?.balance ?? 0) + 1));
      }),
    sum: () =>
      state.transaction(async (tx) => {
        let sum = 0;
        for await (const [, { balance }] of accounts.entries(tx)) sum += balance;
        return sum;
      }),
    close: () => state.close(),
  };
}

/** The value is made once: what a record costs to write and read is ours alone. */
const value = Buffer.alloc(200, 'x');

export async function levelBeside(folder: string): Promise<Target> {
  const { name, transact, count, close } = await levelTarget(join(folder, 'level'));
  return { name, change: (key) => transact(Buffer.from(key), value), sum: count, close };
}

export async function lmdbBeside(folder: string): Promise<Target> {
  const { name, transact, count, close } = await lmdbTarget(join(folder, 'lmdb'));
  return { name, change: (key) => transact(Buffer.from(key), value), sum: count, close };
}
