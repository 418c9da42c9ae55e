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

/** There is nothing in this history that it could be planted at. */
class NoPlace extends Error {}

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
  if (!early || !late) throw new NoPlace();
  return history.map((record) =>
    record === late ? { ...late, result: early.result } : record,
  ) as Recorded[];
}

const seen = (one: Any | undefined) => JSON.stringify(one?.result?.['value'] ?? one?.result?.['rows']);

/** Among the last few: then it might be true once more. */
function isSeenAgain(calls: readonly Any[], early: Any): boolean {
  return calls.slice(-3).some((one) => seen(one) === seen(early));
}

type Plant = readonly [name: string, object: string, plant: (history: readonly Recorded[]) => Recorded[]];

const plants: readonly Plant[] = [
  ['a stale read', 'blob 0', (history) => answeredAsBefore(history, 'blob 0', 'read')],
  ['an old content', 'append 0', (history) => answeredAsBefore(history, 'append 0', 'read')],
  ['a ghost in a container', 'container 0', (history) => answeredAsBefore(history, 'container 0', 'read')],
  ['an old page', 'mixed 0', (history) => answeredAsBefore(history, 'mixed 0', 'query')],
  ['half a batch', 'whole 0', (history) => halfABatch(history)],
  ['a lost update', 'blob 1', (history) => refusedUpdateSucceeds(history)],
  ['an old file', 'files 0', (history) => answeredAsBefore(history, 'files 0', 'read')],
  ['half a range', 'files 0', (history) => halfARange(history)],
  ['a refusal that cannot be', 'files 0', (history) => refusedRename(history)],
  ['a double hand-out', 'queue 0', (history) => handedOutTwice(history)],
  [
    'a lost message',
    'queue 0',
    (history) => drop(history, (one) => one.client !== 'judge.0' || one.call['op'] === 'put'),
  ],
];

/** The last query sees one row as the first batch wrote it. */
function halfABatch(history: readonly Recorded[]): Recorded[] {
  const target = ofObject(history, 'whole 0', 'query').at(-1);
  const [batch] = ofObject(history, 'whole 0', 'batch');
  const old = ((batch?.call['writes'] ?? []) as { value: string }[])[0]?.value;
  const rows = target?.result?.['rows'] as Record<string, string> | undefined;
  if (rows === undefined || old === undefined || rows['r1'] === undefined || rows['r1'] === old)
    throw new NoPlace();
  const result = { ok: true, rows: { ...rows, r0: old } };
  return history.map((record) => (record === target ? { ...record, result } : record)) as Recorded[];
}

function refusedUpdateSucceeds(history: readonly Recorded[]): Recorded[] {
  const refused = (history as readonly Any[]).find(
    (one) =>
      one.object === 'blob 1' && one.call['op'] === 'update' && one.result?.['code'] === 'ConditionNotMet',
  );
  if (!refused) throw new NoPlace();
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
  throw new NoPlace();
}

/** A rename that replaces whatever is there is told to have been refused for it. */
function refusedRename(history: readonly Recorded[]): Recorded[] {
  const renamed = ofObject(history, 'files 0', 'rename').find(({ call }) => call['replaces'] === true);
  if (!renamed) throw new NoPlace();
  const result = { code: 'ResourceAlreadyExists' };
  return history.map((record) => (record === renamed ? { ...renamed, result } : record)) as Recorded[];
}

function handedOutTwice(history: readonly Recorded[]): Recorded[] {
  const isGet = (one: Any) => one.object === 'queue 0' && one.call['op'] === 'get';
  const handed = (history as readonly Any[]).find(
    (one) => isGet(one) && ((one.result as QueueResult & { messages?: [] })?.messages?.length ?? 0) > 0,
  );
  if (!handed) throw new NoPlace();
  return [...history, { ...handed, client: 'planted', startMs: handed.endMs + 1, endMs: handed.endMs + 2 }];
}

function drop(history: readonly Recorded[], keeps: (one: Any) => boolean): Recorded[] {
  if (ofObject(history, 'queue 0', 'put').length === 0) throw new NoPlace();
  const kept = (history as readonly Any[]).filter((one) => one.object !== 'queue 0' || keeps(one));
  // Nobody deletes anything either, so that all must be there at the end.
  return kept.filter((one) => one.object !== 'queue 0' || one.call['op'] !== 'delete');
}

/** Those that found no place. */
function plantIn(history: readonly Recorded[], wanted: readonly Plant[]): Plant[] {
  const left: Plant[] = [];
  for (const plant of wanted) {
    const [name, object, change] = plant;
    try {
      const found = judgeRound(change(history)).filter((finding) => finding.object === object);
      assert.ok(found.length > 0, `${name} was not found`);
      assert.match(found[0]?.picture ?? '', /^<svg /, `${name} has a picture`);
    } catch (error) {
      if (!(error instanceof NoPlace)) throw error;
      left.push(plant);
    }
  }
  return left;
}

test('rounds without faults pass, and each anomaly that is planted in them is found', {
  timeout: 300_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-planted-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = await Program.start(join(folder, 'data'));
  t.after(() => program.stop());
  let left: readonly Plant[] = plants;
  // On a slow machine little is done in a round: they get longer.
  for (let round = 1; left.length > 0 && round <= 10; round++) {
    const options = { program, folder, round, seed: 3, faults: [], dropShare: 0 };
    const { history, findings } = await runRound({ ...options, durationMs: 2000 + 2000 * round });
    assert.deepEqual(
      findings.map(({ what, records }) => `${what} ${records.map((one) => describe(one))}`),
      [],
    );
    left = plantIn(history, left);
  }
  assert.deepEqual(
    left.map(([name]) => name),
    [],
    'these found no place',
  );
});
