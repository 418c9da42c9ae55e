// A process that commits under load is killed at a random moment, again and again on the same folder: every
// commit it told of is there, whole, and no commit is there in part or before an earlier one of its client.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '#src/base/random.js';
import { decodeCounter } from '#src/engine/counter.js';
import type { Engine, Row } from '#src/engine/engine.js';
import { openEngine } from '#src/engine/level.js';
import { runAndKill } from './kill.js';

const rounds = process.env['LAZULI_FULL'] === '1' ? 200 : 10;
const seed = 11;

test(`${rounds} times killed while it commits: all that was told is there (seed ${seed})`, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-crash-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const random = seededRandom(seed);
  let told = 0;
  let total = 0;
  let newest = 0;
  for (let round = 0; round < rounds; round++) {
    const names = await runAndKill('committer.js', [folder, `r${round}`], { afterMs: random() * 120 });
    const engine = await openEngine({ location: folder });
    const found = await check(engine, `r${round}`, names);
    total += found.commits;
    assert.equal(
      decodeCounter((await engine.get(Buffer.from('n'))).value),
      total,
      'the counter counts each once',
    );
    if (found.commits > 0) {
      assert.ok(found.firstVersion > newest, 'a version was drawn twice');
      newest = found.lastVersion;
      assert.equal((await engine.get(Buffer.from('last'))).version, newest);
    }
    await engine.close();
    told += names.length;
  }
  assert.ok(told > rounds * 10, `only ${told} commits were told of`);
  t.diagnostic(`${told} commits told of, ${total} found`);
});

async function check(engine: Engine, run: string, told: readonly string[]) {
  const parts = new Map<string, Row[]>();
  for await (const row of rowsOf(engine, `c/${run}-`)) {
    const name = Buffer.from(row.key).toString().split('/')[1] ?? '';
    assert.equal(Buffer.from(row.value).toString(), name);
    parts.set(name, [...(parts.get(name) ?? []), row]);
  }
  for (const [name, rows] of parts) {
    assert.equal(rows.length, 3, `commit ${name} is there in part`);
    assert.equal(new Set(rows.map(({ version }) => version)).size, 1);
    const [, client, number] = name.split('-');
    const before = `${run}-${client}-${Number(number) - 1}`;
    assert.ok(number === '0' || parts.has(before), `${name} is there and ${before} is not`);
  }
  for (const name of told) assert.ok(parts.has(name), `commit ${name} was told of and is gone`);
  const versions = [...parts.values()].map(([row]) => row?.version ?? 0);
  return { commits: parts.size, firstVersion: Math.min(...versions), lastVersion: Math.max(...versions) };
}

async function* rowsOf(engine: Engine, prefix: string): AsyncGenerator<Row> {
  let from = Buffer.from(prefix);
  const to = Buffer.from(`${prefix}~`);
  while (true) {
    const page = await engine.range(from, to);
    yield* page.rows;
    const last = page.rows.at(-1);
    if (!page.more || last === undefined) return;
    from = Buffer.concat([last.key, Buffer.alloc(1)]);
  }
}
