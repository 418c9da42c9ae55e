// `lazuli account ...` and `lazuli connection-string`. Keys are told when they are made, and never again but in the
// connection string of who owns the data.

import { type CommandLine, UsageError } from '../command-line.js';
import { defaultPorts, loopback } from '../config.js';
import { connectionString } from '../connection-string.js';
import { accountOf, client, confirm, type Reach, reach, stepOf, word } from './reach.js';

function pathOf(name: string, rest = ''): string {
  return `/api/accounts/${encodeURIComponent(name)}${rest}`;
}

type Step = (line: CommandLine, at: Reach) => Promise<number>;

const steps: Readonly<Record<string, Step>> = { create, list, rotate, set, usage: showUsage, delete: remove };

export function account(line: CommandLine): Promise<number> {
  return stepOf(line, steps)(line, reach(line));
}

async function create(line: CommandLine, at: Reach): Promise<number> {
  const name = word(line, 1, 'a name');
  await using admin = await client(at, 'make');
  const made = (await admin.call('POST', '/api/accounts', {
    name,
    settings: settingsOf(line.words.slice(2)),
  })) as {
    name: string;
    keys: string[];
  };
  at.tell(made, [
    `Account ${made.name} is there. Its keys are shown once, here:`,
    '',
    ...made.keys.map((key, index) => `key ${index + 1}  ${key}`),
    '',
    `lazuli connection-string ${made.name} tells clients how to connect.`,
  ]);
  return 0;
}

interface Listed {
  readonly name: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

async function list(_: CommandLine, at: Reach): Promise<number> {
  await using admin = await client(at);
  const accounts = (await admin.call('GET', '/api/accounts')) as Listed[];
  at.tell(
    accounts,
    accounts.length === 0
      ? ['There are no accounts.']
      : accounts.flatMap(({ name, settings }) => [at.terminal.paint('bold', name), ...described(settings)]),
  );
  return 0;
}

function described(settings: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(settings).map(([name, value]) => `  ${name.padEnd(25)} ${value}`);
}

async function rotate(line: CommandLine, at: Reach): Promise<number> {
  const name = word(line, 1, 'a name');
  const which = line.words[2] ?? '1';
  if (which !== '1' && which !== '2') throw new UsageError(`an account has keys 1 and 2, not ${which}`);
  await using admin = await client(at);
  const made = (await admin.call('POST', pathOf(name, '/rotate'), { key: Number(which) })) as {
    which: number;
    key: string;
  };
  at.tell(made, [`Key ${made.which} of ${name} is from now on, and shown once, here:`, '', made.key]);
  return 0;
}

async function set(line: CommandLine, at: Reach): Promise<number> {
  const name = word(line, 1, 'a name');
  word(line, 2, 'a setting');
  await using admin = await client(at);
  const settings = settingsOf(line.words.slice(2));
  const changed = (await admin.call('PATCH', pathOf(name), { settings })) as Listed;
  at.tell(changed, [at.terminal.paint('bold', name), ...described(changed.settings)]);
  return 0;
}

type Used = Readonly<Record<string, { readonly count: number; readonly bytes: number }>> & {
  readonly name: string;
};

async function showUsage(line: CommandLine, at: Reach): Promise<number> {
  const name = line.words[1] ?? accountOf(at);
  await using admin = await client(at);
  const containers = (await admin.call('GET', pathOf(name, '/usage'))) as Used[];
  const lines = containers.flatMap(({ name: container, ...used }) => [
    at.terminal.paint('bold', container),
    ...Object.entries(used).map(([as, { count, bytes }]) => `  ${as.padEnd(10)} ${count}, ${bytes} bytes`),
  ]);
  at.tell(containers, lines.length === 0 ? [`${name} has no containers.`] : lines);
  return 0;
}

async function remove(line: CommandLine, at: Reach): Promise<number> {
  const name = word(line, 1, 'a name');
  await confirm(at, `Delete account ${name} with all that it holds`);
  await using admin = await client(at);
  at.tell(await admin.call('DELETE', pathOf(name)), [`Account ${name} is gone.`]);
  return 0;
}

function settingsOf(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((text) => {
      const [, name, value] = /^(\w+)=(.*)$/.exec(text) ?? [];
      if (name === undefined || value === undefined) throw new UsageError(`${text} is not setting=value`);
      return [name, value];
    }),
  );
}

export async function showConnectionString(line: CommandLine): Promise<number> {
  const at = reach(line);
  const name = line.words[0] ?? accountOf(at);
  await using admin = await client(at);
  const told = (await admin.call('GET', pathOf(name, '/connection-string'))) as {
    connectionString: string;
  };
  at.tell(told, [admin.isRemote ? told.connectionString : withUsualPorts(told.connectionString)]);
  return 0;
}

/** No server runs: it will be where it is by default. */
function withUsualPorts(text: string): string {
  const [, name = '', key = ''] = /AccountName=([^;]*);AccountKey=([^;]*)/.exec(text) ?? [];
  const { smb: _, admin: __, ...ports } = defaultPorts;
  const urls = Object.fromEntries(
    Object.entries(ports).map(([service, port]) => [service, `http://${loopback}:${port}`]),
  );
  return connectionString({ name, keys: [key] }, urls);
}
