// Every option there is: on the command line, in the environment, in lazuli.json. Azurite's come first and work
// unchanged. The command line counts before the environment, and that before the file.
//
//   name      --name on the command line, name in lazuli.json
//   short     -x
//   variable  LAZULI_NAME in capitals unless given; Azurite's own names are read too
//   takes     what the value is called in the help; none: it is a flag

export type OptionGroup = 'data' | 'services' | 'security' | 'output' | 'tests' | 'commands';

export interface Option {
  readonly name: string;
  readonly short?: string;
  readonly takes?: string;
  readonly group: OptionGroup;
  readonly help: string;
  /** A variable of Azurite's that means the same. */
  readonly azurite?: string;
}

const servicePorts = [
  ['blob', 10000],
  ['queue', 10001],
  ['table', 10002],
  ['file', 10003],
  ['smb', 10445],
  ['admin', 10005],
] as const;

// biome-ignore format: a table
export const options: readonly Option[] = [
  { name: 'location', short: 'l',      takes: 'folder', group: 'data',     help: 'where the data is kept [./lazuli-data]' },
  { name: 'inMemoryPersistence',                        group: 'data',     help: 'keep nothing: all is gone when it stops' },
  { name: 'extentMemoryLimit',         takes: 'MB',     group: 'data',     help: 'memory for contents if nothing is kept [1024]' },
  { name: 'config',                    takes: 'file',   group: 'data',     help: 'a file of options [lazuli.json beside the data]' },
  { name: 'seed',                      takes: 'file',   group: 'data',     help: 'a file of what is to be there at start' },
  ...servicePorts.flatMap(([service, port]): Option[] => [
    { name: `${service}Host`,          takes: 'host',   group: 'services', help: `where the ${service} service listens [127.0.0.1]` },
    { name: `${service}Port`,          takes: 'port',   group: 'services', help: `its port; 0 picks a free one [${port}]` },
  ]),
  ...(['blob', 'queue', 'table', 'file'] as const).map((service): Option =>
    ({ name: `${service}KeepAliveTimeout`, takes: 's',  group: 'services', help: 'how long an idle connection is kept [65]' })),
  { name: 'disableProductStyleUrl',                     group: 'services', help: 'accounts in the path only, never in the host name' },
  { name: 'copySources',               takes: 'which',  group: 'security', help: 'where copies come from: public, any [public]' },
  { name: 'smbAclMode',                takes: 'mode',   group: 'security', help: 'SMB permissions: superuser, enforce [superuser]' },
  { name: 'cert',                      takes: 'file',   group: 'security', help: 'serve HTTPS with this certificate, .pem or .pfx' },
  { name: 'key',                       takes: 'file',   group: 'security', help: 'its key, .pem' },
  { name: 'pwd',                       takes: 'text',   group: 'security', help: 'the password of a .pfx' },
  { name: 'devCert',                                    group: 'security', help: 'serve HTTPS with a certificate of its own making' },
  { name: 'oauth',                     takes: 'level',  group: 'security', help: 'basic: tokens unverified, on loopback alone' },
  { name: 'silent', short: 's',                         group: 'output',   help: 'no line for each request' },
  { name: 'debug', short: 'd',         takes: 'file',   group: 'output',   help: 'a log of all that happens' },
  { name: 'testing',                                    group: 'tests',    help: 'let the admin port move the clock and make faults' },
  { name: 'loose', short: 'L',                          group: 'tests',    help: 'taken for Azurite\'s sake; changes nothing' },
  { name: 'skipApiVersionCheck',                        group: 'tests',    help: 'likewise: every version is served', azurite: 'AZURITE_SKIP_API_VERSION_CHECK' },
  { name: 'disableTelemetry',                           group: 'tests',    help: 'likewise: nothing is ever sent' },
  { name: 'account',                   takes: 'name',   group: 'commands', help: 'whose: of commands on the data of one account' },
  { name: 'incremental',                                group: 'commands', help: 'backup: what changed since the last one' },
  { name: 'everything',                                 group: 'commands', help: 'reset: accounts and their keys too' },
  { name: 'yes', short: 'y',                            group: 'commands', help: 'reset, account delete: do not ask' },
  { name: 'json',                                       group: 'commands', help: 'answers for programs' },
];

export function variableOf(name: string): string {
  return `LAZULI_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

export const optionNames: readonly string[] = options.map(({ name }) => name);
