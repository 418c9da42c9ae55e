// smbtorture, the test suites of the reference server, stage by stage of the specification. They describe what Windows
// does. Runs with `npm run test:clients`; LAZULI_FULL=1 runs the long ones too, LAZULI_TABLE=1 writes what came out
// into docs/smb.md, beside what Samba's own server makes of the same tests where it is installed.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { smbd, startSmbd } from '../../bench/targets.js';
import { root } from '../support/program.js';
import { missing } from '../support/programs.js';
import { account, accountKey, givenSmb } from '../support/smb-server.js';
import { enforcing, long, reasonsOf, slow, stages } from './smbtorture-suites.js';
import { type Outcome, tableOf } from './smbtorture-table.js';

const smbtorture = '/usr/bin/smbtorture';
const skip = missing(smbtorture);
const full = process.env['LAZULI_FULL'] === '1';
const writesTable = process.env['LAZULI_TABLE'] === '1' && !skip;

interface Server {
  readonly port: number;
  readonly share: string;
  readonly login: string;
}

const outcomes: Outcome[] = [];
const theirs: Outcome[] = [];

/** What one process runs: some tests of one suite, so that it is known whose a name is. */
interface Run {
  readonly stage: string;
  readonly suite: string;
  readonly tests: readonly string[];
}

const mostTests = 11;

function allRuns(): Run[] {
  const runs: { stage: string; suite: string; tests: string[] }[] = [];
  for (const [stage, tests] of Object.entries(stages)) {
    for (const name of tests.filter((name) => full || !long.includes(name))) {
      const [suite = ''] = name.split('.');
      const same = runs.find(
        (run) => run.stage === stage && run.suite === suite && run.tests.length < mostTests,
      );
      if (same) same.tests.push(name);
      else runs.push({ stage, suite, tests: [name] });
    }
  }
  const begins = ({ suite }: Run) => (slow.includes(suite) ? slow.indexOf(suite) : slow.length);
  return runs.sort((a, b) => begins(a) - begins(b));
}

function torture({ port, share, login }: Server, tests: readonly string[]): Promise<string> {
  const args = [`//127.0.0.1/${share}`, '-p', String(port), '-U', login];
  const minutes = tests.some((name) => long.includes(name)) ? 20 : 10;
  const options = { timeout: minutes * 60_000, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(smbtorture, [...args, ...tests.map((name) => `smb2.${name}`)], options, (_, stdout, stderr) =>
      resolve(`${stdout}${stderr}`),
    );
  });
}

function outcomeOf({ stage, suite }: Run, output: string): Outcome {
  const named = (verdicts: string) => {
    const lines = output.matchAll(new RegExp(`^(?:${verdicts}): (.*?)(?: \\[.*)?$`, 'gm'));
    return [...lines].map(([, name]) => `${suite}.${name}`);
  };
  return {
    ...{ stage, suite, passed: named('success'), skipped: named('skip'), failed: named('failure|error') },
  };
}

async function judge(server: Server, run: Run): Promise<void> {
  const { tests } = run;
  const output = await torture(server, tests);
  const outcome = outcomeOf(run, output);
  const { passed, skipped, failed } = outcome;
  outcomes.push(outcome);
  const cannot = reasonsOf(run.stage);
  const wrong = failed.filter((name) => !(name in cannot));
  assert.deepEqual(wrong, [], output.slice(-4000));
  const better = passed.filter((name) => name in cannot);
  assert.deepEqual(better, [], 'passes now: take it off the list of those that cannot');
  // A test that ended the process would leave out those behind it.
  assert.ok(passed.length + skipped.length + failed.length >= tests.length, output.slice(-4000));
}

// Most of them wait most of the time.
test('smbtorture', { skip, concurrency: 8 }, async (all) => {
  const login = `localhost\\${account}%${accountKey}`;
  const running = allRuns().map((run) =>
    all.test(`stage ${run.stage}: ${run.tests.join(', ')}`, async (t) => {
      const aclMode = run.stage === enforcing ? 'enforce' : 'superuser';
      const { port } = await givenSmb(t, { aclMode });
      await judge({ port, share: 'files', login }, run);
    }),
  );
  await Promise.all(running);
});

const compared = writesTable && existsSync(smbd) && process.getuid?.() === 0;

test('what Samba makes of them', { skip: compared ? false : 'only for the table' }, async () => {
  await using server = await startSmbd();
  const torturing = (tests: readonly string[]) => torture({ ...server, share: 'bench' }, tests);
  // It would have to be set up for permissions first.
  const left = allRuns().filter(({ stage }) => stage !== enforcing);
  const together: { run: Run; outcome: Outcome }[] = [];
  const worker = async () => {
    for (let run = left.shift(); run; run = left.shift()) {
      together.push({ run, outcome: outcomeOf(run, await torturing(run.tests)) });
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  // All of them are in one share: what failed has another try alone.
  for (const { run, outcome } of together) {
    const alone: Outcome[] = [];
    for (const name of outcome.failed) alone.push(outcomeOf(run, await torturing([name])));
    const passed = alone.flatMap((again) => again.passed);
    const failed = outcome.failed.filter((name) => !passed.includes(name));
    theirs.push({ ...outcome, passed: [...outcome.passed, ...passed], failed });
  }
});

after(async () => {
  if (writesTable) await writeTable(join(root, 'docs/smb.md'));
});

const begins = '<!-- smbtorture: written by its test -->\n';
const ends = '<!-- end -->\n';

async function writeTable(path: string): Promise<void> {
  const page = await readFile(path, 'utf8');
  const at = page.indexOf(begins) + begins.length;
  const to = page.indexOf(ends);
  assert.ok(at >= begins.length && to >= at, 'the page has a place for the table');
  await writeFile(path, `${page.slice(0, at)}${tableOf(outcomes, theirs)}${page.slice(to)}`);
}
