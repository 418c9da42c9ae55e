// What came out of smbtorture, as tables for docs/smb.md: a row for each stage, then what fails and what is not run.

import { inapplicable, reasonsOf, stages } from './smbtorture-suites.js';

export interface Outcome {
  readonly stage: string;
  readonly suite: string;
  readonly passed: readonly string[];
  readonly skipped: readonly string[];
  readonly failed: readonly string[];
}

type Verdict = 'passed' | 'failed' | 'skipped';

const namesOf = (outcomes: readonly Outcome[], verdict: Verdict) =>
  outcomes.flatMap((outcome) => outcome[verdict]);

const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |\n`;

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]) =>
  [head, head.map(() => '---'), ...rows].map(line).join('');

export function tableOf(ours: readonly Outcome[], theirs: readonly Outcome[]): string {
  const counts = (of: (outcome: Outcome) => boolean) => {
    const count = (outcomes: readonly Outcome[], verdict: Verdict) =>
      namesOf(outcomes.filter(of), verdict).length;
    return [
      ...(['passed', 'failed', 'skipped'] as const).map((verdict) => count(ours, verdict)),
      theirs.filter(of).length === 0 ? 'not run' : `${count(theirs, 'passed')} / ${count(theirs, 'failed')}`,
    ];
  };
  const rows = Object.entries(stages).map(([stage, tests]) => {
    const suites = tests.map((name) => name.split('.')[0]);
    return [stage, [...new Set(suites)].join(', '), ...counts((outcome) => outcome.stage === stage)];
  });
  // A test may be run in two stages, on servers that are set differently.
  const inStage = (outcomes: readonly Outcome[], verdict: Verdict) =>
    new Set(outcomes.flatMap((one) => one[verdict].map((name) => `${one.stage}/${name}`)));
  const words = { passed: 'passes', failed: 'does not pass', skipped: 'is skipped' } as const;
  const theirWord = (place: string) => {
    const verdict = (['passed', 'failed', 'skipped'] as const).find((one) => inStage(theirs, one).has(place));
    return verdict ? words[verdict] : 'not run';
  };
  const failed = ours
    .flatMap(({ stage, failed: names }) => names.map((name) => ({ stage, name })))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ stage, name }) => {
      const reason = reasonsOf(stage)[name] ?? 'a defect';
      return [`\`${name}\``, reason, theirWord(`${stage}/${name}`)];
    });
  const ourPassed = inStage(ours, 'passed');
  const more = theirs.flatMap(({ stage, failed: names }) =>
    names.filter((name) => ourPassed.has(`${stage}/${name}`)),
  );
  return [
    table(
      ['Stage', 'Suites', 'Pass', 'Fail', 'Skipped by smbtorture', 'smbd 4.17 pass / fail'],
      [...rows, ['all', '', ...counts(() => true)]],
    ),
    '\n',
    table(['Fails', 'Because it', 'smbd'], failed),
    more.length === 0
      ? ''
      : `\nPass here and fail with smbd: ${more.map((name) => `\`${name}\``).join(', ')}.\n`,
    '\n',
    table(['Not run', 'Because it is about'], Object.entries(inapplicable)),
  ].join('');
}
