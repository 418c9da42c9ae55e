// What `--help` shows: of the program on one screen of 24 lines, of a command how it is written and what it takes.

import { commands } from './command-table.js';
import { type Option, type OptionGroup, options } from './options.js';

export const groupTitles: Readonly<Record<OptionGroup, string>> = {
  data: 'Data',
  services: 'Services',
  security: 'Security',
  output: 'Output',
  tests: 'For tests and for Azurite',
  commands: 'Of single commands',
};

/** Of the command that is named among these words, or of all. */
export function helpText(version: string, args: readonly string[]): string {
  const named = args.map((arg) => arg.replace(/^azurite-/, '')).find((arg) => Object.hasOwn(commands, arg));
  return named === undefined ? overview(version) : commandHelp(named);
}

function overview(version: string): string {
  return `Lazuli ${version}: Azure Storage on your own machine

lazuli [command] [options]     -h or --help, -v or --version

  start                serve blobs, queues, tables, files (as no command does)
  blob                 serve blobs alone; queue, table, file likewise
  connection-string    what a client needs to connect
  account              list, create, set, rotate, usage, delete
  reset                delete all data, or that of one account
  backup, restore      copy all data to a folder while it is served; and back
  verify               read everything and say what is damaged
  import-azurite       take over the data of Azurite
  dead-letter, index   where messages go that always fail; indexes of tables

  -l, --location <folder>    where the data is kept [./lazuli-data]
  --inMemoryPersistence      keep nothing: all is gone when it stops
  --blobPort <port>          [10000]; queue, table, file likewise; 0: a free one
  -s, --silent               no line for each request
  -d, --debug <file>         a log of all that happens

lazuli start --help          every option: hosts, certificates, files, tests
lazuli <command> --help      how a command is written`;
}

function commandHelp(name: string): string {
  const { usage, options: own } = commands[name] ?? commands['start'] ?? { usage: [], options: [] };
  const wide = Math.max(...usage.map(([form]) => form.length));
  const isNarrow = usage.every(([, what]) => `lazuli ${' '.repeat(wide)}  ${what}`.length <= 80);
  const lines = usage.flatMap(([form, what]) =>
    isNarrow ? [`lazuli ${form.padEnd(wide)}  ${what}`] : [`lazuli ${form}`, `    ${what}`],
  );
  return [...lines, ...(own === 'server' ? serverOptions() : commandOptions(own))].join('\n');
}

function commandOptions(own: readonly string[]): string[] {
  const shown = options.filter(({ name }) => ['location', 'json', ...own].includes(name));
  return ['', ...shown.map(line)];
}

/** Host, port and keep-alive of the services are told once for all. */
function serverOptions(): string[] {
  return (Object.keys(groupTitles) as OptionGroup[])
    .filter((group) => group !== 'commands')
    .flatMap((group) => [
      '',
      `${groupTitles[group]}:`,
      ...(group === 'services' ? serviceLines : []),
      ...options.filter((option) => option.group === group && !isOfService(option)).map(line),
    ]);
}

function isOfService({ name }: Option): boolean {
  return /^(blob|queue|table|file|smb|admin)(Host|Port|KeepAliveTimeout)$/.test(name);
}

function line(option: Option): string {
  return `  ${flagText(option).padEnd(27)} ${option.help}`;
}

/** As it is typed. */
export function flagText({ name, short, takes }: Option): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${takes === undefined ? '' : ` <${takes}>`}`;
}

const serviceLines = [
  '  --blobHost, --blobPort      where it listens [127.0.0.1, 10000]; the same for',
  '                              queue 10001, table 10002, file 10003, smb 10445,',
  '                              admin 10005; port 0 picks a free one',
  '  --blobKeepAliveTimeout <s>  idle connections [65]; also queue, table, file',
];
