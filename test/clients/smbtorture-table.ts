// What came out of smbtorture, as tables for docs/smb.md: a row for each stage, then what fails and what is not run.

import { cannot, inapplicable, stages } from './smbtorture-suites.js';

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
      theirs.length === 0 ? 'not run' : `${count(theirs, 'passed')} / ${count(theirs, 'failed')}`,
    ];
  };
  const rows = Object.entries(stages).map(([stage, tests]) => {
    const suites = tests.map((name) => name.split('.')[0]);
    return [stage, [...new Set(suites)].join(', '), ...counts((outcome) => outcome.stage === stage)];
  });
  const theirPassed = new Set(namesOf(theirs, 'passed'));
  const failed = namesOf(ours, 'failed')
    .sort()
    .map((name) => {
      const samba = theirs.length === 0 ? 'not run' : theirPassed.has(name) ? 'passes' : 'does not pass';
      return [`\`${name}\``, cannot[name] ?? 'a defect', samba];
    });
  const ourPassed = new Set(namesOf(ours, 'passed'));
  const more = namesOf(theirs, 'failed').filter((name) => ourPassed.has(name));
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
