// From options to what a server is told: the command line before the environment before lazuli.json before
// what holds without any of them. What cannot be is refused here, with a sentence that says what to do.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BearerSettings } from '../http/auth/bearer.js';
import type { ServiceName } from '../http/call.js';
import type { TlsOptions } from '../http/listen.js';
import {
  type Account,
  changeSettings,
  createAccount,
  defaultSettings,
  developmentAccount,
  hasPublishedKey,
  parseAzuriteAccounts,
} from '../services/common/accounts.js';
import { type Given, UsageError } from './command-line.js';
import {
  defaultExtentLimitBytes,
  defaultPorts,
  loopback,
  type ServerConfig,
  type ServiceAddress,
} from './config.js';
import { nearest, options, variableOf } from './options.js';

export interface Settings {
  readonly config: ServerConfig;
  readonly silent: boolean;
  readonly debugFile: string | undefined;
  readonly seedFile: string | undefined;
  readonly testing: boolean;
  /** Lines for the operator, printed at start. */
  readonly warnings: readonly string[];
}

type Source = 'command line' | 'environment' | 'file';

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

export function readSettings(
  given: Given,
  environment: Readonly<Record<string, string | undefined>>,
  services: readonly ServiceName[],
): Settings {
  if (environment['AZURITE_DB'] !== undefined) {
    throw new UsageError(
      'AZURITE_DB is set, but Lazuli keeps its data in a folder: unset it and give --location',
    );
  }
  const values = new Values(given, environment);
  const location = values.text('location');
  const memory = values.flag('inMemoryPersistence');
  if (memory && location !== undefined) {
    throw new UsageError(
      '--inMemoryPersistence keeps nothing, so --location has no meaning: give one of them',
    );
  }
  const limit = values.number('extentMemoryLimit', 1, 1_000_000);
  if (limit !== undefined && !memory)
    throw new UsageError('--extentMemoryLimit goes with --inMemoryPersistence');
  const tls = readTls(values);
  const accounts = readAccounts(values, environment);
  const warnings = checkHosts(values, services, accounts);
  return {
    config: {
      data: memory
        ? {
            memory: true,
            extentLimitBytes: limit === undefined ? defaultExtentLimitBytes : limit * 1024 * 1024,
          }
        : { location: location ?? './lazuli-data' },
      services: Object.fromEntries(services.map((name) => [name, addressOf(values, name)])),
      accounts,
      tls,
      bearer: readBearer(values, tls, services),
      pathStyleOnly: values.flag('disableProductStyleUrl'),
    },
    silent: values.flag('silent'),
    debugFile: values.text('debug'),
    seedFile: values.text('seed'),
    testing: values.flag('testing'),
    warnings,
  };
}

class Values {
  readonly file: ConfigFile;
  readonly #given: Given;
  readonly #environment: Readonly<Record<string, string | undefined>>;

  constructor(given: Given, environment: Readonly<Record<string, string | undefined>>) {
    this.#given = given;
    this.#environment = environment;
    this.file = {};
    this.file = readConfigFile(this.text('config'), this.text('location') ?? './lazuli-data');
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
    if (text !== undefined) return checkFile(path, text);
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

function checkFile(path: string, text: string): ConfigFile {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${(error as Error).message}`);
  }
  if (typeof file !== 'object' || file === null || Array.isArray(file))
    throw new UsageError(`${path} holds no object`);
  for (const name of Object.keys(file)) {
    if (fileMembers.includes(name) || options.some((option) => option.name === name)) continue;
    const meant = nearest(name);
    throw new UsageError(
      `${path}: there is no option ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    );
  }
  return file as ConfigFile;
}

function addressOf(values: Values, name: ServiceName): ServiceAddress {
  const keepAlive = values.number(`${name}KeepAliveTimeout`, 0, 86_400);
  return {
    host: values.text(`${name}Host`) ?? loopback,
    port: values.number(`${name}Port`, 0, 65_535) ?? defaultPorts[name],
    keepAliveMs: keepAlive === undefined ? undefined : keepAlive * 1000,
  };
}

function readTls(values: Values): TlsOptions | undefined {
  const [cert, key, pwd] = [values.text('cert'), values.text('key'), values.text('pwd')];
  if (cert === undefined) {
    if (key !== undefined || pwd !== undefined) throw new UsageError('--key and --pwd go with --cert');
    return undefined;
  }
  if (/\.(pfx|p12)$/i.test(cert)) return { pfx: readBytes('cert', cert), passphrase: pwd };
  if (key === undefined) throw new UsageError('--cert needs --key, unless it is a .pfx, which needs --pwd');
  return { cert: readBytes('cert', cert), key: readBytes('key', key) };
}

function readBytes(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(`--${option}: ${path} cannot be read: ${(error as Error).message}`);
  }
}

/** Those of the environment replace the development account; those of the file are added. */
function readAccounts(values: Values, environment: Readonly<Record<string, string | undefined>>): Account[] {
  const named = environment['AZURITE_ACCOUNTS'];
  const accounts = named === undefined ? [] : parseAzuriteAccounts(named);
  for (const { name, keys, settings = {} } of values.file.accounts ?? []) {
    const changes = Object.entries(settings).map(([setting, value]) => [setting, String(value)] as const);
    accounts.push(createAccount(name, keys, changeSettings(defaultSettings, changes)));
  }
  return accounts.length === 0 ? [developmentAccount] : accounts;
}

export function isLoopbackHost(host: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|localhost|::1|\[::1\])$/i.test(host);
}

/** A host on the command line counts as told; from elsewhere the published key is not served beyond loopback. */
function checkHosts(
  values: Values,
  services: readonly ServiceName[],
  accounts: readonly Account[],
): string[] {
  const published = accounts.find(hasPublishedKey);
  if (published === undefined) return [];
  const open = services.filter((name) => !isLoopbackHost(values.text(`${name}Host`) ?? loopback));
  if (open.length === 0) return [];
  const what = `${open.join(', ')} would listen beyond this machine with the key of ${published.name}, which everybody knows`;
  if (open.some((name) => values.source(`${name}Host`) !== 'command line')) {
    throw new UsageError(
      `${what}: give accounts of your own (AZURITE_ACCOUNTS or lazuli.json), or --blobHost on the command line`,
    );
  }
  return [`Warning: ${what}.`];
}

function readBearer(
  values: Values,
  tls: TlsOptions | undefined,
  services: readonly ServiceName[],
): BearerSettings | undefined {
  const level = values.text('oauth');
  if (level === undefined) return values.file.bearer;
  if (level !== 'basic')
    throw new UsageError(`--oauth takes basic, not ${level}; a real issuer goes into lazuli.json as bearer`);
  if (tls === undefined) throw new UsageError('--oauth basic needs HTTPS: give --cert and --key');
  if (services.some((name) => !isLoopbackHost(values.text(`${name}Host`) ?? loopback))) {
    throw new UsageError(
      '--oauth basic takes tokens without verifying them, so it is served on loopback alone',
    );
  }
  return { mode: 'basic' };
}
