// Debian's azure-cli, run against a server of ours: `await storage('blob', 'list', ...)`.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceName } from '#src/http/call.js';
import { start } from '#src/server/start.js';
import { type AccountSettings, developmentAccount } from '#src/services/common/accounts.js';
import { missing, succeeds } from './programs.js';

const az = '/usr/bin/az';
export const withoutAz = missing(az);

export type Storage = (...args: string[]) => Promise<unknown>;

export async function withAz(
  service: ServiceName,
  work: (storage: Storage) => Promise<void>,
  settings: Partial<AccountSettings> = {},
): Promise<void> {
  const account = { ...developmentAccount, settings: { ...developmentAccount.settings, ...settings } };
  const server = await start({ services: [service], accounts: [account] });
  const config = await mkdtemp(join(tmpdir(), 'lazuli-az-'));
  const env = {
    AZURE_STORAGE_CONNECTION_STRING: server.connectionString,
    AZURE_CONFIG_DIR: config,
    AZURE_CORE_COLLECT_TELEMETRY: 'false',
    AZURE_CORE_ONLY_SHOW_ERRORS: 'true',
  };
  try {
    await work(async (...args) => {
      const output = await succeeds(az, ['storage', ...args, '--output', 'json'], { env });
      return output.trim() === '' ? undefined : JSON.parse(output);
    });
  } finally {
    await server.stop();
    await rm(config, { recursive: true, force: true });
  }
}
