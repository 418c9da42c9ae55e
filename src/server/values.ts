// The value of each option: from the command line, else from the environment, else from lazuli.json.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BearerSettings } from '../http/auth/bearer.js';
import { type Given, UsageError } from './command-line.js';
import { defaultLocation } from './config.js';
import { nearest } from './nearest.js';
import { optionNames, options, variableOf } from './options.js';

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

export class Values {
  readonly file: ConfigFile;
  readonly #given: Given;
  readonly #environment: Environment;

  constructor(given: Given, environment: Environment) {
    this.#given = given;
    this.#environment = environment;
    this.file = {};
    this.file = readConfigFile(this.text('config'), this.text('location') ?? defaultLocation);
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
    if (!required && (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

export function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${(error as Error).message}`);
  }
}

function checkFile(path: string, file: unknown): ConfigFile {
  if (typeof file !== 'object' || file === null || Array.isArray(file))
    throw new UsageError(`${path} holds no object`);
  for (const name of Object.keys(file)) {
    if (
      fileMembers.includes(name) ||
      options.some((option) => option.name === name && isSetting(option.group))
    )
      continue;
    const meant = nearest(name, optionNames);
    throw new UsageError(
      `${path}: there is no option ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    );
  }
  return file as ConfigFile;
}

/** Those of single commands are for the command line alone. */
export function isSetting(group: string): boolean {
  return group !== 'commands';
}
