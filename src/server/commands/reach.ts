// What all commands have in common: which data folder they mean, and how they tell what came of it.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { developmentAccount } from '../../services/common/accounts.js';
import { type AdminClient, connect } from '../admin/client.js';
import { type CommandLine, UsageError } from '../command-line.js';
import { formOf, formsOf } from '../command-table.js';
import { defaultLocation } from '../config.js';
import { dataFolder } from '../data-folder.js';
import { readAccounts } from '../settings.js';
import { Terminal } from '../terminal.js';
import { Values } from '../values.js';

export interface Reach {
  readonly location: string;
  readonly values: Values;
  readonly terminal: Terminal;
  /** For a program, as JSON; for a person, as these lines. */
  tell(result: unknown, lines: readonly string[]): void;
}

export function reach({ given }: CommandLine): Reach {
  const values = new Values(given, process.env);
  const terminal = new Terminal();
  const asJson = values.flag('json');
  return {
    location: values.path('location') ?? defaultLocation,
    values,
    terminal,
    tell(result, lines) {
      terminal.done();
      if (asJson) terminal.line(JSON.stringify(result, null, 2));
      else for (const line of lines) terminal.line(line);
    },
  };
}

/** The server that runs on this data, or the data itself. */
export async function client(
  { location, values }: Reach,
  missing: 'refuse' | 'make' = 'refuse',
): Promise<AdminClient> {
  if (missing === 'make') return connect(location, readAccounts(values, process.env));
  requireData(location);
  return connect(location);
}

/** Whatever else is called `lazuli` there, somebody's project for instance, is not ours to read, lock or delete. */
export function requireData(location: string): void {
  if (existsSync(join(dataFolder(location).store, 'format'))) return;
  throw new UsageError(
    `there is no data in ${resolve(location)}: give the --location of a server, or start one there: lazuli --location ${location}`,
  );
}

/** The word in this place, which must be there. */
export function word(line: CommandLine, at: number, what: string): string {
  const found = line.words[at];
  if (found === undefined)
    throw new UsageError(`${line.command} needs ${what}: lazuli ${formOf(line.command, line.words)}`);
  return found;
}

/** Whose: that of `--account`, or the one that is there without any settings. */
export function accountOf({ values }: Reach): string {
  return values.text('account') ?? developmentAccount.name;
}

/** The step that the first word names; `list` where there is none. */
export function stepOf<Step>({ command, words }: CommandLine, steps: Readonly<Record<string, Step>>): Step {
  const [name = 'list'] = words;
  const step = Object.hasOwn(steps, name) ? steps[name] : undefined;
  if (step === undefined)
    throw new UsageError(`${command} has no command ${name}; there are:\n  ${formsOf(command).join('\n  ')}`);
  return step;
}

/** Asks on a terminal; elsewhere `--yes` must have been given. */
export async function confirm({ values }: Reach, question: string): Promise<void> {
  if (values.flag('yes')) return;
  if (!process.stdin.isTTY) throw new UsageError(`${question}? Nobody is here to ask: give --yes`);
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    if (/^y(es)?$/i.test((await lines.question(`${question}? [y/N] `)).trim())) return;
  } finally {
    lines.close();
  }
  throw new UsageError('nothing was changed');
}
