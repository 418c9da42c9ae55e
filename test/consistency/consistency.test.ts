// The built program under client processes and faults, for about twenty seconds; `npm run torture` does the same at
// length. Every history is judged, and a picture of one that fails is left in the system's folder for temporary files.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Program } from '../support/restartable.js';
import type { FaultName } from './faults.js';
import { isUnknown } from './history.js';
import { describe } from './picture.js';
import { mountSmallDisk, runRound, unmountSmallDisk } from './round.js';

const seed = Number(process.env.LAZULI_SEED ?? 1);
const limit = { timeout: 300_000 };
const enough = 200;
const mostRounds = 8;

async function givenProgram(
  t: TestContext,
  isSmall = false,
): Promise<{ program: Program; folder: string; smallDisk: string | undefined }> {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-consistency-'));
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  const isMounted = isSmall && mountSmallDisk(disk, 512 * 1024 * 1024);
  const program = await Program.start(join(disk, 'data'));
  t.after(async () => {
    await program.stop();
    if (isMounted) unmountSmallDisk(disk);
    rmSync(folder, { recursive: true });
  });
  return { program, folder, smallDisk: isMounted ? disk : undefined };
}

const rounds: [name: string, faults: FaultName[], isSmall: boolean][] = [
  ['the process is killed, started again and paused', ['kill', 'pause', 'kill'], false],
  ['the clock jumps, and falls back with a kill', ['jump', 'jump', 'kill'], false],
  ['the clock leaps, and leases end', ['leap', 'pause', 'leap'], false],
  ['the disk fills, and space returns', ['low', 'full'], true],
];

for (const [name, faults, isSmall] of rounds) {
  test(
    `what clients see is consistent while connections drop and ${name} (seed ${seed})`,
    limit,
    async (t) => {
      const { program, folder, smallDisk } = await givenProgram(t, isSmall);
      let known = 0;
      let skipped: readonly string[] = [];
      // A slow machine gets more and longer rounds, so that there is always enough to judge.
      for (let round = 1; known < enough && round <= mostRounds; round++) {
        const report = await runRound({
          ...{ program, folder, smallDisk, round, seed, faults },
          durationMs: 2000 + 2000 * round,
        });
        tellFindings(t, report.findings);
        const ended = report.history.filter((record) => !isUnknown(record)).length;
        t.diagnostic(
          `${report.history.length} calls, ${report.history.length - ended} of unknown outcome, ${program.starts} starts`,
        );
        known += ended;
        skipped = report.skipped;
      }
      assert.ok(known >= enough, `only ${known} calls came to an end`);
      assert.equal(program.complaints, '');
      assert.equal(await program.stop(), 0);
      assert.equal(await program.verify(), '', 'what lazuli verify found');
      if (skipped.length > 0) t.skip(skipped.join('; '));
    },
  );
}

function tellFindings(t: TestContext, findings: Awaited<ReturnType<typeof runRound>>['findings']): void {
  for (const { object, what, records, picture } of findings) {
    const file = join(mkdtempSync(join(tmpdir(), 'lazuli-violation-')), 'history.svg');
    if (picture !== undefined) writeFileSync(file, picture);
    t.diagnostic(`${object}: ${what}; see ${file}\n${records.map((record) => describe(record)).join('\n')}`);
  }
  assert.deepEqual(
    findings.map(({ object, what }) => `${object}: ${what}`),
    [],
  );
}
