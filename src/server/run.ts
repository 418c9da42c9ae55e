// `lazuli start`: serves until it is told to stop.

import { mkdirSync } from 'node:fs';
import { giveHeapRoom } from '../base/heap.js';
import type { Finished } from '../http/exchange.js';
import type { TlsOptions } from '../http/listen.js';
import { AccessLog } from './access-log.js';
import { type Given, UsageError } from './command-line.js';
import { type ServerConfig, serviceNames } from './config.js';
import { dataFolder, isAzuriteWorkspace } from './data-folder.js';
import type { DebugLog } from './debug-log.js';
import { type RunningServer, type ServerEvents, serve } from './serve.js';
import { readSettings, type Settings } from './settings.js';
import { Terminal } from './terminal.js';

export async function runServer(command: string, given: Given): Promise<number> {
  giveHeapRoom();
  const services = command === 'start' ? serviceNames : serviceNames.filter((name) => name === command);
  const settings = readSettings(given, process.env, services);
  const stopping = untilStopped();
  const terminal = new Terminal();
  const log = settings.debugFile === undefined ? undefined : await openLog(settings.debugFile);
  const access = settings.silent ? undefined : new AccessLog((text) => process.stdout.write(text));
  const server = await serve(await withCertificate(settings), eventsOf(access, log));
  try {
    if (settings.seedFile !== undefined) {
      const { seedFrom } = await import('./seed.js');
      await seedFrom(server.store, settings.seedFile);
    }
    for (const line of startLines(server, settings, terminal)) {
      terminal.line(line);
      log?.said(line);
    }
    await stopping;
  } finally {
    await server.stop();
    access?.flush();
    await log?.close();
  }
  return 0;
}

/** Also while it is still starting: it then stops as soon as it has. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

async function openLog(file: string): Promise<DebugLog> {
  const { openDebugLog } = await import('./debug-log.js');
  return openDebugLog(file);
}

function eventsOf(access: AccessLog | undefined, log: DebugLog | undefined): ServerEvents {
  const listeners: ((finished: Finished) => void)[] = [];
  if (access !== undefined) listeners.push(access.add);
  if (log !== undefined) listeners.push((finished) => log.finished(finished));
  return {
    finished: (finished) => {
      for (const listener of listeners) listener(finished);
    },
    failed: (error, requestId, operation) => {
      console.error(error);
      log?.failed(error, requestId, operation);
    },
  };
}

async function withCertificate({ config, devCert }: Settings): Promise<ServerConfig> {
  if (config.tls !== undefined) await checkCertificate(config.tls);
  if (!devCert) return config;
  const { developmentCertificate } = await import('./dev-cert.js');
  if ('memory' in config.data) return { ...config, tls: developmentCertificate(undefined) };
  const folder = dataFolder(config.data.location);
  mkdirSync(folder.location, { recursive: true, mode: 0o700 });
  return { ...config, tls: developmentCertificate(folder) };
}

async function checkCertificate(tls: TlsOptions): Promise<void> {
  const { createSecureContext } = await import('node:tls');
  try {
    createSecureContext(tls);
  } catch (error) {
    throw new UsageError(
      `--cert and --key, or --cert and --pwd, are no certificate and its key: ${(error as Error).message}`,
    );
  }
}

const labels: Readonly<Record<string, string>> = {
  blob: 'Blob',
  queue: 'Queue',
  table: 'Table',
  file: 'File',
  smb: 'SMB',
  admin: 'Admin',
};

function* startLines(server: RunningServer, { config }: Settings, terminal: Terminal): Generator<string> {
  for (const [name, url] of Object.entries(server.urls)) {
    const label = `${labels[name]} service`.padEnd(14);
    yield `${terminal.paint('bold', label)} listens at ${terminal.paint('cyan', url)}`;
  }
  if (server.urls.admin !== undefined) yield `Admin token    ${server.token}`;
  for (const note of server.notes) yield terminal.paint('yellow', note[0]?.toUpperCase() + note.slice(1));
  if ('memory' in config.data) yield 'Data           in memory: all is gone when it stops';
  else {
    yield `Data           ${config.data.location}`;
    if (isAzuriteWorkspace(config.data.location)) {
      yield terminal.paint('yellow', 'Azurite has data here, which is left alone. To take it over:');
      yield `  lazuli import-azurite --location ${config.data.location}`;
    }
  }
  yield terminal.paint('green', 'Lazuli is ready');
}
