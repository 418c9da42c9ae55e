#!/usr/bin/env node
// The command line: what people meet first. Each command is loaded when it is asked for.

import { readFileSync } from 'node:fs';
import { helpText, parseCommandLine, UsageError } from './command-line.js';

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) return print(helpText(version()));
  if (args.includes('--version') || args.includes('-v')) return print(version());
  const { command, given } = parseCommandLine(args);
  const { runServer } = await import('./run.js');
  return runServer(command, given);
}

function version(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}

function print(text: string): number {
  console.log(text);
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const { message, name } = error as Error;
  console.error(error instanceof UsageError || name === 'AccountError' ? `lazuli: ${message}` : error);
  process.exitCode = 1;
}
