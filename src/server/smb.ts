// SMB for the shares of the file service, on a port of its own.

import { randomBytes } from 'node:crypto';
import { type AclMode, SmbServer } from '../smb/server.js';
import type { OpenStore } from './open-store.js';
import { serviceOf } from './services.js';

export function openSmb(
  store: OpenStore,
  aclMode: AclMode | undefined,
  report: (error: unknown) => void,
): SmbServer {
  const { opens, volumes, listeners } = serviceOf(store, 'file');
  return new SmbServer({
    settings: aclMode === undefined ? {} : { aclMode },
    volumes,
    opens,
    listeners,
    accounts: {
      keysOf: async (name) => store.accounts.get(name)?.keys.filter((key) => key !== undefined),
    },
    policyOf: (account) => store.accounts.serviceSettings(account, 'file').smb,
    serverName: 'LAZULI',
    now: () => store.engine.clock.now(),
    random: randomBytes,
    schedule: (ms, run) => {
      const timer = setTimeout(run, ms).unref();
      return () => clearTimeout(timer);
    },
    report,
  });
}
