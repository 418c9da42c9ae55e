// `lazuli start`: serves until it is told to stop.

import type { ServiceName } from '../http/call.js';
import type { Given } from './command-line.js';
import { serve } from './serve.js';
import { readSettings } from './settings.js';

const all: readonly ServiceName[] = ['blob', 'queue', 'table', 'file'];

export async function runServer(command: string, given: Given): Promise<number> {
  const services = command === 'start' ? all : all.filter((name) => name === command);
  const settings = readSettings(given, process.env, services);
  for (const warning of settings.warnings) console.error(warning);
  const server = await serve(settings.config, { failed: (error) => console.error(error) });
  for (const [name, url] of Object.entries(server.urls))
    console.log(`Lazuli ${name} service listens at ${url}`);
  console.log('Lazuli is ready');
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await server.stop();
  return 0;
}
