// A process that runs transactions over several collections is killed at a random moment, again and again on the
// same folder. Whatever it was told, and so told us, is still so: commits, reads, counts, empty answers, refusals,
// what listeners and watches heard. And what is there agrees with itself, as each transaction is there whole: R2 and R6
// of the specification. What LevelDB calls a checkpoint is the writing of a table: when it is opened, when its log is
// full, and when tables are merged.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#src/base/random.js';
import { StateManager, type Transaction } from '#src/collections/index.js';
import { all, temporary } from '#src/collections/scenario.suite.js';
import { accountKeys, type Bank, bulkOf, limitOf, openBank, openingBalance } from './bank.js';
import { runAndKill } from './kill.js';

const rounds = process.env['LAZULI_FULL'] === '1' ? 200 : 10;
const seed = 12;

test(`R2, R6: kill -9 at random points during multi-collection commits and checkpoints, ${rounds} times: each tx all or nothing; nothing that was told is taken back (seed ${seed})`, async (t) => {
  const folder = await temporary();
  const random = seededRandom(seed);
  const told = new Map<string, number>();
  let commits = 0;
  for (let round = 0; round < rounds; round++) {
    const run = `${round}`;
    // Now and then in the middle of opening, or soon after; what it tells is not looked at.
    if (round % 4 === 3)
      await runAndKill('transactor.js', [folder, `${10_000 + round}`], { afterMs: random() * 60 });
    const bulky = round % 3 === 2 ? ['bulky'] : [];
    const lines = new Set(
      await runAndKill('transactor.js', [folder, run, ...bulky], { afterLines: 50 + random() * 350 }),
    );
    await using state = await StateManager.open({ location: folder });
    const bank = await openBank(state, run);
    await state.transaction(async (tx) => {
      await checkWhole(tx, bank);
      for (const line of lines) await checkFact({ tx, state, bank, run, told: lines }, line);
    });
    commits = await bank.journal.currentCount();
    for (const line of lines) count(told, line.split(' ')[0] ?? '');
  }
  assert.ok((told.get('done') ?? 0) > rounds * 10, `only ${told.get('done')} commits were told of`);
  for (const kind of Object.keys(facts)) assert.ok(told.has(kind), `nothing of the kind "${kind}" was told`);
  t.diagnostic(`${commits} transfers found; told of ${JSON.stringify(Object.fromEntries(told))}`);
});

function count(told: Map<string, number>, kind: string): void {
  told.set(kind, (told.get(kind) ?? 0) + 1);
}

interface Scene {
  readonly tx: Transaction;
  readonly state: StateManager;
  readonly bank: Bank;
  readonly run: string;
  readonly told: ReadonlySet<string>;
}

/** What each kind of fact says. */
const facts: Readonly<Record<string, (scene: Scene, words: readonly string[]) => Promise<boolean>>> = {
  opening: async () => true,
  begun: async () => true,
  done: ({ tx, bank }, [name = '']) => bank.journal.has(tx, name),
  there: ({ tx, bank }, [name = '']) => bank.journal.has(tx, name),
  changes: async ({ tx, bank }, [word, key, times]) =>
    ((await bank.accounts.get(tx, `${word} ${key}`))?.changes ?? 0) >= Number(times),
  rows: async ({ tx, bank }, [rows]) => (await bank.journal.count(tx)) >= Number(rows),
  gone: async ({ tx, bank }, [key]) => !(await bank.tokens.has(tx, Number(key))),
  front: async ({ tx, bank }, [front]) => {
    const first = (await bank.line.tryPeek(tx)) ?? Number.POSITIVE_INFINITY;
    return first >= (front === 'none' ? Number.POSITIVE_INFINITY : Number(front));
  },
  taken: ({ tx, bank }, [queue, name = '']) =>
    (queue === 'work' ? bank.takenWork : bank.takenFast).has(tx, name),
  full: async ({ tx, bank, run }) => (await bank.counters.get(tx, `limit ${run}`)) === limitOf,
  made: async ({ state, told }, [run, number]) =>
    told.has(`unmaking ${run} ${number}`) || (await state.get(`made ${run} ${number}`)) !== undefined,
  unmaking: async () => true,
  unmade: async ({ state }, [run, number]) => (await state.get(`made ${run} ${number}`)) === undefined,
  cleared: async ({ tx, bank }, [number]) =>
    (await all(bank.board.keys(tx, { to: Number(number) + 1 }))).length === 0,
};

async function checkFact(scene: Scene, fact: string): Promise<void> {
  const [kind = '', ...words] = fact.split(' ');
  const isSo = facts[kind];
  assert.ok(isSo !== undefined, `what is "${fact}"?`);
  assert.ok(await isSo(scene, words), `it was told "${fact}", which is not so any more`);
}

/** What must hold of any state: each transaction is there with all its parts or not at all. */
async function checkWhole(tx: Transaction, bank: Bank): Promise<void> {
  const moves = new Map(accountKeys.map((key) => [key, { balance: openingBalance, changes: 0 }]));
  const names = new Set<string>();
  for await (const [name, { from, to }] of bank.journal.entries(tx)) {
    names.add(name);
    for (const [key, amount] of [
      [from, -1],
      [to, 1],
    ] as const) {
      const account = moves.get(key);
      assert.ok(account !== undefined);
      account.balance += amount;
      account.changes++;
    }
  }
  assert.deepEqual(
    new Map(await all(bank.accounts.entries(tx))),
    moves,
    'the accounts are as the journal says',
  );
  assert.equal(await bank.journal.count(tx), names.size);
  assert.equal(await bank.counters.get(tx, 'transfers'), names.size);
  for await (const [, bulk] of bank.bulk.entries(tx)) {
    assert.ok(names.has(bulk.name), 'what a transfer wrote is there without it');
    assert.deepEqual(bulk, bulkOf(bulk.name));
  }
  const waiting = await all(bank.work.entries(tx));
  assert.equal(await bank.work.count(tx), waiting.length);
  const taken = await all(bank.takenWork.keys(tx));
  assert.deepEqual(new Set([...waiting, ...taken]), names, 'an item is in the queue or was taken');
  assert.equal(waiting.length + taken.length, names.size, 'and not both');
  assert.equal((await bank.fast.count()) + (await bank.takenFast.count(tx)), names.size);
}
