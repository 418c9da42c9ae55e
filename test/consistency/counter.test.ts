// 100 clients increment one counter, each by a read and an update with its ETag, until it is full: exactly so many
// increments are acknowledged. LAZULI_FULL=1 goes to 10,000.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '#src/base/random.js';
import { Program } from '../support/restartable.js';
import { sas } from './round.js';
import { Sender } from './sender.js';

const full = process.env['LAZULI_FULL'] === '1';
const target = full ? 10_000 : 400;
const clients = 100;
const seed = 7;

const json = { 'Content-Type': 'application/json', Accept: 'application/json;odata=nometadata' };
const path = "/counters(PartitionKey='p',RowKey='r')";

/** What one client saw. */
interface Tally {
  acknowledged: number;
  refused: number;
}

async function increment(sender: Sender, random: () => number): Promise<Tally> {
  const tally: Tally = { acknowledged: 0, refused: 0 };
  for (let refusals = 0; ; ) {
    const read = await sender.send({ service: 'table', method: 'GET', path, headers: json });
    assert.ok(read.kind === 'answer' && read.status === 200, JSON.stringify(read));
    const { count } = JSON.parse(read.text) as { count: number };
    if (count >= target) return tally;
    const headers = { ...json, 'If-Match': String(read.headers.etag) };
    const body = JSON.stringify({ count: count + 1 });
    const written = await sender.send({ service: 'table', method: 'MERGE', path, headers, body });
    assert.ok(written.kind === 'answer', JSON.stringify(written));
    if (written.status === 204) {
      tally.acknowledged++;
      refusals = 0;
    } else {
      assert.equal(written.status, 412);
      tally.refused++;
      await delay(random() * Math.min(2000, 4 * 2 ** ++refusals)); // as clients do: else all try again at once
    }
  }
}

test(`${clients} clients increment a counter to ${target}: so many are acknowledged`, {
  timeout: full ? 3_600_000 : 120_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-counter-'));
  const program = await Program.start(join(folder, 'data'));
  t.after(async () => {
    await program.kill();
    rmSync(folder, { recursive: true });
  });
  const senders = Array.from(
    { length: clients },
    (_, n) => new Sender({ ports: program.ports, sas, random: seededRandom(seed + n), dropShare: 0 }),
  );
  t.after(() => {
    for (const sender of senders) sender.close();
  });
  const [first] = senders as [Sender, ...Sender[]];
  const make = async (at: string, body: object) =>
    first.send({ service: 'table', method: 'POST', path: at, headers: json, body: JSON.stringify(body) });
  assert.equal(await statusOf(make('/Tables', { TableName: 'counters' })), 201);
  assert.equal(await statusOf(make('/counters', { PartitionKey: 'p', RowKey: 'r', count: 0 })), 201);

  const random = seededRandom(seed);
  const began = performance.now();
  const tallies = await Promise.all(senders.map((sender) => increment(sender, random)));
  const sum = (of: (tally: Tally) => number) => tallies.reduce((total, tally) => total + of(tally), 0);
  const seconds = Math.round((performance.now() - began) / 1000);
  t.diagnostic(
    `${sum((one) => one.acknowledged)} acknowledged, ${sum((one) => one.refused)} refused, ${seconds} s`,
  );
  assert.equal(
    sum((one) => one.acknowledged),
    target,
  );
  const last = await first.send({ service: 'table', method: 'GET', path, headers: json });
  assert.equal(last.kind === 'answer' && (JSON.parse(last.text) as { count: number }).count, target);
  assert.equal(await program.stop(), 0);
});

async function statusOf(reply: ReturnType<Sender['send']>): Promise<number> {
  const answer = await reply;
  return answer.kind === 'answer' ? answer.status : 0;
}
