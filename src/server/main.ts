#!/usr/bin/env node
// The command line.

import { parseArgs } from 'node:util';
import type { ServiceName } from '../http/call.js';
import { developmentAccount, parseAzuriteAccounts } from '../services/common/accounts.js';
import { defaultExtentLimitBytes, defaultPorts, loopback, type ServiceAddress } from './config.js';
import { serve } from './serve.js';

const names = Object.keys(defaultPorts) as ServiceName[];

async function main(): Promise<void> {
  const { values } = parseArgs({
    allowPositionals: true,
    options: {
      location: { type: 'string', short: 'l' },
      inMemoryPersistence: { type: 'boolean' },
      ...Object.fromEntries(
        names.flatMap((name) => [
          [`${name}Host`, { type: 'string' as const }],
          [`${name}Port`, { type: 'string' as const }],
        ]),
      ),
    },
  });
  const given = values as Readonly<Record<string, string | boolean | undefined>>;
  const address = (name: ServiceName): ServiceAddress => ({
    host: String(given[`${name}Host`] ?? loopback),
    port: Number(given[`${name}Port`] ?? defaultPorts[name]),
  });
  const accounts = process.env['AZURITE_ACCOUNTS'];
  const server = await serve({
    data: values.inMemoryPersistence
      ? { memory: true, extentLimitBytes: defaultExtentLimitBytes }
      : { location: String(given['location'] ?? './lazuli-data') },
    services: Object.fromEntries(names.map((name) => [name, address(name)])),
    accounts: accounts === undefined ? [developmentAccount] : parseAzuriteAccounts(accounts),
    pathStyleOnly: false,
  });
  for (const [name, url] of Object.entries(server.urls))
    console.log(`Lazuli ${name} service listens at ${url}`);
  console.log('Lazuli is ready');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void server.stop().then(() => process.exit(0)));
  }
}

await main();
