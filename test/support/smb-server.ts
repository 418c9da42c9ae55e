// An SMB server for tests: on the store in memory, or on another one that is given.

import { randomBytes } from 'node:crypto';
import type { Volumes } from '#src/services/file/file-system.js';
import { Opens } from '#src/services/file/opens.js';
import { type SmbOptions, SmbServer } from '#src/smb/server.js';
import { MemoryVolumes } from './memory-volumes.js';

export const account = 'devstoreaccount1';
export const accountKey = 'a2V5IG9mIHRoZSB0ZXN0cywgbm90IG9mIGFueWJvZHkgZWxzZQ==';
export const secondKey = 'dGhlIG90aGVyIGtleSBvZiB0aGUgdGVzdHM=';

export interface TestServer {
  readonly server: SmbServer;
  readonly opens: Opens;
  readonly port: number;
  /** What was thrown and is nobody's fault but ours. */
  readonly bugs: unknown[];
}

export const schedule = (ms: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
};

export async function startSmb(
  options: Partial<SmbOptions> & { volumes?: Volumes } = {},
  port = 0,
): Promise<TestServer> {
  const opens = options.opens ?? new Opens(schedule);
  const bugs: unknown[] = [];
  const server = new SmbServer({
    volumes: new MemoryVolumes(['files', 'other']),
    accounts: {
      keysOf: async (name) => (name === account ? [accountKey, secondKey] : undefined),
    },
    serverName: 'LAZULI',
    now: () => Date.now(),
    random: randomBytes,
    schedule,
    report: (error) => void bugs.push(error),
    ...options,
    opens,
  });
  return { server, opens, port: await server.listen(port, '127.0.0.1'), bugs };
}
