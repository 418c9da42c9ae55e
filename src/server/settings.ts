// From options to what a server is told: the command line before the environment before lazuli.json before
// what holds without any of them. What cannot be is refused here, with a sentence that says what to do.

import { readFileSync } from 'node:fs';
import type { BearerSettings } from '../http/auth/bearer-settings.js';
import type { ServiceName } from '../http/call.js';
import type { TlsOptions } from '../http/listen.js';
import {
  type Account,
  changeSettings,
  createAccount,
  defaultSettings,
  parseAzuriteAccounts,
} from '../services/common/accounts.js';
import { type Given, UsageError } from './command-line.js';
import {
  defaultExtentLimitBytes,
  defaultLocation,
  defaultPorts,
  isLoopbackHost,
  loopback,
  type ServerConfig,
  type ServiceAddress,
  skippable,
} from './config.js';
import { type Environment, Values } from './values.js';

export interface Settings {
  readonly config: ServerConfig;
  readonly silent: boolean;
  readonly debugFile: string | undefined;
  readonly seedFile: string | undefined;
  /** A certificate is to be made and kept in the data folder. */
  readonly devCert: boolean;
}

export function readSettings(
  given: Given,
  environment: Environment,
  services: readonly ServiceName[],
): Settings {
  if (environment['AZURITE_DB'] !== undefined) {
    throw new UsageError(
      'AZURITE_DB is set, but Lazuli keeps its data in a folder: unset it and give --location',
    );
  }
  const values = new Values(given, environment);
  const tls = readTls(values);
  const devCert = values.flag('devCert');
  if (devCert && tls !== undefined) throw new UsageError('give --cert or --devCert, not both');
  return {
    config: {
      data: readData(values),
      services: Object.fromEntries(services.map((name) => [name, addressOf(values, name)])),
      later: services.length > 1 ? ['queue', 'table', 'file'] : [],
      admin: addressOf(values, 'admin'),
      ...(services.includes('file') && { smb: addressOf(values, 'smb') }),
      smbAclMode: oneOf(values, 'smbAclMode', ['superuser', 'enforce'] as const),
      beyondLoopback: beyondLoopback(values, services),
      accounts: readAccounts(values, environment),
      tls,
      bearer: readBearer(values, tls !== undefined || devCert, services),
      pathStyleOnly: values.flag('disableProductStyleUrl'),
      copySources: oneOf(values, 'copySources', ['public', 'any'] as const),
      testing: values.flag('testing'),
    },
    silent: values.flag('silent'),
    debugFile: values.path('debug'),
    seedFile: values.path('seed'),
    devCert,
  };
}

function readData(values: Values): ServerConfig['data'] {
  const location = values.path('location');
  const memory = values.flag('inMemoryPersistence');
  if (memory && location !== undefined) {
    throw new UsageError(
      '--inMemoryPersistence keeps nothing, so --location has no meaning: give one of them',
    );
  }
  const limit = values.number('extentMemoryLimit', 1, 1_000_000);
  if (limit !== undefined && !memory)
    throw new UsageError('--extentMemoryLimit goes with --inMemoryPersistence');
  if (!memory) return { location: location ?? defaultLocation };
  return { memory, extentLimitBytes: limit === undefined ? defaultExtentLimitBytes : limit * 1024 * 1024 };
}

function addressOf(values: Values, name: ServiceName | 'smb' | 'admin'): ServiceAddress {
  const keepAlive = name === 'smb' || name === 'admin' ? undefined : `${name}KeepAliveTimeout`;
  const seconds = keepAlive === undefined ? undefined : values.number(keepAlive, 0, 86_400);
  const port = values.number(`${name}Port`, 0, 65_535);
  return {
    host: values.text(`${name}Host`) ?? loopback,
    port: port ?? defaultPorts[name],
    keepAliveMs: seconds === undefined ? undefined : seconds * 1000,
    mayBeSkipped: port === undefined && skippable.includes(name),
  };
}

function oneOf<T extends string>(values: Values, name: string, allowed: readonly T[]): T | undefined {
  const text = values.text(name);
  if (text === undefined) return undefined;
  const found = allowed.find((one) => one === text);
  if (found === undefined) throw new UsageError(`--${name} is ${allowed.join(' or ')}, not ${text}`);
  return found;
}

function readTls(values: Values): TlsOptions | undefined {
  const [cert, key, pwd] = [values.path('cert'), values.path('key'), values.text('pwd')];
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

/** Those of the environment, and those of the file. None: the store's own, or the development account. */
export function readAccounts(values: Values, environment: Environment): Account[] {
  const named = environment['AZURITE_ACCOUNTS'];
  const accounts = named === undefined ? [] : parseAzuriteAccounts(named);
  for (const { name, keys, settings = {} } of values.file.accounts ?? []) {
    const changes = Object.entries(settings).map(([setting, value]) => [setting, String(value)] as const);
    accounts.push(createAccount(name, keys, changeSettings(defaultSettings, changes)));
  }
  return accounts;
}

/** A host on the command line counts as told; from elsewhere the published key is not served beyond loopback. */
function beyondLoopback(
  values: Values,
  services: readonly ServiceName[],
): ServerConfig['beyondLoopback'] | undefined {
  const names = [...services, ...(services.includes('file') ? (['smb'] as const) : [])];
  const open = names.filter((name) => !isLoopbackHost(values.text(`${name}Host`) ?? loopback));
  if (open.length === 0) return undefined;
  return { services: open, told: open.every((name) => values.source(`${name}Host`) === 'command line') };
}

function readBearer(
  values: Values,
  secure: boolean,
  services: readonly ServiceName[],
): BearerSettings | undefined {
  const level = values.text('oauth');
  if (level === undefined) return values.file.bearer;
  if (level !== 'basic')
    throw new UsageError(`--oauth takes basic, not ${level}; a real issuer goes into lazuli.json as bearer`);
  if (!secure) throw new UsageError('--oauth basic needs HTTPS: give --cert and --key, or --devCert');
  if (services.some((name) => !isLoopbackHost(values.text(`${name}Host`) ?? loopback))) {
    throw new UsageError(
      '--oauth basic takes tokens without verifying them, so it is served on loopback alone',
    );
  }
  return { mode: 'basic' };
}
