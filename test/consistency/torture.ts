// The consistency rounds at length: `npm run torture -- --minutes 30 --seed 7`. Prints a line for each round and a
// report at the end; a history that fails is left as a file, with a picture. Ends with 1 if anything was found.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '#src/base/random.js';
import { Program } from '../support/restartable.js';
import { type FaultName, faults, together } from './faults.js';
import { isUnknown, writeLine } from './history.js';
import { describe } from './picture.js';
import { mountSmallDisk, type RoundReport, runRound, unmountSmallDisk } from './round.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    output: { type: 'string', default: 'torture' },
  },
});

interface Totals {
  rounds: number;
  calls: number;
  unknown: number;
  readonly made: Map<string, number>;
  readonly skipped: Set<string>;
  readonly problems: string[];
}

/** Told to stop: the round is finished, the report printed, the disk unmounted. */
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isInterrupted = true;
  });
}

const names = Object.keys(faults) as FaultName[];
const roundMs = 5000;

async function torture(minutes: number, seed: number, output: string): Promise<Totals> {
  const folder = mkdtempSync(join(tmpdir(), 'lazuli-torture-'));
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  const isMounted = mountSmallDisk(disk, 2 * 1024 * 1024 * 1024);
  const totals: Totals = {
    rounds: 0,
    calls: 0,
    unknown: 0,
    made: new Map(),
    skipped: new Set(),
    problems: [],
  };
  const random = seededRandom(seed);
  const program = await Program.start(join(disk, 'data'));
  const until = Date.now() + minutes * 60_000;
  try {
    while (Date.now() < until && !isInterrupted) {
      const round = ++totals.rounds;
      const chosen = together(
        Array.from(
          { length: Math.floor(random() * 4) },
          () => names[Math.floor(random() * names.length)] as FaultName,
        ),
      );
      const smallDisk = isMounted ? disk : undefined;
      const report = await runRound({
        program,
        folder,
        smallDisk,
        round,
        seed,
        durationMs: roundMs,
        faults: chosen,
      });
      add(totals, report, chosen);
      keep(output, round, report, totals.problems);
      console.log(
        `round ${round}: ${report.history.length} calls, faults ${chosen.join(', ') || 'none'}: ${report.findings.length === 0 ? 'consistent' : 'PROBLEMS'}`,
      );
      if (program.complaints !== '')
        totals.problems.push(`round ${round}: the server said ${program.complaints}`);
      program.complaints = '';
    }
    await program.stop();
    const found = await program.verify();
    if (found !== '') totals.problems.push(`lazuli verify: ${found}`);
  } finally {
    await program.kill();
    if (isMounted) unmountSmallDisk(disk);
    rmSync(folder, { recursive: true });
  }
  return totals;
}

function add(totals: Totals, { history, skipped }: RoundReport, made: readonly FaultName[]): void {
  totals.calls += history.length;
  totals.unknown += history.filter(isUnknown).length;
  for (const name of made) totals.made.set(name, (totals.made.get(name) ?? 0) + 1);
  for (const why of skipped) totals.skipped.add(why);
}

function keep(output: string, round: number, { findings, history }: RoundReport, problems: string[]): void {
  if (findings.length === 0) return;
  mkdirSync(output, { recursive: true });
  writeFileSync(
    join(output, `round-${round}.jsonl`),
    history.map((record) => `${writeLine(record)}\n`).join(''),
  );
  findings.forEach(({ object, what, records, picture }, index) => {
    const file = join(output, `round-${round}-${index}.svg`);
    if (picture !== undefined) writeFileSync(file, picture);
    problems.push(
      `round ${round}, ${object}: ${what}; see ${file}\n  ${records
        .slice(0, 6)
        .map((record) => describe(record))
        .join('\n  ')}`,
    );
  });
}

const seed = Number(values.seed);
console.log(`seed ${seed}, ${values.minutes} minutes`);
const totals = await torture(Number(values.minutes), seed, values.output);
console.log(`\n${totals.rounds} rounds, ${totals.calls} calls, ${totals.unknown} of unknown outcome`);
console.log(
  `faults: ${[...totals.made].map(([name, count]) => `${count} x ${name}`).join(', ') || 'none'}, and dropped connections`,
);
for (const why of totals.skipped) console.log(`not made: ${why}`);
console.log(
  totals.problems.length === 0
    ? 'every history is consistent; the store is sound'
    : totals.problems.join('\n'),
);
process.exitCode = totals.problems.length === 0 ? 0 : 1;
