// The form of a seed: what stands where in the file. What the names and values must be is for the services to say.

import { readFileSync } from 'node:fs';
import { UsageError } from './command-line.js';
import { isObject, parseJson } from './values.js';

export interface SeedBlob {
  readonly file?: string;
  readonly text?: string;
  readonly base64?: string;
  readonly type?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface SeedAccount {
  readonly name: string;
  readonly keys?: readonly [string, string?];
  readonly containers?: Readonly<Record<string, Readonly<Record<string, string | SeedBlob>>>>;
  readonly queues?: Readonly<Record<string, readonly string[]>>;
  readonly tables?: Readonly<Record<string, readonly object[]>>;
}

type Is = (value: unknown) => boolean;

const isText: Is = (value) => typeof value === 'string';
const isBase64: Is = (value) =>
  isText(value) && Buffer.from(value as string, 'base64').toString('base64') === value;
const isKeys: Is = (value) => isList(isText)(value) && [1, 2].includes((value as unknown[]).length);

function isList(is: Is): Is {
  return (value) => Array.isArray(value) && value.every(is);
}

function isMap(is: Is): Is {
  return (value) => isObject(value) && Object.values(value).every(is);
}

type Members = Readonly<Record<string, readonly [is: Is, wanted: string]>>;

// biome-ignore format: a table
const accountMembers: Members = {
  name:       [isText,                   'a text'],
  keys:       [isKeys,                   'a list of one or two texts'],
  containers: [isMap(isObject),          'an object of containers, each an object of blobs'],
  queues:     [isMap(isList(isText)),    'an object of queues, each a list of texts'],
  tables:     [isMap(isList(isObject)),  'an object of tables, each a list of entities'],
};

// biome-ignore format: a table
const blobMembers: Members = {
  text:       [isText,                   'a text'],
  base64:     [isBase64,                 'in Base64'],
  file:       [isText,                   'a path'],
  type:       [isText,                   'a text'],
  metadata:   [isMap(isText),            'an object of texts'],
};

/** The accounts that a seed names; a `UsageError` says what is wrong with it, and where. */
export function readSeed(path: string): readonly SeedAccount[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--seed: ${path} cannot be read: ${(error as Error).message}`);
  }
  const file = parseJson(path, text);
  if (!isObject(file) || !Array.isArray(file['accounts']))
    throw new UsageError(`--seed: ${path} has no list of accounts`);
  for (const account of file['accounts'] as unknown[]) checkAccount(account);
  return file['accounts'] as SeedAccount[];
}

function checkAccount(account: unknown): void {
  const where = 'an account';
  checkMembers(where, account, accountMembers);
  const { name, containers = {} } = account as SeedAccount;
  if (name === undefined) throw new UsageError(`--seed: ${where} has no name`);
  for (const [container, blobs] of Object.entries(containers)) {
    for (const [blob, content] of Object.entries(blobs)) {
      if (isText(content)) continue;
      const place = `blob ${container}/${blob}`;
      checkMembers(place, content, blobMembers);
      const given = ['text', 'base64', 'file'].filter((member) => Object.hasOwn(content as object, member));
      if (given.length > 1)
        throw new UsageError(`--seed: ${place} has ${given.join(' and ')}: give one of them`);
    }
  }
}

function checkMembers(where: string, value: unknown, members: Members): void {
  const names = Object.keys(members).join(', ');
  if (!isObject(value)) throw new UsageError(`--seed: ${where} is an object with ${names}`);
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(members, name) ? members[name] : undefined;
    if (known === undefined) throw new UsageError(`--seed: ${where} has no ${name}; it has ${names}`);
    if (!known[0](member)) throw new UsageError(`--seed: ${name} of ${where} is ${known[1]}`);
  }
}
