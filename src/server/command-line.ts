// The words of the command line: a command, its own words, and options. A wrong option says what was meant.

import { nearest } from './nearest.js';
import { type Option, type OptionGroup, optionNames, options } from './options.js';

/** A mistake of whoever typed it: told in one sentence, without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type Given = ReadonlyMap<string, string | true>;

export interface CommandLine {
  /** `start` unless another is named. */
  readonly command: string;
  readonly words: readonly string[];
  readonly given: Given;
}

export const commands: Readonly<Record<string, string>> = {
  start: 'start all services (as does no command at all)',
  blob: 'start the blob service alone; queue, table, file likewise',
  account: 'create, list, rotate, delete, set: accounts of a server',
  'connection-string': 'what a client needs to connect',
  'dead-letter': 'set, list, delete: where messages go that always fail',
  index: 'create, list, delete: indexes on properties of tables',
  backup: 'copy all data to a folder, while it is served',
  restore: 'make a data folder from a backup',
  verify: 'read everything and say what is damaged',
  'import-azurite': 'take over the data of Azurite',
  reset: 'delete all data, or that of one account',
};

/** How many words a command takes beside its options; none unless it is here. */
const mostWords: Readonly<Record<string, number>> = {
  account: Number.POSITIVE_INFINITY,
  'connection-string': 1,
  'dead-letter': 4,
  index: 3,
  backup: 1,
  restore: Number.POSITIVE_INFINITY,
  'import-azurite': 1,
  reset: 1,
};

const services = ['blob', 'queue', 'table', 'file'];

/** `invokedAs`: the name of the program, as Azurite has one for each service. */
export function parseCommandLine(args: readonly string[], invokedAs = 'lazuli'): CommandLine {
  const given = new Map<string, string | true>();
  const words: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    if (!arg.startsWith('-') || arg === '-') {
      words.push(arg);
      continue;
    }
    const [flag = '', inline] = splitOnce(arg, '=');
    const option = findOption(flag);
    if (option.takes === undefined) {
      given.set(option.name, inline ?? true);
      continue;
    }
    const value = inline ?? args[++at];
    if (value === undefined || (inline === undefined && isOption(value)))
      throw new UsageError(`--${option.name} needs a value: --${option.name} <${option.takes}>`);
    given.set(option.name, value);
  }
  const [, only] = /^(?:azurite|lazuli)-(blob|queue|table|file)(?:\.js)?$/.exec(invokedAs) ?? [];
  return { ...commandOf(only === undefined ? words : [only, ...words]), given };
}

/** Whether the word is an option, and so not the value of the one before. */
function isOption(word: string): boolean {
  const [flag = ''] = splitOnce(word, '=');
  return flagOf(flag) !== undefined;
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** Azurite's long options are told apart by their letters alone; so are ours. */
function flagOf(flag: string): Option | undefined {
  if (!flag.startsWith('--')) return options.find(({ short }) => short !== undefined && flag === `-${short}`);
  return options.find(({ name }) => `--${name}`.toLowerCase() === flag.toLowerCase());
}

function findOption(flag: string): Option {
  const found = flagOf(flag);
  if (found !== undefined) return found;
  const meant = flag.startsWith('--') ? nearest(flag.slice(2), optionNames) : undefined;
  const hint = meant === undefined ? 'lazuli --help lists the options' : `did you mean --${meant}?`;
  throw new UsageError(`there is no option ${flag}; ${hint}`);
}

function commandOf(words: readonly string[]): { command: string; words: readonly string[] } {
  const [first, ...rest] = words;
  if (first === undefined) return { command: 'start', words: [] };
  const name = first.replace(/^azurite-/, '');
  if (Object.hasOwn(commands, name) || services.includes(name)) {
    const [odd] = rest.slice(mostWords[name] ?? 0);
    if (odd !== undefined)
      throw new UsageError(`${name} does not take ${odd}; lazuli --help tells what it takes`);
    return { command: name, words: rest };
  }
  const meant = nearest(name, [...Object.keys(commands), ...services]);
  const hint = meant === undefined ? 'lazuli --help lists the commands' : `did you mean ${meant}?`;
  throw new UsageError(`there is no command ${first}; ${hint}`);
}

export const groupTitles: Readonly<Record<OptionGroup, string>> = {
  data: 'Data',
  services: 'Services',
  security: 'Security',
  output: 'Output',
  tests: 'For tests and for Azurite',
  commands: 'Of single commands',
};

/** Fits a screen of 80 columns. Host, port and keep-alive of the services are told once for all. */
export function helpText(version: string): string {
  const lines = [
    `Lazuli ${version}: Azure Storage on your own machine`,
    '',
    'lazuli [command] [options]          --help or -h, --version or -v',
    '',
  ];
  for (const [name, help] of Object.entries(commands)) lines.push(`  ${name.padEnd(20)} ${help}`);
  for (const [group, title] of Object.entries(groupTitles)) {
    lines.push('', `${title}:`);
    if (group === 'services') lines.push(...serviceLines);
    for (const option of options) {
      if (option.group !== group || /^(blob|queue|table|file|smb|admin)[A-Z]/.test(option.name)) continue;
      const short = option.short === undefined ? '' : `-${option.short}, `;
      const takes = option.takes === undefined ? '' : ` <${option.takes}>`;
      lines.push(`  ${`${short}--${option.name}${takes}`.padEnd(27)} ${option.help}`);
    }
  }
  return lines.join('\n');
}

const serviceLines = [
  '  --blobHost, --blobPort      where it listens [127.0.0.1, 10000]; the same for',
  '                              queue 10001, table 10002, file 10003, smb 10445,',
  '                              admin 10080; port 0 picks a free one',
  '  --blobKeepAliveTimeout <s>  idle connections [65]; also queue, table, file',
];
