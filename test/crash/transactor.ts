// Runs transactions over several collections until it is killed, and tells on the standard output what it was told
// itself, each as a fact that stays true whatever happens later:
//
//   node transactor.js FOLDER RUN [bulky]
//
//   opening              the store is about to be opened
//   done NAME            the transaction of this name is committed
//   changes KEY N        the account was changed N times, at least
//   rows N               there are N rows in the journal, at least
//   there NAME           the transaction of this name is in the journal: it was refused to be there twice
//   gone KEY             there is no such token any more
//   front N              all items before this one have left the queue of the run
//   taken NAME           the item was dequeued
//   full                 the counter of the run stands at its limit
//   made NAME            there is a collection of this name, unless one tells of unmaking it
//   unmade NAME          there is no collection of this name
//   cleared N            no row of the board is as old as N
//
// Each is told when the call that tells it has ended, in all the ways there are: a commit, an abort, a refusal, an
// answer without a transaction, a listener, a watch.

import assert from 'node:assert/strict';
import { writeSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { seededRandom } from '#src/base/random.js';
import {
  ArgumentError,
  LimitError,
  mayRetry,
  StateManager,
  type Transaction,
} from '#src/collections/index.js';
import { accountKeys, type Bank, bulkOf, limitOf, openBank, openingBalance } from './bank.js';

const [folder = '', run = '0', bulky] = process.argv.slice(2);
const random = seededRandom(Number(run) + 1);
const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
tell('opening');
const state = await StateManager.open({ location: folder });
const bank = await openBank(state, run);
let latest = '';

function tell(fact: string): void {
  writeSync(1, `${fact}\n`);
}

/** Ends a transaction that only looked, in one of the ways there are; then what it saw may be told. */
async function look(work: (tx: Transaction) => Promise<string | undefined>): Promise<void> {
  const how = pick(['commit', 'abort', 'throw', 'dispose'] as const);
  let fact: string | undefined;
  if (how === 'throw') {
    const told = new Error('told');
    await state
      .transaction(async (tx) => {
        fact = await work(tx);
        throw told;
      })
      .catch((error) => {
        if (error !== told) throw error;
      });
  } else {
    await using tx = state.begin();
    fact = await work(tx);
    if (how === 'commit') await tx.commit();
    else if (how === 'abort') await tx.abort();
    else await tx.dispose();
  }
  if (fact !== undefined) tell(fact);
}

async function transfer(name: string): Promise<void> {
  latest = name;
  const [from, to] = [pick(accountKeys), pick(accountKeys)];
  const changes = (
    [
      [from, -1],
      [to, 1],
    ] as const
  ).toSorted(([a], [b]) => (a < b ? -1 : 1)); // fewer deadlocks
  await state.transaction(
    async (tx) => {
      for (const [key, amount] of changes) {
        const account = await bank.accounts.get(tx, key, { lock: 'update' });
        assert.ok(account !== undefined);
        const next = { balance: account.balance + amount, changes: account.changes + 1 };
        await bank.accounts.set(tx, key, next);
      }
      await bank.journal.add(tx, name, { from, to });
      await bank.counters.add(tx, 'transfers', 1);
      if (bulky !== undefined) await bank.bulk.set(tx, from, bulkOf(name));
      await bank.work.enqueue(tx, name);
      await bank.fast.enqueue(tx, name);
    },
    { retries: 100 },
  );
  tell(`done ${name}`);
}

/** From one of the queues into the dictionary of what was taken from it: twice would be refused. */
async function take(queue: Bank['work'] | Bank['fast'], taken: Bank['takenWork']): Promise<void> {
  const item = await state.transaction(
    async (tx) => {
      const found = await queue.tryDequeue(tx);
      if (found !== undefined) await taken.add(tx, found, run);
      return found;
    },
    { retries: 100 },
  );
  if (item !== undefined) tell(`taken ${queue === bank.work ? 'work' : 'fast'} ${item}`);
}

async function addTwice(): Promise<void> {
  const name = latest;
  try {
    await state.transaction((tx) =>
      bank.journal.add(tx, name, { from: '', to: '' }).then(() => Promise.reject(undo)),
    );
  } catch (error) {
    if (error instanceof ArgumentError) tell(`there ${name}`);
    else if (error !== undo) throw error;
  }
}

const undo = new Error('it was not there yet');

async function fillUp(): Promise<void> {
  try {
    await state.transaction((tx) => bank.counters.add(tx, `limit ${run}`, 1, { max: limitOf }));
  } catch (error) {
    if (!(error instanceof LimitError)) throw error;
    tell('full');
  }
}

async function sumUp(tx: Transaction): Promise<undefined> {
  let sum = 0;
  for await (const [, { balance }] of bank.accounts.entries(tx)) sum += balance;
  assert.equal(sum, accountKeys.length * openingBalance, 'money came or went');
  assert.equal(await bank.accounts.count(tx), accountKeys.length);
}

const lookAtAccount = (tx: Transaction, lock: 'shared' | 'update' | 'none') => {
  const key = pick(accountKeys);
  return bank.accounts.get(tx, key, { lock }).then((account) => `changes ${key} ${account?.changes}`);
};

let nextToken = 0;
let collections = 0;
const unmaking = new Set<string>();

async function make(): Promise<void> {
  const name = `${run} ${collections++}`;
  await state.dictionary(`made ${name}`);
  tell(`made ${name}`);
  if (random() > 0.5) return;
  unmaking.add(name);
  tell(`unmaking ${name}`);
  await state.remove(`made ${name}`);
  tell(`unmade ${name}`);
}

async function lookForMade(): Promise<void> {
  const name = `${run} ${Math.max(0, collections - 1)}`;
  const wasUnmaking = unmaking.has(name);
  const found = await state.get(`made ${name}`);
  if (found !== undefined) tell(`made ${name}`);
  else if (wasUnmaking) tell(`unmade ${name}`);
}

/** What there is to do, some more often than others. */
const works: readonly (readonly [weight: number, work: (client: number, number: number) => Promise<void>])[] =
  [
    [8, (client, number) => transfer(`${run}-${client}-${number}`)],
    [3, () => look((tx) => lookAtAccount(tx, pick(['shared', 'update'] as const)))],
    [3, () => look((tx) => lookAtAccount(tx, 'none'))],
    [2, () => look(async (tx) => `rows ${await bank.journal.count(tx)}`)],
    [2, async () => tell(`rows ${await bank.journal.currentCount()}`)],
    [1, () => look(sumUp)],
    [3, addTwice],
    [2, () => take(bank.work, bank.takenWork)],
    [2, () => take(bank.fast, bank.takenFast)],
    [
      2,
      async () => {
        const key = nextToken++;
        await state.transaction((tx) => bank.tokens.remove(tx, key), { retries: 100 });
      },
    ],
    [
      3,
      () => {
        const key = Math.max(0, nextToken - 1 - Math.floor(random() * 3));
        const lock = pick(['shared', 'none'] as const);
        return look(async (tx) => ((await bank.tokens.has(tx, key, { lock })) ? undefined : `gone ${key}`));
      },
    ],
    [2, async () => void (await state.transaction((tx) => bank.line.tryDequeue(tx), { retries: 100 }))],
    [3, () => look(async (tx) => `front ${(await bank.line.tryPeek(tx)) ?? 'none'}`)],
    [2, fillUp],
    [1, make],
    [1, lookForMade],
  ];

const choices = works.flatMap(([weight, work]) => Array.from({ length: weight }, () => work));

async function client(index: number): Promise<never> {
  for (let number = 0; ; number++) {
    try {
      await pick(choices)(index, number);
    } catch (error) {
      if (!mayRetry(error)) throw error; // a lock was not to be had: somebody else gets through
    }
    if (number % 10 === 0) await turn();
  }
}

/** Rows that only get newer, and now and then none. */
async function board(): Promise<never> {
  for (let number = Number(run) * 1_000_000 + 1; ; number++) {
    await state.transaction((tx) => bank.board.set(tx, number, number), { retries: 100 });
    if (number % 3 !== 0) continue;
    await bank.board.clear();
    tell(`cleared ${number}`);
  }
}

async function watch(): Promise<void> {
  for await (const change of bank.accounts.watch()) {
    if (change.action === 'set') tell(`changes ${change.key} ${change.value.changes}`);
  }
}

if (random() < 0.5) {
  bank.tokens.onChange((change) => {
    if (change.action === 'remove') tell(`gone ${change.key}`);
  });
}
tell('begun');
await Promise.all([...Array.from({ length: 16 }, (_, index) => client(index)), board(), watch()]);
