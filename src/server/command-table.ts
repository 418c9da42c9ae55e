// Every command there is, how each is written, and which options are its own. The command line, its help and what a
// wrong word is answered all read this.

/** A way to write a command, and what comes of it. */
export type Usage = readonly [form: string, what: string];

export interface Command {
  readonly usage: readonly Usage[];
  /** How many words it takes beside its options. */
  readonly words: number;
  /** Those of a server, all of them; or these, beside --location and --json. */
  readonly options: 'server' | readonly string[];
}

const any = Number.POSITIVE_INFINITY;

function service(name: string): Command {
  return { usage: [[name, `serve the ${name} service alone`]], words: 0, options: 'server' };
}

export const commands: Readonly<Record<string, Command>> = {
  start: {
    usage: [['[start]', 'serve blobs, queues, tables and files until Ctrl-C']],
    words: 0,
    options: 'server',
  },
  blob: service('blob'),
  queue: service('queue'),
  table: service('table'),
  file: service('file'),
  'connection-string': {
    usage: [['connection-string [account]', 'what a client needs to connect [devstoreaccount1]']],
    words: 1,
    options: ['account'],
  },
  account: {
    usage: [
      ['account list', 'all of them, with their settings'],
      ['account create <name> [setting=value ...]', 'a new one; prints both keys, once'],
      ['account set <name> <setting>=<value> ...', 'change settings, versioning=true for instance'],
      ['account rotate <name> [1|2]', 'a new key in place of key 1 or 2 [1]'],
      ['account usage [name]', 'what each container holds [devstoreaccount1]'],
      ['account delete <name>', 'the account and all that it holds'],
    ],
    words: any,
    options: ['yes'],
  },
  reset: {
    usage: [
      ['reset', 'delete all data; accounts and their keys stay'],
      ['reset <account>', 'delete what one account holds'],
      ['reset --everything', 'delete all data and all accounts'],
    ],
    words: 1,
    options: ['everything', 'yes'],
  },
  backup: {
    usage: [
      ['backup <folder>', 'copy all data to a new folder, while it is served'],
      ['backup <folder> --incremental', 'only what changed since the last one'],
    ],
    words: 1,
    options: ['incremental'],
  },
  restore: {
    usage: [['restore <folder> ...', 'make a new data folder, --location, from backups']],
    words: any,
    options: [],
  },
  verify: { usage: [['verify', 'read everything and say what is damaged']], words: 0, options: [] },
  'import-azurite': {
    usage: [['import-azurite [folder]', 'take over what Azurite has kept there [--location]']],
    words: 1,
    options: [],
  },
  'dead-letter': {
    usage: [
      ['dead-letter list', 'where messages go that always fail'],
      ['dead-letter set <queue> <other> [times]', 'to the other queue, once handed out so often [5]'],
      ['dead-letter delete <queue>', 'leave its messages where they are'],
    ],
    words: 4,
    options: ['account'],
  },
  index: {
    usage: [
      ['index list', 'indexes on properties of tables'],
      ['index create <table> <property>', 'filters on that property read what they return'],
      ['index delete <table> <property>', 'filters on it read the table'],
    ],
    words: 3,
    options: ['account'],
  },
};

/** The ways to write a command, as an answer to who wrote it otherwise. */
export function formsOf(command: string): string[] {
  return commands[command]?.usage.map(([form]) => form) ?? [];
}

/** The way that was begun, whole. */
export function formOf(command: string, [step = '']: readonly string[]): string {
  const forms = formsOf(command);
  return forms.find((form) => form.startsWith(`${command} ${step} `)) ?? forms[0] ?? command;
}
