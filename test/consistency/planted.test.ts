// The judge of a whole round, on a history that a server made: as it is it passes, and with one answer changed it
// does not, whatever the object.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Program } from '../support/restartable.js';
import type { Recorded } from './history.js';
import { judgeRound } from './judge.js';
import { describe } from './picture.js';
import type { QueueResult } from './queue-checker.js';
import { runRound } from './round.js';

type Any = Recorded<Record<string, unknown>, Record<string, unknown>>;

function ofObject(history: readonly Recorded[], object: string, op: string): Any[] {
  const found = history as readonly Any[];
  return found.filter((one) => one.object === object && one.call['op'] === op && one.result?.['ok'] === true);
}

/** The history with the last successful call of that kind answered as an early one was that saw something else. */
function answeredAsBefore(history: readonly Recorded[], object: string, op: string): Recorded[] {
  const calls = ofObject(history, object, op).sort((a, b) => a.startMs - b.startMs);
  const late = calls.at(-1);
  const early = calls.find(
    (one) => one.endMs < Number(late?.startMs) && seen(one) !== seen(late) && !isSeenAgain(calls, one),
  );
  assert.ok(early && late, `${object} was ${op} more than once, with two answers`);
  return history.map((record) =>
    record === late ? { ...late, result: early.result } : record,
  ) as Recorded[];
}

const seen = (one: Any | undefined) => JSON.stringify(one?.result?.['value'] ?? one?.result?.['rows']);

/** Among the last few: then it might be true once more. */
function isSeenAgain(calls: readonly Any[], early: Any): boolean {
  return calls.slice(-3).some((one) => seen(one) === seen(early));
}

const plants: [name: string, object: string, plant: (history: readonly Recorded[]) => Recorded[]][] = [
  ['a stale read', 'blob 0', (history) => answeredAsBefore(history, 'blob 0', 'read')],
  ['an old content', 'append 0', (history) => answeredAsBefore(history, 'append 0', 'read')],
  ['a ghost in a container', 'container 0', (history) => answeredAsBefore(history, 'container 0', 'read')],
  ['an old page', 'mixed 0', (history) => answeredAsBefore(history, 'mixed 0', 'query')],
  ['half a batch', 'whole 0', (history) => halfABatch(history)],
  ['a lost update', 'blob 1', (history) => refusedUpdateSucceeds(history)],
  ['an old file', 'files 0', (history) => answeredAsBefore(history, 'files 0', 'read')],
  ['half a range', 'files 0', (history) => halfARange(history)],
  ['a rename that was lost', 'files 0', (history) => lostRename(history)],
  ['a double hand-out', 'queue 0', (history) => handedOutTwice(history)],
  [
    'a lost message',
    'queue 0',
    (history) => drop(history, (one) => one.client !== 'judge.0' || one.call['op'] === 'put'),
  ],
];

function halfABatch(history: readonly Recorded[]): Recorded[] {
  const target = ofObject(history, 'whole 0', 'query').at(-1);
  const rows = {
    ...(target?.result?.['rows'] as object),
    r0: ofObject(history, 'whole 0', 'batch')[0]?.call['writes'],
  };
  const old = ((rows.r0 ?? []) as { value: string }[])[0]?.value;
  return history.map((record) =>
    record === target ? { ...record, result: { ok: true, rows: { ...rows, r0: old } } } : record,
  ) as Recorded[];
}

function refusedUpdateSucceeds(history: readonly Recorded[]): Recorded[] {
  const refused = (history as readonly Any[]).find(
    (one) =>
      one.object === 'blob 1' && one.call['op'] === 'update' && one.result?.['code'] === 'ConditionNotMet',
  );
  assert.ok(refused);
  return history.map((record) => (record === refused ? { ...record, result: { ok: true } } : record));
}

/** Who saw all of a write of several slots is told to have seen only the first of them new. */
function halfARange(history: readonly Recorded[]): Recorded[] {
  const reads = ofObject(history, 'files 0', 'read');
  const isWide = ({ call }: Any) => Number(call['to']) - Number(call['from']) > 1;
  for (const put of ofObject(history, 'files 0', 'put').filter(isWide)) {
    const at = (slot: number, read: Any) => String(read.result?.['value']).split('|')[slot];
    const from = Number(put.call['from']);
    const read = reads.find((one) => [from, from + 1].every((slot) => at(slot, one) === put.call['value']));
    if (read === undefined) continue;
    const slots = String(read.result?.['value']).split('|');
    const result = { ...read.result, value: slots.with(from + 1, 'never-written').join('|') };
    return history.map((record) => (record === read ? { ...read, result } : record)) as Recorded[];
  }
  throw new Error('no reader saw a write of several slots');
}

/** The first rename that was done is told to have been refused, though all that follows builds on it. */
function lostRename(history: readonly Recorded[]): Recorded[] {
  const renamed = ofObject(history, 'files 0', 'rename').sort((a, b) => a.startMs - b.startMs)[0];
  assert.ok(renamed);
  const result = { code: 'ResourceAlreadyExists' };
  return history.map((record) => (record === renamed ? { ...renamed, result } : record)) as Recorded[];
}

function handedOutTwice(history: readonly Recorded[]): Recorded[] {
  const isGet = (one: Any) => one.object === 'queue 0' && one.call['op'] === 'get';
  const handed = (history as readonly Any[]).find(
    (one) => isGet(one) && ((one.result as QueueResult & { messages?: [] })?.messages?.length ?? 0) > 0,
  );
  assert.ok(handed);
  return [...history, { ...handed, client: 'planted', startMs: handed.endMs + 1, endMs: handed.endMs + 2 }];
}

function drop(history: readonly Recorded[], keeps: (one: Any) => boolean): Recorded[] {
  const kept = (history as readonly Any[]).filter((one) => one.object !== 'queue 0' || keeps(one));
  // Nobody deletes anything either, so that all must be there at the end.
  return kept.filter((one) => one.object !== 'queue 0' || one.call['op'] !== 'delete');
}

test('a round without faults passes, and each planted anomaly in it is found', {
  timeout: 60_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-planted-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = await Program.start(join(folder, 'data'));
  t.after(() => program.stop());
  const { history, findings } = await runRound({
    program,
    folder,
    round: 1,
    seed: 3,
    durationMs: 3000,
    faults: [],
    dropShare: 0,
  });
  assert.deepEqual(
    findings.map(({ what, records }) => `${what} ${records.map((one) => describe(one))}`),
    [],
  );
  for (const [name, object, plant] of plants) {
    const found = judgeRound(plant(history)).filter((finding) => finding.object === object);
    assert.ok(found.length > 0, `${name} was not found`);
    assert.match(found[0]?.picture ?? '', /^<svg /, `${name} has a picture`);
  }
});
