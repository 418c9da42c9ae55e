// The value of each option: from the command line, else from the environment, else from lazuli.json.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../base/files.js';
import type { BearerSettings } from '../http/auth/bearer-settings.js';
import { bearerProblem } from '../http/auth/bearer-settings.js';
import { type Given, UsageError } from './command-line.js';
import { defaultLocation } from './config.js';
import { nearest } from './nearest.js';
import { options, variableOf } from './options.js';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Source = 'command line' | 'environment' | 'file';

interface ConfigFile {
  readonly [option: string]: unknown;
  readonly accounts?: readonly {
    readonly name: string;
    readonly keys: readonly [string, string?];
    readonly settings?: Readonly<Record<string, unknown>>;
  }[];
  readonly bearer?: BearerSettings;
}

/** Members of lazuli.json that are no options. */
const fileMembers = ['$schema', 'accounts', 'bearer'];
const settingNames = options.filter(({ group }) => isSetting(group)).map(({ name }) => name);

export class Values {
  readonly file: ConfigFile;
  readonly #given: Given;
  readonly #environment: Environment;

  constructor(given: Given, environment: Environment) {
    this.#given = given;
    this.#environment = environment;
    this.file = {};
    this.file = readConfigFile(this.path('config'), this.path('location') ?? defaultLocation);
  }

  /** Where the value comes from; nothing if it is not given. */
  source(name: string): Source | undefined {
    if (this.#given.has(name)) return 'command line';
    if (this.#variable(name) !== undefined) return 'environment';
    return this.file[name] === undefined ? undefined : 'file';
  }

  text(name: string): string | undefined {
    const value = this.#given.get(name) ?? this.#variable(name) ?? this.file[name];
    return value === undefined || value === null ? undefined : String(value);
  }

  /** The path of a file or folder: an empty one is a variable of somebody's script that was not set. */
  path(name: string): string | undefined {
    const text = this.text(name);
    if (text === '') throw new UsageError(`--${name} is empty: name a file or folder, or leave it out`);
    return text;
  }

  flag(name: string): boolean {
    const text = this.text(name)?.toLowerCase();
    if (text === undefined || text === 'false' || text === '0') return false;
    if (text === 'true' || text === '1' || text === '') return true;
    throw new UsageError(`--${name} is true or false, not ${text}`);
  }

  number(name: string, least: number, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new UsageError(`--${name} is a number from ${least} to ${most}, not ${text}`);
    }
    return value;
  }

  #variable(name: string): string | undefined {
    const option = options.find((one) => one.name === name);
    const azurite = option?.azurite === undefined ? undefined : this.#environment[option.azurite];
    return this.#environment[variableOf(name)] ?? azurite;
  }
}

/** The file that is named, or lazuli.json in the data folder or in this one, if there is one. */
function readConfigFile(named: string | undefined, location: string): ConfigFile {
  const candidates = named === undefined ? [join(location, 'lazuli.json'), 'lazuli.json'] : [named];
  for (const path of candidates) {
    const text = readIfThere(path, named !== undefined);
    if (text !== undefined) return checkFile(path, parseJson(path, text));
  }
  return {};
}

function readIfThere(path: string, required: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (!required && hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

export function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')); // some editors begin a file so
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${(error as Error).message}`);
  }
}

function checkFile(path: string, file: unknown): ConfigFile {
  if (!isObject(file)) throw new UsageError(`${path} holds no object`);
  for (const name of Object.keys(file)) {
    if (fileMembers.includes(name) || settingNames.includes(name)) continue;
    const meant = nearest(name, settingNames);
    throw new UsageError(
      `${path}: there is no option ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    );
  }
  const { accounts, bearer, ...rest } = file as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(rest)) {
    if (typeof value === 'object')
      throw new UsageError(`${path}: ${name} is a text, a number, true or false`);
  }
  const problem = accountsProblem(accounts) ?? (bearer === undefined ? undefined : bearerProblem(bearer));
  if (problem !== undefined) throw new UsageError(`${path}: ${problem}`);
  return file as ConfigFile;
}

const accountMembers = ['name', 'keys', 'settings'];

/** What is wrong with the form of `accounts`; names, keys and settings are judged where they are read. */
function accountsProblem(accounts: unknown): string | undefined {
  if (accounts === undefined) return undefined;
  if (!Array.isArray(accounts)) return 'accounts is a list';
  for (const account of accounts as unknown[]) {
    if (!isObject(account) || typeof account['name'] !== 'string') return 'each of accounts has a name';
    const { name, keys, settings = {} } = account;
    const isList = Array.isArray(keys) && (keys.length === 1 || keys.length === 2);
    if (!isList || !keys.every((key) => typeof key === 'string')) {
      return `account ${name} needs keys, a list of one or two`;
    }
    if (!isObject(settings)) return `the settings of account ${name} are no object`;
    const odd = Object.keys(account).find((member) => !accountMembers.includes(member));
    if (odd !== undefined) return `account ${name} has no ${odd}; it has ${accountMembers.join(', ')}`;
  }
  const names = accounts.map(({ name }) => name);
  return new Set(names).size < names.length ? 'accounts names an account twice' : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Those of single commands are for the command line alone. */
export function isSetting(group: string): boolean {
  return group !== 'commands';
}
