// The words of the command line: a command, its own words, and options. A wrong option says what was meant.

import { commands } from './command-table.js';
import { nearest } from './nearest.js';
import { type Option, optionNames, options } from './options.js';

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
  const hint = meant === undefined ? 'lazuli start --help lists the options' : `did you mean --${meant}?`;
  throw new UsageError(`there is no option ${flag}; ${hint}`);
}

function commandOf(words: readonly string[]): { command: string; words: readonly string[] } {
  const [first, ...rest] = words;
  if (first === undefined) return { command: 'start', words: [] };
  const name = first.replace(/^azurite-/, '');
  if (Object.hasOwn(commands, name)) {
    const [odd] = rest.slice(commands[name]?.words);
    if (odd !== undefined)
      throw new UsageError(`${name} does not take ${odd}; lazuli ${name} --help tells what it takes`);
    return { command: name, words: rest };
  }
  const meant = nearest(name, Object.keys(commands));
  const hint = meant === undefined ? 'lazuli --help lists the commands' : `did you mean ${meant}?`;
  throw new UsageError(`there is no command ${first}; ${hint}`);
}
