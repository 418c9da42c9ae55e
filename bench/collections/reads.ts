// How fast are records read: by key, with a lock and without, and all of them in order.

import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { seededRandom } from '#src/base/random.js';
import { type Dictionary, StateManager } from '#src/collections/index.js';
import { type Account, accountOf } from './targets.js';

export interface Filled {
  readonly state: StateManager;
  readonly accounts: Dictionary<string, Account>;
  readonly level: ClassicLevel<Buffer, Buffer>;
  close(): Promise<void>;
}

export interface ReadSpeeds {
  readonly get: number;
  readonly alone: number;
  readonly unlocked: number;
  readonly rows: number;
  readonly sum: number;
}

const keyOf = (number: number): string => `key-${String(number).padStart(9, '0')}`;
const perTransaction = 100;

/** The same records for both: from tables, not from what is still in memory. */
export async function fillAccounts(folder: string, keys: number): Promise<Filled> {
  const location = join(folder, `reads-${keys}`);
  const filling = await StateManager.open({ location });
  const filled = await filling.dictionary<string, Account>('accounts');
  const level = new ClassicLevel<Buffer, Buffer>(join(folder, `level-${keys}`), {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    cacheSize: 32 * 1024 * 1024,
    writeBufferSize: 8 * 1024 * 1024,
  });
  let durable: Promise<void> = Promise.resolve();
  for (let from = 0; from < keys; from += 500) {
    const numbers = Array.from({ length: Math.min(500, keys - from) }, (_, index) => from + index);
    await durable; // of the one before: the disk works while the next one is made
    durable = filling.transaction(async (tx) => {
      for (const number of numbers) await filled.set(tx, keyOf(number), accountOf(keyOf(number), number));
    });
    await level.batch(
      numbers.map((number) => ({
        type: 'put' as const,
        key: Buffer.from(keyOf(number)),
        value: Buffer.alloc(200, 'x'),
      })),
    );
  }
  await durable;
  await filling.close();
  await level.close();
  await level.open();
  const state = await StateManager.open({ location });
  const accounts = await state.dictionary<string, Account>('accounts');
  const close = async () => {
    await state.close();
    await level.close();
  };
  return { state, accounts, level, close };
}

export async function readCollections(
  { state, accounts }: Filled,
  keys: number,
  count: number,
): Promise<ReadSpeeds> {
  let sum = 0;
  const random = seededRandom(3);
  const wanted = Array.from({ length: count }, () => keyOf(Math.floor(random() * keys)));
  const inGroups = async (lock: 'shared' | 'none') => {
    for (let from = 0; from < count; from += perTransaction) {
      await state.transaction(async (tx) => {
        for (const key of wanted.slice(from, from + perTransaction))
          sum += (await accounts.get(tx, key, { lock }))?.balance ?? 0;
      });
    }
  };
  const get = await speed(count, () => inGroups('shared'));
  const unlocked = await speed(count, () => inGroups('none'));
  const alone = await speed(count, async () => {
    for (const key of wanted) {
      await state.transaction(async (tx) => {
        sum += (await accounts.get(tx, key))?.balance ?? 0;
      });
    }
  });
  const rows = await speed(Math.min(keys, count), () =>
    state.transaction(async (tx) => {
      let left = Math.min(keys, count);
      for await (const [, { balance }] of accounts.entries(tx)) {
        sum += balance;
        if (--left === 0) return;
      }
    }),
  );
  return { get, alone, unlocked, rows, sum };
}

/** The values as they come: what a record costs to decode is ours alone. */
export async function readBare(
  { level }: Filled,
  keys: number,
  count: number,
): Promise<Pick<ReadSpeeds, 'get' | 'rows'>> {
  const random = seededRandom(3);
  const wanted = Array.from({ length: count }, () => Buffer.from(keyOf(Math.floor(random() * keys))));
  const get = await speed(count, async () => {
    for (const key of wanted) level.getSync(key);
  });
  const rows = await speed(Math.min(keys, count), async () => {
    const iterator = level.iterator({ limit: Math.min(keys, count), highWaterMarkBytes: 1024 * 1024 });
    while ((await iterator.nextv(256)).length > 0);
    await iterator.close();
  });
  return { get, rows };
}

async function speed(count: number, work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (count / (performance.now() - began)) * 1000;
}
