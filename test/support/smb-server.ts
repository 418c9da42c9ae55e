// An SMB server for tests, on a file service in memory, or on one that is given.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Opens } from '#src/services/file/opens.js';
import type { FileService } from '#src/services/file/service.js';
import { openPolicy } from '#src/smb/account-policy.js';
import { type SmbOptions, SmbServer, type SmbSettings } from '#src/smb/server.js';
import { account, givenFiles } from './file-service.js';

export { account };
export const accountKey = 'a2V5IG9mIHRoZSB0ZXN0cywgbm90IG9mIGFueWJvZHkgZWxzZQ==';
export const secondKey = 'dGhlIG90aGVyIGtleSBvZiB0aGUgdGVzdHM=';

export interface TestServer {
  readonly server: SmbServer;
  readonly opens: Opens;
  readonly port: number;
  /** What was thrown and is nobody's fault but ours. */
  readonly bugs: unknown[];
  close(): Promise<void>;
}

export const schedule = (ms: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
};

type Given = Pick<FileService, 'opens' | 'volumes' | 'listeners'> & Partial<AsyncDisposable>;

/** A service that is given stays open. */
export async function startSmb(options: Partial<SmbOptions> = {}, service?: Given): Promise<TestServer> {
  const { opens, volumes, listeners, ...files } = service ?? (await givenFiles());
  const bugs: unknown[] = [];
  const server = new SmbServer({
    ...{ volumes, opens, listeners, serverName: 'LAZULI', random: randomBytes, schedule },
    accounts: {
      keysOf: async (name) => (name === account ? [accountKey, secondKey] : undefined),
    },
    policyOf: () => openPolicy,
    now: () => Date.now(),
    report: (error) => void bugs.push(error),
    ...options,
  });
  const port = await server.listen(0, '127.0.0.1');
  const close = async () => {
    await server.close();
    if (service === undefined) await files[Symbol.asyncDispose]?.();
  };
  return { server, opens, port, bugs, close };
}

/** Starts a server; when the test is over everything that was open on it must be gone. */
export async function givenSmb(t: TestContext, settings: Partial<SmbSettings> = {}): Promise<TestServer> {
  const started = await startSmb({ settings });
  t.after(async () => {
    await started.close();
    assert.deepEqual(started.bugs, []);
    const { connections, sessions, trees, opens, watches } = started.server.counters;
    assert.deepEqual(
      { connections, sessions, trees, opens, watches },
      { connections: 0, sessions: 0, trees: 0, opens: 0, watches: 0 },
    );
    const { files, handles, locks, caches } = started.opens.counters;
    assert.deepEqual({ files, handles, locks, caches }, { files: 0, handles: 0, locks: 0, caches: 0 });
  });
  return started;
}
