// 64 producers and 64 consumers of one queue over HTTP; consumers that fail, processes of theirs that are killed, and
// the server killed and started again in between. Every message that was acknowledged is processed, and none is
// handed out twice within its time. LAZULI_FULL=1 does it with 100,000 messages.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Program } from '../support/restartable.js';
import { deliver } from './delivery.js';
import { isUnknown, type Recorded } from './history.js';
import { judge } from './judge.js';
import { checkQueue, type QueueRecord } from './queue-checker.js';

const full = process.env['LAZULI_FULL'] === '1';
const seed = Number(process.env['LAZULI_SEED'] ?? 1);
const size = full
  ? { messages: 100_000, hidings: [5000, 10_000], kills: 3 }
  : { messages: 800, hidings: [2000, 3000], kills: 1 };

const problemsOf = (history: readonly Recorded[]) => checkQueue(history, { judge }).map(({ what }) => what);

test(`every acknowledged message is processed, none twice within its time (seed ${seed})`, {
  timeout: full ? 3_600_000 : 120_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-delivery-'));
  const program = await Program.start(join(folder, 'data'));
  t.after(async () => {
    await program.kill();
    rmSync(folder, { recursive: true });
  });
  const began = performance.now();
  const history = await deliver({ program, folder, seed, clients: 64, ...size });
  const facts = factsOf(history);
  t.diagnostic(
    `${facts.acknowledged} messages acknowledged, ${facts.handedOut} hand-outs, ${facts.again} of them again, ` +
      `${history.filter(isUnknown).length} of ${history.length} calls of unknown outcome, ${program.starts} starts, ` +
      `${Math.round((performance.now() - began) / 1000)} s`,
  );
  assert.deepEqual(problemsOf(history), []);
  assert.ok(facts.acknowledged >= size.messages);
  assert.equal(program.starts, size.kills + 1);
  assert.ok(facts.again > 0, 'some were seen again');
  assert.equal(program.complaints, '');

  await t.test('the checker finds a message that is lost', () => {
    const victim = facts.deletedOnce[0];
    const lost = (history as QueueRecord[]).filter(({ call }) => call.op !== 'delete' || call.id !== victim);
    assert.match(problemsOf(lost).join(), /is lost/);
  });

  await t.test('the checker finds a message that is handed out twice within its time', () => {
    const get = (history as QueueRecord[]).find(
      ({ result }) => result && 'ok' in result && result.messages?.[0],
    );
    assert.ok(get?.result && 'ok' in get.result && get.result.messages?.[0]);
    const [{ count, ...handed }] = [get.result.messages[0]];
    const twice = {
      ...{ ...get, client: 'another', startMs: get.endMs + 1, endMs: get.endMs + 2 },
      result: { ok: true as const, messages: [{ ...handed, receipt: 'another', count: count + 1 }] },
    };
    assert.match(problemsOf([...history, twice]).join(), /was handed out twice while it was hidden/);
  });

  assert.equal(await program.stop(), 0);
  assert.equal(await program.verify(), '', 'what lazuli verify found');
});

function factsOf(history: readonly Recorded[]) {
  const records = history as readonly QueueRecord[];
  const acknowledged = records.filter(({ call, result }) => call.op === 'put' && result && 'ok' in result);
  const counts = records.flatMap(({ call, result }) =>
    call.op === 'get' && result && 'ok' in result ? (result.messages ?? []).map(({ count }) => count) : [],
  );
  const deletes = records.flatMap(({ call }) => (call.op === 'delete' ? [call.id] : []));
  const times = new Map<string, number>();
  for (const id of deletes) times.set(id, (times.get(id) ?? 0) + 1);
  return {
    acknowledged: acknowledged.length,
    handedOut: counts.length,
    again: counts.filter((count) => count > 1).length,
    deletedOnce: [...times].filter(([, count]) => count === 1).map(([id]) => id),
  };
}
