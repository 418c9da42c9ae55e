#!/usr/bin/env node
// The command line: what people meet first. Each command is loaded when it is asked for.

import { basename } from 'node:path';
import { type CommandLine, parseCommandLine } from './command-line.js';
import { isTold } from './told.js';
import { version } from './version.js';

async function main(args: readonly string[]): Promise<number> {
  if (isHelpAsked(args)) return print((await import('./help.js')).helpText(version(), args));
  if (args.includes('--version') || args.includes('-v')) return print(version());
  return run(parseCommandLine(args, basename(process.argv[1] ?? '')));
}

function isHelpAsked(args: readonly string[]): boolean {
  return args[0] === 'help' || args.includes('--help') || args.includes('-h');
}

async function run(line: CommandLine): Promise<number> {
  switch (line.command) {
    case 'account':
      return (await import('./commands/account.js')).account(line);
    case 'connection-string':
      return (await import('./commands/account.js')).showConnectionString(line);
    case 'dead-letter':
      return (await import('./commands/dead-letter.js')).deadLetter(line);
    case 'index':
      return (await import('./commands/table-index.js')).index(line);
    case 'backup':
      return (await import('./commands/backup.js')).backup(line);
    case 'restore':
      return (await import('./commands/backup.js')).restore(line);
    case 'verify':
      return (await import('./commands/verify.js')).verify(line);
    case 'import-azurite':
      return (await import('./commands/import-azurite.js')).importWorkspace(line);
    case 'reset':
      return (await import('./commands/reset.js')).reset(line);
    default:
      return (await import('./run.js')).runServer(line.command, line.given);
  }
}

function print(text: string): number {
  console.log(text);
  return 0;
}

// Who reads the output may stop before its end: `lazuli account list | head`. A command then ends as it would have, and
// a server goes on.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(isTold(error) ? `lazuli: ${(error as Error).message}` : error);
  process.exitCode = 1;
}
